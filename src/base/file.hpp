#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace kernelpack {

/// The whole content of a regular file, at most `limit` bytes. Throws io, naming the path and the cause
/// (missing, a directory, no permission, a read that fails, larger than the limit).
std::string read_file(const std::filesystem::path& path, std::size_t limit);

/// Receives the content of an output file piece by piece.
using WritePiece = std::function<void(std::span<const std::byte>)>;

/// Writes what `produce` passes to its argument. A regular (or new) target appears whole or not at all: the
/// bytes go to a temporary file in the same folder, which is flushed and renamed over the target and removed
/// on failure. A target of another kind (pipe, device, terminal) is written directly. A symbolic link is
/// followed. Throws io.
void write_file(const std::filesystem::path& path, const std::function<void(const WritePiece&)>& produce);
void write_file(const std::filesystem::path& path, std::string_view content);

}  // namespace kernelpack
