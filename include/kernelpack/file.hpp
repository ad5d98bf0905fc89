#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace kernelpack {

/// The whole content of a file that a caller names, at most `limit` bytes. Pipes and devices are read to
/// their end. Throws io, naming the path and the cause (missing, a directory, a read that fails, above the
/// limit).
std::string read_input(const std::filesystem::path& path, std::size_t limit);

/// Writes a file. A regular (or new) target appears whole or not at all: the bytes go to a temporary file in
/// the same folder, which is flushed and renamed over the target and removed on failure. A target of another
/// kind (pipe, device, terminal) is written directly. A symbolic link is followed. Throws io.
void write_file(const std::filesystem::path& path, std::span<const std::byte> bytes);
void write_file(const std::filesystem::path& path, std::string_view content);

}  // namespace kernelpack
