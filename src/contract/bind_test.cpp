#include "contract/bind.hpp"

#include <gtest/gtest.h>

#include "contract/test_model.hpp"

namespace kernelpack::contract {
namespace {

using Specs = std::vector<NamedSpec>;

const package::Model& softmax() {
  static const auto model = model_of(R"({
    "domain": "com.microsoft", "name": "BiasSoftmax",
    "inputs": { "data": { "dtype": "T" }, "bias": { "dtype": "T" } },
    "outputs": { "output": { "dtype": "T", "rank": "ranks.data", "shape": "shapes.data" } },
    "attributes": { "axis": { "default": 1 }, "is_inner_broadcast": {} },
    "attributeConstraints": { "is_inner_broadcast": { "required": true } },
    "typeConstraints": { "T": ["float32", "float16"] } })");
  return *model;
}

const BindOptions kInner{.attributes = {{"is_inner_broadcast", 1}}};

Specs pair(DType data, Shape shape, DType bias) {
  return {{"data", {data, std::move(shape)}}, {"bias", {bias, {4}}}};
}

void expect_refusal(const package::Model& model, const Specs& inputs, const BindOptions& options,
                    std::string_view message, std::string_view where, ErrorKind kind = ErrorKind::contract) {
  const Error error = error_of([&] { contract::bind(model, inputs, options); });
  EXPECT_EQ(error.kind(), kind);
  EXPECT_EQ(error.message(), message);
  EXPECT_EQ(error.where(), where);
}

TEST(Bind, FillsDefaultsTypesAndOutputs) {
  const Call call = contract::bind(softmax(), pair(DType::float16, {2, 3, 4}, DType::float16), kInner);
  EXPECT_EQ(call.op, "com.microsoft.BiasSoftmax");
  EXPECT_EQ(call.attributes, (NamedValues{{"axis", 1}, {"is_inner_broadcast", 1}}));
  ASSERT_EQ(call.outputs.size(), 1u);
  EXPECT_EQ(call.outputs[0].dtype, DType::float16);
  EXPECT_EQ(call.outputs[0].shape, (Shape{2, 3, 4}));
  EXPECT_EQ(call.types, (std::vector<BoundType>{{"T", DType::float16, DType::float16}}));
  EXPECT_EQ(*call.attribute("axis"), AttributeValue(1));
  EXPECT_EQ(call.attribute("other"), nullptr);
  EXPECT_EQ(to_string(call),
            "com.microsoft.BiasSoftmax\n  input data: float16[2, 3, 4]\n  input bias: float16[4]\n  "
            "attribute axis = 1\n"
            "  attribute is_inner_broadcast = 1\n  output output: float16[2, 3, 4]\n");
}

TEST(Bind, OrderOfInputsIsThatOfTheContract) {
  const Specs reversed = {{"bias", {DType::float32, {4}}}, {"data", {DType::float32, {2, 4}}}};
  EXPECT_EQ(contract::bind(softmax(), reversed, kInner),
            contract::bind(softmax(), pair(DType::float32, {2, 4}, DType::float32), kInner));
}

TEST(Bind, RefusalsOfNames) {
  const Specs good = pair(DType::float32, {2, 4}, DType::float32);
  expect_refusal(softmax(), {good[0]}, kInner, "The required input bias is missing; given: data",
                 "input bias");
  expect_refusal(softmax(), {good[0], good[1], {"mask", {DType::float32, {1}}}}, kInner,
                 "The input mask is unknown; known: data, bias", "input mask");
  expect_refusal(softmax(), {good[0], {"bais", good[1].spec}}, kInner,
                 "The input bais is unknown; did you mean (bias)", "input bais");
  expect_refusal(softmax(), {good[0], good[0]}, kInner, "The input data is given twice", "input data");
  expect_refusal(softmax(), {good[0], good[1], {"output", good[0].spec}}, kInner,
                 "The tensor output is an output, but it is given as an input", "input output");
  BindOptions options = kInner;
  options.destinations = {{"outptu", good[0].spec}};
  expect_refusal(softmax(), good, options, "The destination outptu is no output; did you mean (output)",
                 "output outptu");
  options = kInner;
  options.variant = "fast";
  expect_refusal(softmax(), good, options, "The variant fast does not exist; known: none", "variant fast");
}

TEST(Bind, RefusalsOfDtypes) {
  expect_refusal(softmax(), pair(DType::int32, {2, 4}, DType::int32), kInner,
                 "The dtype of input data (int32) is none that type variable T allows (float32, float16)",
                 "input data");
  expect_refusal(softmax(), pair(DType::float32, {2, 4}, DType::float16), kInner,
                 "The dtype of input bias (float16) differs from the dtype that type variable T is bound to "
                 "(float32, by input data)",
                 "input bias");
  expect_refusal(softmax(), pair(DType::float64, {2, 4}, DType::float64), kInner,
                 "The dtype of input data is float64, which no package accepts", "input data");
}

TEST(Bind, RefusalsOfAttributes) {
  const Specs good = pair(DType::float32, {2, 4}, DType::float32);
  expect_refusal(softmax(), good, {}, "The required attribute is_inner_broadcast is missing",
                 "attribute is_inner_broadcast");
  BindOptions options = kInner;
  options.attributes.push_back({"axes", 1});
  expect_refusal(softmax(), good, options, "The attribute axes is unknown; did you mean (axis)",
                 "attribute axes");
  options = kInner;
  options.attributes.push_back({"is_inner_broadcast", 0});
  expect_refusal(softmax(), good, options, "The attribute is_inner_broadcast is given twice",
                 "attribute is_inner_broadcast");

  const auto model = model_of(R"({ "name": "A", "inputs": {}, "outputs": {}, "attributes": { "a": {} },
    "attributeConstraints": { "a": { "values": [0.1, "x", null] } } })");
  EXPECT_EQ(contract::bind(*model, {}, {.attributes = {{"a", 0.10000000149}}}).attributes.size(), 1u);
  EXPECT_EQ(contract::bind(*model, {}, {.attributes = {{"a", AttributeValue()}}}).attributes.size(), 1u);
  EXPECT_TRUE(contract::bind(*model, {}, {}).attributes.empty());
  expect_refusal(
      *model, {}, {.attributes = {{"a", 0.1001}}},
      "The attribute a (0.1001) is none of the values that the contract allows ([0.1, \"x\", null])",
      "attribute a");
}

TEST(Bind, OverflowingShapes) {
  const std::int64_t big = std::int64_t{1} << 31;
  EXPECT_EQ(
      contract::bind(softmax(), pair(DType::float32, {big, 4}, DType::float32), kInner).outputs[0].shape,
      (Shape{big, 4}));
  const Error error = error_of([&] {
    contract::bind(softmax(), pair(DType::float32, {big, big, 4}, DType::float32), kInner);
  });
  EXPECT_EQ(error.kind(), ErrorKind::contract);
  EXPECT_EQ(error.where(), "input data");
  EXPECT_NE(error.message().find("[2147483648, 2147483648, 4]"), std::string::npos) << error.message();
  EXPECT_EQ(error_of([&] {
              contract::bind(softmax(), pair(DType::float32, {2, -1}, DType::float32), kInner);
            }).kind(),
            ErrorKind::contract);
}

TEST(Bind, DestinationsMustFit) {
  const Specs good = pair(DType::float32, {2, 4}, DType::float32);
  BindOptions options = kInner;
  options.destinations = {{"output", {DType::float32, {2, 4}}}};
  EXPECT_EQ(contract::bind(softmax(), good, options), contract::bind(softmax(), good, kInner));
  options.destinations = {{"output", {DType::float32, {4, 2}}}};
  expect_refusal(
      softmax(), good, options,
      "The shape of the destination of output output ([4, 2]) differs from the inferred one ([2, 4])",
      "output output");
  options.destinations = {{"output", {DType::float16, {2, 4}}}};
  expect_refusal(softmax(), good, options,
                 "The dtype of output output (float16) differs from the dtype that type variable T is bound "
                 "to (float32, by input data)",
                 "output output");
}

TEST(Bind, RankIsCheckedWhereItIsClosed) {
  for (const std::string rank : {"2", "\"1 + 1\""}) {
    const auto model = model_of(R"({ "name": "A", "inputs": { "x": { "dtype": "float32", "rank": )" + rank +
                                R"( } }, "outputs": {} })");
    EXPECT_NO_THROW(contract::bind(*model, Specs{{"x", {DType::float32, {3, 4}}}}, {}));
    expect_refusal(*model, {{"x", {DType::float32, {3}}}}, {},
                   "The rank of input x (1, shape [3]) differs from the one that the contract states (2)",
                   "input x");
  }
}

TEST(Bind, Scalars) {
  const auto model = model_of(
      R"({ "name": "A", "inputs": {}, "outputs": {}, "args": { "n": { "kind": "u32" }, "i": { "kind": "i32", "required": false },
    "f": { "kind": "f32", "required": false }, "b": { "kind": "bool", "required": false },
    "s": { "kind": "string", "required": false, "oneOf": ["low", "high"] } } })");
  const auto with = [](std::string name, AttributeValue value) {
    BindOptions options{.arguments = {{"n", 1}}};
    if (name == "n") options.arguments.clear();
    options.arguments.push_back({std::move(name), std::move(value)});
    return options;
  };
  for (const auto& [name, value] :
       NamedValues{{"n", 4294967295.0}, {"i", -2147483648.0}, {"f", 0.5}, {"b", true}, {"s", "low"}})
    EXPECT_NO_THROW(contract::bind(*model, {}, with(name, value))) << name;
  for (const auto& [name, value] : NamedValues{{"n", 4294967296.0},
                                               {"n", -1},
                                               {"n", 0.5},
                                               {"n", true},
                                               {"i", 2147483648.0},
                                               {"f", "1"},
                                               {"b", 1},
                                               {"s", "mid"},
                                               {"s", 1}}) {
    const Error error =
        error_of([&, name = name, value = value] { contract::bind(*model, {}, with(name, value)); });
    EXPECT_EQ(error.kind(), ErrorKind::contract) << name << to_string(value);
    EXPECT_EQ(error.where(), "scalar " + name);
  }
  expect_refusal(*model, {}, {}, "The required scalar n is missing", "scalar n");
  expect_refusal(*model, {}, {.arguments = {{"m", 1}}}, "The scalar m is unknown; known: n, i, f, b, s",
                 "scalar m");
}

TEST(Bind, ProjectedInt64KeepsItsLogicalDtype) {
  const auto model = model_of(
      R"({ "name": "A", "inputs": { "i": { "dtype": "I", "storage": "uint32", "narrowing": "checked" },
    "j": { "dtype": "I", "storage": "int32", "narrowing": "saturating", "optional": true }, "o": { "dtype": "int64", "optional": true } },
    "outputs": {}, "typeConstraints": { "I": ["int64"] } })");
  const NamedSpec i{"i", {DType::int64, {3}}};
  const Call call = contract::bind(*model, Specs{i, {"o", {DType::int64, {}}}}, {});
  EXPECT_EQ(call.inputs[0].dtype, DType::int64);
  EXPECT_EQ(call.inputs[0].storage, DType::uint32);
  EXPECT_EQ(call.inputs[1].storage, DType::int64);
  EXPECT_EQ(call.types, (std::vector<BoundType>{{"I", DType::int64, DType::uint32},
                                                {"int64", DType::int64, DType::int64}}));
  expect_refusal(*model, {{"i", {DType::uint32, {3}}}}, {},
                 "The dtype of input i (uint32) is none that type variable I allows (int64)", "input i");
  expect_refusal(
      *model, {i, {"j", {DType::int64, {3}}}}, {},
      "The storage of input j (int32) differs from the storage that dtype I is bound to (uint32, by input i)",
      "input j");
}

TEST(Bind, VariableWithoutConstraintMakesNoPromise) {
  const auto model = model_of(
      R"({ "name": "A", "inputs": { "a": { "dtype": "U" }, "b": { "dtype": "U" } }, "outputs": {} })");
  const Call call =
      contract::bind(*model, Specs{{"a", {DType::float32, {1}}}, {"b", {DType::int8, {1}}}}, {});
  EXPECT_EQ(call.types, (std::vector<BoundType>{{"U", DType::int8, DType::int8}}));
}

TEST(Bind, InoutTensorIsGivenOnce) {
  const auto model = model_of(
      R"({ "name": "A", "inputs": { "x": { "dtype": "float32" } }, "outputs": { "x": { "dtype": "float32" } } })");
  const Specs inputs{{"x", {DType::float32, {3}}}};
  const Call call = contract::bind(*model, inputs, {});
  ASSERT_EQ(call.outputs.size(), 1u);
  EXPECT_TRUE(call.outputs[0].inout);
  EXPECT_EQ(call.outputs[0], call.inputs[0]);
  expect_refusal(*model, inputs, {.destinations = {{"x", {DType::float32, {3}}}}},
                 "The destination x is written in place: it is given once, as an input", "output x");
}

TEST(Bind, PinnedVariantAndTunablesAreKept) {
  const auto model = model_of(
      R"({ "name": "A", "inputs": {}, "outputs": { "y": { "dtype": "float32", "shape": [1] } }, "variants": [ { "id": "v",
    "passes": [ { "shader": "a", "bindings": ["y"], "dispatch": { "x": 1 } } ] } ] })");
  const Call call = contract::bind(*model, {}, {.tunables = {{"UNDECLARED", 3}}, .variant = "v"});
  EXPECT_EQ(call.variant, "v");
  EXPECT_EQ(call.tunables, (NamedValues{{"UNDECLARED", 3}}));
  EXPECT_EQ(call.outputs[0].shape, (Shape{1}));
  EXPECT_EQ(error_of([&] {
              contract::bind(*model, {}, {.tunables = {{"A", AttributeValue::List{}}}});
            }).where(),
            "tunable A");
}

}  // namespace
}  // namespace kernelpack::contract
