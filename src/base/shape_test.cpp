#include "base/shape.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "kernelpack/error.hpp"

namespace kernelpack {
namespace {

std::string failure(const Shape& shape) {
  try {
    element_count(shape);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::contract);
    return error.message();
  }
  return "no error";
}

TEST(Shape, Text) {
  EXPECT_EQ(to_string(Shape{}), "[]");
  EXPECT_TRUE(to_string(Shape(64, 1)).ends_with(", 1]"));
  EXPECT_TRUE(to_string(Shape(65, 1)).ends_with(", 1, ... 65 dimensions]"));
  EXPECT_EQ(to_string(Shape{8, 12, 42, 42}), "[8, 12, 42, 42]");
  EXPECT_EQ(to_string(TensorSpec{DType::bool_, {2, 0}}), "bool[2, 0]");
}

TEST(Shape, CountsAboveTwoToThe31) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({0}), 0);
  EXPECT_EQ(element_count({65536, 65536}), std::int64_t{1} << 32);
  EXPECT_EQ(element_count({std::int64_t{1} << 31, 2, 3}), (std::int64_t{1} << 32) * 3);
  EXPECT_EQ(element_count({kMaxExactInteger}), kMaxExactInteger);
  EXPECT_EQ(byte_count({DType::float16, {std::int64_t{1} << 31}}), std::int64_t{1} << 32);
}

TEST(Shape, OverflowAndNegativeDimensionsAreRefused) {
  EXPECT_EQ(failure({2, -1}), "The dimension 1 (-1) of the shape ([2, -1]) is negative");
  EXPECT_EQ(failure({0, -1}), "The dimension 1 (-1) of the shape ([0, -1]) is negative");
  const std::string too_many =
      "The number of elements of the shape ([4294967296, 4294967296]) exceeds 2^53 - 1 (9007199254740991)";
  EXPECT_EQ(failure({std::int64_t{1} << 32, std::int64_t{1} << 32}), too_many);
  EXPECT_NE(failure({kMaxExactInteger + 1}), "no error");
  EXPECT_NE(failure({std::numeric_limits<std::int64_t>::max(), 0}), "no error");
  EXPECT_NE(failure({std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::max()}),
            "no error");
  EXPECT_THROW(byte_count({DType::float64, {kMaxExactInteger / 4}}), Error);
}

TEST(Shape, CheckedProduct) {
  const std::int64_t big = std::int64_t{1} << 40;
  EXPECT_EQ(checked_product({big, big, 0}, 0, 3), 0);
  EXPECT_EQ(checked_product({0, big, big}, 0, 3), 0);
  EXPECT_EQ(checked_product({big, big, 0}, 0, 2), std::nullopt);
  EXPECT_EQ(checked_product({2, 3, 5}, 1, 3), 15);
  EXPECT_EQ(checked_product({2, 3, 5}, 3, 3), 1);
  EXPECT_EQ(checked_product({2, 3}, 0, 99), 6);
  EXPECT_EQ(checked_product({2, -3, 0}, 0, 3), std::nullopt);
}

TEST(Shape, CheckedMultiply) {
  EXPECT_EQ(checked_multiply(3, 5), 15);
  EXPECT_EQ(checked_multiply(0, std::numeric_limits<std::int64_t>::max()), 0);
  EXPECT_EQ(checked_multiply(kMaxExactInteger, 1), kMaxExactInteger);
  EXPECT_EQ(checked_multiply(std::int64_t{1} << 52, 2), std::nullopt);
  EXPECT_EQ(checked_multiply(std::int64_t{1} << 62, 4), std::nullopt);
}

}  // namespace
}  // namespace kernelpack
