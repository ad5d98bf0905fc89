#pragma once

#include <cstdint>

#include "cpu/simd/operations_simd.hpp"

namespace kernelpack::cpu {
namespace {

// Conversions between float and the bits of IEEE binary16 for targets without instructions for them. NaN
// stays NaN.

KERNELPACK_INLINE float from_float16_bits(std::uint16_t half) {
  const std::uint32_t rest = half & 0x7fffu;
  // The exponent is raised by 112 in a product, which is exact and normalises subnormals.
  const float scaled = __builtin_bit_cast(float, rest << 13) * 0x1p112f;
  const std::uint32_t infinite = rest >= 0x7c00u ? 0x7f800000u : 0u;
  const std::uint32_t sign = (half & 0x8000u) << 16;
  return __builtin_bit_cast(float, __builtin_bit_cast(std::uint32_t, scaled) | infinite | sign);
}

/// Rounds to nearest even, keeps subnormals, overflows to infinity.
KERNELPACK_INLINE std::uint16_t to_float16_bits(float value) {
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u;
  const std::uint32_t rest = bits & 0x7fffffffu;
  std::uint32_t half;
  if (rest > 0x7f800000u) {
    half = 0x7e00u;
  } else if (rest >= 0x47800000u) {
    half = 0x7c00u;
  } else if (rest < 0x38800000u) {
    // Adding one half leaves the subnormal, rounded, in the low bits.
    half = __builtin_bit_cast(std::uint32_t, __builtin_bit_cast(float, rest) + 0.5f) - 0x3f000000u;
  } else {
    half = (rest - 0x38000000u + 0xfffu + ((rest >> 13) & 1u)) >> 13;
  }
  return static_cast<std::uint16_t>(sign | half);
}

}  // namespace
}  // namespace kernelpack::cpu
