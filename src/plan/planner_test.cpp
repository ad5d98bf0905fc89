#include "plan/planner.hpp"

#include <bit>

#include <gtest/gtest.h>

#include "plan/manifest_test.hpp"

namespace kernelpack::plan {
namespace {

using Groups = std::array<std::uint32_t, 3>;
using Words = std::vector<std::uint32_t>;

Plan plan_copy(std::string_view rest, Shape shape = {4}, std::vector<TensorBuffer> buffers = {}) {
  const Package package = load_text(copy_manifest(rest));
  return plan_call(package, bind_specs(package, {f32("x", std::move(shape))}), {}, std::move(buffers));
}

Error refuse_copy(std::string_view rest, Shape shape = {4}, std::vector<TensorBuffer> buffers = {}) {
  const Package package = load_text(copy_manifest(rest));
  return plan_error(package, bind_specs(package, {f32("x", std::move(shape))}), {}, std::move(buffers));
}

// format.md 15, point 22
TEST(Planner, Point22NestedRepeatGroups) {
  const auto groups = [](std::string_view outer, std::string_view inner) {
    return R"("variants": [{"id": "v", "passes": [
      {"id": "g", "repeat": {"index": "i", "count": )" +
           std::string(outer) + R"(}, "passes": [
        {"id": "h", "repeat": {"index": "j", "count": )" +
           std::string(inner) + R"(}, "passes": [
          {"id": "p", "shader": "a.wgsl.jinja", "bindings": ["x", "y"],
           "dispatch": {"x": "1 + repeat.i", "y": "1 + repeat.index", "z": "repeat.i_count * 10 + repeat.count"}}]}]}]}])";
  };
  const Plan plan = plan_copy(groups("2", "\"repeat.i * 3\""));
  ASSERT_EQ(plan.passes.size(), 3u);
  EXPECT_EQ(plan.passes[0].id, "g[1].h[0].p");
  EXPECT_EQ(plan.passes[2].id, "g[1].h[2].p");
  EXPECT_EQ(plan.passes[2].workgroups, (Groups{2, 3, 23}));
  EXPECT_EQ(refuse_copy(groups("0", "3")).kind(), ErrorKind::package);
  EXPECT_EQ(refuse_copy(groups("3", "0")).kind(), ErrorKind::package);
  EXPECT_EQ(refuse_copy(groups("\"65535 + ranks.x\"", "1")).kind(), ErrorKind::limit);
  EXPECT_EQ(refuse_copy(groups("\"ranks.x / 2\"", "1")).kind(), ErrorKind::limit);
  EXPECT_EQ(refuse_copy(groups("65535", "3")).kind(), ErrorKind::limit);
}

TEST(Planner, ManyPassesOfOneGroup) {
  const Plan plan = plan_copy(R"("variants": [{"id": "v", "passes": [
      {"id": "g", "repeat": {"index": "i", "count": 1000}, "passes": [
        {"id": "p", "shader": "a.wgsl.jinja", "bindings": ["x", "y"], "derive": {"n": "repeat.i + 1"},
         "dispatch": {"x": "n"}}]}]}])");
  ASSERT_EQ(plan.passes.size(), 1000u);
  for (std::uint32_t i = 0; i < 1000; ++i) EXPECT_EQ(plan.passes[i].workgroups, (Groups{i + 1, 1, 1}));
}

// format.md 15, point 23
TEST(Planner, Point23ResolvesBindings) {
  const Plan plan = plan_copy(R"("bindings": {"x": {"arg": "x", "name": "handle"}},
    "variants": [{"id": "v", "intermediates": [{"id": "tmp", "dtype": "uint32", "shape": "numel(shapes.x) "}],
      "passes": [{"shader": "a.wgsl.jinja", "bindings": ["x", "y", {"name": "tmp", "elementType": "atomic<u32>"}],
      "dispatch": {"x": 1}}]}])");
  const auto& bindings = plan.passes.at(0).bindings;
  ASSERT_EQ(bindings.size(), 3u);
  EXPECT_EQ(bindings[0].name, "handle");
  EXPECT_EQ(bindings[0].target, "x");
  EXPECT_EQ(bindings[1].resource, PlannedBinding::Resource::tensor);
  EXPECT_EQ(bindings[2].resource, PlannedBinding::Resource::scratch);
  EXPECT_EQ(bindings[2].target, "tmp");
  EXPECT_EQ(bindings[2].buffer, BufferKind::storage);
  ASSERT_EQ(plan.scratch.size(), 1u);
  EXPECT_EQ(plan.scratch[0].shape, (Shape{4}));
  EXPECT_EQ(plan.scratch[0].bytes, 16u);
  EXPECT_TRUE(plan.scratch[0].used);
}

// format.md 15, point 58
TEST(Planner, Point58AZeroAxisSkipsThePassAndItsScratch) {
  const Plan plan = plan_copy(R"("variants": [{"id": "v",
    "intermediates": [{"id": "idle", "dtype": "float32", "shape": [3]}, {"id": "busy", "dtype": "float32", "shape": [3]}],
    "passes": [{"id": "a", "shader": "a.wgsl.jinja", "bindings": ["idle"], "dispatch": {"x": 1, "y": "ranks.x - 1"}},
               {"id": "b", "shader": "a.wgsl.jinja", "bindings": ["busy", "y"], "dispatch": {"workgroups": 65536}}]}])");
  EXPECT_EQ(plan.passes.at(0).skip, PlannedPass::Skip::empty);
  EXPECT_EQ(plan.passes.at(0).workgroups, (Groups{1, 0, 1}));
  EXPECT_EQ(plan.passes.at(1).skip, PlannedPass::Skip::none);
  EXPECT_EQ(plan.passes.at(1).workgroups, (Groups{65535, 2, 1}));
  EXPECT_FALSE(plan.scratch.at(0).used);
  EXPECT_TRUE(plan.scratch.at(1).used);
}

// format.md 15, point 59, planning part
TEST(Planner, Point59AllOutputsEmpty) {
  const std::string rest =
      R"("variants": [{"id": "v", "intermediates": [{"id": "tmp", "dtype": "float32", "shape": "none"}],
    "passes": [{"id": "main", "shader": "a.wgsl.jinja", "bindings": ["x", "y", "tmp",
       {"name": "params", "struct": [{"name": "bad", "type": "u32", "value": "true"}]}],
       "dispatch": {"x": "-1"}}]}])";
  const Plan plan = plan_copy(rest, {0, 5});
  EXPECT_EQ(plan.variant, "v");
  EXPECT_EQ(plan.passes.at(0).skip, PlannedPass::Skip::empty);
  EXPECT_EQ(plan.passes.at(0).workgroups, (Groups{0, 0, 0}));
  EXPECT_EQ(plan.passes.at(0).bindings.at(3).words, (Words{0, 0, 0, 0}));
  EXPECT_EQ(plan.scratch.at(0).shape, (Shape{0}));
  EXPECT_FALSE(plan.scratch.at(0).used);
  EXPECT_EQ(refuse_copy(rest, {5}).kind(), ErrorKind::expression);
}

std::string uniform_pass(std::string_view fields) {
  return one_pass(R"({"x": 1})", R"(["x", "y", {"name": "params", "struct": )" + std::string(fields) + "}]");
}

// format.md 15, point 60
TEST(Planner, Point60UniformWords) {
  const auto words = [](std::string_view fields) {
    return plan_copy(uniform_pass(fields)).passes.at(0).bindings.at(2).words;
  };
  EXPECT_EQ(words(R"([{"name": "a", "type": "u32", "value": 1}, {"name": "b", "type": "i32", "value": -2},
                      {"name": "c", "type": "f32", "value": "0.1"}, {"name": "d", "type": "f32", "value": "1 / 0"},
                      {"name": "e", "type": "u32", "value": "4294967295"}])"),
            (Words{1, 0xFFFFFFFEu, std::bit_cast<std::uint32_t>(0.1f), 0x7F800000u, 0xFFFFFFFFu, 0, 0, 0}));
  EXPECT_EQ(words(R"([{"name": "a", "type": "f32", "value": "-1 * 2 ** 200"}])"),
            (Words{0xFF800000u, 0, 0, 0}));
  EXPECT_EQ(words(R"([{"name": "a", "type": "u32", "internal": true}])"), (Words{0, 0, 0, 0}));
  EXPECT_EQ(words(R"([{"name": "a", "type": "u32", "default": "ranks.x + 1"}])"), (Words{2, 0, 0, 0}));
  for (const char* value : {"true", "0 / 0", "-1", "0.5", "4294967296", "'1'", "none", "1 / 0"}) {
    const std::string fields = R"([{"name": "a", "type": "u32", "value": ")" + std::string(value) + "\"}]";
    EXPECT_EQ(refuse_copy(uniform_pass(fields)).kind(), ErrorKind::expression) << value;
  }
  EXPECT_EQ(refuse_copy(uniform_pass(R"([{"name": "a", "type": "f32", "value": "0 / 0"}])")).kind(),
            ErrorKind::expression);
  EXPECT_EQ(refuse_copy(uniform_pass(R"([{"name": "a", "type": "f32"}])")).message(),
            "The value of uniform field params.a of pass main (nothing) is missing: there is neither an "
            "expression, nor an "
            "argument, nor a default");
}

TEST(Planner, UniformFieldsTakeArguments) {
  const Package package =
      load_text(copy_manifest(R"("args": {"scale": {"kind": "f32"}}, )" +
                              uniform_pass(R"([{"name": "scale", "type": "f32", "default": 9}])")));
  const Plan plan = plan_call(package, bind_specs(package, {f32("x", {4})}, {.arguments = {{"scale", 0.5}}}));
  EXPECT_EQ(plan.passes.at(0).bindings.at(2).words.at(0), std::bit_cast<std::uint32_t>(0.5f));
  ASSERT_EQ(plan.passes.at(0).uniforms.size(), 1u);
  EXPECT_EQ(plan.passes.at(0).uniforms[0], (UniformField{"params", "scale", "f32", 0.5}));
}

std::string sized(std::string_view element, std::string_view length) {
  return R"("derive": {"N": "numel(shapes.x) "}, )" +
         one_pass(R"({"x": 1})", R"([{"arg": "x", "elementType": ")" + std::string(element) +
                                     R"(", "length": )" + std::string(length) + R"(}, "y"])");
}

// format.md 15, point 61, planning part
TEST(Planner, Point61ALengthLargerThanTheRangeFails) {
  EXPECT_EQ(plan_copy(sized("f32", "4")).passes.at(0).bindings.at(0).required_bytes, 16u);
  EXPECT_EQ(plan_copy(sized("vec4<f32>", "1")).passes.at(0).bindings.at(0).length, 1u);
  EXPECT_EQ(plan_copy(sized("f32", R"("$N")")).passes.at(0).bindings.at(0).length, 4u);
  EXPECT_EQ(refuse_copy(sized("f32", "5")).kind(), ErrorKind::contract);
  EXPECT_EQ(refuse_copy(sized("vec3<f32>", "2")).kind(), ErrorKind::contract);
  EXPECT_EQ(refuse_copy(sized("vec4<f32>", R"("$N")")).kind(), ErrorKind::contract);
  EXPECT_EQ(refuse_copy(sized("mat4x4<f32>", "1")).kind(), ErrorKind::package);
  EXPECT_EQ(refuse_copy(sized("f32", R"("$T")")).kind(), ErrorKind::expression);
  // The range ends at a multiple of four bytes: three halves expose a fourth.
  const Package package = load_text(copy_manifest(sized("f16", "4")));
  const Call call = bind_specs(package, {{"x", {DType::float16, {3}}}});
  EXPECT_EQ(plan_call(package, call).passes.at(0).bindings.at(0).required_bytes, 8u);
}

// format.md 15, point 62, planning part
TEST(Planner, Point62Aliasing) {
  const std::string rest = R"("variants": [{"id": "v", "passes": [{"id": "main", "shader": "a.wgsl.jinja",
     "bindings": ["x", "y"], "dispatch": {"x": 1}, "viewAlias": [{"input": "x", "output": "y"}]}]}])";
  EXPECT_EQ(plan_copy(rest).passes.at(0).skip, PlannedPass::Skip::none);
  const Plan same = plan_copy(rest, {4}, {{"x", "b", 0}, {"y", "b", 0}});
  EXPECT_EQ(same.passes.at(0).skip, PlannedPass::Skip::view_alias);
  EXPECT_EQ(same.passes.at(0).workgroups, (Groups{1, 1, 1}));
  EXPECT_EQ(same.passes.at(0).view_aliases, (std::vector<std::pair<std::string, std::string>>{{"x", "y"}}));
  const Error error = refuse_copy(rest, {4}, {{"x", "b", 0}, {"y", "b", 256}});
  EXPECT_EQ(error.kind(), ErrorKind::contract);
  EXPECT_EQ(error.message(),
            "The bindings x (read-only) and y (read-write) of pass main share the buffer labelled b");
  // Without the alias rule one buffer is an error even for equal ranges.
  EXPECT_EQ(refuse_copy(one_pass(R"({"x": 1})"), {4}, {{"x", "b", 0}, {"y", "b", 0}}).kind(),
            ErrorKind::contract);
}

TEST(Planner, Point62ReadWriteRanges) {
  const Package package = load_text(
      R"({"name": "Two", "domain": "test", "inputs": {"x": {"dtype": "float32"}},
          "outputs": {"y": {"dtype": "float32", "shape": "shapes.x"}, "z": {"dtype": "float32", "shape": "shapes.x"}},
          "variants": [{"id": "v", "passes": [{"id": "main", "shader": "a.wgsl.jinja", "bindings": ["y", "z"],
          "dispatch": {"x": 1}}]}]})");
  const Call call = bind_specs(package, {f32("x", {4})});
  EXPECT_EQ(plan_call(package, call, {}, {{"y", "b", 0}, {"z", "b", 16}}).variant, "v");
  EXPECT_EQ(plan_error(package, call, {}, {{"y", "b", 0}, {"z", "b", 12}}).kind(), ErrorKind::contract);
  EXPECT_EQ(plan_error(package, call, {}, {{"q", "b", 0}}).kind(), ErrorKind::contract);
  EXPECT_EQ(plan_error(package, call, {}, {{"y", "b", 0}, {"y", "c", 0}}).kind(), ErrorKind::contract);
}

// format.md 15, point 64
TEST(Planner, Point64OptionalOutputs) {
  const Package package = load_text(
      R"({"name": "Stats", "domain": "test", "inputs": {"x": {"dtype": "float32"}},
          "outputs": {"y": {"dtype": "float32", "shape": "shapes.x"},
                      "mean": {"dtype": "float32", "shape": "[dim(shapes.x, 0), 1]", "optional": true},
                      "free": {"dtype": "float32", "optional": true}},
          "variants": [
            {"id": "with", "when": ["present.mean", "shapes.mean is defined"], "passes": [{"shader": "a.wgsl.jinja",
             "bindings": ["x", "y", "mean"], "dispatch": {"x": 1}}]},
            {"id": "without", "when": ["not present.mean", "shapes.mean is undefined"],
             "passes": [{"shader": "a.wgsl.jinja", "bindings": ["x", "y"], "dispatch": {"x": 1}}]}]})");
  const std::vector<NamedSpec> x{f32("x", {2, 3})};
  EXPECT_EQ(plan_call(package, bind_specs(package, x)).variant, "without");
  const Plan with = plan_call(package, bind_specs(package, x, {.wanted = {{"mean"}}}));
  EXPECT_EQ(with.variant, "with");
  ASSERT_EQ(with.tensors.size(), 3u);
  EXPECT_EQ(with.tensors[2].shape, (Shape{2, 1}));
  EXPECT_THROW(bind_specs(package, x, {.wanted = {{"free"}}}), Error);
  const Plan given =
      plan_call(package, bind_specs(package, x, {.wanted = {{"free", TensorSpec{DType::float32, {7}}}}}));
  EXPECT_EQ(given.tensors.at(2).shape, (Shape{7}));
}

// format.md 15, point 65, planning part
TEST(Planner, Point65OpaqueInt64BindsAsTwoWords) {
  const auto manifest = [](std::string_view element) {
    return R"({"name": "Pick", "domain": "test", "inputs": {"x": {"dtype": "T"}},
               "outputs": {"y": {"dtype": "T", "shape": "shapes.x"}}, "typeConstraints": {"T": ["int64", "float32"]},
               "derive": {"wide": "' vec2< u32 >'", "narrow": "'i32'"}, )" +
           one_pass(R"({"x": 1})",
                    R"([{"arg": "x", "elementType": ")" + std::string(element) + R"("}, "y"])") +
           "}";
  };
  const std::vector<NamedSpec> x{{"x", {DType::int64, {4}}}};
  const Package good = load_text(manifest("$T"));
  const Plan plan = plan_call(good, bind_specs(good, x));
  EXPECT_EQ(plan.passes.at(0).bindings.at(0).element_type, "vec2<u32>");
  EXPECT_EQ(plan.tensors.at(0).storage, DType::int64);
  const Package blanks = load_text(manifest("$wide"));
  EXPECT_EQ(plan_call(blanks, bind_specs(blanks, x)).passes.at(0).bindings.at(0).element_type,
            " vec2< u32 >");
  const Package bad = load_text(manifest("$narrow"));
  EXPECT_EQ(plan_error(bad, bind_specs(bad, x)).kind(), ErrorKind::package);
}

TEST(Planner, ReferencesThatFindNothing) {
  EXPECT_EQ(refuse_copy(one_pass(R"({"x": 1})", R"([{"arg": "x", "elementType": "$nowhere"}, "y"])")).kind(),
            ErrorKind::expression);
  EXPECT_EQ(refuse_copy(R"("derive": {"gone": "none"}, )" +
                        one_pass(R"({"x": 1})", R"([{"arg": "x", "elementType": "$gone"}, "y"])"))
                .kind(),
            ErrorKind::expression);
  // A namespace is no derive.
  EXPECT_EQ(refuse_copy(one_pass(R"({"x": 1})", R"([{"arg": "x", "elementType": "$shapes"}, "y"])")).kind(),
            ErrorKind::expression);
}

TEST(Planner, PassScopeSeesDtypesAndDerives) {
  const Plan plan =
      plan_copy(R"("derive": {"one": "1"}, "variants": [{"id": "v", "derive": {"two": "one + 1"},
    "passes": [{"shader": "a.wgsl.jinja", "bindings": ["x", "y"], "derive": {"three": "derive.two + 1",
    "isFloat": "T == 'f32'"}, "dispatch": {"x": "three", "y": "4 if isFloat else 5", "z": "DISPATCH_FOLD_WIDTH - 65534"}}]}])");
  EXPECT_EQ(plan.passes.at(0).workgroups, (Groups{3, 4, 1}));
  // Bare dtype names exist in pass scopes only.
  EXPECT_EQ(
      refuse_copy(R"("variants": [{"id": "v", "when": ["T == 'f32'"], "passes": [{"shader": "a.wgsl.jinja",
    "bindings": ["x", "y"], "dispatch": {"x": 1}}]}])")
          .kind(),
      ErrorKind::no_variant);
}

TEST(Planner, ScratchShapes) {
  const auto scratch = [](std::string_view shape) {
    return R"("variants": [{"id": "v", "intermediates": [{"id": "tmp", "dtype": "float16", "zeroInit": true, "shape": )" +
           std::string(shape) + R"(}], "passes": [{"shader": "a.wgsl.jinja", "bindings": ["tmp", "y"],
           "dispatch": {"x": 1}}]}])";
  };
  EXPECT_EQ(plan_copy(scratch("\"3\"")).scratch.at(0).shape, (Shape{3}));
  EXPECT_EQ(plan_copy(scratch("\"3\"")).scratch.at(0).bytes, 8u);
  EXPECT_TRUE(plan_copy(scratch("\"3\"")).scratch.at(0).zero_init);
  EXPECT_EQ(plan_copy(scratch(R"(["ranks.x", 0])")).scratch.at(0).bytes, 4u);
  for (const char* bad : {"\"[]\"", "\"-1\"", "\"[1.5]\"", "\"'a'\"", "\"[none]\"", "\"true\""}) {
    EXPECT_EQ(refuse_copy(scratch(bad)).kind(), ErrorKind::expression) << bad;
  }
}

TEST(Planner, BuffersThatTheDeviceCannotHold) {
  const Package package = load_text(copy_manifest(one_pass(R"({"x": 1})")));
  const Call call = bind_specs(package, {f32("x", {1000})});
  DeviceFacts facts;
  facts.limits = {{"maxBufferSize", 4000}, {"maxStorageBufferBindingSize", 4000}};
  EXPECT_EQ(plan_call(package, call, facts).variant, "v");
  facts.limits["maxStorageBufferBindingSize"] = 3996;
  EXPECT_EQ(plan_error(package, call, facts).kind(), ErrorKind::limit);
  facts.limits = {{"maxBufferSize", 3996}};
  EXPECT_EQ(plan_error(package, call, facts).message(),
            "The byte size of tensor x (4000) exceeds maxBufferSize (3996)");
}

TEST(Planner, IsPure) {
  const Package package =
      load_text(copy_manifest(one_pass(R"({"threads": "numel(shapes.x) ", "workgroupSize": 64})")));
  const Call call = bind_specs(package, {f32("x", {1000})});
  EXPECT_EQ(plan_call(package, call), plan_call(package, call));
}

}  // namespace
}  // namespace kernelpack::plan
