#pragma once

#include <functional>
#include <string>

#include "hub/copy.hpp"
#include "hub/downloads.hpp"
#include "kernelpack/package.hpp"
#include "package/model.hpp"

namespace kernelpack::hub {

/// Where the files of a copy come from, and what is asked of them.
struct Contents {
  Copy& copy;
  Downloads& downloads;
  const GetOptions& options;
  bool offline = false;
  std::string source;  ///< for messages
  std::string state;   ///< for messages: "commit 0123...", "state 0123..."
  std::string commit;  ///< that answers must be of if they name one; empty: any
  std::function<HttpRequest(const std::string&)> request;  ///< for a file of exactly this state
};

/// Keeps a metadata.json that came in another way than by `request`. Throws integrity if it cannot be the one
/// of the copy.
void accept_metadata(const Contents& contents, const HttpAnswer& answer);

/// The package, once every file that it uses is present and sound: what is absent or damaged is fetched,
/// metadata.json first, then manifest.json, then templates. Throws io if offline and something is absent,
/// integrity if it is damaged.
Package complete(const Contents& contents);

/// Whether metadata.json and manifest.json are present, without a look at what they say.
bool is_begun(const Copy& copy);

/// What a metadata.json says, as a model that knows only that. Throws its first fault.
package::Model metadata_model(const std::string& metadata);

/// Sizes that a file of a package may have.
std::size_t file_budget(std::string_view file);

}  // namespace kernelpack::hub
