#pragma once

#include <filesystem>
#include <string>
#include <variant>

#include "hub/source.hpp"
#include "kernelpack/hub.hpp"

namespace kernelpack::hub {

/// What options and environment variables come to.
struct Settings {
  std::string endpoint;  ///< no '/' at the end
  bool offline = false;
  std::filesystem::path hub_cache;  ///< may not exist
  std::filesystem::path url_cache;  ///< may not exist
  NetworkLimits limits;
};

/// Throws contract for an endpoint or a limit in a variable that makes no sense.
Settings read_settings(const GetOptions& options);

/// The token for `source`, or empty. Throws contract if it holds characters that no header may hold; the
/// message does not show it.
std::string token_for(const Source& source, const GetOptions& options);

/// Throws trust unless the publisher is trusted or the caller accepts any (format.md 14 (q)).
void require_trust(const Source& source, const Settings& settings, const GetOptions& options);

}  // namespace kernelpack::hub
