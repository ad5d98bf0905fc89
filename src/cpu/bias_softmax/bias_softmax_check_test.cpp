#include <gtest/gtest.h>

#include <cmath>

#include "cpu/bias_softmax/bias_softmax.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::cpu {
namespace {

Call call_of(Shape data, Shape bias, NamedValues attributes, DType dtype = DType::float32) {
  Call call;
  call.op = "com.microsoft.BiasSoftmax";
  call.inputs = {{.name = "data", .dtype = dtype, .storage = dtype, .shape = data},
                 {.name = "bias", .dtype = dtype, .storage = dtype, .shape = std::move(bias)}};
  call.outputs = {{.name = "output", .dtype = dtype, .storage = dtype, .shape = std::move(data)}};
  call.attributes = std::move(attributes);
  return call;
}

NamedValues attributes(AttributeValue axis, AttributeValue inner) {
  return {{"axis", std::move(axis)}, {"is_inner_broadcast", std::move(inner)}};
}

std::string refusal(const Call& call) {
  try {
    check_bias_softmax(call);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::contract);
    return error.message();
  }
  return "accepted";
}

TEST(BiasSoftmaxCheck, ReadsRowsFromAxisOn) {
  const Shape data{8, 4, 4, 2, 2, 8};
  EXPECT_EQ(bias_softmax_shape(call_of(data, {8, 4, 1, 1, 2, 8}, attributes(4, 1))),
            (BiasSoftmaxShape{DType::float32, 256, 16, 32, 8}));
  EXPECT_EQ(bias_softmax_shape(call_of(data, {8, 1, 1, 2, 2, 8}, attributes(-3, 1))),
            (BiasSoftmaxShape{DType::float32, 128, 32, 8, 16}));
  EXPECT_EQ(bias_softmax_shape(call_of(data, {1, 4, 2, 2, 8}, attributes(4, 0), DType::float16)),
            (BiasSoftmaxShape{DType::float16, 256, 16, 8, 1}));
  EXPECT_EQ(bias_softmax_shape(call_of({2, 3, 4}, {2, 3, 4}, attributes(0, 0))),
            (BiasSoftmaxShape{DType::float32, 1, 24, 1, 1}));
}

TEST(BiasSoftmaxCheck, AnyIntegerButZeroIsInner) {
  for (const double inner : {1.0, 2.0, -1.0, 1e300}) {
    EXPECT_EQ(bias_softmax_shape(call_of({12, 5}, {3, 5}, attributes(1, inner))).repeat, 4) << inner;
  }
  EXPECT_EQ(bias_softmax_shape(call_of({12, 5}, {3, 5}, attributes(1, 0))).repeat, 1);
  EXPECT_EQ(bias_softmax_shape(call_of({12, 5}, {3, 5}, attributes(1, -0.0))).repeat, 1);
}

TEST(BiasSoftmaxCheck, AxisIsOneUnlessGiven) {
  EXPECT_EQ(bias_softmax_shape(call_of({6, 2, 2}, {2, 2}, {{"is_inner_broadcast", 0}})).columns, 4);
}

TEST(BiasSoftmaxCheck, EmptyTensorsGoTogether) {
  for (const Shape& data : {Shape{0, 4}, Shape{4, 0}, Shape{0}, Shape{3, 0, 5}}) {
    const BiasSoftmaxShape shape = bias_softmax_shape(call_of(data, {0}, attributes(0, 1)));
    EXPECT_EQ(shape.rows * shape.columns, 0);
  }
  EXPECT_EQ(refusal(call_of({0, 4}, {1, 4}, attributes(1, 0))),
            "The input data (float32[0, 4]) is empty, but the input bias (float32[1, 4]) is not");
  EXPECT_EQ(refusal(call_of({2, 4}, {0, 4}, attributes(1, 0))),
            "The input bias (float32[0, 4]) is empty, but the input data (float32[2, 4]) is not");
}

TEST(BiasSoftmaxCheck, RefusesAxes) {
  EXPECT_EQ(refusal(call_of({2, 3, 4}, {4}, attributes(3, 0))),
            "The attribute axis (3) is outside [-3, 2], the axes of input data of rank 3");
  EXPECT_EQ(refusal(call_of({2, 3, 4}, {4}, attributes(-4, 0))),
            "The attribute axis (-4) is outside [-3, 2], the axes of input data of rank 3");
  EXPECT_EQ(refusal(call_of({2, 3, 4}, {4}, attributes(1e300, 0)))
                .rfind("The attribute axis (1e+300) is outside", 0),
            0u);
  EXPECT_EQ(refusal(call_of({4}, {4}, {{"is_inner_broadcast", 0}})),
            "The attribute axis (1) is outside [-1, 0], the axes of input data of rank 1");
  EXPECT_EQ(refusal(call_of({}, {}, attributes(0, 0))),
            "The rank of input data (0) leaves no axis; at least 1 is needed");
}

TEST(BiasSoftmaxCheck, RefusesAttributesThatAreNotIntegers) {
  EXPECT_EQ(refusal(call_of({2, 4}, {4}, attributes(0.5, 0))), "The attribute axis (0.5) is not an integer");
  EXPECT_EQ(refusal(call_of({2, 4}, {4}, attributes(std::nan(""), 0))),
            "The attribute axis (nan) is not an integer");
  EXPECT_EQ(refusal(call_of({2, 4}, {4}, attributes(HUGE_VAL, 0))),
            "The attribute axis (inf) is not an integer");
  EXPECT_EQ(refusal(call_of({2, 4}, {4}, attributes("1", 0))),
            "The attribute axis (a string) is not a number");
  EXPECT_EQ(refusal(call_of({2, 4}, {4}, attributes(true, 0))),
            "The attribute axis (a bool) is not a number");
  EXPECT_EQ(refusal(call_of({2, 4}, {4}, attributes(AttributeValue(), 0))),
            "The attribute axis (null) is not a number");
  EXPECT_EQ(refusal(call_of({2, 4}, {4}, attributes(AttributeValue::List{1}, 0))),
            "The attribute axis (a list) is not a number");
  EXPECT_EQ(refusal(call_of({2, 4}, {4}, attributes(1, 0.25))),
            "The attribute is_inner_broadcast (0.25) is not an integer");
  EXPECT_EQ(refusal(call_of({2, 4}, {4}, {{"axis", 1}})), "The attribute is_inner_broadcast is missing");
}

TEST(BiasSoftmaxCheck, RefusesBiasThatDoesNotFit) {
  EXPECT_EQ(
      refusal(call_of({12, 4}, {1, 3}, attributes(1, 0))),
      "The number of elements of input bias (float32[1, 3], 3 elements) is not a multiple of the row "
      "length of input data (4 elements from axis 1 of float32[12, 4]); 1, 2, 3, 4, 6 or 12 such rows would "
      "do");
  EXPECT_EQ(refusal(call_of({12, 4}, {5, 4}, attributes(1, 0))),
            "The number of rows of input bias (5 in float32[5, 4], of 4 elements) does not divide that of "
            "input data "
            "(12 in float32[12, 4]); 1, 2, 3, 4, 6 or 12 would do");
  EXPECT_EQ(refusal(call_of({1, 4}, {2, 4}, attributes(1, 1))),
            "The number of rows of input bias (2 in float32[2, 4], of 4 elements) does not divide that of "
            "input data "
            "(1 in float32[1, 4]); 1 would do");
  EXPECT_NE(refusal(call_of({720720, 1}, {17, 1}, attributes(1, 1)))
                .find("; 1, 2, 3, 4, 5, 6, ..., 360360 or 720720 would do"),
            std::string::npos);
}

TEST(BiasSoftmaxCheck, RefusesDtypes) {
  EXPECT_EQ(refusal(call_of({2, 4}, {4}, attributes(1, 0), DType::float64)),
            "The dtype of input data (float64) is neither float32 nor float16");
  Call mixed = call_of({2, 4}, {4}, attributes(1, 0));
  mixed.inputs[1].dtype = DType::float16;
  EXPECT_EQ(refusal(mixed), "The dtype of input bias (float16) differs from that of input data (float32)");
}

TEST(BiasSoftmaxCheck, CountsBeyondTwoToThe31AreExact) {
  const std::int64_t rows = std::int64_t{3} << 31;
  const BiasSoftmaxShape shape =
      bias_softmax_shape(call_of({3, std::int64_t{1} << 31, 8}, {3, 1, 8}, attributes(2, 1)));
  EXPECT_EQ(shape.rows, rows);
  EXPECT_EQ(shape.repeat, std::int64_t{1} << 31);
  const BiasSoftmaxPlan plan = plan_bias_softmax(shape, 2, best_target());
  EXPECT_GT(plan.tasks, 1);
  EXPECT_EQ(refusal(call_of({std::int64_t{1} << 40, std::int64_t{1} << 40}, {1}, attributes(0, 0))),
            "The number of elements of input data (float32[1099511627776, 1099511627776]) is not between 0 "
            "and 2^53 - 1");
}

TEST(BiasSoftmaxCheck, SaysWhere) {
  const auto where = [](const Call& call) -> std::string {
    try {
      check_bias_softmax(call);
    } catch (const Error& error) {
      return error.where();
    }
    return "accepted";
  };
  EXPECT_EQ(where(call_of({2, 4}, {4}, attributes(2, 0))), "attribute axis");
  EXPECT_EQ(where(call_of({2, 4}, {4}, attributes(1, 0.5))), "attribute is_inner_broadcast");
  EXPECT_EQ(where(call_of({2, 4}, {3}, attributes(1, 0))), "input bias");
  EXPECT_EQ(where(call_of({2, 4}, {3, 4}, attributes(1, 0))), "input bias");
  EXPECT_EQ(where(call_of({2, 4}, {0, 4}, attributes(1, 0))), "input bias");
  EXPECT_EQ(where(call_of({0, 4}, {4}, attributes(1, 0))), "input data");
  EXPECT_EQ(where(call_of({}, {}, attributes(0, 0))), "input data");
}

TEST(BiasSoftmaxCheck, OnlyDataMayBeTheOutput) {
  const Call call = call_of({2, 4}, {4}, attributes(1, 0));
  EXPECT_TRUE(bias_softmax_in_place(call, 0, 0));
  EXPECT_FALSE(bias_softmax_in_place(call, 0, 1));
  EXPECT_FALSE(bias_softmax_in_place(call, 0, 2));
}

}  // namespace
}  // namespace kernelpack::cpu
