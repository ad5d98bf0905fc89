// Expected values were computed by an independent program from the definitions in docs/package-schema.md.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernelpack/cases.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack {
namespace {

Fill random(Fill::Kind kind, double first, double second, std::uint64_t seed) {
  Fill fill;
  fill.kind = kind;
  fill.first = first;
  fill.second = second;
  fill.seed = seed;
  return fill;
}

Tensor made(DType dtype, Shape shape, const Fill& fill) {
  CaseInput input;
  input.name = "x";
  input.spec.dtype = dtype;
  input.spec.shape = std::move(shape);
  input.fill = fill;
  return make_tensor(input);
}

TEST(CaseValues, UniformDependsOnSeedAndPlaceAlone) {
  const Fill fill = random(Fill::Kind::uniform, -4, 4, 7);
  const Tensor large = made(DType::float32, {1000, 1000}, fill);
  const auto values = large.values<float>();
  EXPECT_EQ(values[0], 0x1.5365a0p+1F);
  EXPECT_EQ(values[1], 0x1.e79ddap+0F);
  EXPECT_EQ(values[999999], -0x1.df54a6p+0F);
  const Tensor small = made(DType::float32, {10}, fill);
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(small.values<float>()[i], values[i]);
  const Tensor half = made(DType::float16, {1}, fill);
  EXPECT_EQ(half.values<Float16>()[0].bits, 0x414e);
}

TEST(CaseValues, NormalSumsTwelve) {
  const Tensor x = made(DType::float32, {6}, random(Fill::Kind::normal, 0.5, 2, 3));
  EXPECT_EQ(x.values<float>()[0], 0x1.9c0b80p-2F);
  EXPECT_EQ(x.values<float>()[5], -0x1.c93d76p-1F);
}

TEST(CaseValues, RoundsToFloat16Once) {
  Fill fill;
  fill.kind = Fill::Kind::values;
  fill.values = {1 + 0x1p-11, 1 + 0x1p-11 + 0x1p-40, 65519.99999,
                 2049.0,      1 + 0x1p-11 - 0x1p-40, 5.960464477539063e-08 * 0.5000001};
  const Tensor x = made(DType::float16, {6}, fill);
  const std::uint16_t expected[] = {0x3c00, 0x3c01, 0x7bff, 0x6800, 0x3c00, 0x0001};
  for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(x.values<Float16>()[i].bits, expected[i]) << i;
}

TEST(CaseValues, LaterSetsReplaceEarlierOnes) {
  Fill fill;
  fill.kind = Fill::Kind::ramp;
  fill.first = 1;
  fill.second = 0.5;
  fill.set = {{1, 2, std::numeric_limits<double>::quiet_NaN()}, {3, 100, 9}};
  const Tensor x = made(DType::float32, {6}, fill);
  const auto values = x.values<float>();
  EXPECT_EQ(values[0], 1);
  EXPECT_TRUE(std::isnan(values[1]));
  EXPECT_EQ(values[2], 2);
  EXPECT_EQ(values[3], 9);
  EXPECT_TRUE(std::isnan(values[5]));
}

TEST(CaseValues, CausalMasksWhatComesLater) {
  Fill fill;
  fill.kind = Fill::Kind::causal;
  fill.value = -std::numeric_limits<double>::infinity();
  const Tensor x = made(DType::float32, {2, 2, 3}, fill);
  const auto values = x.values<float>();
  for (std::size_t i = 0; i < 12; ++i) {
    const bool later = i % 3 > i / 3 % 2;
    EXPECT_EQ(values[i], later ? -std::numeric_limits<float>::infinity() : 0.0F) << i;
  }
}

TEST(CaseValues, ReadsTheShippedCases) {
  for (const char* folder :
       {"packages/com.microsoft.BiasSoftmax", "packages/generations/1.0/com.microsoft.BiasSoftmax"}) {
    const Package package = Package::load(std::filesystem::path(KERNELPACK_SOURCE_DIR) / folder);
    const BenchmarkCases read = read_benchmark_cases(package);
    EXPECT_GE(read.cases.size(), 20u) << folder;
    for (const BenchmarkCase& each : read.cases) EXPECT_EQ(each.inputs.size(), 2u) << each.id;
  }
}

}  // namespace
}  // namespace kernelpack
