#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace kernelpack::cli {

/// Writes a file. A regular file appears whole or not at all; another kind of target (a pipe, a device) is
/// written directly. Throws io.
void write_output(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_output(const std::filesystem::path& path, std::string_view text);

}  // namespace kernelpack::cli
