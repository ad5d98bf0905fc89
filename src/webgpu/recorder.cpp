#include "webgpu/recorder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "webgpu/pass_clock.hpp"

namespace kernelpack::webgpu {
namespace {

const BoundRange& range_of(const StorageBinding& binding, std::span<const BoundRange> tensors,
                           std::span<const BoundRange> scratch) {
  return binding.scratch ? scratch[binding.target] : tensors[binding.target];
}

bool is_aliased(const ProgramPass& pass, std::span<const BoundRange> tensors, const Program& program) {
  if (pass.view_aliases.empty()) return false;
  for (const auto& [input, output] : pass.view_aliases) {
    const BoundRange& a = tensors[input];
    const BoundRange& b = tensors[output];
    if (a.buffer_id != b.buffer_id || a.offset != b.offset || a.size != b.size) return false;
    if (program.tensors[input].bound.storage != program.tensors[output].bound.storage) return false;
  }
  return true;
}

}  // namespace

void require_no_hazard(const ProgramPass& pass, std::span<const BoundRange> tensors,
                       std::span<const BoundRange> scratch) {
  std::array<const StorageBinding*, 4 * kMaxGroupEntries> seen{};
  std::size_t count = 0;
  for (const PassGroup& group : pass.groups) {
    for (const StorageBinding& binding : group.storage) {
      const BoundRange& range = range_of(binding, tensors, scratch);
      for (std::size_t i = 0; i < count; ++i) {
        const StorageBinding& other = *seen[i];
        const BoundRange& known = range_of(other, tensors, scratch);
        if (known.buffer_id != range.buffer_id || (!binding.writes && !other.writes)) continue;
        if (binding.writes != other.writes)
          throw Error(ErrorKind::contract,
                      fmt::format("Pass {} reads and writes one buffer through two bindings ({} "
                                  "and {}); an input may be an output only where the kernel "
                                  "declares it inout",
                                  pass.id, other.name, binding.name));
        if (range.offset < known.offset + known.size && known.offset < range.offset + range.size)
          throw Error(ErrorKind::contract,
                      fmt::format("Pass {} writes overlapping ranges of one buffer ({} and {})", pass.id,
                                  other.name, binding.name));
      }
      if (count < seen.size()) seen[count++] = &binding;
    }
  }
}

Recorder::Recorder(const GpuDevice& device, BindGroupCache& bind_groups, PassClock* clock)
    : device_(device), bind_groups_(bind_groups), clock_(clock) {}

Recorder::Recorder(const GpuDevice& device, BindGroupCache& bind_groups, WGPUCommandEncoder encoder)
    : device_(device), bind_groups_(bind_groups), clock_(nullptr) {
  device_.require_alive();
  // The uncaught errors of the caller's device are the caller's.
  scope_.emplace(device_);
  encoder_ = Handle<WGPUCommandEncoder>(encoder, [](WGPUCommandEncoder) {});
}

Recorder::~Recorder() {
  // An open pass must be ended before its encoder goes, also when an exception unwinds.
  if (pass_) device_.functions().ComputePassEncoderEnd(pass_.get());
}

void Recorder::begin() {
  if (encoder_) return;
  device_.require_alive();
  scope_.emplace(device_);
  const Functions& f = device_.functions();
  encoder_ = Handle<WGPUCommandEncoder>(f.DeviceCreateCommandEncoder(device_.get(), nullptr),
                                        f.CommandEncoderRelease);
}

void Recorder::end_pass() {
  if (!pass_) return;
  device_.functions().ComputePassEncoderEnd(pass_.get());
  pass_.reset();
  pipeline_ = nullptr;
}

void Recorder::clear(const BoundRange& range) {
  begin();
  end_pass();
  device_.functions().CommandEncoderClearBuffer(encoder_.get(), range.buffer, range.offset, range.size);
}

void Recorder::copy(const BoundRange& from, const BoundRange& to) {
  begin();
  end_pass();
  device_.functions().CommandEncoderCopyBufferToBuffer(encoder_.get(), from.buffer, from.offset, to.buffer,
                                                       to.offset, to.size);
}

void Recorder::record(const Program& program, std::span<const BoundRange> tensors,
                      std::span<const BoundRange> scratch) {
  for (std::size_t i = 0; i < program.scratch.size(); ++i)
    if (program.scratch[i].zero_init) clear(scratch[i]);
  for (const ProgramPass& pass : program.passes) {
    if (is_aliased(pass, tensors, program)) continue;
    require_no_hazard(pass, tensors, scratch);
    dispatch(pass, tensors, scratch);
    if (clock_ != nullptr && clock_->each_pass()) time_pass(pass);
    if (pass.submit_after && encoder_) {
      finish_and_submit();
      wait_for_queue(device_);
    }
  }
}

void Recorder::check(const Program& program, std::span<const BoundRange> tensors,
                     std::span<const BoundRange> scratch) {
  for (const ProgramPass& pass : program.passes) {
    if (is_aliased(pass, tensors, program)) continue;
    require_no_hazard(pass, tensors, scratch);
    for (const PassGroup& group : pass.groups) bind_group(pass, group, tensors, scratch);
  }
}

KnownGroup Recorder::bind_group(const ProgramPass& pass, const PassGroup& group,
                                std::span<const BoundRange> tensors, std::span<const BoundRange> scratch) {
  std::array<GroupEntry, kMaxGroupEntries> entries;
  std::size_t count = 0;
  for (const StorageBinding& binding : group.storage)
    entries[count++] = {binding.binding, range_of(binding, tensors, scratch)};
  for (const UniformBinding& uniform : group.uniforms) {
    BoundRange range = uniform.slots.page();
    if (group.dynamic_offsets.empty()) range.offset = uniform.slots.offset();
    range.size = uniform.bytes;
    entries[count++] = {uniform.binding, range};
  }
  return bind_groups_.get(pass.pipeline->groups[group.index].get(), std::span(entries.data(), count),
                          pass.id);
}

void Recorder::leave() {
  end_pass();
  encoder_.reset();
  const auto refused = scope_->close();
  scope_.reset();
  if (refused) throw library_error(*refused, "The library refuses the encoder to record into");
}

void Recorder::dispatch(const ProgramPass& pass, std::span<const BoundRange> tensors,
                        std::span<const BoundRange> scratch) {
  begin();
  const Functions& f = device_.functions();
  if (!pass_) {
    WGPUComputePassDescriptor descriptor{};
    if (clock_ != nullptr) descriptor.timestampWrites = clock_->next();
    pass_ = Handle<WGPUComputePassEncoder>(f.CommandEncoderBeginComputePass(encoder_.get(), &descriptor),
                                           f.ComputePassEncoderRelease);
  }
  if (pipeline_ != pass.pipeline.get()) {
    f.ComputePassEncoderSetPipeline(pass_.get(), pass.pipeline->pipeline.get());
    pipeline_ = pass.pipeline.get();
    bound_ = {};
  }
  for (const PassGroup& group : pass.groups) {
    const KnownGroup known = bind_group(pass, group, tensors, scratch);
    const std::span<const std::uint32_t> offsets = group.dynamic_offsets;
    if (group.index < bound_.size()) {
      BoundGroup& bound = bound_[group.index];
      if (bound.id == known.id &&
          std::equal(offsets.begin(), offsets.end(), bound.offsets.begin(), bound.offsets.end()))
        continue;
      bound = {known.id, offsets};
    }
    f.ComputePassEncoderSetBindGroup(pass_.get(), group.index, known.group, offsets.size(), offsets.data());
  }
  f.ComputePassEncoderDispatchWorkgroups(pass_.get(), pass.workgroups[0], pass.workgroups[1],
                                         pass.workgroups[2]);
}

void Recorder::time_pass(const ProgramPass& pass) {
  clock_->recorded(pass);
  if (clock_->on_device()) {
    end_pass();
    return;
  }
  const auto start = std::chrono::steady_clock::now();
  finish_and_submit();
  wait_for_queue(device_);
  clock_->done(std::chrono::steady_clock::now() - start);
}

void Recorder::resolve_clock() {
  if (clock_ == nullptr || !clock_->on_device()) return;
  begin();
  end_pass();
  clock_->resolve(encoder_.get());
}

void Recorder::submit() {
  if (encoder_) finish_and_submit();
}

void Recorder::finish_and_submit() {
  end_pass();
  const Functions& f = device_.functions();
  const Handle<WGPUCommandBuffer> commands(f.CommandEncoderFinish(encoder_.get(), nullptr),
                                           f.CommandBufferRelease);
  encoder_.reset();
  std::optional<CapturedError> refused;
  // wgpu-native ends the process on a bad submission, scope or not, so its scope closes before.
  if (!device_.library().is_dawn()) refused = scope_->close();
  if (!refused) {
    const WGPUCommandBuffer raw = commands.get();
    f.QueueSubmit(device_.queue(), 1, &raw);
    refused = scope_->close();
  }
  scope_.reset();
  if (refused) {
    device_.require_alive();
    throw library_error(*refused, "The library refuses the commands of the call");
  }
}

}  // namespace kernelpack::webgpu
