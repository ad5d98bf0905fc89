#include <fstream>

#include <gtest/gtest.h>

#include "plan/manifest_test.hpp"

namespace kernelpack::plan {
namespace {

/// A manifest with its template a.wgsl.jinja.
Package load_with(const std::string& manifest, std::string_view wgsl) {
  const ManifestFolder folder(manifest);
  std::ofstream(folder.path() / "a.wgsl.jinja") << wgsl;
  return Package::load(folder.path(), {.verify = false});
}

std::string two(std::string_view keys = "") {
  return copy_manifest(
      R"("tunables": {"SIZE": {"default": 64}}, "variants": [{"id": "v", "tunables": {"SIZE": {"default": 32}},
    "derive": {"wide": "numel(shapes.x) / 2"}, "passes": [{"id": "main", "shader": "a.wgsl.jinja", "bindings": ["x", "y",
    {"name": "params", "struct": [{"name": "n", "type": "u32", "value": "1"}]}], "derive": {"twice": "wide * 2"},
    "dispatch": {"x": 1})" +
      std::string(keys) + "}]}]");
}

std::optional<std::string> rendered(const Package& package, DType dtype = DType::float32, Shape shape = {8},
                                    const DeviceFacts& facts = {}) {
  const Call call = bind_specs(package, {{package.model().inputs[0].name, {dtype, std::move(shape)}}});
  return make_plan(package.model(), call, facts).passes.at(0).wgsl;
}

TEST(Render, TemplatesSeeThePassScopeAndEnv) {
  const Package package =
      load_with(two(),
                "{{ env.wgsl.resourceDeclarations }}\n{{ T }} {{ wide }} {{ twice }} "
                "{{ tunables.SIZE }} {{ derive.wide }} {{ env.device.limits.maxBindGroups }} "
                "{{ DISPATCH_FOLD_WIDTH }} {{ repeat.index is defined }} {{ nothing }}.\n");
  EXPECT_EQ(rendered(package),
            "struct Params { n: u32, _pad0: u32, _pad1: u32, _pad2: u32 };\n"
            "@group(0) @binding(0) var<storage, read> x: array<f32>;\n"
            "@group(0) @binding(1) var<storage, read_write> y: array<f32>;\n"
            "@group(0) @binding(2) var<uniform> params: Params;\n"
            "f32 4 8 32 4 4 65535 false .");
}

// format.md 15, point 51, at the place where it takes effect
TEST(Render, HalvesAreEnabledForGeneration2) {
  const Package package = load_with(two(), "var x: {{ T }};");
  EXPECT_EQ(rendered(package), "var x: f32;");
  EXPECT_EQ(rendered(package, DType::float16), "enable f16;\nvar x: f16;");
}

std::string one() {
  return R"({"domain": "test", "name": "Old", "inputs": [{"role": "first", "dtype": "T"}],
    "outputs": [{"role": "output", "dtype": "T", "shape": "shapes.a"}], "typeConstraints": {"T": ["float32", "float16"]},
    "args": {"a": {"kind": "tensor", "semantic": "first", "role": "input"},
             "y": {"kind": "tensor", "semantic": "output", "role": "output"}},
    "constants": {"usesF16": "dtypes.T == 'f16'"},
    "variants": [{"id": "v", "passes": [{"id": "main", "source": {"shader": "a.wgsl.jinja", "inputs": {"n": "8 / 2"}},
      "bindings": [{"name": "y", "arg": "y", "buffer": {"type": "storage"}, "elementType": "f32"}],
      "dispatch": {"x": 1}}]}]})";
}

// format.md 15, point 30
TEST(Render, Point30NothingIsEnabledForGeneration1) {
  const Package package =
      load_with(one(), "var x: {{ T }}; // {{ source.n }} {{ constants.usesF16 }} {{ usesF16 }}");
  DeviceFacts halves;
  halves.features = {"shader-f16"};
  EXPECT_EQ(rendered(package, DType::float16, {8}, halves), "var x: f16; // 4 true true");
}

TEST(Render, Generation1MayNotEnableWhatTheDeviceLacks) {
  const Package package =
      load_with(one(), "{% if usesF16 %}\n  enable subgroups, f16 ;\n{% endif %}\nfn main() {}");
  EXPECT_EQ(rendered(package), "fn main() {}");
  DeviceFacts facts;
  facts.features = {"subgroups"};
  try {
    rendered(package, DType::float16, {8}, facts);
    FAIL() << "the shader is accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::shader);
    EXPECT_EQ(error.message(),
              "The shader of pass main enables f16, but the device lacks the feature shader-f16");
  }
  facts.features.push_back("shader-f16");
  EXPECT_EQ(rendered(package, DType::float16, {8}, facts), "  enable subgroups, f16 ;\nfn main() {}");
}

TEST(Render, FailuresNameTemplateAndPass) {
  const Package package = load_with(two(), "a\n{{ raise_exception('too wide') }}");
  try {
    rendered(package);
    FAIL() << "the template renders";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::template_);
    EXPECT_NE(error.where().find("a.wgsl.jinja"), std::string::npos) << error.where();
    EXPECT_NE(error.report().find("While rendering pass main"), std::string::npos) << error.report();
  }
  // Nothing of an empty call runs, so it is planned all the same.
  EXPECT_EQ(rendered(package, DType::float32, {0}), std::nullopt);
}

TEST(Render, EmptyCallsAreRendered) {
  const Package package = load_with(two(), "n {{ wide }}");
  EXPECT_EQ(rendered(package, DType::float32, {0}), "n 0");
}

TEST(Render, AbsentTemplatesOnlyOnRequest) {
  const Package package = load_text(two());
  const Call call = bind_specs(package, {f32("x", {4})});
  EXPECT_EQ(plan_call(package, call).passes.at(0).wgsl, std::nullopt);
  EXPECT_THROW(make_plan(package.model(), call, {}), Error);
}

}  // namespace
}  // namespace kernelpack::plan
