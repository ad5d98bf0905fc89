// Devices that are lost, closed, or out of memory, and waits that end early.
#include <gtest/gtest.h>

#include <dlfcn.h>

#include <chrono>
#include <thread>

#include "kernelpack/webgpu_interop.hpp"
#include "webgpu/device_fixture_test.hpp"
#include "webgpu/device_memory.hpp"
#include "webgpu/plan_fixture_test.hpp"

namespace kernelpack::webgpu {
namespace {

// The error of a step as one line, "no error" without one.
template <class Step>
std::string fault(const Step& step) {
  try {
    step();
  } catch (const Error& error) {
    return error.line();
  }
  return "no error";
}

BoundTensor floats(std::int64_t count) {
  return stored_as({DType::float32, {count}}, {});
}

float run_once(Engine& engine) {
  const Tensor in = Tensor::from(std::vector<float>(64, 1.5f), {64});
  Tensor out(DType::float32, {64});
  run(engine, add_plan(64),
      std::vector<HostTensor>{{&in.view()}, {&in.view()}, {nullptr, &out.mutable_view()}});
  return out.values<float>()[63];
}

constexpr std::uint32_t kRounds = 200'000'000;

std::uint32_t slow_result(std::uint32_t rounds) {
  std::uint32_t x = 1;
  for (std::uint32_t i = 0; i < rounds; ++i) x = (x ^ (x >> 7)) * 1664525u + i;
  return x;
}

// Hashes for a while in one invocation, so that waits have something to wait for.
Plan slow_plan(std::uint32_t rounds) {
  Plan plan;
  plan.op = "test.Slow";
  plan.tensors = {bound_tensor("out", DType::uint32, {1})};
  plan.passes = {planned_pass(
      "main",
      "struct U { rounds: u32, p0: u32, p1: u32, p2: u32 };\n"
      "@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n"
      "@group(0) @binding(1) var<uniform> u: U;\n"
      "@compute @workgroup_size(1)\n"
      "fn main() {\n"
      "  var x = 1u;\n"
      "  for (var i = 0u; i < u.rounds; i++) { x = (x ^ (x >> 7u)) * 1664525u + i; }\n"
      "  out[0] = x;\n"
      "}\n",
      {tensor_binding(0, "out", BufferKind::storage), uniform_binding(1, "u", {rounds, 0, 0, 0})},
      {1, 1, 1})};
  return plan;
}

class DeviceLossTest : public DeviceTest {
 protected:
  // Every way into a device, with what it says.
  static std::vector<std::pair<std::string, std::string>> faults(const std::shared_ptr<Engine>& engine,
                                                                 const DeviceTensor& tensor) {
    static int unique = 0;
    const auto plan = std::make_shared<const Plan>(add_plan(64));
    Tensor values(DType::float32, {64});
    Plan fresh = add_plan(64);
    fresh.passes[0].wgsl = *fresh.passes[0].wgsl + "// fresh " + std::to_string(++unique) + "\n";
    const std::vector<std::shared_ptr<const Plan>> plans{std::make_shared<const Plan>(fresh)};
    return {{"run", fault([&] { run_once(*engine); })},
            {"start", fault([&] { start(engine, *plan, std::vector<HostTensor>(3)).finish(); })},
            {"allocate", fault([&] { allocate(engine, floats(64)); })},
            {"read", fault([&] { read(tensor, values.mutable_view()); })},
            {"write", fault([&] { write(tensor, values); })},
            {"submit", fault([&] {
               Submission submission(engine);
               submission.add(plan, std::vector{tensor, tensor, tensor});
               submission.submit();
             })},
            {"measure", fault([&] {
               Submission submission(engine);
               submission.add(plan, std::vector{tensor, tensor, tensor});
               submission.measure({});
             })},
            {"idle", fault([&] { wait_until_idle(*engine, std::nullopt); })},
            {"prewarm", fault([&] { prewarm(*engine, plans, {}); })}};
  }
};

TEST_P(DeviceLossTest, AClosedDeviceRefusesEverything) {
  const auto engine = open({.library = GetParam()});
  EXPECT_EQ(run_once(*engine), 3.0f);
  const DeviceTensor tensor = allocate(engine, floats(64));
  PendingRun pending = start(engine, add_plan(64), std::vector<HostTensor>(3));
  Tensor result(DType::float32, {64});
  const Tensor one = Tensor::from(std::vector<float>(64, 1.0f), {64});
  PendingRun wanted =
      start(engine, add_plan(64),
            std::vector<HostTensor>{{&one.view()}, {&one.view()}, {nullptr, &result.mutable_view()}});
  engine->close();
  const std::string expected = "device: The device (" + engine->device().adapter().name + ") is closed";
  for (const auto& [way, said] : faults(engine, tensor)) EXPECT_EQ(said, expected) << way;
  EXPECT_EQ(fault([&] { wanted.finish(); }), expected);
  engine->close();
  EXPECT_EQ(run_once(*open({.library = GetParam()})), 3.0f) << "a new device";
}

TEST_P(DeviceLossTest, ClosingAnAdoptedDeviceLeavesIt) {
  const auto owner = open({.library = GetParam()});
  AdoptedDevice adopted;
  adopted.device = raw_device(*owner);
  const Library& library = owner->device().library();
  if (library.is_dawn()) {
    adopted.get_proc_address =
        dlsym(dlopen(library.origin().c_str(), RTLD_NOW | RTLD_NOLOAD), "wgpuGetProcAddress");
    adopted.instance = owner->device().instance().get();
  } else {
    adopted.library = library.origin();
  }
  const auto engine = adopt(adopted);
  EXPECT_EQ(run_once(*engine), 3.0f);
  engine->close();
  EXPECT_NE(fault([&] { run_once(*engine); }).find("is closed"), std::string::npos);
  EXPECT_EQ(run_once(*owner), 3.0f);
}

// wgpu-native never reports a lost device, and may end the process when its owner destroys it.
class ReportedLossTest : public DeviceLossTest {};

TEST_P(ReportedLossTest, AnAdoptedDeviceThatItsOwnerDestroysIsAnError) {
  const auto owner = open({.library = GetParam()});
  AdoptedDevice adopted;
  adopted.device = raw_device(*owner);
  adopted.get_proc_address =
      dlsym(dlopen(owner->device().library().origin().c_str(), RTLD_NOW | RTLD_NOLOAD), "wgpuGetProcAddress");
  adopted.instance = owner->device().instance().get();
  const auto engine = adopt(adopted);
  const DeviceTensor tensor = allocate(engine, floats(64));
  EXPECT_EQ(run_once(*engine), 3.0f);
  engine->device().functions().DeviceDestroy(adopted.device);
  EXPECT_EQ(fault([&] { run_once(*engine); }).substr(0, 7), "device:");
  Tensor values(DType::float32, {64});
  EXPECT_EQ(fault([&] { read(tensor, values.mutable_view()); }).substr(0, 7), "device:");
}

TEST_P(ReportedLossTest, ALostDeviceIsAnErrorAndANewOneWorks) {
  const auto engine = open({.library = GetParam()});
  EXPECT_EQ(run_once(*engine), 3.0f);
  const DeviceTensor tensor = allocate(engine, floats(64));
  ASSERT_NE(engine->device().functions().DeviceForceLoss, nullptr);
  engine->device().functions().DeviceForceLoss(raw_device(*engine), 1, view("the test says so"));
  EXPECT_TRUE(engine->device().lost());
  for (const auto& [way, said] : faults(engine, tensor))
    EXPECT_EQ(
        said.find("device: The device (" + engine->device().adapter().name + ") is lost: the test says so"),
        0u)
        << way << ": " << said;
  engine->close();
  EXPECT_EQ(run_once(*open({.library = GetParam()})), 3.0f);
}

TEST_P(ReportedLossTest, ALossEndsWaitsThatAreUnderWay) {
  const auto engine = open({.library = GetParam()});
  Tensor out(DType::uint32, {1});
  PendingRun pending =
      start(engine, slow_plan(kRounds), std::vector<HostTensor>{{nullptr, &out.mutable_view()}});
  ASSERT_FALSE(pending.wait(std::chrono::nanoseconds(0))) << "the kernel is not slow enough";
  std::thread loss([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    engine->device().functions().DeviceForceLoss(raw_device(*engine), 1, view("the test says so"));
  });
  const std::string said = fault([&] { pending.finish(); });
  loss.join();
  // The library may let what runs come to its end.
  if (said == "no error") {
    EXPECT_EQ(out.values<std::uint32_t>()[0], slow_result(kRounds));
  } else {
    EXPECT_NE(said.find("is lost: the test says so"), std::string::npos) << said;
  }
  EXPECT_NE(fault([&] { run_once(*engine); }).find("is lost"), std::string::npos);
}

TEST_P(DeviceLossTest, WaitsEndByTimeAndByRequest) {
  Tensor out(DType::uint32, {1});
  PendingRun pending =
      start(engine_, slow_plan(kRounds), std::vector<HostTensor>{{nullptr, &out.mutable_view()}});
  EXPECT_FALSE(pending.wait(std::chrono::nanoseconds(0)));
  EXPECT_FALSE(pending.wait(std::chrono::milliseconds(5)));
  std::stop_source stop;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    stop.request_stop();
  });
  EXPECT_FALSE(pending.wait(std::nullopt, stop.get_token()));
  other.join();
  EXPECT_FALSE(wait_until_idle(*engine_, std::nullopt, stop.get_token()));
  EXPECT_FALSE(wait_until_idle(*engine_, std::chrono::milliseconds(5)));
  EXPECT_TRUE(pending.wait(std::chrono::minutes(2)));
  pending.finish();
  EXPECT_EQ(out.values<std::uint32_t>()[0], slow_result(kRounds));
}

TEST_P(DeviceLossTest, DroppingAPendingRunWaitsForNothing) {
  Tensor out(DType::uint32, {1});
  const auto begin = std::chrono::steady_clock::now();
  {
    const PendingRun pending =
        start(engine_, slow_plan(kRounds), std::vector<HostTensor>{{nullptr, &out.mutable_view()}});
  }
  const auto took = std::chrono::steady_clock::now() - begin;
  const auto before_idle = std::chrono::steady_clock::now();
  EXPECT_TRUE(wait_until_idle(*engine_, std::nullopt));
  const auto rest = std::chrono::steady_clock::now() - before_idle;
  EXPECT_GT(rest, took) << "the run was waited for";
  EXPECT_EQ(run_once(*engine_), 3.0f);
}

KERNELPACK_FOR_EACH_LIBRARY(DeviceLossTest);
INSTANTIATE_TEST_SUITE_P(Libraries, ReportedLossTest, ::testing::Values("dawn"), library_test_name);

// Dawn's backend that validates and computes nothing; it needs no driver.
class NullBackendTest : public ::testing::Test {
 protected:
  void SetUp() override {
    use_fetched_driver();
    try {
      engine_ = open_engine({.library = "dawn"}, true);
    } catch (const Error& error) {
      if (gpu_required()) FAIL() << error.report();
      GTEST_SKIP() << error.report();
    }
  }
  std::shared_ptr<Engine> engine_;
};

TEST_F(NullBackendTest, ValidatesShadersAndCommands) {
  const DeviceTensor tensor = allocate(engine_, floats(64));
  const DeviceTensor other = allocate(engine_, floats(64));
  Submission submission(engine_);
  submission.add(std::make_shared<const Plan>(add_plan(64)), std::vector{tensor, tensor, other});
  submission.submit();
  EXPECT_TRUE(wait_until_idle(*engine_, std::chrono::seconds(10)));
  Plan broken = add_plan(64);
  broken.passes[0].wgsl = "fn broken( {}";
  EXPECT_EQ(fault([&] { engine_->program(broken); }).substr(0, 7), "shader:");
  Plan absent = add_plan(64);
  absent.passes[0].entry_point = "absent";
  EXPECT_EQ(fault([&] { engine_->program(absent); }).substr(0, 7), "shader:");
  // Dawn refuses a barrier in divergent flow, which naga accepts.
  Plan divergent = add_plan(64);
  divergent.passes[0].wgsl =
      "struct U { n: u32, p0: u32, p1: u32, p2: u32 };\n"
      "@group(0) @binding(0) var<storage, read> a: array<f32>;\n"
      "@group(0) @binding(1) var<storage, read> b: array<f32>;\n"
      "@group(0) @binding(2) var<storage, read_write> out: array<f32>;\n"
      "@group(0) @binding(3) var<uniform> u: U;\n"
      "@compute @workgroup_size(64)\n"
      "fn main(@builtin(local_invocation_index) l: u32) {\n"
      "  if (l < 5u) { workgroupBarrier(); }\n"
      "  out[l] = a[l] + b[l] + f32(u.n);\n"
      "}\n";
  const std::string said = fault([&] { engine_->program(divergent); });
  EXPECT_EQ(said.substr(0, 7), "shader:") << said;
  EXPECT_NE(said.find("workgroupBarrier"), std::string::npos) << said;
}

TEST_F(NullBackendTest, MemoryThatRunsOutIsAnErrorAndTheDeviceGoesOn) {
  // This backend has 512 MiB.
  std::vector<DeviceTensor> tensors;
  std::string said = "no error";
  for (int i = 0; i < 16 && said == "no error"; ++i)
    said = fault([&] { tensors.push_back(allocate(engine_, floats(std::int64_t{64} << 18))); });
  EXPECT_EQ(said.substr(0, 6), "limit:") << said;
  EXPECT_NE(said.find("because memory ran out"), std::string::npos) << said;
  EXPECT_GE(tensors.size(), 4u);
  tensors.clear();
  // Buffers that only lie idle make room.
  { const PooledBuffer idle = engine_->buffers().acquire(BufferUse::storage, 200 << 20, "idle"); }
  EXPECT_EQ(engine_->buffers().idle(), 1u);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(fault([&] { tensors.push_back(allocate(engine_, floats(std::int64_t{200} << 18))); }),
              "no error");
  EXPECT_EQ(engine_->buffers().idle(), 0u);
  tensors.clear();
  EXPECT_EQ(fault([&] { allocate(engine_, floats(std::int64_t{64} << 18)); }), "no error");
}

}  // namespace
}  // namespace kernelpack::webgpu
