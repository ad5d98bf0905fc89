// What manifest 1.0 becomes in the model (the mapping table of the package format, section 3.2).
#include <gtest/gtest.h>

#include "package/model.hpp"
#include "package/test_package.hpp"

namespace kernelpack::package {
namespace {

std::string manifest(const std::vector<std::pair<std::string, std::string>>& changes = {}) {
  std::string text = R"JSON({
    "name": "Small",
    "inputs": [ { "role": "second", "dtype": "T" }, { "role": "first", "dtype": "T", "optional": true } ],
    "outputs": [ { "role": "output", "dtype": "T", "shape": "shapes.b" } ],
    "args": {
      "a": { "kind": "tensor", "semantic": "first", "role": "weights" },
      "b": { "kind": "tensor", "semantic": "second", "role": "input" },
      "n": { "kind": "u32", "required": false },
      "y": { "kind": "tensor", "semantic": "output", "role": "output" }
    },
    "attributes": { "axis": 1, "pads": null, "mode": 2 },
    "attributeConstraints": { "pads": { "required": true }, "mode": { "required": true }, "keep": { "values": [0, 1] } },
    "attributeDescriptions": { "axis": "The axis.", "extra": "Known by its description alone." },
    "typeConstraints": { "T": ["float32", "float16"] },
    "tunables": { "W": 256 }, "tunableDescriptions": { "W": "Threads." },
    "constants": { "scalar": "dtypes.T", "size": 1, "derived": "derived + 1" },
    "derive": { "derived": "numel(shapes.b)" },
    "bindingSets": { "set": [
      { "name": "b", "arg": "b", "buffer": { "type": "read-only-storage" }, "elementType": "$scalar", "binding": 3, "group": 1 },
      { "name": "part", "semantic": "scratch", "buffer": { "type": "storage" }, "elementType": "f32" },
      { "name": "y", "buffer": { "type": "storage" }, "elementType": "$scalar" },
      { "name": "params", "buffer": { "type": "uniform" }, "struct": { "name": "P", "fields": [ { "name": "n", "type": "u32" }, { "name": "m", "type": "f32", "internal": true } ] } }
    ] },
    "variants": [
      { "id": "plain", "priority": 5, "when": "true", "bindings": "set", "constants": { "size": 2, "own": true },
        "intermediates": [ { "id": "scratch", "dtype": "float32", "shape": "[4]" } ],
        "passes": [ { "shader": "a.wgsl.jinja", "constants": { "size": 3 }, "uniforms": { "params": { "n": "derived" } },
                      "dispatch": { "workgroups": 5, "y": 2 }, "entryPoint": "go", "reads": ["b"], "writes": ["y"] } ] },
      { "id": "first", "default": true, "when": false, "selectAbove": ["numel(shapes.b) > 1"], "requiredFeatures": ["anything"],
        "requiredLimits": { "maxBufferSize": 5 }, "requiredWGSLLanguageFeatures": ["subgroup_id"], "requiredSubgroupMinSize": 4,
        "passes": [ { "source": { "shader": "b.wgsl.jinja", "inputs": { "stage": "1" } },
                      "bindings": [ { "name": "y", "arg": "y", "buffer": { "type": "storage" }, "elementType": "f32" } ], "dispatch": { "x": 1 } } ] }
    ],
    "variantFamilies": { "axes": { "w": [1, 2], "k": ["p"] }, "variants": [
      { "id": "f{w}{k}", "when": "{w} == {other}", "passes": [ { "shader": "c.wgsl.jinja",
        "bindings": [ { "name": "y", "arg": "y", "buffer": { "type": "storage" }, "elementType": "f32" } ], "dispatch": { "x": "{w}" } } ] } ] }
  })JSON";
  for (const auto& [from, to] : changes) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  }
  return text;
}

const Model& model() {
  static const TestPackage package(manifest({{"{w} == {other}", "{w} == 1"}}), "1.0");
  static const Package loaded = Package::load(package.folder());
  return loaded.model();
}

std::string text_of(const FormulaMap& map) {
  std::string text;
  for (const NamedFormula& entry : map) text += entry.name + "=" + to_string(entry.value) + " ";
  return text;
}

TEST(Generation1, TensorsComeFromArgsInTheOrderOfPorts) {
  ASSERT_EQ(model().inputs.size(), 2u);
  EXPECT_EQ(model().inputs[0].name, "b");
  EXPECT_EQ(model().inputs[0].scope_names, (std::vector<std::string>{"b", "second", "input"}));
  EXPECT_EQ(model().inputs[1].name, "a");
  EXPECT_TRUE(model().inputs[1].optional);
  EXPECT_EQ(model().inputs[1].scope_names, (std::vector<std::string>{"a", "first", "weights"}));
  EXPECT_EQ(model().output("y")->dtype, "T");
  EXPECT_EQ(model().argument("n")->kind, ArgumentKind::u32);
}

TEST(Generation1, AttributesAndTunables) {
  std::vector<std::string> names;
  for (const Attribute& attribute : model().attributes) names.push_back(attribute.name);
  EXPECT_EQ(names, (std::vector<std::string>{"axis", "pads", "mode", "keep", "extra"}));
  EXPECT_EQ(model().attribute("axis")->description, "The axis.");
  EXPECT_TRUE(model().attribute("pads")->required);
  EXPECT_FALSE(model().attribute("pads")->default_value);
  EXPECT_FALSE(model().attribute("mode")->required);
  EXPECT_EQ(*model().attribute("mode")->default_value, AttributeValue(2));
  EXPECT_EQ(model().tunables.at(0).description, "Threads.");
  EXPECT_EQ(model().tunables.at(0).value, AttributeValue(256));
}

TEST(Point27, StrongerLevelsReplaceConstants) {
  const Pass& plain = std::get<Pass>(model().variant("plain")->passes.at(0).content);
  EXPECT_EQ(text_of(plain.constants), "scalar=dtypes.T size=3 derived=derived + 1 own=true ");
  const Pass& first = std::get<Pass>(model().variant("first")->passes.at(0).content);
  EXPECT_EQ(text_of(first.constants), "scalar=dtypes.T size=1 derived=derived + 1 ");
  EXPECT_EQ(text_of(first.source_inputs), "stage=1 ");
}

TEST(Generation1, BindingsOfASet) {
  const Pass& pass = std::get<Pass>(model().variant("plain")->passes.at(0).content);
  ASSERT_EQ(pass.bindings.size(), 4u);
  EXPECT_EQ(pass.bindings[0].index, 3u);
  EXPECT_EQ(pass.bindings[0].group, 1u);
  EXPECT_EQ(pass.bindings[1].resource, PlannedBinding::Resource::scratch);
  EXPECT_EQ(pass.bindings[1].target, "scratch");
  EXPECT_EQ(pass.bindings[1].index, 1u);
  EXPECT_EQ(pass.bindings[2].target, "y");
  EXPECT_EQ(pass.bindings[3].struct_name, "P");
  EXPECT_EQ(to_string(*pass.bindings[3].fields[0].value), "derived");
  EXPECT_FALSE(pass.bindings[3].fields[1].value);
  EXPECT_FALSE(pass.bindings[3].fields[1].required);
  EXPECT_EQ(pass.entry_point, "go");
  EXPECT_EQ(pass.dispatch.form, Dispatch::Form::workgroups);
  EXPECT_EQ(*pass.dispatch.axes[1]->number(), 2);
}

TEST(Generation1, DefaultVariantIsTriedFirst) {
  EXPECT_EQ(model().variants.at(model().trial_order.at(0)).id, "first");
  const Variant& first = *model().variant("first");
  EXPECT_EQ(to_string(first.when.at(0)), "false");
  EXPECT_EQ(first.select_above.size(), 1u);
  EXPECT_EQ(first.requirements.features, (std::vector<std::string>{"anything"}));
  EXPECT_EQ(first.requirements.wgsl_language_features, (std::vector<std::string>{"subgroup_id"}));
  EXPECT_EQ(first.requirements.limits.at(0).value, 5);
  EXPECT_EQ(first.requirements.subgroup_min_size, 4);
}

TEST(Generation1, FamiliesReplaceTextAndKeepLeftOvers) {
  ASSERT_EQ(model().variants.size(), 4u);
  EXPECT_EQ(model().variants[2].id, "f1p");
  EXPECT_EQ(model().variants[3].id, "f2p");
  EXPECT_EQ(to_string(model().variants[3].when.at(0)), "2 == 1");
  EXPECT_EQ(to_string(*std::get<Pass>(model().variants[3].passes.at(0).content).dispatch.axes[0]), "2");
  // A left over placeholder stays; here it is no expression.
  const auto faults = faults_of(manifest(), "1.0");
  ASSERT_FALSE(faults.empty());
  EXPECT_NE(faults[0].find("{other}"), std::string::npos) << faults[0];
}

}  // namespace
}  // namespace kernelpack::package
