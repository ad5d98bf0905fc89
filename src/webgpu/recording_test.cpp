// Calls in a command encoder that the test makes through the C interface, as the owner of a device would.
#include <gtest/gtest.h>

#include "kernelpack/webgpu_interop.hpp"
#include "webgpu/device_fixture_test.hpp"
#include "webgpu/device_memory.hpp"
#include "webgpu/plan_fixture_test.hpp"

namespace kernelpack::webgpu {
namespace {

class RecordingTest : public DeviceTest {
 protected:
  const Functions& f() const { return engine_->device().functions(); }
  Handle<WGPUCommandEncoder> encoder() const {
    return {f().DeviceCreateCommandEncoder(raw_device(*engine_), nullptr), f().CommandEncoderRelease};
  }
  void submit(const Handle<WGPUCommandEncoder>& encoder) const {
    const auto commands = f().CommandEncoderFinish(encoder.get(), nullptr);
    f().QueueSubmit(engine_->device().queue(), 1, &commands);
    f().CommandBufferRelease(commands);
  }
  DeviceTensor floats(std::vector<float> values) const {
    const auto count = static_cast<std::int64_t>(values.size());
    DeviceTensor tensor = allocate(engine_, stored_as({DType::float32, {count}}, {}));
    write(tensor, Tensor::from(values, {count}));
    return tensor;
  }
  static std::vector<float> values(const DeviceTensor& tensor) {
    Tensor host(tensor.spec());
    read(tensor, host.mutable_view());
    const auto all = host.values<float>();
    return {all.begin(), all.end()};
  }
  // x -> scratch (cleared, so that its upper half is zero) -> out
  static Plan scratch_plan() {
    Plan plan;
    plan.op = "test.Scratch";
    plan.variant = "through";
    plan.tensors = {bound_tensor("x", DType::float32, {64}), bound_tensor("out", DType::float32, {128})};
    plan.scratch.emplace_back();
    plan.scratch[0].id = "s";
    plan.scratch[0].bytes = 512;
    plan.scratch[0].zero_init = true;
    plan.passes = {planned_pass("first",
                                "@group(0) @binding(0) var<storage, read> x: array<f32>;\n"
                                "@group(0) @binding(1) var<storage, read_write> s: array<f32>;\n"
                                "@compute @workgroup_size(64)\n"
                                "fn main(@builtin(local_invocation_index) i: u32) { s[i] = x[i]; }\n",
                                {tensor_binding(0, "x", BufferKind::read_only_storage),
                                 scratch_binding(1, "s", BufferKind::storage)},
                                {1, 1, 1}),
                   planned_pass("second",
                                "@group(0) @binding(0) var<storage, read> s: array<f32>;\n"
                                "@group(0) @binding(1) var<storage, read_write> out: array<f32>;\n"
                                "@compute @workgroup_size(128)\n"
                                "fn main(@builtin(local_invocation_index) i: u32) { out[i] = s[i] + 1.0; }\n",
                                {scratch_binding(0, "s", BufferKind::read_only_storage),
                                 tensor_binding(1, "out", BufferKind::storage)},
                                {1, 1, 1})};
    return plan;
  }
};

template <class Step>
std::string fault(const Step& step) {
  try {
    step();
  } catch (const Error& error) {
    return error.line();
  }
  return "no error";
}

TEST_P(RecordingTest, RunsBetweenTheCallersOwnCommands) {
  const auto plan = std::make_shared<const Plan>(add_plan(64));
  const auto through = std::make_shared<const Plan>(scratch_plan());
  const DeviceTensor a = floats(std::vector<float>(64, 2.0f));
  const DeviceTensor b = floats(std::vector<float>(64, 3.0f));
  const DeviceTensor sum = floats(std::vector<float>(64, 0.0f));
  const DeviceTensor out = floats(std::vector<float>(128, 0.0f));
  RecordedWork work;
  Submission submission(engine_);
  for (int round = 0; round < 3; ++round) {
    const auto commands = encoder();
    // The caller changes b before our calls and clears a behind them.
    if (round == 1)
      f().CommandEncoderCopyBufferToBuffer(commands.get(), raw_buffer(*a.memory()), 0,
                                           raw_buffer(*b.memory()), 0, 256);
    submission.add(plan, std::vector{a, b, sum});
    submission.add(through, std::vector{sum, out});
    work.add(submission, commands.get());
    EXPECT_EQ(submission.size(), 0u);
    EXPECT_EQ(work.size(), 2u);
    if (round == 2) f().CommandEncoderClearBuffer(commands.get(), raw_buffer(*a.memory()), 0, 256);
    submit(commands);
    const float expected = round == 0 ? 5.0f : 4.0f;
    EXPECT_EQ(values(sum), std::vector<float>(64, expected)) << round;
    std::vector<float> both(64, expected + 1);
    both.resize(128, 1.0f);
    EXPECT_EQ(values(out), both) << round;
    work.clear();
  }
  EXPECT_EQ(values(a), std::vector<float>(64, 0.0f));
}

TEST_P(RecordingTest, KeepsScratchUntilItIsReleased) {
  const auto through = std::make_shared<const Plan>(scratch_plan());
  const DeviceTensor x = floats(std::vector<float>(64, 2.0f));
  const DeviceTensor out = floats(std::vector<float>(128, 0.0f));
  Submission submission(engine_);
  const auto commands = encoder();
  RecordedWork work;
  submission.add(through, std::vector{x, out});
  work.add(submission, commands.get());
  const auto idle = engine_->buffers().idle();
  submission.add(through, std::vector{x, out});
  submission.submit();
  EXPECT_EQ(engine_->buffers().idle(), idle + 1) << "the other call took the recorded scratch";
  submit(commands);
  work.clear();
  EXPECT_EQ(engine_->buffers().idle(), idle + 2);
}

TEST_P(RecordingTest, RecordsNothingUnlessEveryCallIsSound) {
  const auto plan = std::make_shared<const Plan>(add_plan(64));
  const DeviceTensor a = floats(std::vector<float>(64, 2.0f));
  const DeviceTensor out = floats(std::vector<float>(64, 7.0f));
  Plan between = add_plan(64);
  between.passes[0].submit_after = true;
  const auto submits = std::make_shared<const Plan>(between);
  const auto other = open({.library = GetParam()});
  WGPUBufferDescriptor descriptor{};
  descriptor.size = 256;
  descriptor.usage = WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc;
  const Handle<WGPUBuffer> foreign(f().DeviceCreateBuffer(raw_device(*other), &descriptor),
                                   f().BufferRelease);
  const DeviceTensor stranger = wrap(engine_, foreign.get(), 0, stored_as({DType::float32, {64}}, {}));
  const auto refused = [&](const std::shared_ptr<const Plan>& second,
                           const std::vector<DeviceTensor>& tensors) {
    const auto commands = encoder();
    RecordedWork work;
    Submission submission(engine_);
    submission.add(plan, std::vector{a, a, out});
    submission.add(second, tensors);
    const std::string said = fault([&] { work.add(submission, commands.get()); });
    EXPECT_EQ(submission.size(), 0u);
    EXPECT_EQ(work.size(), 0u);
    submit(commands);
    EXPECT_EQ(values(out), std::vector<float>(64, 7.0f)) << "the sound call before was recorded";
    return said;
  };
  EXPECT_EQ(
      refused(submits, {a, a, out}),
      "contract: A call of test.Add submits between its passes (submitAfter in variant plain), which an "
      "encoder of the caller cannot do");
  EXPECT_NE(refused(plan, {a, out, out}).find("reads and writes one buffer"), std::string::npos);
  const std::string said = refused(plan, {a, stranger, out});
  EXPECT_EQ(said.find("device: The library refuses the buffers of pass main: "), 0u) << said;
  Submission submission(engine_);
  submission.add(plan, std::vector{a, a, out});
  RecordedWork work;
  EXPECT_EQ(fault([&] { work.add(submission, nullptr); }),
            "contract: No command encoder is given to record into");
}

// This Dawn waits for itself when a finished encoder of a synchronized device is used.
class FinishedEncoderTest : public RecordingTest {};

TEST_P(FinishedEncoderTest, IsRefused) {
  const auto plan = std::make_shared<const Plan>(add_plan(64));
  const DeviceTensor a = floats(std::vector<float>(64, 2.0f));
  const DeviceTensor out = floats(std::vector<float>(64, 7.0f));
  const auto commands = encoder();
  submit(commands);
  Submission submission(engine_);
  submission.add(plan, std::vector{a, a, out});
  RecordedWork work;
  const std::string said = fault([&] { work.add(submission, commands.get()); });
  EXPECT_EQ(said.find("device: The library refuses the encoder to record into: "), 0u) << said;
}

TEST_P(RecordingTest, BelongsToOneDevice) {
  const auto plan = std::make_shared<const Plan>(add_plan(64));
  const DeviceTensor a = floats(std::vector<float>(64, 2.0f));
  const DeviceTensor out = floats(std::vector<float>(64, 7.0f));
  RecordedWork work;
  Submission first(engine_);
  first.add(plan, std::vector{a, a, out});
  const auto commands = encoder();
  work.add(first, commands.get());
  const auto other = open({.library = GetParam()});
  const auto bound = stored_as({DType::float32, {64}}, {});
  Submission second(other);
  second.add(plan, std::vector{allocate(other, bound), allocate(other, bound), allocate(other, bound)});
  EXPECT_NE(fault([&] { work.add(second, commands.get()); }).find("runs on another device"),
            std::string::npos);
  submit(commands);
}

KERNELPACK_FOR_EACH_LIBRARY(RecordingTest);
INSTANTIATE_TEST_SUITE_P(Libraries, FinishedEncoderTest, ::testing::Values("wgpu-native"), library_test_name);

}  // namespace
}  // namespace kernelpack::webgpu
