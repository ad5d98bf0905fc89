#include "webgpu/pass_clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace kernelpack::webgpu {

PassClock::PassClock(Engine& engine, std::size_t passes, bool each_pass)
    : engine_(engine), each_pass_(each_pass), room_(std::min(std::max<std::size_t>(passes, 1), kMostPasses)) {
  const GpuDevice& device = engine.device();
  if (!device.facts().has_feature("timestamp-query")) return;
  const Functions& f = device.functions();
  ErrorScope scope(device);
  WGPUQuerySetDescriptor set{};
  set.type = WGPUQueryType_Timestamp;
  set.count = static_cast<std::uint32_t>(2 * room_);
  queries_ = Handle<WGPUQuerySet>(f.DeviceCreateQuerySet(device.get(), &set), f.QuerySetRelease);
  WGPUBufferDescriptor buffer{};
  buffer.label = view("timestamps");
  buffer.usage = WGPUBufferUsage_QueryResolve | WGPUBufferUsage_CopySrc;
  buffer.size = 2 * room_ * sizeof(std::uint64_t);
  resolved_ = Handle<WGPUBuffer>(f.DeviceCreateBuffer(device.get(), &buffer), f.BufferRelease);
  if (const auto refused = scope.close())
    throw library_error(*refused, "The library refuses to make timestamp queries");
}

const WGPUPassTimestampWrites* PassClock::next() {
  if (!queries_) return nullptr;
  if (used_ == room_)
    throw Error(
        ErrorKind::limit,
        fmt::format("The number of compute passes to time exceeds the most that are timed ({})", room_));
  writes_.querySet = queries_.get();
  writes_.beginningOfPassWriteIndex = static_cast<std::uint32_t>(2 * used_);
  writes_.endOfPassWriteIndex = static_cast<std::uint32_t>(2 * used_ + 1);
  ++used_;
  return &writes_;
}

void PassClock::recorded(const ProgramPass& pass) {
  if (each_pass_) passes_.push_back({pass.id, 0});
}

void PassClock::done(std::chrono::steady_clock::duration took) {
  if (!passes_.empty()) passes_.back().seconds = std::chrono::duration<double>(took).count();
}

void PassClock::resolve(WGPUCommandEncoder encoder) {
  if (!queries_ || used_ == 0) return;
  const Functions& f = engine_.device().functions();
  const std::uint64_t bytes = 2 * used_ * sizeof(std::uint64_t);
  readback_ = Readback(engine_, bytes, "timestamps");
  // Only queries that were written: a driver may wait for the others forever.
  f.CommandEncoderResolveQuerySet(encoder, queries_.get(), 0, static_cast<std::uint32_t>(2 * used_),
                                  resolved_.get(), 0);
  f.CommandEncoderCopyBufferToBuffer(encoder, resolved_.get(), 0, readback_.range().buffer, 0, bytes);
}

void PassClock::map() {
  if (queries_ && used_ > 0) readback_.map(engine_.device());
}

Timing PassClock::finish(const std::chrono::duration<double>& wall) {
  Timing timing;
  timing.device_clock = on_device();
  timing.passes = std::move(passes_);
  timing.seconds = wall.count();
  if (!queries_ || used_ == 0) return timing;
  const GpuDevice& device = engine_.device();
  std::vector<std::uint64_t> ticks(2 * used_);
  BoundTensor bound;
  bound.name = "timestamps";
  bound.dtype = bound.storage = DType::int64;
  bound.shape = {static_cast<std::int64_t>(ticks.size())};
  readback_.finish(device, bound, std::as_writable_bytes(std::span(ticks)));
  // Dawn resolves to nanoseconds, wgpu-native to ticks of the queue.
  const double period = device.functions().QueueGetTimestampPeriod != nullptr
                            ? static_cast<double>(device.functions().QueueGetTimestampPeriod(device.queue()))
                            : 1.0;
  const auto seconds = [&](std::uint64_t begin, std::uint64_t end) {
    return end > begin ? static_cast<double>(end - begin) * period * 1e-9 : 0.0;
  };
  timing.seconds = seconds(ticks.front(), ticks.back());
  for (std::size_t i = 0; i < timing.passes.size() && i < used_; ++i)
    timing.passes[i].seconds = seconds(ticks[2 * i], ticks[2 * i + 1]);
  return timing;
}

}  // namespace kernelpack::webgpu
