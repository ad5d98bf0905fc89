// kernelpack's own share of a call whose plan, pipelines and bind groups are known: heap allocations and
// time, against a table of functions that return at once, and on Dawn's backend that computes nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <new>
#include <type_traits>

#include "base/allocation_count_test.hpp"
#include "webgpu/device_fixture_test.hpp"
#include "webgpu/device_memory.hpp"
#include "webgpu/plan_fixture_test.hpp"

namespace kernelpack::webgpu {
namespace {

int thing;  // what every handle of the table points to

template <class Function>
struct Stub;
template <class Result, class... Arguments>
struct Stub<Result (*)(Arguments...)> {
  static Result call(Arguments...) {
    if constexpr (std::is_pointer_v<Result>) {
      return reinterpret_cast<Result>(&thing);
    } else if constexpr (!std::is_void_v<Result>) {
      return Result{};
    }
  }
};

WGPUStatus limits_of(WGPUDevice, WGPULimits* limits) {
  limits->maxBindGroups = 4;
  limits->maxBindingsPerBindGroup = 1000;
  limits->maxDynamicUniformBuffersPerPipelineLayout = 8;
  limits->maxStorageBuffersPerShaderStage = 8;
  limits->maxUniformBuffersPerShaderStage = 12;
  limits->maxUniformBufferBindingSize = 65536;
  limits->maxStorageBufferBindingSize = std::uint64_t{1} << 30;
  limits->maxBufferSize = std::uint64_t{1} << 30;
  limits->minUniformBufferOffsetAlignment = 256;
  limits->minStorageBufferOffsetAlignment = 256;
  limits->maxComputeWorkgroupsPerDimension = 65535;
  return WGPUStatus_Success;
}
WGPUFuture pop(WGPUDevice, WGPUPopErrorScopeCallbackInfo info) {
  info.callback(WGPUPopErrorScopeStatus_Success, WGPUErrorType_NoError, {nullptr, 0}, info.userdata1,
                info.userdata2);
  return {};
}
WGPUFuture compile_now(WGPUDevice, const WGPUComputePipelineDescriptor*,
                       WGPUCreateComputePipelineAsyncCallbackInfo info) {
  info.callback(WGPUCreatePipelineAsyncStatus_Success, reinterpret_cast<WGPUComputePipeline>(&thing),
                {nullptr, 0}, info.userdata1, info.userdata2);
  return {};
}

// Says that the measured path does its work.
struct Counts {
  long dispatches = 0;
  long submissions = 0;
  long pipelines = 0;
  long groups = 0;
} counts;
void set_pipeline(WGPUComputePassEncoder, WGPUComputePipeline) {
  ++counts.pipelines;
}
void set_group(WGPUComputePassEncoder, std::uint32_t, WGPUBindGroup, std::size_t, const std::uint32_t*) {
  ++counts.groups;
}
void dispatch(WGPUComputePassEncoder, std::uint32_t, std::uint32_t, std::uint32_t) {
  ++counts.dispatches;
}
void submit(WGPUQueue, std::size_t, const WGPUCommandBuffer*) {
  ++counts.submissions;
}

template <class Function>
void* address(Function function) {
  void* result = nullptr;
  std::memcpy(&result, &function, sizeof result);
  return result;
}

void* stub(const char* name) {
  const std::string_view wanted = name;
  if (wanted == "wgpuDeviceGetLimits") return address(&limits_of);
  if (wanted == "wgpuDevicePopErrorScope") return address(&pop);
  if (wanted == "wgpuDeviceCreateComputePipelineAsync") return address(&compile_now);
  if (wanted == "wgpuComputePassEncoderDispatchWorkgroups") return address(&dispatch);
  if (wanted == "wgpuComputePassEncoderSetPipeline") return address(&set_pipeline);
  if (wanted == "wgpuComputePassEncoderSetBindGroup") return address(&set_group);
  if (wanted == "wgpuQueueSubmit") return address(&submit);
  if (wanted == "wgpuGetInstanceCapabilities") return &thing;
#define X(function) \
  if (wanted == "wgpu" #function) return address(&Stub<WGPUProc##function>::call);
  KERNELPACK_WEBGPU_FUNCTIONS(X)
  KERNELPACK_WEBGPU_DAWN_FUNCTIONS(X)
#undef X
  return nullptr;
}

std::shared_ptr<Engine> stub_engine() {
  auto library = Library::from_symbols(&stub, "functions that return at once");
  return std::make_shared<Engine>(
      GpuDevice::adopt(Instance::adopt(std::move(library), nullptr), reinterpret_cast<WGPUDevice>(&thing)));
}

// Times are judged where the build is the one that users run.
bool judges_time() {
#ifdef NDEBUG
  return allocation_count().has_value();
#else
  return false;
#endif
}

// Microseconds of one of `calls` in the best of many rounds, which a busy machine disturbs least. `between`
// is outside the measured time.
template <class Step, class Between>
double best_time(int rounds, int calls, const Step& step, const Between& between) {
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) step();
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count() / calls);
    between();
  }
  return best;
}

struct Calls {
  explicit Calls(std::shared_ptr<Engine> device)
      : engine(std::move(device)), plan(std::make_shared<const Plan>(add_plan(1024))), submission(engine) {
    for (int i = 0; i < 3; ++i) tensors.push_back(allocate(engine, stored_as({DType::float32, {1024}}, {})));
  }
  void submit() {
    submission.add(plan, tensors);
    submission.submit();
  }
  void record(WGPUCommandEncoder encoder) {
    submission.add(plan, tensors);
    work.add(submission, encoder);
  }

  std::shared_ptr<Engine> engine;
  std::shared_ptr<const Plan> plan;
  std::vector<DeviceTensor> tensors;
  Submission submission;
  RecordedWork work;
};

TEST(HostTime, AKnownCallAllocatesNothing) {
  if (!allocation_count()) GTEST_SKIP() << "a sanitizer brings its own allocator";
  Calls calls(stub_engine());
  const auto encoder = reinterpret_cast<WGPUCommandEncoder>(&thing);
  const auto both = [&] {
    calls.submit();
    calls.record(encoder);
    calls.work.clear();
  };
  for (int i = 0; i < 3; ++i) both();
  counts = {};
  const long before = *allocation_count();
  for (int i = 0; i < 1000; ++i) both();
  EXPECT_EQ(*allocation_count() - before, 0);
  EXPECT_EQ(counts.dispatches, 2000);
  EXPECT_EQ(counts.submissions, 1000);
  // Not a new expression, which a compiler may leave out.
  ::operator delete(::operator new(1));
  EXPECT_GT(*allocation_count(), before) << "allocations are not counted";
}

TEST(HostTime, CallsOfOneBatchBindNothingTwice) {
  Calls calls(stub_engine());
  counts = {};
  for (int i = 0; i < 10; ++i) calls.submission.add(calls.plan, calls.tensors);
  std::swap(calls.tensors[1], calls.tensors[2]);
  for (int i = 0; i < 10; ++i) calls.submission.add(calls.plan, calls.tensors);
  calls.submission.submit();
  EXPECT_EQ(counts.dispatches, 20);
  EXPECT_EQ(counts.pipelines, 1);
  EXPECT_EQ(counts.groups, 2);
  calls.submit();
  EXPECT_EQ(counts.pipelines, 2) << "a pass knew what another had bound";
  EXPECT_EQ(counts.groups, 3);
}

TEST(HostTime, AKnownCallTakesLittleOfOurTime) {
  Calls calls(stub_engine());
  const double submitted = best_time(
      50, 1000, [&] { calls.submit(); }, [] {});
  const auto encoder = reinterpret_cast<WGPUCommandEncoder>(&thing);
  const double recorded = best_time(
      50, 1000, [&] { calls.record(encoder); }, [&] { calls.work.clear(); });
  std::printf("against functions that return at once: %.2f us submitted, %.2f us recorded\n", submitted,
              recorded);
  if (!judges_time()) GTEST_SKIP() << "times are judged in release builds";
  EXPECT_LE(submitted, 1.5);
  EXPECT_LE(recorded, 1.5);
}

TEST(HostTime, ACallOnTheNullBackend) {
  use_fetched_driver();
  std::shared_ptr<Engine> engine;
  try {
    engine = open_engine({.library = "dawn"}, true);
  } catch (const Error& error) {
    if (gpu_required()) FAIL() << error.report();
    GTEST_SKIP() << error.report();
  }
  Calls calls(engine);
  const double submitted = best_time(
      100, 200, [&] { calls.submit(); }, [&] { wait_until_idle(*engine, std::nullopt); });
  const Functions& f = engine->device().functions();
  WGPUCommandEncoder encoder = f.DeviceCreateCommandEncoder(raw_device(*engine), nullptr);
  const double recorded = best_time(
      100, 200, [&] { calls.record(encoder); },
      [&] {
        const auto commands = f.CommandEncoderFinish(encoder, nullptr);
        f.QueueSubmit(engine->device().queue(), 1, &commands);
        f.CommandBufferRelease(commands);
        f.CommandEncoderRelease(encoder);
        calls.work.clear();
        wait_until_idle(*engine, std::nullopt);
        encoder = f.DeviceCreateCommandEncoder(raw_device(*engine), nullptr);
      });
  f.CommandEncoderRelease(encoder);
  std::printf("on Dawn's Null backend: %.2f us submitted, %.2f us recorded\n", submitted, recorded);
  if (!judges_time()) GTEST_SKIP() << "times are judged in release builds";
  EXPECT_LE(submitted, 5);
  EXPECT_LE(recorded, 3);
}

}  // namespace
}  // namespace kernelpack::webgpu
