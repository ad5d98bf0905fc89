#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace kernelpack {

/// A byte of a bool tensor other than 0 and 1 is no C++ bool; files may hold any, and nonzero means true.
inline bool are_bools(std::span<const std::byte> bytes) noexcept {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte <= std::byte{1}; });
}

inline void normalize_bools(std::span<std::byte> bytes) noexcept {
  for (std::byte& byte : bytes) byte = byte == std::byte{0} ? std::byte{0} : std::byte{1};
}

}  // namespace kernelpack
