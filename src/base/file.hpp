#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <string>

#include "kernelpack/file.hpp"

namespace kernelpack {

/// The whole content of a regular file, at most `limit` bytes. Throws io, naming the path and the cause
/// (missing, a directory, no permission, a read that fails, larger than the limit).
std::string read_file(const std::filesystem::path& path, std::size_t limit);

/// Receives the content of an output file piece by piece.
using WritePiece = std::function<void(std::span<const std::byte>)>;

/// Writes what `produce` passes to its argument, in the way of the public write_file.
void write_file(const std::filesystem::path& path, const std::function<void(const WritePiece&)>& produce);

}  // namespace kernelpack
