#include "contract/inference.hpp"

#include <gtest/gtest.h>

#include "contract/bind.hpp"
#include "contract/test_model.hpp"

namespace kernelpack::contract {
namespace {

using Specs = std::vector<NamedSpec>;

std::shared_ptr<const package::Model> with_output(const std::string& output, const std::string& more = "") {
  return model_of(
      R"({ "name": "A", "inputs": { "x": { "dtype": "T" } }, "outputs": { "y": )" + output +
      R"( }, "typeConstraints": { "T": ["float32", "float16", "int32"], "I": ["int64"], "F": ["float16", "float32"] })" +
      more + " }");
}

const Specs kInputs{{"x", {DType::int32, {2, 3}}}};

Call bind_x(const package::Model& model, const BindOptions& options = {}) {
  return contract::bind(model, kInputs, options);
}

TEST(Inference, ShapesAreExpressionsOrLists) {
  EXPECT_EQ(bind_x(*with_output(R"({ "shape": "[numel(shapes.x)]" })")).outputs[0].shape, (Shape{6}));
  EXPECT_EQ(bind_x(*with_output(R"({ "shape": ["ranks.x", 7] })")).outputs[0].shape, (Shape{2, 7}));
  EXPECT_EQ(bind_x(*with_output(R"({ "shape": [] })")).outputs[0].shape, (Shape{}));
}

TEST(Inference, OnlyReachableDerivesAreEvaluated) {
  const auto model = with_output(R"({ "shape": "[b]" })",
                                 R"J(, "derive": { "bad": "broadcastShape([2], [3])", "a": "numel(shapes.x)",
    "late": "ranks.y.z + 1", "b": "a + 1" })J");
  EXPECT_EQ(bind_x(*model).outputs[0].shape, (Shape{7}));
}

TEST(Inference, FailureOfANeededDeriveNamesTheDerive) {
  const auto model = with_output(R"({ "shape": "[b]" })", R"(, "derive": { "a": "1 + none", "b": "a + 1" })");
  const Error error = error_of([&] { bind_x(*model); });
  EXPECT_EQ(error.kind(), ErrorKind::expression);
  EXPECT_NE(error.where().find("manifest.json:/derive/a"), std::string::npos) << error.report();
  ASSERT_FALSE(error.context().empty());
  EXPECT_EQ(error.context().back(), "While inferring the shape of output y of ai.onnx.A");
}

TEST(Inference, FailedDeriveThatIsOnlyTestedIsNotThere) {
  const auto model =
      with_output(R"({ "shape": "[2 if a is defined else 5]" })", R"(, "derive": { "a": "1 + none" })");
  EXPECT_EQ(bind_x(*model).outputs[0].shape, (Shape{5}));
}

TEST(Inference, DeviceHasDefaultsAndNoFeatures) {
  const auto model = with_output(
      R"J({ "shape": "[1 if device.features.has('shader-f16') else 2, device.limits.maxComputeInvocationsPerWorkgroup, device.features.size]" })J");
  EXPECT_EQ(bind_x(*model).outputs[0].shape, (Shape{2, 256, 0}));
  EXPECT_EQ(bind_x(*with_output(R"J({ "shape": "[1 if f16Ok('f16') else 2]" })J")).outputs[0].shape,
            (Shape{2}));
}

TEST(Inference, OutputIsNotPresentWhileItIsInferred) {
  EXPECT_EQ(bind_x(*with_output(R"({ "shape": "[1 if present.y else 2]" })")).outputs[0].shape, (Shape{2}));
  EXPECT_EQ(bind_x(*with_output(R"J({ "shape": "[1 if has(shapes, 'y') else 2]" })J")).outputs[0].shape,
            (Shape{2}));
}

TEST(Inference, ResultMustBeAListOfDimensions) {
  for (const std::string shape : {"3", "[1, -1]", "[0.5]", "['a']", "[none]", "[1 / 0]", "[true]"}) {
    const auto model = with_output("{ \"shape\": \"" + shape + "\" }");
    const Error error = error_of([&] { bind_x(*model); });
    EXPECT_EQ(error.kind(), ErrorKind::contract) << shape << ": " << error.report();
    EXPECT_EQ(error.where(), "output y");
  }
}

TEST(Inference, RulesOfDtypes) {
  const auto dtype = [](const std::string& output, const std::string& more = "",
                        const BindOptions& options = {}) {
    return bind_x(*with_output(output, more), options).outputs[0].dtype;
  };
  EXPECT_EQ(dtype(R"({ "dtype": "uint8", "shape": [1] })"), DType::uint8);
  EXPECT_EQ(dtype(R"({ "shape": [1] })"), DType::float32);
  EXPECT_EQ(dtype(R"({ "dtype": "T", "shape": [1] })"), DType::int32);
  EXPECT_EQ(dtype(R"({ "dtype": "I", "shape": [1] })"), DType::int64);
  const std::string to =
      R"(, "attributes": { "to": {} }, "attributeConstraints": { "to": { "required": true } })";
  EXPECT_EQ(dtype(R"({ "dtype": "F", "shape": [1] })", to, {.attributes = {{"to", 10}}}), DType::float16);
  EXPECT_EQ(error_of([&] {
              dtype(R"({ "dtype": "F", "shape": [1] })", to, {.attributes = {{"to", 6}}});
            }).where(),
            "attribute to");
  EXPECT_EQ(error_of([&] {
              dtype(R"({ "dtype": "F", "shape": [1] })", to, {.attributes = {{"to", "x"}}});
            }).kind(),
            ErrorKind::contract);
  // Rule 5: the first input that the constraint allows; int32 is not among them.
  EXPECT_EQ(error_of([&] { dtype(R"({ "dtype": "F", "shape": [1] })"); }).where(), "output y");
  const auto model = with_output(R"({ "dtype": "F", "shape": [1] })");
  EXPECT_EQ(contract::bind(*model, Specs{{"x", {DType::float16, {1}}}}, {}).outputs[0].dtype, DType::float16);
}

TEST(Inference, StorageOfAProjectedOutput) {
  const Call call = bind_x(*with_output(R"({ "dtype": "I", "storage": "int32", "shape": [1] })"));
  EXPECT_EQ(call.outputs[0].dtype, DType::int64);
  EXPECT_EQ(call.outputs[0].storage, DType::int32);
}

TEST(Point64, OptionalOutputsOnRequestAndShapesOrDestinations) {
  const auto optional = with_output(R"({ "dtype": "T", "optional": true, "shape": "shapes.x" })");
  EXPECT_TRUE(bind_x(*optional).outputs.empty());
  EXPECT_EQ(bind_x(*optional, {.wanted = {{"y"}}}).outputs[0].shape, (Shape{2, 3}));
  EXPECT_EQ(bind_x(*optional, {.destinations = {{"y", {DType::int32, {2, 3}}}}}).outputs.size(), 1u);

  const auto bare = with_output(R"({ "dtype": "T" })");
  const Error error = error_of([&] { bind_x(*bare); });
  EXPECT_EQ(error.kind(), ErrorKind::contract);
  EXPECT_EQ(error.message(),
            "The shape of output y cannot be inferred: the contract states none; give a destination");
  EXPECT_EQ(bind_x(*bare, {.wanted = {{"y", TensorSpec{DType::int32, {9}}}}}).outputs[0].shape, (Shape{9}));
  EXPECT_EQ(bind_x(*bare, {.destinations = {{"y", {DType::int32, {9}}}}}).outputs[0].shape, (Shape{9}));
}

TEST(Inference, BudgetOfStepsIsKept) {
  const auto model = with_output(R"J({ "shape": "[numel(fill(1, 100000))]" })J");
  Budgets budgets;
  budgets.list_length = 1000;
  EXPECT_EQ(error_of([&] { contract::bind(*model, kInputs, {}, budgets); }).kind(), ErrorKind::limit);
}

}  // namespace
}  // namespace kernelpack::contract
