#pragma once

#include <filesystem>

#include "canvas.hpp"

namespace kernelpack::cli {

/// Writes a PNG file. A regular file appears whole or not at all; another kind of target (a pipe, a device)
/// is written directly. Throws io.
void write_png(const std::filesystem::path& path, const Canvas& canvas);

}  // namespace kernelpack::cli
