#include <gtest/gtest.h>

#include "plan/manifest_test.hpp"

namespace kernelpack::plan {
namespace {

using Groups = std::array<std::uint32_t, 3>;

/// A 1.0 manifest with inputs a (and b if `two`) and output y; `rest` follows after a comma.
std::string manifest(std::string_view rest, bool two = false) {
  const std::string second_port = two ? R"(, {"role": "second", "dtype": "T"})" : "";
  const std::string second_arg =
      two ? R"("b": {"kind": "tensor", "semantic": "second", "role": "input"}, )" : "";
  return R"({"domain": "test", "name": "Old", "inputs": [{"role": "first", "dtype": "T"})" + second_port +
         R"(], "outputs": [{"role": "output", "dtype": "T", "shape": "shapes.a"}],
             "typeConstraints": {"T": ["float32"]}, "args": {
             "a": {"kind": "tensor", "semantic": "first", "role": "input"}, )" +
         second_arg + R"("y": {"kind": "tensor", "semantic": "output", "role": "output"}}, )" +
         std::string(rest) + "}";
}

std::string pass(std::string_view dispatch, std::string_view keys = "", std::string_view element = "f32") {
  return R"({"id": "main", "shader": "a.wgsl.jinja", "bindings": [
    {"name": "a", "arg": "a", "buffer": {"type": "read-only-storage"}, "elementType": ")" +
         std::string(element) +
         R"("}, {"name": "y", "arg": "y", "buffer": {"type": "storage"}, "elementType": "f32"}],
    "dispatch": )" +
         std::string(dispatch) + std::string(keys) + "}";
}

std::string variant(std::string_view id, std::string_view keys, std::string_view one_pass) {
  return R"({"id": ")" + std::string(id) + R"(", )" + std::string(keys) + (keys.empty() ? "" : ", ") +
         R"("passes": [)" + std::string(one_pass) + "]}";
}

std::vector<NamedSpec> inputs(bool two) {
  std::vector<NamedSpec> list{f32("a", {4})};
  if (two) list.push_back(f32("b", {4}));
  return list;
}

Plan plan_old(const std::string& text, bool two = false, const DeviceFacts& facts = {}) {
  const Package package = load_text(text);
  return plan_call(package, bind_specs(package, inputs(two)), facts);
}

std::string variant_of(std::string_view variants, bool two = false, const DeviceFacts& facts = {}) {
  return plan_old(manifest(R"("variants": [)" + std::string(variants) + "]", two), two, facts).variant;
}

// format.md 15, point 26
TEST(Generation1, Point26SharedNamesAreDropped) {
  const std::string x = pass(R"({"x": 1})");
  const std::string variants = variant("defined", R"("when": "shapes.input is defined")", x) + ", " +
                               variant("undefined", R"("when": "shapes.input is undefined")", x);
  EXPECT_EQ(variant_of(variants), "defined");
  EXPECT_EQ(variant_of(variants, true), "undefined");
  const std::string names =
      variant("v", R"("when": ["ranks.a == 1", "ranks.second == 1", "sameShape(shapes.b, shapes.first) ",
    "tensorDtypes.output == 'float32'"])",
              x);
  EXPECT_EQ(variant_of(names, true), "v");
}

// format.md 15, point 27
TEST(Generation1, Point27Constants) {
  const Plan plan = plan_old(manifest(
      R"("constants": {"element": "'f32'", "N": "7", "shadow": "shadow + 1"}, "derive": {"shadow": "10"},
         "variants": [)" +
      variant(
          "v",
          R"("constants": {"element": "'vec4<f32>'", "M": "3"}, "when": "N is undefined and M is undefined")",
          pass(R"({"x": "M", "y": "shadow", "z": "constants.M + N"})", R"(, "constants": {"M": "4"})",
               "$element")) +
      "]"));
  EXPECT_EQ(plan.passes.at(0).bindings.at(0).element_type, "vec4<f32>");
  EXPECT_EQ(plan.passes.at(0).workgroups, (Groups{4, 11, 11}));

  const auto refusal = [](std::string_view keys, std::string_view rest = "") {
    const Package package = load_text(
        manifest(std::string(rest) + R"("variants": [)" + variant("v", keys, pass(R"({"x": 1})")) + "]"));
    return plan_error(package, bind_specs(package, inputs(false))).kind();
  };
  EXPECT_EQ(refusal(R"("constants": {"N": "1"}, "when": "N == 1")"), ErrorKind::no_variant);
  EXPECT_EQ(refusal(R"("constants": {"N": "1", "M": "N + 1"})"), ErrorKind::expression);
  EXPECT_EQ(refusal(R"("constants": {"M": "N + 1"})", R"("constants": {"N": "1"}, )"), ErrorKind::expression);
  EXPECT_EQ(refusal(R"("constants": {"N": "1"}, "derive": {"D": "N"})"), ErrorKind::expression);
}

TEST(Generation1, SourceInputsSeeConstantsButNotEachOther) {
  const auto text = [](std::string_view source_inputs) {
    return manifest(
        R"("variants": [)" +
        variant("v", R"("constants": {"N": "2"})",
                R"({"id": "main", "source": {"kind": "template", "shader": "a.wgsl.jinja", "inputs": )" +
                    std::string(source_inputs) + R"(}, "bindings": [{"name": "y", "arg": "y",
                        "buffer": {"type": "storage"}, "elementType": "f32"}],
                        "dispatch": {"x": "source.count", "y": "N"}})") +
        "]");
  };
  const Plan plan = plan_old(text(R"({"count": "N + 1", "other": "4"})"));
  EXPECT_EQ(plan.passes.at(0).workgroups, (Groups{3, 2, 1}));
  EXPECT_EQ(plan.passes.at(0).shader, "a.wgsl.jinja");
  const Package package = load_text(text(R"({"other": "4", "count": "other"})"));
  EXPECT_EQ(plan_error(package, bind_specs(package, inputs(false))).kind(), ErrorKind::expression);
}

// format.md 15, points 28 and 29
TEST(Generation1, Point28And29Dispatch) {
  const auto groups = [](std::string_view dispatch) {
    return plan_old(manifest(R"("variants": [)" + variant("v", "", pass(dispatch)) + "]"))
        .passes.at(0)
        .workgroups;
  };
  EXPECT_EQ(groups(R"({"workgroups": "65536", "x": 3})"), (Groups{3, 65535, 2}));
  EXPECT_EQ(groups(R"({"threads": "65536 * 64", "workgroupSize": 64, "z": "5"})"), (Groups{65535, 2, 5}));
  EXPECT_EQ(groups(R"({"gridStride": "70000"})"), (Groups{65535, 1, 1}));
  EXPECT_EQ(groups(R"({"gridStride": "70000", "workgroupSize": 256})"), (Groups{274, 1, 1}));
  for (const char* bad : {R"({"workgroups": "9", "x": 3, "y": 1})", R"({"gridStride": "9", "x": 3})",
                          R"({"gridStride": "9", "workgroups": "3"})", R"({"threads": "9"})"}) {
    EXPECT_THROW(groups(bad), Error) << bad;
  }
}

TEST(Generation1, OrderOfTrial) {
  const std::string x = pass(R"({"x": 1})");
  EXPECT_EQ(variant_of(variant("a", R"("priority": 9)", x) + ", " + variant("b", R"("default": true)", x)),
            "b");
  EXPECT_EQ(variant_of(variant("a", R"("priority": 9, "selectAbove": "1")", x) + ", " + variant("b", "", x)),
            "b");
  EXPECT_EQ(
      variant_of(variant("a", R"("priority": 9, "selectAbove": "true")", x) + ", " + variant("b", "", x)),
      "a");
  EXPECT_EQ(variant_of(variant("a", R"("when": false)", x) + ", " + variant("b", R"("when": true)", x)), "b");
}

TEST(Generation1, FlatRequirements) {
  const std::string x = pass(R"({"x": 1})");
  const std::string variants =
      variant("a", R"("requiredWGSLLanguageFeatures": ["packed_4x8_integer_dot_product"])", x) + ", " +
      variant("b", "", x);
  EXPECT_EQ(variant_of(variants), "b");
  DeviceFacts facts;
  facts.wgsl_language_features = {"packed_4x8_integer_dot_product"};
  EXPECT_EQ(variant_of(variants, false, facts), "a");
}

TEST(Generation1, UniformsOfThePassWin) {
  const Plan plan = plan_old(
      manifest(R"("variants": [)" + variant("v", "", R"({"id": "main", "shader": "a.wgsl.jinja", "bindings": [
        {"name": "y", "arg": "y", "buffer": {"type": "storage"}, "elementType": "f32", "binding": 4},
        {"name": "params", "semantic": "kernel.params", "buffer": {"type": "uniform"}, "binding": 2,
         "struct": {"name": "P", "fields": [{"name": "n", "type": "u32", "value": "1"}, {"name": "m", "type": "u32",
         "value": "numel(shapes.y) + 0"}]}}],
        "uniforms": {"params": {"n": "ranks.a + 8"}}, "dispatch": {"x": 1}})") +
               "]"));
  const auto& bindings = plan.passes.at(0).bindings;
  EXPECT_EQ(bindings.at(1).words, (std::vector<std::uint32_t>{9, 4, 0, 0}));
  EXPECT_EQ(bindings.at(0).index, 4u);
  EXPECT_EQ(bindings.at(1).index, 2u);
}

}  // namespace
}  // namespace kernelpack::plan
