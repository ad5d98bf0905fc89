#include "comparison.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "kernelpack/error.hpp"

namespace kernelpack::cli {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <class T, class U>
Comparison compared(const std::vector<T>& got, const std::vector<U>& expected,
                    const Tolerance& tolerance = {}) {
  const Shape shape{static_cast<std::int64_t>(got.size())};
  return compare(Tensor::from(got, shape), Tensor::from(expected, shape), tolerance, "expected.npy");
}

std::vector<Float16> halves(std::initializer_list<std::uint16_t> bits) {
  std::vector<Float16> values;
  for (const std::uint16_t each : bits) values.push_back(Float16::from_bits(each));
  return values;
}

TEST(Comparison, MeasuresFloat32InTolerances) {
  const Tolerance tolerance{.absolute = 0.5, .relative = 0.25};
  const Comparison result = compared<float, float>({1, 4, -8}, {1, 5, -6}, tolerance);
  EXPECT_TRUE(result.passed);
  EXPECT_EQ(result.worst, 2);
  EXPECT_EQ(result.worst_index, "[2]");
  EXPECT_EQ(result.got, "-8");
  EXPECT_EQ(result.expected, "-6");
  EXPECT_DOUBLE_EQ(result.multiple, 1);

  const Comparison outside = compared<float, double>({1, 4, -8.5}, {1, 5, -6}, tolerance);
  EXPECT_FALSE(outside.passed);
  EXPECT_EQ(outside.failures, 1);
  EXPECT_DOUBLE_EQ(outside.multiple, 1.25);
}

TEST(Comparison, HasTheDefaultsOfTheManual) {
  EXPECT_TRUE((compared<float, double>({1.0f}, {1.000005})).passed);
  EXPECT_FALSE((compared<float, double>({1.0f}, {1.0000055})).passed);
  EXPECT_TRUE((compared<float, double>({0.0f}, {0.99e-7})).passed);
  EXPECT_FALSE((compared<float, double>({0.0f}, {1.01e-7})).passed);
}

TEST(Comparison, MatchesNanOnlyWithNan) {
  EXPECT_TRUE((compared<float, float>({kNan}, {kNan})).passed);
  EXPECT_FALSE((compared<float, float>({kNan}, {1})).passed);
  EXPECT_FALSE((compared<float, float>({1}, {kNan})).passed);
  EXPECT_FALSE((compared<float, double>({kNan}, {1})).passed);
  EXPECT_FALSE((compared<float, float>({kNan}, {kInfinity})).passed);
  const Comparison hidden = compared<float, float>({1, kNan, 2}, {1, 5, 2});
  EXPECT_EQ(hidden.worst, 1);
  EXPECT_TRUE(std::isinf(hidden.multiple));
  EXPECT_TRUE(compared(halves({0x7e00}), halves({0x7c01})).passed);
  EXPECT_FALSE(compared(halves({0x7e00}), halves({0x7c00})).passed);
}

TEST(Comparison, MatchesAnInfinityOnlyWithItself) {
  EXPECT_TRUE((compared<float, float>({kInfinity}, {kInfinity})).passed);
  EXPECT_FALSE((compared<float, float>({kInfinity}, {-kInfinity})).passed);
  EXPECT_FALSE((compared<float, float>({3e38f}, {kInfinity})).passed);
  EXPECT_FALSE((compared<float, float>({kInfinity}, {3e38f})).passed);
  EXPECT_FALSE(compared(halves({0x7bff}), halves({0x7c00})).passed);
  EXPECT_TRUE(compared(halves({0xfc00}), halves({0xfc00})).passed);
}

TEST(Comparison, CountsFloat16Steps) {
  EXPECT_TRUE(compared(halves({0x3c00, 0x0000}), halves({0x3c01, 0x8000})).passed);
  EXPECT_FALSE(compared(halves({0x3c00}), halves({0x3c02})).passed);
  EXPECT_TRUE(compared(halves({0x3c00}), halves({0x3c02}), {.steps = 2}).passed);
  EXPECT_FALSE(compared(halves({0x0001}), halves({0x8001})).passed);
  EXPECT_TRUE(compared(halves({0x0001}), halves({0x8000})).passed);
  EXPECT_FALSE(compared(halves({0x3c00}), halves({0x3c01}), {.steps = 0}).passed);
  EXPECT_TRUE(compared(halves({0x3c00}), halves({0x3c00}), {.steps = 0}).passed);
}

TEST(Comparison, RoundsADoubleToFloat16Once) {
  // Just above the middle of 1 and its successor; rounding to float first would land on the middle and then
  // on 1.
  const double above_middle = 1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
  EXPECT_TRUE(compared(halves({0x3c01}), std::vector<double>{above_middle}, {.steps = 0}).passed);
  EXPECT_TRUE(compared(halves({0xbc01}), std::vector<double>{-above_middle}, {.steps = 0}).passed);
  const double below_middle = 1 + std::ldexp(1.0, -11) * 3 - std::ldexp(1.0, -40);
  EXPECT_TRUE(compared(halves({0x3c01}), std::vector<double>{below_middle}, {.steps = 0}).passed);
  EXPECT_TRUE(compared(halves({0x0000}), std::vector<double>{1e-300}, {.steps = 0}).passed);
  EXPECT_TRUE(compared(halves({0x7c00}), std::vector<double>{1e300}, {.steps = 0}).passed);
}

TEST(Comparison, ComparesIntegersAndBoolsExactly) {
  EXPECT_TRUE((compared<std::int64_t, std::int64_t>({9007199254740993}, {9007199254740993})).passed);
  EXPECT_FALSE((compared<std::int64_t, std::int64_t>({9007199254740993}, {9007199254740992})).passed);
  const Comparison bytes = compared<std::int8_t, std::int8_t>({1, -2}, {1, 2});
  EXPECT_FALSE(bytes.passed);
  EXPECT_EQ(bytes.got, "-2");
  const bool yes[] = {true};
  const bool no[] = {false};
  const Comparison bools = compare(TensorView::of<bool>(yes, {}), TensorView::of<bool>(no, {}), {}, "");
  EXPECT_FALSE(bools.passed);
  EXPECT_EQ(bools.got, "true");
  EXPECT_EQ(bools.worst_index, "[]");
}

TEST(Comparison, RefusesDTypesThatDoNotFit) {
  EXPECT_THROW((compared<float, std::int32_t>({1}, {1})), Error);
  EXPECT_THROW(compared(std::vector<float>{1}, halves({0x3c00})), Error);
  EXPECT_THROW((compared<std::int32_t, double>({1}, {1})), Error);
}

TEST(Comparison, NeedsEqualShapes) {
  const Tensor got = Tensor::from<float>({1, 2}, {2});
  const Comparison result = compare(got, Tensor::from<float>({1, 2}, {1, 2}), {}, "");
  EXPECT_FALSE(result.passed);
  EXPECT_FALSE(result.shapes_match);
  EXPECT_TRUE(compare(Tensor(DType::float32, {0, 3}), Tensor(DType::float32, {0, 3}), {}, "").passed);
}

TEST(Comparison, FindsTheIndexOfTheWorstElement) {
  std::vector<float> values(24);
  const Tensor expected = Tensor::from(values, {2, 3, 4});
  values[17] = 1;
  EXPECT_EQ(compare(Tensor::from(values, {2, 3, 4}), expected, {}, "").worst_index, "[1, 1, 1]");
}

}  // namespace
}  // namespace kernelpack::cli
