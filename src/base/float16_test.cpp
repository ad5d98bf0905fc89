#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "kernelpack/tensor.hpp"

namespace kernelpack {
namespace {

constexpr unsigned kHalves = 65536;
constexpr std::uint16_t kInfinity = 0x7C00;

Float16 half(unsigned bits) {
  return Float16::from_bits(static_cast<std::uint16_t>(bits));
}

/// The value by its definition.
double definition(unsigned bits) {
  const int exponent = static_cast<int>((bits >> 10) & 0x1F);
  const int fraction = static_cast<int>(bits & 0x3FF);
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return (bits & 0x8000) ? -magnitude : magnitude;
}

bool is_nan_half(unsigned bits) {
  return (bits & 0x7FFF) > kInfinity;
}

TEST(Float16, AllHalvesToFloatAreExact) {
  for (unsigned bits = 0; bits < kHalves; ++bits) {
    const float value = static_cast<float>(half(bits));
    if (is_nan_half(bits)) {
      ASSERT_TRUE(std::isnan(value)) << bits;
    } else if ((bits & 0x7FFF) == kInfinity) {
      ASSERT_EQ(value, (bits & 0x8000) ? -INFINITY : INFINITY);
    } else {
      ASSERT_EQ(static_cast<double>(value), definition(bits)) << bits;
      ASSERT_EQ(std::signbit(value), (bits & 0x8000) != 0) << bits;
    }
  }
}

TEST(Float16, AllHalvesRoundTripBitExact) {
  for (unsigned bits = 0; bits < kHalves; ++bits) {
    ASSERT_EQ(Float16(static_cast<float>(half(bits))).bits, bits);
  }
}

TEST(Float16, MidpointsTieToEvenAndTheirNeighboursDoNot) {
  for (unsigned bits = 0; bits < kInfinity; ++bits) {
    const double low = definition(bits);
    const double high = bits + 1 == kInfinity ? 65536.0 : definition(bits + 1);
    const float middle = static_cast<float>((low + high) / 2);
    ASSERT_EQ(static_cast<double>(middle), (low + high) / 2);
    const unsigned even = bits % 2 == 0 ? bits : bits + 1;
    ASSERT_EQ(Float16(middle).bits, even) << bits;
    ASSERT_EQ(Float16(-middle).bits, even | 0x8000) << bits;
    ASSERT_EQ(Float16(std::nextafter(middle, 0.0f)).bits, bits);
    ASSERT_EQ(Float16(std::nextafter(middle, INFINITY)).bits, bits + 1);
  }
}

TEST(Float16, ExtremesOfFloat) {
  EXPECT_EQ(Float16(65504.0f).bits, 0x7BFF);
  EXPECT_EQ(Float16(65519.996f).bits, 0x7BFF);
  EXPECT_EQ(Float16(65520.0f).bits, kInfinity);
  EXPECT_EQ(Float16(std::numeric_limits<float>::max()).bits, kInfinity);
  EXPECT_EQ(Float16(-std::numeric_limits<float>::max()).bits, 0x8000 | kInfinity);
  EXPECT_EQ(Float16(std::numeric_limits<float>::denorm_min()).bits, 0);
  EXPECT_EQ(Float16(-std::numeric_limits<float>::denorm_min()).bits, 0x8000);
  EXPECT_EQ(Float16(-0.0f).bits, 0x8000);
  EXPECT_EQ(Float16(0x1p-24f).bits, 1);
  EXPECT_EQ(Float16(0x1p-25f).bits, 0);
}

TEST(Float16, NaNStaysNaN) {
  EXPECT_TRUE(is_nan_half(Float16(std::numeric_limits<float>::quiet_NaN()).bits));
  for (std::uint32_t payload = 1; payload < (1u << 23); payload += 1021) {
    ASSERT_TRUE(is_nan_half(Float16(std::bit_cast<float>(0x7F800000u | payload)).bits)) << payload;
    ASSERT_TRUE(is_nan_half(Float16(std::bit_cast<float>(0xFF800000u | payload)).bits)) << payload;
  }
}

}  // namespace
}  // namespace kernelpack
