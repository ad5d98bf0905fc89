// From a package folder to plans: load, cold plan, cached plan, rendering. Run it from anywhere:
//   build/bin/plan_bench
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "kernelpack/kernel.hpp"
#include "plan/call_scope.hpp"
#include "plan/declarations.hpp"
#include "plan/pass_bindings.hpp"
#include "plan/planner.hpp"
#include "plan/render.hpp"
#include "plan/repeat.hpp"

namespace kernelpack {
namespace {

const std::filesystem::path kPackage = KERNELPACK_SOURCE_DIR "/tests/packages/planbench";

DeviceFacts desktop() {
  DeviceFacts facts;
  facts.features = {"shader-f16", "subgroups", "timestamp-query"};
  facts.wgsl_language_features = {"packed_4x8_integer_dot_product", "unrestricted_pointer_parameters",
                                  "pointer_composite_access"};
  facts.limits = {{"maxBufferSize", 4294967296.0},
                  {"maxStorageBufferBindingSize", 4294967292.0},
                  {"maxStorageBuffersPerShaderStage", 16},
                  {"maxComputeWorkgroupStorageSize", 49152}};
  facts.vendor = "nvidia";
  facts.subgroup_min_size = 32;
  facts.subgroup_max_size = 32;
  return facts;
}

const Kernel& kernel() {
  static const Kernel made(Package::load(kPackage));
  return made;
}

Call call_of(Shape shape) {
  const std::int64_t columns = shape.back();
  const std::vector<NamedSpec> inputs{{"x", {DType::float32, std::move(shape)}},
                                      {"bias", {DType::float32, {columns}}}};
  return kernel().bind(inputs);
}

/// A shape for each variant.
Shape shape_of(std::int64_t variant) {
  if (variant == 0) return {128, 1000};
  if (variant == 1) return {4, 128, 32};
  return {2, 100000};
}

void LoadVerifyParse(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Package::load(kPackage));
}
BENCHMARK(LoadVerifyParse)->Unit(benchmark::kMicrosecond);

void Bind(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(call_of({128, 1000}));
}
BENCHMARK(Bind)->Unit(benchmark::kMicrosecond);

/// Select, render, words.
void ColdPlan(benchmark::State& state) {
  const DeviceFacts facts = desktop();
  const Call call = call_of(shape_of(state.range(0)));
  std::string variant;
  for (auto _ : state) {
    Plan plan = plan::make_plan(kernel().package().model(), call, facts);
    variant = plan.variant;
    benchmark::DoNotOptimize(plan);
  }
  state.SetLabel(variant);
}
BENCHMARK(ColdPlan)->Arg(0)->Arg(1)->Arg(2)->Unit(benchmark::kMicrosecond);

/// The template of the variant "rows" alone, in a scope made before: what bench/render_bench.mjs measures in
/// node.
void RenderRows(benchmark::State& state) {
  const DeviceFacts facts = desktop();
  const Call call = call_of(shape_of(0));
  const package::Model& model = kernel().package().model();
  plan::CallScope scope(model, call, facts, {}, {});
  scope.derive_manifest();
  const package::Variant& variant = *model.variant("rows");
  scope.enter(variant);
  const auto passes = plan::expand_passes(variant, [](const auto&, const auto&) { return 1.0; });
  const plan::PassScope pass_scope(scope, passes.front());
  const std::string declarations = plan::resource_declarations(
      *passes.front().pass, plan::resolve_bindings(call, passes.front(), pass_scope, false));
  for (auto _ : state)
    benchmark::DoNotOptimize(
        plan::render_pass(model, passes.front(), pass_scope, declarations, facts, false, {}));
}
BENCHMARK(RenderRows)->Unit(benchmark::kMicrosecond);

void CachedPlan(benchmark::State& state) {
  const DeviceFacts facts = desktop();
  const Call call = call_of(shape_of(0));
  for (auto _ : state) benchmark::DoNotOptimize(kernel().plan(call, facts));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(CachedPlan)->Threads(1)->Threads(2)->Threads(8)->UseRealTime();

}  // namespace
}  // namespace kernelpack

BENCHMARK_MAIN();
