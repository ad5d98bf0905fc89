#include "expr/scope.hpp"

#include <algorithm>
#include <array>
#include <unordered_set>

namespace kernelpack::expr {

std::vector<std::string> Scope::visible_names() const {
  std::vector<std::string> visible;
  std::unordered_set<std::string_view> seen;
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent_) {
    for (const Dict::Entry& entry : scope->names_.entries()) {
      if (seen.insert(entry.key.string()).second) visible.push_back(entry.key.string());
    }
  }
  return visible;
}

bool is_reserved_name(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 26> kReserved = {
      "attrs",     "args",     "shapes", "ranks",  "tensorDtypes", "dtypes", "logicalDtypes",
      "present",   "tunables", "repeat", "derive", "device",       "env",    "DISPATCH_FOLD_WIDTH",
      "constants", "source",   "range",  "loop",   "namespace",    "dict",   "true",
      "false",     "none",     "True",   "False",  "None"};
  const auto& functions = function_names();
  return std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end() ||
         std::find(functions.begin(), functions.end(), name) != functions.end();
}

}  // namespace kernelpack::expr
