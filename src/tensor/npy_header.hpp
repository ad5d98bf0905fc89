#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "kernelpack/tensor.hpp"

namespace kernelpack {

/// What the header of a .npy file says.
struct NpyHeader {
  TensorSpec spec;
  bool big_endian = false;
  bool fortran_order = false;
};

/// Bytes that every .npy file begins with: the magic string, the version and (the first two bytes of) the
/// length of the header text.
inline constexpr std::size_t kNpyPrefix = 10;
/// Longest header text that is read; NumPy itself stops at 10000 bytes.
inline constexpr std::size_t kNpyLongestHeader = std::size_t{1} << 20;

/// Bytes of the length field that follows the version: 2 for 1.0, 4 for 2.0 and 3.0. Throws contract, with
/// `file` as its place, if `prefix` is shorter than kNpyPrefix or not that of a .npy file of a known version.
std::size_t npy_length_bytes(std::span<const std::byte> prefix, const std::string& file);

/// Parses the header text: a Python dict literal with exactly the keys descr, fortran_order and shape. Throws
/// contract with file, line, column and excerpt.
NpyHeader parse_npy_header(std::string_view text, const std::string& file);

/// Everything that precedes the values of a little-endian row-major file, a multiple of 64 bytes:
/// version 1.0, or 2.0 where the text needs more than 65535 bytes.
std::string npy_preamble(const TensorSpec& spec);

}  // namespace kernelpack
