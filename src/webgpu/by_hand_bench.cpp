// The time of calls through kernelpack beside that of the same commands made by hand, in turn, on one device.
// Prints a JSON object. usage: by_hand_bench LIBRARY
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <vector>

#include "kernelpack/device_tensor.hpp"
#include "webgpu/device_memory.hpp"
#include "webgpu/plan_fixture_test.hpp"

namespace kernelpack::webgpu {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostRounds = 2000;
constexpr std::chrono::seconds kSecondsPerRow{3};

// One dispatch per call with everything made beforehand: encoder, pass, dispatches, one submission.
class ByHand {
 public:
  ByHand(Engine& engine, const std::shared_ptr<const Plan>& plan, std::span<const DeviceTensor> tensors)
      : device_(engine.device()), program_(engine.program(plan)) {
    const Functions& f = device_.functions();
    const PassGroup& group = program_->passes.front().groups.front();
    std::vector<WGPUBindGroupEntry> entries;
    for (const StorageBinding& binding : group.storage) {
      const DeviceTensor& tensor = tensors[binding.target];
      WGPUBindGroupEntry entry{};
      entry.binding = binding.binding;
      entry.buffer = tensor.memory()->get();
      entry.size = program_->tensors[binding.target].range_bytes;
      entries.push_back(entry);
    }
    for (const UniformBinding& uniform : group.uniforms) {
      WGPUBindGroupEntry entry{};
      entry.binding = uniform.binding;
      entry.buffer = uniform.slots.page().buffer;
      entry.size = uniform.bytes;
      entries.push_back(entry);
    }
    WGPUBindGroupDescriptor descriptor{};
    descriptor.layout = program_->passes.front().pipeline->groups.front().get();
    descriptor.entryCount = entries.size();
    descriptor.entries = entries.data();
    group_ = Handle<WGPUBindGroup>(f.DeviceCreateBindGroup(device_.get(), &descriptor), f.BindGroupRelease);
  }

  void submit(int calls) const {
    const Functions& f = device_.functions();
    const ProgramPass& pass = program_->passes.front();
    const PassGroup& group = pass.groups.front();
    WGPUCommandEncoder encoder = f.DeviceCreateCommandEncoder(device_.get(), nullptr);
    WGPUComputePassDescriptor descriptor{};
    WGPUComputePassEncoder recording = f.CommandEncoderBeginComputePass(encoder, &descriptor);
    for (int i = 0; i < calls; ++i) {
      f.ComputePassEncoderSetPipeline(recording, pass.pipeline->pipeline.get());
      f.ComputePassEncoderSetBindGroup(recording, group.index, group_.get(), group.dynamic_offsets.size(),
                                       group.dynamic_offsets.data());
      f.ComputePassEncoderDispatchWorkgroups(recording, pass.workgroups[0], pass.workgroups[1],
                                             pass.workgroups[2]);
    }
    f.ComputePassEncoderEnd(recording);
    f.ComputePassEncoderRelease(recording);
    WGPUCommandBuffer commands = f.CommandEncoderFinish(encoder, nullptr);
    f.CommandEncoderRelease(encoder);
    f.QueueSubmit(device_.queue(), 1, &commands);
    f.CommandBufferRelease(commands);
  }

 private:
  const GpuDevice& device_;
  std::shared_ptr<const Program> program_;
  Handle<WGPUBindGroup> group_;
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// Host time of the submission alone and with the wait, in microseconds a submission.
struct Times {
  std::vector<double> submitted;
  std::vector<double> waited;
};
template <class Submit>
void measure(const Engine& engine, Times& times, Submit submit) {
  const auto start = Clock::now();
  submit();
  const auto submitted = Clock::now();
  wait_until_idle(engine, std::nullopt);
  const auto end = Clock::now();
  times.submitted.push_back(std::chrono::duration<double, std::micro>(submitted - start).count());
  times.waited.push_back(std::chrono::duration<double, std::micro>(end - start).count());
}

std::string row(const std::shared_ptr<Engine>& engine, std::int64_t elements, int batch) {
  const auto plan = std::make_shared<const Plan>(add_plan(elements));
  std::vector<DeviceTensor> tensors;
  for (const BoundTensor& bound : plan->tensors) tensors.push_back(allocate(engine, bound));
  const ByHand by_hand(*engine, plan, tensors);
  Submission submission(engine);
  Times ours;
  Times hand;
  const auto call = [&] {
    for (int i = 0; i < batch; ++i) submission.add(plan, tensors);
    submission.submit();
  };
  const auto end = Clock::now() + kSecondsPerRow;
  for (int round = -20; round < kMostRounds; ++round) {
    if (round == 0) ours = hand = {};
    if (round > 4 && Clock::now() > end) break;
    if (round % 2 == 0) measure(*engine, ours, call);
    measure(*engine, hand, [&] { by_hand.submit(batch); });
    if (round % 2 != 0) measure(*engine, ours, call);
  }
  return fmt::format(
      R"({{"elements": {}, "batch": {}, "submittedUs": {{"kernelpack": {:.2f}, "byHand": {:.2f}}}, )"
      R"("waitedUs": {{"kernelpack": {:.2f}, "byHand": {:.2f}, "ratio": {:.4f}}}}})",
      elements, batch, median(ours.submitted), median(hand.submitted), median(ours.waited),
      median(hand.waited), median(ours.waited) / median(hand.waited));
}

int compare(const char* library) {
  const auto engine = open_engine({.library = library}, false);
  std::string rows;
  for (const std::int64_t elements : {std::int64_t{1024}, std::int64_t{1} << 20, std::int64_t{1} << 24})
    for (const int batch : {1, 100})
      rows += fmt::format("{}  {}", rows.empty() ? "" : ",\n", row(engine, elements, batch));
  fmt::print("{{\"device\": \"{}\", \"rows\": [\n{}]}}\n", description(*engine), rows);
  return 0;
}

}  // namespace
}  // namespace kernelpack::webgpu

int main(int argc, char** argv) {
  try {
    return kernelpack::webgpu::compare(argc > 1 ? argv[1] : "");
  } catch (const kernelpack::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
