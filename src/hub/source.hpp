#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "kernelpack/hub.hpp"

namespace kernelpack::hub {

/// A package of the Hub. Exactly one of `branch` and `commit` is set.
struct Repository {
  std::string organisation;
  std::string name;
  std::string branch;  ///< "v1"
  std::string commit;  ///< 40 lower-case hexadecimal digits

  std::string id() const { return organisation + '/' + name; }
  std::string text() const { return id() + '@' + (branch.empty() ? commit : branch); }
};

/// A package below a URL: its files are `base`/build/webgpu/FILE.
struct BaseUrl {
  std::string base;
};

/// A folder, or the op id of a shipped package.
struct Local {};

using Source = std::variant<Local, Repository, BaseUrl>;

/// See is_remote_source.
Source parse_source(std::string_view text, const GetOptions& options);

bool is_commit(std::string_view text) noexcept;
/// "v" and a positive integer without leading zeros that fits an int.
bool is_version_branch(std::string_view text) noexcept;
/// One half of "ORG/NAME" by the rules of the Hub: letters, digits, '-', '_' and '.', no "--" or "..",
/// neither
/// '-' nor '.' at the ends, at most 96 characters.
bool is_repository_name(std::string_view text) noexcept;

}  // namespace kernelpack::hub
