#include "contract/scope.hpp"

#include <gtest/gtest.h>

#include "contract/bind.hpp"
#include "contract/test_model.hpp"
#include "expr/expression.hpp"

namespace kernelpack::contract {
namespace {

std::string evaluate(const expr::Scope& scope, const std::string& text) {
  return expr::print(expr::Expression::parse(text, {}).evaluate(scope));
}

TEST(Scope, NamespacesOfACall) {
  const auto model = model_of(R"({ "name": "A",
    "inputs": { "x": { "dtype": "T" }, "m": { "dtype": "int8", "optional": true }, "i": { "dtype": "int64", "storage": "int32", "narrowing": "checked" } },
    "outputs": { "y": { "dtype": "T", "shape": "shapes.x" } }, "args": { "n": { "kind": "u32" } },
    "attributes": { "a": { "default": null }, "b": { "default": [1, 2] }, "c": {} },
    "tunables": { "W": { "default": 256 }, "V": { "default": 4 } }, "typeConstraints": { "T": ["float16"] } })");
  const Call call = contract::bind(
      *model, std::vector<NamedSpec>{{"x", {DType::float16, {2, 3}}}, {"i", {DType::int64, {}}}},
      {.arguments = {{"n", 5}}, .tunables = {{"V", 8}, {"U", 1}}});
  DeviceFacts facts;
  facts.features = {"subgroups"};
  facts.limits["maxComputeWorkgroupsPerDimension"] = 1e6;
  facts.subgroup_min_size = 32;
  facts.subgroup_matrix_configs = {{"f32", "f32", 8, 8, 8}, {"f16", "f16", 16, 16, 16}, {"", "f32", 1, 1, 1}};
  const expr::Scope scope = base_scope(*model, call, device_value(facts), false, {{"V", 6}, {"W", 64}});
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"shapes.x", "[2, 3]"},
      {"shapes.y", "[2, 3]"},
      {"shapes.m is defined", "false"},
      {"ranks.i", "0"},
      {"tensorDtypes.i", "int32"},
      {"logicalDtypes.int64", "int64"},
      {"dtypes.int64", "i32"},
      {"dtypes.T", "f16"},
      {"[present.x, present.m, present.y, present.n]", "[true, false, true, false]"},
      {"args.n", "5"},
      {"attrs.a is none", "true"},
      {"attrs.b", "[1, 2]"},
      {"attrs.c is defined", "false"},
      {"[tunables.W, tunables.V, tunables.U]", "[64, 8, 1]"},
      {"device.features.has('subgroups') and not device.features.has('shader-f16')", "true"},
      {"device.features.size", "1"},
      {"device.limits.maxComputeWorkgroupsPerDimension", "65535"},
      {"device.limits.maxBufferSize", "268435456"},
      {"device.limits.maxStorageBuffersInVertexStage is defined", "false"},
      {"has(device.adapterInfo, 'subgroupMinSize') and not has(device.adapterInfo, 'subgroupMaxSize')",
       "true"},
      {"device.adapterInfo.subgroupMatrixConfigs | length", "2"},
      {"device.adapterInfo.subgroupMatrixConfigs[0].componentType", "f16"},
      {"device.adapterInfo.vendor == ''", "true"},
      {"f16Ok(dtypes.T)", "false"},
      {"DISPATCH_FOLD_WIDTH", "65535"},
      {"repeat", "{}"},
      {"derive.x is defined", "false"},
  };
  for (const auto& [text, value] : expected) EXPECT_EQ(evaluate(scope, text), value) << text;
  EXPECT_THROW(evaluate(scope, "rank(shapes.x)"), Error);
}

TEST(Scope, VariantTunablesStandBetweenPackageAndCaller) {
  const auto model =
      model_of(R"({ "name": "A", "inputs": {}, "outputs": { "y": { "dtype": "float32", "shape": [1] } },
    "tunables": { "P": { "default": 1 }, "Q": { "default": 1 } }, "variants": [ { "tunables": { "P": { "default": 2 }, "Q": { "default": 2 } },
    "passes": [ { "shader": "a", "bindings": ["y"], "dispatch": { "x": 1 } } ] } ] })");
  const Call call = contract::bind(*model, {}, {.tunables = {{"Q", 3}}});
  EXPECT_EQ(expr::print(tunables_value(*model, nullptr, {}, call)), R"({"P": 1, "Q": 3})");
  EXPECT_EQ(expr::print(tunables_value(*model, &model->variants[0], {}, call)), R"({"P": 2, "Q": 3})");
}

// Conformance point 26: a name that two tensors share stands for neither.
TEST(Point26, SharedNamesOf10AreDropped) {
  const auto manifest = [](const std::string& more_inputs, const std::string& more_args) {
    return R"({ "name": "A", "inputs": [ { "role": "a", "dtype": "float32" })" + more_inputs +
           R"( ], "outputs": [ { "role": "output", "dtype": "float32", "shape": [1] } ], "args": {
      "p": { "kind": "tensor", "semantic": "a", "role": "input" })" +
           more_args +
           R"(, "r": { "kind": "tensor", "semantic": "output", "role": "output" } },
      "variants": [ { "passes": [ { "shader": "s", "bindings": [ { "name": "r", "buffer": { "type": "storage" }, "elementType": "f32" } ],
      "dispatch": { "x": 1 } } ] } ] })";
  };
  const NamedSpec p{"p", {DType::float32, {4}}}, q{"q", {DType::float32, {5}}};
  const auto one = model_of(manifest("", ""), true);
  const Call single = contract::bind(*one, std::vector<NamedSpec>{p}, {});
  const expr::Scope alone = base_scope(*one, single, device_value({}), false);
  for (const std::string name : {"input", "a", "p"})
    EXPECT_EQ(evaluate(alone, "shapes." + name), "[4]") << name;
  EXPECT_EQ(evaluate(alone, "shapes.output"), "[1]");
  EXPECT_EQ(evaluate(alone, "rank(shapes.p) + cols(shapes.p, 0)"), "5");
  EXPECT_EQ(evaluate(alone, "[f16Allowed('f32'), f16Allowed('f16')]"), "[true, false]");

  const auto two = model_of(manifest(R"(, { "role": "b", "dtype": "float32" })",
                                     R"(, "q": { "kind": "tensor", "semantic": "b", "role": "input" })"),
                            true);
  const Call both = contract::bind(*two, std::vector<NamedSpec>{p, q}, {});
  const expr::Scope shared = base_scope(*two, both, device_value({}), false);
  EXPECT_EQ(evaluate(shared, "shapes.input is defined"), "false");
  EXPECT_EQ(evaluate(shared, "shapes.b"), "[5]");
}

}  // namespace
}  // namespace kernelpack::contract
