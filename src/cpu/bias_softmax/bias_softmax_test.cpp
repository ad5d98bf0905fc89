// What BiasSoftmax means, by values that a person can check.
#include <cmath>
#include <numeric>
#include <random>

#include "cpu/bias_softmax/bias_softmax_call_test.hpp"

namespace kernelpack::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kLowest = std::numeric_limits<float>::lowest();
constexpr DType kDTypes[] = {DType::float32, DType::float16};

OpCase make(DType dtype, Shape data_shape, const std::vector<float>& data, Shape bias_shape,
            const std::vector<float>& bias, int axis, int inner) {
  return {tensor_of(dtype, std::move(data_shape), [&](std::size_t i) { return data[i]; }),
          tensor_of(dtype, std::move(bias_shape), [&](std::size_t i) { return bias[i]; }), axis, inner};
}

void expect_row(const std::vector<double>& got, std::size_t row, const std::vector<double>& expected,
                double tolerance = 2e-7) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double value = got[row * expected.size() + i];
    if (std::isnan(expected[i])) {
      EXPECT_TRUE(std::isnan(value)) << "row " << row << " column " << i << ": " << value;
    } else {
      EXPECT_LE(std::abs(value - expected[i]), tolerance)
          << "row " << row << " column " << i << ": " << value;
    }
  }
}

double sum_of(const std::vector<double>& values, std::size_t first, std::size_t count) {
  return std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(first),
                         values.begin() + static_cast<std::ptrdiff_t>(first + count), 0.0);
}

TEST(BiasSoftmax, MaskedRowsAreZeroAndOthersUnharmed) {
  const auto got =
      doubles_of(make(DType::float32, {2, 2, 4}, {1, 2, 3, 4, -1, 0, 1, 2, 1, 2, 3, 4, -1, 0, 1, 2},
                      {2, 1, 4}, {-kInfinity, -kInfinity, -kInfinity, -kInfinity, 0, -kInfinity, 0, 0}, 2, 1)
                     .expect_right());
  expect_row(got, 0, {0, 0, 0, 0}, 0);
  expect_row(got, 1, {0, 0, 0, 0}, 0);
  for (const std::size_t row : {2u, 3u}) {
    expect_row(got, row, {0.03511902695933973, 0, 0.25949646034241913, 0.7053845126982412});
    EXPECT_EQ(got[row * 4 + 1], 0.0);
  }
}

TEST(BiasSoftmax, LowestIsAnOrdinaryNumber) {
  const auto data =
      doubles_of(make(DType::float32, {3, 2}, {kLowest, kLowest, kLowest, 0, -5, 3}, {1, 2}, {0, 0}, 1, 0)
                     .expect_right());
  expect_row(data, 0, {0.5, 0.5}, 0);
  expect_row(data, 1, {0, 1}, 0);
  expect_row(data, 2, {0.0003353501304664781, 0.9996646498695336});
  const auto bias = doubles_of(
      make(DType::float32, {3, 2}, {-5, 3, -5, 3, -5, 3}, {1, 2}, {kLowest, kLowest}, 1, 0).expect_right());
  for (const double value : bias) EXPECT_EQ(value, 0.5);
}

TEST(BiasSoftmax, NonFiniteRowsStayAlone) {
  const auto got = doubles_of(make(DType::float32, {5, 3},
                                   {1, 2, 3, kNaN, 1, 2, kInfinity, 1, 2, 3, 2, 1, -kInfinity, -kInfinity, 0},
                                   {1, 3}, {0, 0, 0}, 1, 0)
                                  .expect_right());
  expect_row(got, 0, {0.09003057317038046, 0.24472847105479764, 0.6652409557748218});
  expect_row(got, 1, {kNaN, kNaN, kNaN});
  expect_row(got, 2, {kNaN, kNaN, kNaN});
  expect_row(got, 3, {0.6652409557748218, 0.24472847105479764, 0.09003057317038046});
  expect_row(got, 4, {0, 0, 1}, 0);
}

TEST(BiasSoftmax, OneColumnIsExactlyOne) {
  for (const DType dtype : kDTypes) {
    for (const std::int64_t rows : {1, 7, 8, 9, 15, 16, 17, 64, 65, 129}) {
      const OpCase op{
          tensor_of(dtype, {rows, 1},
                    [](std::size_t r) { return (r % 2 == 0 ? 77.7 : -77.7) * static_cast<double>(r); }),
          tensor_of(dtype, {1, 1}, [](std::size_t) { return 0.3; }), 1, 0};
      for (const double value : doubles_of(op.expect_right())) EXPECT_EQ(value, 1.0);
    }
  }
  const auto got =
      doubles_of(make(DType::float32, {3, 1}, {kNaN, -kInfinity, 5}, {1}, {0}, 1, 0).expect_right());
  EXPECT_TRUE(std::isnan(got[0]));
  EXPECT_EQ(got[1], 0.0);
  EXPECT_EQ(got[2], 1.0);
}

TEST(BiasSoftmax, UniformHalvesAreExact) {
  const OpCase op{Tensor(DType::float16, {2, 4096}), Tensor(DType::float16, {1, 4096}), 1, 1};
  const Tensor got = op.expect_right();
  for (const Float16 value : got.values<Float16>()) ASSERT_EQ(value.bits, 0x0c00);
}

TEST(BiasSoftmax, ReducesOverAllAxesFromAxisOn) {
  const OpCase op{
      tensor_of(DType::float32, {2, 3, 4}, [](std::size_t i) { return 0.1 * static_cast<double>(i); }),
      tensor_of(DType::float32, {1, 3, 4}, [](std::size_t i) { return -0.05 * static_cast<double>(i); }), 1,
      1};
  const auto got = doubles_of(op.expect_right());
  EXPECT_NEAR(sum_of(got, 0, 12), 1.0, 1e-6);
  EXPECT_NEAR(sum_of(got, 12, 12), 1.0, 1e-6);
  EXPECT_LT(sum_of(got, 0, 4), 0.5);
}

TEST(BiasSoftmax, InnerAndOuterTakeOtherBiasRows) {
  const Tensor data = tensor_of(DType::float32, {3, 4, 5}, [](std::size_t i) {
    return static_cast<double>((7 * (i / 5) + 3 * (i % 5)) % 11) * 0.25;
  });
  const Tensor bias = tensor_of(DType::float32, {1, 4, 5}, [](std::size_t i) {
    return static_cast<double>((5 * (i / 5) + 2 * (i % 5)) % 7) * 0.5 - 1;
  });
  const OpCase outer{data, bias, 2, 0}, inner{data, bias, 2, 1};
  EXPECT_EQ(bias_softmax_shape(outer.call()).repeat, 1);
  EXPECT_EQ(bias_softmax_shape(inner.call()).repeat, 3);
  EXPECT_NE(doubles_of(outer.expect_right()), doubles_of(inner.expect_right()));
}

TEST(BiasSoftmax, OneHotRowsAreExact) {
  for (const std::int64_t columns :
       {3, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 17, 31, 33, 47, 63, 100, 255, 257, 1000}) {
    const auto n = static_cast<std::size_t>(columns);
    for (const DType dtype : kDTypes) {
      const OpCase op{
          tensor_of(dtype, {columns, columns}, [&](std::size_t i) { return i / n == i % n ? 200.0 : 0.0; }),
          Tensor(dtype, {1, columns}), 1, 0};
      const auto got = doubles_of(op.expect_right());
      for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], i / n == i % n ? 1.0 : 0.0) << columns;
    }
  }
}

TEST(BiasSoftmax, CausalMaskLeavesExactZeros) {
  for (const DType dtype : kDTypes) {
    for (const float hidden : {-kInfinity, -1e4f}) {
      std::mt19937_64 random(11);
      std::normal_distribution<double> normal(0, 2);
      const OpCase op{
          tensor_of(dtype, {8, 12, 71, 71}, [&](std::size_t) { return normal(random); }),
          tensor_of(dtype, {1, 1, 71, 71}, [&](std::size_t i) { return i % 71 <= i / 71 ? 0.0f : hidden; }),
          3, 0};
      const auto got = doubles_of(op.expect_right());
      for (std::size_t row = 0; row < got.size() / 71; ++row) {
        const std::size_t q = row % 71;
        if (q == 0) {
          ASSERT_EQ(got[row * 71], 1.0);
        }
        for (std::size_t k = q + 1; k < 71; ++k) ASSERT_EQ(got[row * 71 + k], 0.0);
        ASSERT_NEAR(sum_of(got, row * 71, 71), 1.0, dtype == DType::float32 ? 1e-6 : 2e-3);
      }
    }
  }
}

TEST(BiasSoftmax, WidthsAroundPowersOfTwo) {
  for (const std::int64_t columns :
       {8,   9,   31,  32,  33,   63,   64,   65,   127,  128,  129,  255,  256, 257,
        511, 512, 513, 781, 1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096, 4097}) {
    for (const DType dtype : kDTypes) {
      std::mt19937_64 random(7);
      std::normal_distribution<double> normal(0, 3);
      const auto value = [&](std::size_t) { return normal(random); };
      OpCase{tensor_of(dtype, {256, columns}, value), tensor_of(dtype, {256, columns}, value), 1, 1}
          .expect_right();
    }
  }
}

TEST(BiasSoftmax, LongRowsSumToOne) {
  for (const std::int64_t columns : {65535, 65536, 65537, 524288, 1048576}) {
    const auto n = static_cast<std::size_t>(columns);
    std::mt19937_64 random(3), bias_random(4);
    std::normal_distribution<double> normal(0, 1);
    const OpCase op{tensor_of(DType::float32, {2, columns},
                              [&](std::size_t i) { return i == n - 1 || i == n ? 40.0 : normal(random); }),
                    tensor_of(DType::float32, {1, columns}, [&](std::size_t) { return normal(bias_random); }),
                    1, 0};
    const auto got = doubles_of(op.expect_right());
    const double tolerance = columns >= 1 << 20 ? 4e-6 : 1e-6;
    EXPECT_NEAR(sum_of(got, 0, n), 1.0, tolerance);
    EXPECT_NEAR(sum_of(got, n, n), 1.0, tolerance);
  }
}

TEST(BiasSoftmax, EmptyTensorsGiveEmptyResults) {
  for (const Shape& shape : {Shape{0, 4}, Shape{4, 0}, Shape{0}}) {
    EXPECT_EQ(
        (OpCase{Tensor(DType::float32, shape), Tensor(DType::float32, {0}), 0, 0}).run().element_count(), 0);
  }
}

TEST(BiasSoftmax, TheToleranceRefusesWrongResults) {
  EXPECT_TRUE(bias_softmax_matches(DType::float32, 0.5 + 2e-7, 0.5, 0, 10));
  EXPECT_FALSE(bias_softmax_matches(DType::float32, 0.5 + 3e-7, 0.5, 0, 10));
  EXPECT_TRUE(bias_softmax_matches(DType::float32, 0.5 + 3e-7, 0.5, 0, 65537));
  EXPECT_FALSE(bias_softmax_matches(DType::float32, 1.0 + 1e-7, 1.0, 0, 10));
  EXPECT_FALSE(bias_softmax_matches(DType::float32, -1e-45, 0.0, 10, 10));
  EXPECT_FALSE(bias_softmax_matches(DType::float32, 1e-45, 0.0, 105, 10));
  EXPECT_TRUE(bias_softmax_matches(DType::float32, 1e-39, 0.0, 88, 10));
  EXPECT_FALSE(bias_softmax_matches(DType::float32, kNaN, 0.5, 0, 10));
  EXPECT_FALSE(bias_softmax_matches(DType::float32, 0.5, kNaN, kNaN, 10));
  EXPECT_TRUE(bias_softmax_matches(DType::float32, kNaN, kNaN, kNaN, 10));
  EXPECT_TRUE(bias_softmax_matches(DType::float16, 0.5 + 0x1p-11, 0.5, 0, 10));
  EXPECT_FALSE(bias_softmax_matches(DType::float16, 0.5 + 0x1p-10, 0.5, 0, 10));
}

}  // namespace
}  // namespace kernelpack::cpu
