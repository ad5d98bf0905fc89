#include "kernelpack/json.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "base/json.hpp"
#include "json_object.hpp"

namespace kernelpack {
namespace {

const std::string kPackage = KERNELPACK_SOURCE_DIR "/tests/packages/planbench";

json::Value parsed(std::string text) {
  return json::parse(std::move(text), "document").root;
}

std::string text_at(const json::Value& object, std::string_view key) {
  const json::Value* value = object.find(key);
  return value == nullptr ? "(absent)" : json::write(*value);
}

Call planbench_call(const Kernel& kernel) {
  return kernel.bind(
      std::vector<NamedSpec>{{"x", {DType::float32, {4, 64}}}, {"bias", {DType::float32, {64}}}});
}

TEST(ToJson, OfAValueThatJsonLacks) {
  EXPECT_EQ(json::write(json_of(std::numeric_limits<double>::quiet_NaN())), "\"NaN\"");
  EXPECT_EQ(json::write(json_of(-std::numeric_limits<double>::infinity())), "\"-Infinity\"");
  EXPECT_EQ(json::write(json_of(AttributeValue())), "null");
  EXPECT_EQ(json::write(json_of(AttributeValue(std::vector<int>{1, 2}))), "[1,2]");
  EXPECT_EQ(json::write(json_of("a\xff\"b")), "\"a\xEF\xBF\xBD\\\"b\"");
}

TEST(ToJson, OfAKernelHasContractAndOrigin) {
  const Kernel kernel = Kernel::get(kPackage);
  const json::Value document = parsed(to_json(kernel));
  const PackageSummary summary = kernel.package().describe();
  EXPECT_EQ(text_at(document, "op"), json::quote(summary.op_id));
  EXPECT_EQ(text_at(document, "verified"), kernel.package().verified() ? "true" : "false");
  ASSERT_EQ(document.find("inputs")->items().size(), summary.inputs.size());
  EXPECT_EQ(text_at(document.find("inputs")->items()[0], "name"), json::quote(summary.inputs[0].name));
  ASSERT_EQ(document.find("variants")->items().size(), summary.variants.size());
  EXPECT_EQ(document.find("files")->items().size(), kernel.package().files().size());
  EXPECT_EQ(text_at(*document.find("origin"), "kind"), "\"folder\"");
  EXPECT_EQ(text_at(*document.find("origin"), "source"), json::quote(kPackage));
}

TEST(ToJson, OfACallAndItsPlan) {
  const Kernel kernel = Kernel::get(kPackage);
  const Call call = planbench_call(kernel);
  const json::Value bound = parsed(to_json(call));
  EXPECT_EQ(text_at(bound, "op"), json::quote(call.op));
  EXPECT_EQ(text_at(bound.find("inputs")->items()[0], "shape"), "[4,64]");
  EXPECT_EQ(text_at(bound.find("outputs")->items()[0], "name"), json::quote(call.outputs[0].name));

  const std::shared_ptr<const Plan> plan = kernel.plan(call, DeviceFacts::defaults());
  const json::Value planned = parsed(to_json(call, *plan));
  EXPECT_EQ(text_at(planned, "variant"), json::quote(plan->variant));
  ASSERT_EQ(planned.find("passes")->items().size(), plan->passes.size());
  EXPECT_EQ(text_at(planned.find("passes")->items()[0], "wgsl"), json::quote(*plan->passes[0].wgsl));
}

TEST(ToJson, OfAnExplanationHasThePlanOrTheRefusal) {
  const Kernel kernel = Kernel::get(kPackage);
  const Explanation chosen = kernel.explain(planbench_call(kernel), DeviceFacts::defaults());
  ASSERT_TRUE(chosen.plan);
  const json::Value document = parsed(to_json(chosen));
  EXPECT_EQ(text_at(document, "refusal"), "null");
  EXPECT_EQ(text_at(*document.find("plan"), "variant"), json::quote(chosen.plan->variant));
  ASSERT_EQ(document.find("variants")->items().size(), chosen.variants.size());
  const json::Value& first = document.find("variants")->items()[0];
  EXPECT_EQ(text_at(first, "outcome"), json::quote(to_string(chosen.variants[0].outcome)));
  EXPECT_EQ(first.find("when")->items().size(), chosen.variants[0].when.size());

  DeviceFacts small = DeviceFacts::defaults();
  small.limits["maxStorageBufferBindingSize"] = 16;
  small.limits["maxBufferSize"] = 16;
  const Explanation refused = kernel.explain(planbench_call(kernel), small);
  ASSERT_TRUE(refused.refusal);
  const json::Value why = parsed(to_json(refused));
  EXPECT_EQ(text_at(why, "plan"), "null");
  EXPECT_EQ(text_at(*why.find("refusal"), "message"), json::quote(refused.refusal->message()));
}

TEST(ToJson, OfLibrariesHasTheirAdapters) {
  GpuAdapter adapter;
  adapter.name = "Test GPU";
  adapter.facts.features = {"shader-f16"};
  const std::vector<GpuLibrary> libraries{{"dawn", "/lib/libdawn.so", "", true, {adapter}},
                                          {"none", "", "gone", false, {}}};
  const json::Value document = parsed(to_json(libraries));
  ASSERT_EQ(document.items().size(), 2u);
  const json::Value& found = document.items()[0].find("adapters")->items()[0];
  EXPECT_EQ(text_at(found, "name"), "\"Test GPU\"");
  EXPECT_EQ(text_at(*found.find("facts"), "features"), "[\"shader-f16\"]");
  EXPECT_EQ(text_at(document.items()[1], "problem"), "\"gone\"");
}

}  // namespace
}  // namespace kernelpack
