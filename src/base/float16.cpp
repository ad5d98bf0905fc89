#include <bit>

#include "kernelpack/tensor.hpp"

namespace kernelpack {
namespace {

constexpr std::uint32_t kFloatInfinity = 0x7F800000;
constexpr std::uint32_t kSmallestNormalHalf = 0x38800000;  // 2^-14 as float
constexpr std::uint32_t kOverflow = 0x477FF000;            // 65520: halfway between 65504 and 2^16
constexpr std::uint32_t kHalfOfSmallestHalf = 0x33000000;  // 2^-25, which ties to zero
constexpr std::uint32_t kExponentRebias = (127 - 15) << 23;

std::uint32_t round_shift(std::uint32_t value, unsigned shift) noexcept {
  const std::uint32_t kept = value >> shift;
  const std::uint32_t rest = value & ((1u << shift) - 1);
  const std::uint32_t half = 1u << (shift - 1);
  return kept + (rest > half || (rest == half && (kept & 1)) ? 1 : 0);
}

}  // namespace

Float16::Float16(float value) noexcept {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (word >> 16) & 0x8000;
  const std::uint32_t magnitude = word & 0x7FFFFFFF;
  std::uint32_t half = 0;
  if (magnitude > kFloatInfinity) {
    // The upper payload bits survive, so that a half goes to float and back unchanged; a NaN never becomes
    // infinity.
    const std::uint32_t payload = (magnitude >> 13) & 0x3FF;
    half = 0x7C00 | (payload != 0 ? payload : 0x200);
  } else if (magnitude >= kOverflow) {
    half = 0x7C00;
  } else if (magnitude >= kSmallestNormalHalf) {
    half = round_shift(magnitude - kExponentRebias, 13);
  } else if (magnitude > kHalfOfSmallestHalf) {
    const std::uint32_t significand = (magnitude & 0x7FFFFF) | 0x800000;
    half = round_shift(significand, 126 - (magnitude >> 23));
  }
  bits = static_cast<std::uint16_t>(sign | half);
}

Float16::operator float() const noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1F;
  std::uint32_t fraction = bits & 0x3FF;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | kFloatInfinity | (fraction << 13));
  if (exponent != 0) {
    return std::bit_cast<float>(sign | (((exponent << 23) | (fraction << 13)) + kExponentRebias));
  }
  const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

}  // namespace kernelpack
