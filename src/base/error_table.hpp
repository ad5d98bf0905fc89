#pragma once

#include <span>
#include <string_view>

#include "kernelpack/error.hpp"

namespace kernelpack {

/// One row of the error table, from which to_string and docs/errors.md are made.
struct ErrorKindInfo {
  ErrorKind kind;
  std::string_view name;     ///< "no_variant"
  std::string_view meaning;  ///< what is wrong
  std::string_view remedy;   ///< who can mend it, and how
};

/// Every kind, in the order of ErrorKind.
std::span<const ErrorKindInfo> error_table() noexcept;

}  // namespace kernelpack
