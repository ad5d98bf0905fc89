#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernelpack/cases.hpp"
#include "kernelpack/kernel.hpp"

namespace kernelpack {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr const char* kOp = "com.microsoft.BiasSoftmax";

TestTolerance usual() {
  TestTolerance tolerance;
  tolerance.float32 = {2e-6, 3e-7, 1.2e-38};
  tolerance.float16 = {1, 0x1p-14, 6.1e-05};
  return tolerance;
}

Judgement judge_one(const Tensor& got, double expected, double distance, bool exact = false,
                    const TestTolerance& tolerance = usual()) {
  ReferenceOutput reference;
  reference.name = "y";
  reference.expected = Tensor::from(std::vector<double>{expected}, {1});
  reference.distance = Tensor::from(std::vector<double>{distance}, {1});
  return judge(got, reference, tolerance, exact);
}
double used(float got, double expected, double distance = 0, bool exact = false) {
  return judge_one(Tensor::from(std::vector<float>{got}, {1}), expected, distance, exact).multiple;
}
double used_half(std::uint16_t bits, double expected, bool exact = false) {
  return judge_one(Tensor::from(std::vector<Float16>{Float16::from_bits(bits)}, {1}), expected, 1, exact)
      .multiple;
}

TEST(Judge, AllowsFloat32ItsTolerance) {
  EXPECT_EQ(used(0.5F, 0.5), 0);
  EXPECT_NEAR(used(0.5F, 0.5 * (1 + 1e-6)), 0.5, 1e-3);
  EXPECT_NEAR(used(0.5F, 0.5 * (1 + 4e-6)), 2, 1e-3);
  EXPECT_NEAR(used(0.5F, 0.5 * (1 + 4e-6), 20 / 3.0), 1, 1e-3) << "the distance does not count";
  EXPECT_NEAR(used(0.0F, 6e-39), 0.5, 1e-3) << "the floor does not count";
  EXPECT_GT(used(0.0F, 1e-37), 1);
  EXPECT_LT(used(1e-39F, 0.0, 800), 1) << "what vanishes in double may be as small as the floor";
}

TEST(Judge, WantsZeroWhereTheInputIsMinusInfinity) {
  EXPECT_EQ(used(0.0F, 0, kInf), 0);
  EXPECT_EQ(used(-0.0F, 0, kInf), 0);
  EXPECT_EQ(used(1e-45F, 0, kInf), kInf);
  EXPECT_EQ(used(1e-45F, 0, 0), kInf) << "a row of minus infinity alone";
}

TEST(Judge, MatchesNaNWithNaNAlone) {
  EXPECT_EQ(used(std::nanf(""), kNaN, kNaN), 0);
  EXPECT_EQ(used(std::nanf(""), 0.5), kInf);
  EXPECT_EQ(used(0.5F, kNaN, kNaN), kInf);
  EXPECT_EQ(used(std::numeric_limits<float>::infinity(), 0.5), kInf);
  EXPECT_EQ(used(std::numeric_limits<float>::infinity(), kInf), 0);
  EXPECT_EQ(used_half(0x7e00, kNaN), 0);
  EXPECT_EQ(used_half(0x7e00, 1), kInf);
}

TEST(Judge, CountsFloat16InSteps) {
  EXPECT_EQ(used_half(0x3c00, 1.0), 0);
  EXPECT_EQ(used_half(0x3bff, 1.0), 1);
  EXPECT_EQ(used_half(0x3bfe, 1.0), 2);
  EXPECT_EQ(used_half(0x3c00, 1 + 0x1p-11 + 0x1p-40), 1) << "the reference is rounded twice";
  // Below 2^-14 the steps are too fine for a device that flushes what is small.
  EXPECT_NEAR(used_half(0x0000, 6e-05), 6e-05 / 6.1e-05, 1e-6);
  EXPECT_GT(used_half(0x0000, 6.2e-05), 1);
}

TEST(Judge, WantsTheRoundedReferenceWhereTheCaseIsExact) {
  EXPECT_EQ(used(1.0F / 3, 1.0 / 3, 0, true), 0);
  EXPECT_EQ(used(std::nextafterf(1.0F / 3, 1), 1.0 / 3, 0, true), kInf);
  EXPECT_EQ(used_half(0x3555, 1.0 / 3, true), 0);
  EXPECT_EQ(used_half(0x3556, 1.0 / 3, true), kInf);
}

TEST(Judge, WantsTheRoundedReferenceWithoutATolerance) {
  const Tensor one = Tensor::from(std::vector<float>{0.25F}, {1});
  EXPECT_EQ(judge_one(one, 0.25, 0, false, {}).multiple, 0);
  EXPECT_EQ(judge_one(one, 0.25 + 1e-7, 0, false, {}).wrong, 1);
  const Tensor integer = Tensor::from(std::vector<std::int32_t>{7}, {1});
  EXPECT_EQ(judge_one(integer, 7, 0).multiple, 0);
  EXPECT_EQ(judge_one(integer, 8, 0).multiple, kInf);
}

TEST(Judge, TellsTheWorstElement) {
  ReferenceOutput reference;
  reference.name = "y";
  reference.expected = Tensor::from(std::vector<double>{1, 1, 1, 1}, {2, 2});
  reference.distance = Tensor::from(std::vector<double>{0, 0, 0, 0}, {2, 2});
  const Tensor got = Tensor::from(std::vector<float>{1, 2, 3, 1.000001F}, {2, 2});
  const Judgement judged = judge(got, reference, usual(), false);
  EXPECT_EQ(judged.elements, 4);
  EXPECT_EQ(judged.wrong, 2);
  EXPECT_EQ(judged.worst, 2);
  EXPECT_EQ(judged.got, 3);
  EXPECT_EQ(judged.expected, 1);
  EXPECT_THROW(judge(Tensor::from(std::vector<float>{1, 2, 3, 1}, {4}), reference, usual(), false), Error);
}

TEST(Reference, IsTheOperatorsDefinition) {
  EXPECT_TRUE(has_reference(kOp));
  EXPECT_FALSE(has_reference("test.Other"));
  const Kernel kernel = Kernel::get(std::string(KERNELPACK_SOURCE_DIR) + "/packages/" + kOp);
  const std::vector<NamedSpec> specs{{"data", {DType::float32, {3, 2}}}, {"bias", {DType::float32, {1, 2}}}};
  const Call call = kernel.bind(specs, {.attributes = {{"axis", 1}, {"is_inner_broadcast", 0}}});
  const auto low = -std::numeric_limits<float>::infinity();
  const Tensor data = Tensor::from(std::vector<float>{0, 1, low, low, std::nanf(""), 0}, {3, 2});
  const Tensor bias = Tensor::from(std::vector<float>{0, 1}, {1, 2});
  const std::vector<TensorView> inputs{data, bias};
  const std::vector<ReferenceOutput> outputs = reference_outputs(call, inputs);
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].name, "output");
  EXPECT_EQ(outputs[0].expected.spec(), (TensorSpec{DType::float64, {3, 2}}));
  const auto values = outputs[0].expected.values<double>();
  EXPECT_NEAR(values[0], 1 / (1 + std::exp(2.0)), 1e-15);
  EXPECT_NEAR(values[1], 1 / (1 + std::exp(-2.0)), 1e-15);
  EXPECT_EQ(values[2], 0);
  EXPECT_EQ(values[3], 0);
  EXPECT_TRUE(std::isnan(values[4]));
  EXPECT_EQ(outputs[0].distance.values<double>()[0], 2);
  EXPECT_EQ(outputs[0].distance.values<double>()[2], 0);
}

TEST(Reference, RefusesWhatItCannotCompute) {
  const Kernel kernel = Kernel::get(std::string(KERNELPACK_SOURCE_DIR) + "/packages/" + kOp);
  const std::vector<NamedSpec> specs{{"data", {DType::float32, {3, 2}}}, {"bias", {DType::float32, {1, 2}}}};
  Call call = kernel.bind(specs, {.attributes = {{"axis", 1}, {"is_inner_broadcast", 0}}});
  const Tensor small(DType::float32, {1, 2});
  const std::vector<TensorView> wrong{small, small};
  const auto kind = [&](const Call& asked, std::span<const TensorView> inputs) {
    try {
      reference_outputs(asked, inputs);
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::internal;
  };
  EXPECT_EQ(kind(call, wrong), ErrorKind::contract);
  EXPECT_EQ(kind(call, {}), ErrorKind::contract);
  call.op = "test.Other";
  EXPECT_EQ(kind(call, wrong), ErrorKind::unsupported);
}

// The ids that the card of this package names, each the chosen one for at least three cases on some device.
TEST(ShippedTestCases, ChooseTheVariantsOfTheCard) {
  const Kernel kernel = Kernel::get(std::string(KERNELPACK_SOURCE_DIR) + "/packages/" + kOp);
  const TestCases cases = read_test_cases(kernel.package());
  EXPECT_GE(cases.cases.size(), 180u);
  for (const std::string id :
       {"online_subgroup_rows_vec4", "online_workgroup_vec4", "online_workgroup_scalar_vec4"}) {
    int chosen = 0;
    for (const TestCase& each : cases.cases) {
      if (each.error || !each.pins.empty()) continue;
      std::vector<NamedSpec> specs;
      for (const CaseInput& input : each.inputs) specs.push_back({input.name, input.spec});
      const Call call = kernel.bind(specs, {.attributes = each.attributes, .tunables = each.tunables});
      for (const TestDevice& device : cases.devices) {
        if (kernel.plan(call, device.facts)->variant != id) continue;
        ++chosen;
        break;
      }
    }
    EXPECT_GE(chosen, 3) << id;
  }
}

}  // namespace
}  // namespace kernelpack
