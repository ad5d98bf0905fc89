// The host's time for a call whose plan, pipelines and bind groups are known and whose tensors lie on the
// device.
#include <benchmark/benchmark.h>

#include <vector>

#include "kernelpack/device_tensor.hpp"
#include "webgpu/engine.hpp"
#include "webgpu/plan_fixture_test.hpp"

namespace kernelpack::webgpu {
namespace {

enum class Where { null_backend, dawn, native };

// With `batch` calls in a submission; the queue is emptied now and then, outside the measured time.
void submit(benchmark::State& state, Where where) {
  std::shared_ptr<Engine> engine;
  try {
    engine = open_engine({.library = where == Where::native ? "wgpu-native" : "dawn"},
                         where == Where::null_backend);
  } catch (const Error& error) {
    state.SkipWithError(error.what());
    return;
  }
  const auto plan = std::make_shared<const Plan>(add_plan(1024));
  std::vector<DeviceTensor> tensors;
  for (int i = 0; i < 3; ++i) tensors.push_back(allocate(engine, stored_as({DType::float32, {1024}}, {})));
  Submission submission(engine);
  const auto batch = state.range(0);
  int since_idle = 0;
  for (auto each : state) {
    static_cast<void>(each);
    for (std::int64_t i = 0; i < batch; ++i) submission.add(plan, tensors);
    submission.submit();
    if (++since_idle == 256) {
      state.PauseTiming();
      wait_until_idle(*engine, std::nullopt);
      since_idle = 0;
      state.ResumeTiming();
    }
  }
  wait_until_idle(*engine, std::nullopt);
  state.SetItemsProcessed(state.iterations() * batch);
  state.SetLabel(description(*engine));
}

BENCHMARK_CAPTURE(submit, null_backend, Where::null_backend)->Arg(1)->Arg(100)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(submit, dawn, Where::dawn)->Arg(1)->Arg(100)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(submit, wgpu_native, Where::native)->Arg(1)->Arg(100)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace kernelpack::webgpu
