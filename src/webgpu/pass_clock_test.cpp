#include <gtest/gtest.h>

#include "kernelpack/device_tensor.hpp"
#include "webgpu/device_fixture_test.hpp"
#include "webgpu/plan_fixture_test.hpp"

namespace kernelpack::webgpu {
namespace {

// On a device of its own, whose clock is not rounded.
class PassClockTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (engine_ != nullptr) engine_ = open({.library = GetParam(), .profiling = true});
  }
  std::vector<DeviceTensor> tensors_of(const Plan& plan) const {
    std::vector<DeviceTensor> tensors;
    for (const BoundTensor& bound : plan.tensors) tensors.push_back(allocate(engine_, bound));
    return tensors;
  }
  Timing measure(const Plan& plan, const MeasureOptions& options) const {
    Submission submission(engine_);
    submission.add(std::make_shared<const Plan>(plan), tensors_of(plan));
    return submission.measure(options);
  }
};
KERNELPACK_FOR_EACH_LIBRARY(PassClockTest);

// Sums twice, through a scratch buffer that is cleared before.
Plan two_passes(bool zero_init) {
  Plan plan = add_plan(1024);
  PlannedScratch scratch;
  scratch.id = "half";
  scratch.shape = {1024};
  scratch.bytes = 4 * 1024;
  scratch.zero_init = zero_init;
  scratch.used = true;
  plan.scratch = {scratch};
  PlannedPass first = plan.passes.front();
  first.id = "first";
  first.bindings[2] = scratch_binding(2, "half", BufferKind::storage);
  first.bindings[2].name = "out";
  PlannedPass second = plan.passes.front();
  second.id = "second";
  second.bindings[1] = scratch_binding(1, "half", BufferKind::read_only_storage);
  second.bindings[1].name = "b";
  plan.passes = {first, second};
  return plan;
}

TEST_P(PassClockTest, TimesCallsByTheDevicesClock) {
  ASSERT_TRUE(has("timestamp-query"));
  const Timing once = measure(add_plan(1 << 16), {.rounds = 2});
  const Timing often = measure(add_plan(1 << 16), {.rounds = 64});
  EXPECT_TRUE(once.device_clock);
  EXPECT_GT(once.seconds, 0);
  EXPECT_GT(often.seconds, once.seconds);
  EXPECT_TRUE(once.passes.empty());
}

TEST_P(PassClockTest, TimesEachPass) {
  for (const bool zero_init : {false, true}) {
    const Timing timing = measure(two_passes(zero_init), {.rounds = 3, .each_pass = true});
    ASSERT_EQ(timing.passes.size(), 6u);
    double sum = 0;
    for (std::size_t i = 0; i < timing.passes.size(); ++i) {
      EXPECT_EQ(timing.passes[i].id, i % 2 == 0 ? "first" : "second");
      EXPECT_GT(timing.passes[i].seconds, 0);
      sum += timing.passes[i].seconds;
    }
    EXPECT_LE(sum, timing.seconds * 1.001);
  }
}

TEST_P(PassClockTest, TimesAcrossClearedScratch) {
  EXPECT_GT(measure(two_passes(true), {.rounds = 100}).seconds, 0);
}

TEST_P(PassClockTest, ComputesWhatASubmissionComputes) {
  const Plan plan = add_plan(1000);
  std::vector<DeviceTensor> tensors = tensors_of(plan);
  std::vector<float> ones(1000, 1);
  write(tensors[0], TensorView::of<float>(std::span<const float>(ones), {1000}));
  write(tensors[1], TensorView::of<float>(std::span<const float>(ones), {1000}));
  Submission submission(engine_);
  submission.add(std::make_shared<const Plan>(plan), tensors);
  submission.measure({.rounds = 3, .each_pass = true});
  EXPECT_EQ(submission.size(), 0u);
  Tensor result(DType::float32, {1000});
  read(tensors[2], result.mutable_view());
  for (const float value : result.values<float>()) ASSERT_EQ(value, 2);
}

// As somebody else may have made it, who had no use for timestamps.
std::shared_ptr<Engine> without_timestamps(const std::shared_ptr<const Library>& library) {
  struct Answer : Completion {
    WGPUDevice device = nullptr;
  } answer;
  const auto instance = Instance::of(library);
  const Functions& f = library->functions();
  const std::vector<Adapter> adapters = list_adapters(*instance);
  WGPUDeviceDescriptor descriptor{};
  descriptor.uncapturedErrorCallbackInfo.callback = [](WGPUDevice const*, WGPUErrorType,
                                                       WGPUStringView message, void*,
                                                       void*) noexcept { ADD_FAILURE() << text_of(message); };
  WGPURequestDeviceCallbackInfo callback{};
  callback.mode = instance->callback_mode();
  callback.userdata1 = &answer;
  callback.callback = [](WGPURequestDeviceStatus, WGPUDevice made, WGPUStringView, void* user,
                         void*) noexcept {
    static_cast<Answer*>(user)->device = made;
    static_cast<Answer*>(user)->done = true;
  };
  const WGPUFuture future = f.AdapterRequestDevice(adapters.front().handle.get(), &descriptor, callback);
  instance->wait(nullptr, future, answer);
  if (answer.device == nullptr) return nullptr;
  auto engine = std::make_shared<Engine>(GpuDevice::adopt(instance, answer.device));
  f.DeviceRelease(answer.device);
  return engine;
}

TEST_P(PassClockTest, TakesTheHostsClockWhereThereAreNoTimestamps) {
  engine_ = without_timestamps(engine_->device().instance().shared_library());
  ASSERT_NE(engine_, nullptr);
  ASSERT_FALSE(has("timestamp-query"));
  const Timing together = measure(two_passes(true), {.rounds = 3});
  EXPECT_FALSE(together.device_clock);
  EXPECT_GT(together.seconds, 0);
  const Timing each = measure(two_passes(true), {.rounds = 2, .each_pass = true});
  EXPECT_FALSE(each.device_clock);
  ASSERT_EQ(each.passes.size(), 4u);
  for (const PassTime& pass : each.passes) EXPECT_GT(pass.seconds, 0) << pass.id;
}

TEST_P(PassClockTest, RefusesMorePassesThanItHasRoomFor) {
  try {
    measure(two_passes(false), {.rounds = 1025, .each_pass = true});
    FAIL() << "nothing is thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::limit);
    EXPECT_EQ(error.message(), "The number of compute passes to time exceeds the most that are timed (2048)");
  }
  EXPECT_GT(measure(two_passes(false), {.rounds = 1024, .each_pass = true}).seconds, 0);
}

}  // namespace
}  // namespace kernelpack::webgpu
