#pragma once

#include <filesystem>

namespace kernelpack {

/// The file of the running program; empty if the system does not tell.
std::filesystem::path running_program();

/// The file that holds the library's code: a shared library, or the program that it was linked into; empty if
/// the system does not tell. Symbolic links are followed.
std::filesystem::path own_binary();

}  // namespace kernelpack
