#include "figures.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace kernelpack::cli {
namespace {

TEST(Figures, PrintDurationsInTheirUnit) {
  EXPECT_EQ(duration_text(123e-9), "123 ns");
  EXPECT_EQ(duration_text(12.34e-6), "12.3 us");
  EXPECT_EQ(duration_text(1.456e-3), "1.46 ms");
  EXPECT_EQ(duration_text(62.5), "62.50 s");
}

TEST(Figures, PrintMetricPrefixes) {
  EXPECT_EQ(metric_text(12, "B"), "12 B");
  EXPECT_EQ(metric_text(1234, "B"), "1.234 kB");
  EXPECT_EQ(metric_text(1.5e9, "B"), "1.5 GB");
  EXPECT_EQ(metric_text(1e18, "B"), "1e+06 TB");
}

TEST(Figures, TakeTheMedian) {
  EXPECT_EQ(median({3}), 3);
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
}

TEST(Figures, SummarizeFiniteValuesAndCountTheRest) {
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor tensor =
      Tensor::from<float>({-1, std::numeric_limits<float>::quiet_NaN(), 3, infinity, -infinity}, {5});
  EXPECT_EQ(values_text(summarize(tensor)), "min -1, max 3, mean 1, 1 NaN, 2 infinite");
  EXPECT_EQ(values_text(summarize(Tensor(DType::float32, {0}))), "no elements");
  EXPECT_EQ(values_text(summarize(Tensor::from<float>({infinity}, {1}))), "no finite value, 1 infinite");
  EXPECT_EQ(values_text(summarize(Tensor::from<std::int8_t>({-3, 5}, {2}))), "min -3, max 5, mean 1");
}

}  // namespace
}  // namespace kernelpack::cli
