#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kernelpack::package {

/// Why a file name is not allowed in a package (format.md 14 (o)): it must be a plain name, without
/// separators, not "." or "..", not empty and without control characters. Nothing if it is allowed.
std::optional<std::string> file_name_fault(std::string_view name);

}  // namespace kernelpack::package
