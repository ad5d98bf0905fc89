// Conformance points 11 to 20 and 24 of the package format's checklist, and what the model holds.
#include <gtest/gtest.h>

#include "package/attribute_value.hpp"
#include "package/model.hpp"
#include "package/test_package.hpp"

namespace kernelpack::package {
namespace {

using Changes = std::vector<std::pair<std::string, std::string>>;

// Exactly one fault, which names the pointer and contains the text.
void expect_fault(const Changes& changes, std::string_view pointer, std::string_view text) {
  const auto faults = faults_of(small_manifest(changes));
  ASSERT_EQ(faults.size(), 1u) << (faults.empty() ? "no fault" : faults[0] + "\n" + faults[1]);
  EXPECT_NE(faults[0].find("manifest.json:" + std::string(pointer) + ","), std::string::npos) << faults[0];
  EXPECT_NE(faults[0].find(text), std::string::npos) << faults[0];
}

void expect_clean(const Changes& changes) {
  const auto faults = faults_of(small_manifest(changes));
  EXPECT_TRUE(faults.empty()) << faults[0];
}

Package load_small(const Changes& changes) {
  return Package::load(TestPackage(small_manifest(changes)).folder());
}

const Pass& first_pass(const Package& package) {
  return std::get<Pass>(package.model().variants.at(0).passes.at(0).content);
}

TEST(Point11, UnknownKeysNameTheirPointer) {
  expect_fault({{"\"name\"", "\"nmae\": 1, \"name\""}}, "/nmae", "did you mean (name)");
  expect_fault({{"{ \"dtype\"", "{ \"roll\": 1, \"dtype\""}}, "/inputs/x/roll", "unknown in an input");
  expect_fault({{"\"shader\"", "\"label\": 1, \"shader\""}}, "/variants/0/passes/0/label",
               "unknown in a pass");
  expect_fault({{"{ \"x\": \"numel", "{ \"w\": 1, \"x\": \"numel"}}, "/variants/0/passes/0/dispatch/w",
               "unknown in a dispatch");
  expect_clean({{"\"name\"", "\"$comment\": \"a\", \"name\""},
                {"{ \"dtype\"", "{ \"$comment\": \"b\", \"dtype\""},
                {"\"inputs\": {", "\"inputs\": { \"$comment\": \"c\","},
                {"\"T\": [", "\"$comment\": \"d\", \"T\": ["}});
  expect_fault({{"{ \"dtype\"", "{ \"$comment\": 3, \"dtype\""}}, "/inputs/x/$comment", "a number (3)");
}

TEST(Point12, PrototypeNamesAreRefused) {
  expect_fault({{"\"inputs\": { \"x\"", "\"inputs\": { \"valueOf\": {}, \"x\""}}, "/inputs/valueOf",
               "(valueOf)");
  expect_fault({{"\"name\"", "\"onnx\": {\"a\": [{\"__proto__\": 1}]}, \"name\""}}, "/onnx/a/0/__proto__",
               "(__proto__)");
  expect_fault({{"[\"x\", \"y\"]", "[{\"arg\": \"x\", \"name\": \"toString\"}, \"y\"]"}},
               "/variants/0/passes/0/bindings/0/name", "(toString)");
}

TEST(Point13, OlderSpellingFailsKeyByKey) {
  const std::vector<std::string> top = {"schemaVersion",         "constants",          "bindingSets",
                                        "bindingEntries",        "variantFamilies",    "attributeNames",
                                        "attributeDescriptions", "tunableDescriptions"};
  for (const std::string& key : top)
    expect_fault({{"\"name\"", "\"" + key + "\": {}, \"name\""}}, "/" + key, "older manifest language");
  for (const std::string key : {"bindings", "constants"})
    expect_fault({{"\"id\"", "\"" + key + "\": [], \"id\""}}, "/variants/0/" + key,
                 "older manifest language");
  for (const std::string key : {"source", "constants"})
    expect_fault({{"\"shader\"", "\"" + key + "\": {}, \"shader\""}}, "/variants/0/passes/0/" + key,
                 "older manifest language");
  expect_fault({{"[\"x\", \"y\"]", "[{\"arg\": \"x\", \"semantic\": \"x\"}, \"y\"]"}},
               "/variants/0/passes/0/bindings/0/semantic", "older manifest language");
  expect_fault({{"{ \"x\": \"numel", "{ \"gridStride\": 1, \"x\": \"numel"}},
               "/variants/0/passes/0/dispatch/gridStride", "older manifest language");
  expect_fault({{"{ \"x\": { \"dtype\": \"T\" } }", "[ { \"role\": \"x\", \"dtype\": \"T\" } ]"},
                {"[\"x\", \"y\"]", "[\"y\"]"},
                {"shapes.x", "[1]"}},
               "/inputs", "an array");
  // `when` of 1.0 may be one string.
  expect_fault({{"\"id\"", "\"when\": \"true\", \"id\""}}, "/variants/0/when", "an array is expected");
}

TEST(Point14, NarrowingBelongsToProjectedInputs) {
  const std::string y = "{ \"dtype\": \"T\", \"shape\"";
  expect_clean({{"{ \"dtype\": \"T\" }",
                 "{ \"dtype\": \"int64\", \"storage\": \"uint32\", \"narrowing\": \"checked\" }"}});
  expect_fault({{"{ \"dtype\": \"T\" }", "{ \"dtype\": \"int64\", \"storage\": \"int32\" }"}}, "/inputs/x",
               "(narrowing) is missing");
  expect_fault({{"{ \"dtype\": \"T\" }",
                 "{ \"dtype\": \"int64\", \"storage\": \"int64\", \"narrowing\": \"checked\" }"}},
               "/inputs/x/narrowing", "allowed only");
  expect_fault({{"{ \"dtype\": \"T\" }", "{ \"dtype\": \"T\", \"narrowing\": \"checked\" }"}},
               "/inputs/x/narrowing", "allowed only");
  expect_fault(
      {{y, "{ \"dtype\": \"int64\", \"storage\": \"int32\", \"narrowing\": \"saturating\", \"shape\""}},
      "/outputs/y/narrowing", "allowed only");
  expect_clean({{y, "{ \"dtype\": \"int64\", \"storage\": \"int32\", \"shape\""}});
  expect_fault({{y, "{ \"dtype\": \"int64\", \"storage\": \"float32\", \"shape\""}}, "/outputs/y/storage",
               "none of int32, uint32 and int64");
  expect_fault({{y, "{ \"dtype\": \"T\", \"storage\": \"float32\", \"shape\""}}, "/outputs/y/storage",
               "not the single dtype");
  expect_fault({{y, "{ \"dtype\": \"U\", \"storage\": \"float32\", \"shape\""}}, "/outputs/y/storage",
               "constrained type variable");
}

TEST(Point15, LayoutIsForUint8InputsAlone) {
  expect_clean({{"{ \"dtype\": \"T\" }", "{ \"dtype\": \"uint8\", \"layout\": \"packed\" }"}});
  expect_fault({{"{ \"dtype\": \"T\" }", "{ \"dtype\": \"float32\", \"layout\": \"packed\" }"}},
               "/inputs/x/layout", "(float32)");
  expect_fault(
      {{"{ \"dtype\": \"T\", \"shape\"", "{ \"dtype\": \"uint8\", \"layout\": \"packed\", \"shape\""}},
      "/outputs/y/layout", "inputs only");
  expect_fault({{"{ \"dtype\": \"T\" }", "{ \"dtype\": \"uint8\", \"layout\": \"wide\" }"}},
               "/inputs/x/layout", "(wide)");
}

TEST(Point16, InoutPlacesMustAgree) {
  const std::string outputs = "\"outputs\": {";
  const Package package = load_small({{outputs, "\"outputs\": { \"x\": { \"dtype\": \"T\" },"}});
  EXPECT_TRUE(package.model().input("x")->inout);
  EXPECT_TRUE(package.model().output("x")->inout);
  EXPECT_EQ(first_pass(package).bindings.at(0).buffer, BufferKind::storage);
  expect_fault({{outputs, "\"outputs\": { \"x\": { \"dtype\": \"float32\" },"}}, "/outputs/x",
               "(float32) differs");
  expect_fault({{outputs, "\"outputs\": { \"x\": {},"}}, "/outputs/x", "(none) differs");
  expect_fault({{"{ \"dtype\": \"T\" }",
                 "{ \"dtype\": \"int64\", \"storage\": \"int32\", \"narrowing\": \"checked\" }"},
                {outputs, "\"outputs\": { \"x\": { \"dtype\": \"int64\", \"storage\": \"uint32\" },"}},
               "/outputs/x", "storage of tensor (x)");
}

TEST(Point17, ConstraintsOfAttributes) {
  const auto with = [](std::string attributes, std::string constraints) {
    return Changes{{"\"variants\"", "\"attributes\": " + attributes +
                                        ", \"attributeConstraints\": " + constraints + ", \"variants\""}};
  };
  expect_fault(with("{\"a\": {\"default\": 1}}", "{\"a\": {\"required\": true}}"), "/attributeConstraints/a",
               "although it has a default (1)");
  expect_clean(with("{\"a\": {\"default\": 0.1}}", "{\"a\": {\"values\": [0.10000000149, 2]}}"));
  expect_fault(with("{\"a\": {\"default\": 0.1}}", "{\"a\": {\"values\": [0.1001]}}"),
               "/attributeConstraints/a", "(0.1)");
  expect_fault(with("{\"a\": {}}", "{\"a\": {\"values\": [0.1, 0.10000000149]}}"),
               "/attributeConstraints/a/values/1", "occurs twice");
  expect_clean(with("{\"a\": {}}", "{\"a\": {\"values\": [1, \"1\", true, null]}}"));
  expect_fault(with("{\"a\": {}}", "{\"a\": {}}"), "/attributeConstraints/a", "neither required nor values");
  expect_fault(with("{\"axis\": {}}", "{\"axes\": {\"required\": true}}"), "/attributeConstraints/axes",
               "did you mean (axis)");
  expect_fault(with("{\"a\": 1}", "{}"), "/attributes/a", "a number (1)");
  EXPECT_TRUE(same_value(1e39, 2e39));
  EXPECT_FALSE(same_value(1e39, -1e39));
  EXPECT_FALSE(same_value(true, 1));
}

TEST(Point18, ConditionsAreLists) {
  for (const std::string key : {"when", "demoteWhen"}) {
    expect_fault({{"\"id\"", "\"" + key + "\": \"x\", \"id\""}}, "/variants/0/" + key,
                 "an array is expected");
    expect_fault({{"\"id\"", "\"" + key + "\": [], \"id\""}}, "/variants/0/" + key, "is empty");
    expect_fault({{"\"id\"", "\"" + key + "\": [\" \"], \"id\""}}, "/variants/0/" + key + "/0", "is empty");
  }
  expect_fault({{"\"name\"", "\"when\": [], \"name\""}}, "/when", "is empty");
}

TEST(Point19, ReservedNamesOfDerives) {
  for (const std::string name : {"shapes", "T", "loop", "numel", "constants", "True"}) {
    expect_fault({{"\"variants\"", "\"derive\": { \"" + name + "\": 1 }, \"variants\""}}, "/derive/" + name,
                 "(" + name + ")");
    expect_fault({{"\"id\"", "\"derive\": { \"" + name + "\": 1 }, \"id\""}}, "/variants/0/derive/" + name,
                 "(" + name + ")");
    expect_fault({{"\"shader\"", "\"derive\": { \"" + name + "\": 1 }, \"shader\""}},
                 "/variants/0/passes/0/derive/" + name, "(" + name + ")");
  }
  const Package package = load_small(
      {{"\"variants\"", R"J("derive": { "a": ["numel(shapes.x)", 4, [true, null]] }, "variants")J"}});
  EXPECT_EQ(to_string(package.model().derive.at(0).value), "[numel(shapes.x), 4, [true, null]]");
}

TEST(Point20, SupersededByMustRankHigher) {
  const auto two = [](std::string first, std::string second) {
    const std::string passes =
        R"("passes": [{"shader": "a.wgsl.jinja", "bindings": ["x", "y"], "dispatch": {"x": 1}}])";
    return Changes{{"{\n      \"id\": \"main\"", "{ \"id\": \"a\", " + first + passes +
                                                     " }, { \"id\": \"b\", " + second + passes +
                                                     " }, {\n      \"id\": \"main\""}};
  };
  const Package package = load_small(two("", "\"supersededBy\": [\"a\"], "));
  EXPECT_EQ(package.model().variants.at(1).superseded_by, (std::vector<std::size_t>{0}));
  expect_fault(two("\"supersededBy\": [\"b\"], ", ""), "/variants/0/supersededBy/0",
               "does not rank above variant (a)");
  expect_clean(two("\"supersededBy\": [\"b\"], ", "\"priority\": 1, "));
  expect_fault(two("\"supersededBy\": [\"a\"], ", ""), "/variants/0/supersededBy/0", "names itself");
  expect_fault(two("", "\"supersededBy\": [\"c\"], "), "/variants/1/supersededBy/0", "does not exist");
  expect_fault(two("", "\"supersededBy\": [], "), "/variants/1/supersededBy", "is empty");
  EXPECT_EQ(load_small(two("", "\"priority\": 3, ")).model().trial_order,
            (std::vector<std::size_t>{1, 0, 2}));
}

TEST(Point22, RepeatGroups) {
  const std::string pass = "{\n          \"shader\"";
  const auto group = [&](std::string repeat) {
    return Changes{{pass, R"({ "id": "g", "repeat": )" + repeat +
                              R"(, "passes": [ { "id": "h", "repeat": { "index": "j", "count": 3 },
        "passes": [ { "id": "p", "shader": "a.wgsl.jinja", "bindings": ["x", "y"], "dispatch": { "x": 1 } } ] } ] }, )" +
                              pass}};
  };
  const Package package = load_small(group(R"J({ "index": "i", "count": "0 * numel(shapes.x)" })J"));
  const auto& outer = std::get<RepeatGroup>(package.model().variants.at(0).passes.at(0).content);
  EXPECT_EQ(outer.id, "g");
  EXPECT_EQ(outer.index_name, "i");
  const auto& inner = std::get<RepeatGroup>(outer.items.at(0).content);
  EXPECT_EQ(inner.id, "h");
  EXPECT_EQ(*inner.count.number(), 3);
  EXPECT_EQ(std::get<Pass>(inner.items.at(0).content).id, "p");
  const std::string repeat = "/variants/0/passes/0/repeat";
  expect_fault(group(R"({ "index": "i", "count": 65536 })"), repeat + "/count", "(65536)");
  expect_fault(group(R"({ "index": "index", "count": 1 })"), repeat + "/index", "every group defines");
  expect_fault(group(R"({ "index": "j", "count": 1 })"), "/variants/0/passes/0/passes/0/repeat/index",
               "enclosing group");
  expect_fault(group(R"({ "count": 1 })"), repeat, "(index) is missing");
}

TEST(Point23, BindingsResolveHandlesThenTensorsThenIntermediates) {
  const std::string bindings = "[\"x\", \"y\"]";
  const Package package = load_small(
      {{"\"variants\"",
        R"("bindings": { "x": { "name": "source", "arg": "x", "elementType": "vec4<f32>" } }, "variants")"},
       {"\"id\"", R"("intermediates": [ { "id": "t", "dtype": "int8", "shape": 4 } ], "id")"},
       {bindings, R"(["x", "y", "t", { "name": "t2", "scratch": "t", "buffer": "read-only-storage" } ])"}});
  const auto& resolved = first_pass(package).bindings;
  ASSERT_EQ(resolved.size(), 4u);
  EXPECT_EQ(resolved[0].name, "source");
  EXPECT_EQ(resolved[0].target, "x");
  EXPECT_EQ(resolved[0].element_type.text, "vec4<f32>");
  EXPECT_EQ(resolved[0].buffer, BufferKind::read_only_storage);
  EXPECT_EQ(resolved[1].name, "y");
  EXPECT_EQ(resolved[1].buffer, BufferKind::storage);
  EXPECT_TRUE(resolved[1].element_type.is_reference);
  EXPECT_EQ(resolved[1].element_type.text, "T");
  EXPECT_EQ(resolved[2].resource, PlannedBinding::Resource::scratch);
  EXPECT_EQ(resolved[2].element_type.text, "i32");
  EXPECT_EQ(resolved[3].target, "t");
  EXPECT_EQ(resolved[3].buffer, BufferKind::read_only_storage);
  EXPECT_EQ(package.model().variants.at(0).max_storage_bindings, 4u);

  // An inline name that is an intermediate's id binds scratch; so does a handle's at the time of use.
  const Package named = load_small(
      {{"\"variants\"",
        R"("bindings": { "h": { "name": "t", "buffer": "storage", "elementType": "u32" } }, "variants")"},
       {"\"id\"", R"("intermediates": [ { "id": "t", "dtype": "uint32", "shape": "[4]" } ], "id")"},
       {bindings, R"(["y", "h"])"}});
  EXPECT_EQ(first_pass(named).bindings.at(1).resource, PlannedBinding::Resource::scratch);
  expect_fault({{bindings, R"(["x", "z"])"}}, "/variants/0/passes/0/bindings/1", "(z) is neither");
}

TEST(Point24, WgslNamesAreUniqueInAPass) {
  expect_fault({{"[\"x\", \"y\"]", R"(["x", { "arg": "y", "name": "x" }])"}},
               "/variants/0/passes/0/bindings/1", "(x) occurs twice");
}

TEST(Point65, OpaqueInt64BindsAsVec2) {
  const Changes opaque = {{"{ \"dtype\": \"T\" }", "{ \"dtype\": \"int64\" }"}};
  expect_clean(opaque);
  Changes wrong = opaque;
  wrong.push_back({"[\"x\", \"y\"]", R"([{ "arg": "x", "elementType": "u32" }, "y"])"});
  expect_fault(wrong, "/variants/0/passes/0/bindings/0", "must bind as vec2<u32>");
  wrong.back().second = R"([{ "arg": "x", "elementType": "vec2< u32 >" }, "y"])";
  expect_clean(wrong);
}

TEST(Manifest, ContractOnlyPackageHasNoVariants) {
  const std::string text = R"({ "name": "Small", "inputs": {}, "outputs": {} })";
  EXPECT_TRUE(Package::load(TestPackage(text).folder()).model().contract_only);
  EXPECT_EQ(faults_of(R"({ "name": "Small", "inputs": {}, "outputs": {}, "variants": [] })").size(), 1u);
}

}  // namespace
}  // namespace kernelpack::package
