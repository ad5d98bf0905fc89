#include <fmt/format.h>

#include "kernelpack/webgpu_interop.hpp"
#include "webgpu/submission_state.hpp"

namespace kernelpack::webgpu {

// In this order, so that the engine goes last.
struct RecordedWork::State {
  std::shared_ptr<Engine> engine;
  std::vector<std::shared_ptr<const Program>> programs;
  std::vector<std::shared_ptr<DeviceMemory>> memories;
  std::vector<PooledBuffer> scratch;
};

RecordedWork::RecordedWork() : state_(std::make_unique<State>()) {}
RecordedWork::~RecordedWork() = default;

std::size_t RecordedWork::size() const noexcept {
  return state_->programs.size();
}

void RecordedWork::clear() noexcept {
  state_->programs.clear();
  state_->memories.clear();
  state_->scratch.clear();
}

void RecordedWork::add(Submission& submission, WGPUCommandEncoder encoder) {
  Submission::State& calls = *submission.state_;
  struct Clear {
    Submission::State& calls;
    ~Clear() { calls.clear(); }
  } const clear_at_the_end{calls};
  if (encoder == nullptr) throw Error(ErrorKind::contract, "No command encoder is given to record into");
  if (state_->engine != nullptr && state_->engine != calls.engine)
    throw Error(ErrorKind::contract,
                fmt::format("The batch runs on another device ({}) than what was recorded before ({})",
                            description(*calls.engine), description(*state_->engine)));
  for (const Submission::State::Item& item : calls.items)
    if (item.program->submits_between)
      throw Error(ErrorKind::contract,
                  fmt::format("A call of {} submits between its passes (submitAfter in variant {}), which an "
                              "encoder of the caller cannot do",
                              item.program->op, item.program->variant));
  if (calls.items.empty()) return;
  const GpuDevice& device = calls.engine->device();
  const auto lock = device.lock();
  Recorder recorder(device, calls.engine->bind_groups(), encoder);
  // Everything is checked before the first command: what is in the encoder cannot be taken back.
  std::size_t first = 0;
  const auto scratch_of = [&](const Submission::State::Item& item) {
    return std::span<const BoundRange>(calls.scratch_ranges).subspan(first, item.program->scratch.size());
  };
  for (const Submission::State::Item& item : calls.items) {
    calls.take_scratch(*item.program);
    recorder.check(*item.program, calls.tensors_of(item), scratch_of(item));
    first += item.program->scratch.size();
  }
  first = 0;
  for (const Submission::State::Item& item : calls.items) {
    recorder.record(*item.program, calls.tensors_of(item), scratch_of(item));
    first += item.program->scratch.size();
  }
  // Kept also if the encoder is refused now: some commands may be in it.
  state_->engine = calls.engine;
  for (Submission::State::Item& item : calls.items) state_->programs.push_back(std::move(item.program));
  for (auto& memory : calls.memories) state_->memories.push_back(std::move(memory));
  for (PooledBuffer& buffer : calls.scratch) state_->scratch.push_back(std::move(buffer));
  recorder.leave();
}

}  // namespace kernelpack::webgpu
