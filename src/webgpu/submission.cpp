#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "webgpu/pass_clock.hpp"
#include "webgpu/storage.hpp"
#include "webgpu/submission_state.hpp"

namespace kernelpack::webgpu {

Submission::Submission(std::shared_ptr<Engine> engine) : state_(std::make_unique<State>()) {
  state_->engine = std::move(engine);
}
Submission::~Submission() = default;

void Submission::add(const std::shared_ptr<const Plan>& plan, std::span<const DeviceTensor> tensors) {
  State& state = *state_;
  auto program = state.engine->program(plan);
  if (tensors.size() != program->tensors.size())
    throw Error(ErrorKind::contract, fmt::format("The number of tensors ({}) differs from the plan's ({})",
                                                 tensors.size(), program->tensors.size()));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const DeviceTensor& tensor = tensors[i];
    const BoundTensor& bound = program->tensors[i].bound;
    if (tensor.memory() == nullptr)
      throw Error(ErrorKind::contract,
                  fmt::format("The tensor {} is empty: it lies in no buffer", bound.name));
    if (&tensor.memory()->engine() != state.engine.get())
      throw Error(ErrorKind::contract,
                  fmt::format("The tensor {} lies on another device than that of the call ({})", bound.name,
                              description(*state.engine)));
    if (tensor.dtype() != bound.dtype || tensor.storage() != bound.storage || tensor.shape() != bound.shape ||
        tensor.bound().packed != bound.packed)
      throw Error(
          ErrorKind::contract,
          fmt::format(
              "The tensor {} ({}, stored as {}{}) differs from what the plan was made for ({}, stored "
              "as {}{})",
              bound.name, to_string(tensor.spec()), to_string(tensor.storage()),
              tensor.bound().packed ? ", packed" : "", to_string(TensorSpec{bound.dtype, bound.shape}),
              to_string(bound.storage), bound.packed ? ", packed" : ""));
  }
  state.items.push_back({std::move(program), state.ranges.size()});
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const DeviceMemory& memory = *tensors[i].memory();
    state.ranges.push_back({memory.id(), memory.get(), tensors[i].byte_offset(),
                            state.items.back().program->tensors[i].range_bytes});
    state.memories.push_back(tensors[i].memory());
  }
}

std::size_t Submission::size() const noexcept {
  return state_->items.size();
}

void Submission::submit() {
  State& state = *state_;
  struct Clear {
    State& state;
    ~Clear() { state.clear(); }
  } const clear_at_the_end{state};
  if (state.items.empty()) return;
  const GpuDevice& device = state.engine->device();
  const auto lock = device.lock();
  device.require_alive();
  Recorder recorder(device, state.engine->bind_groups());
  for (const State::Item& item : state.items) {
    // Kept until the end: a buffer that went back to the pool could be destroyed before the submission.
    const std::size_t first = state.scratch_ranges.size();
    state.take_scratch(*item.program);
    recorder.record(*item.program, state.tensors_of(item),
                    std::span<const BoundRange>(state.scratch_ranges).subspan(first));
  }
  recorder.submit();
}

Timing Submission::measure(const MeasureOptions& options) {
  State& state = *state_;
  struct Clear {
    State& state;
    ~Clear() { state.clear(); }
  } const clear_at_the_end{state};
  if (state.items.empty() || options.rounds < 1) return {};
  Engine& engine = *state.engine;
  const GpuDevice& device = engine.device();
  // Every round uses the same scratch, as it uses the same tensors.
  std::vector<std::size_t> first_scratch;
  // Compute passes: one for everything unless something else comes between.
  std::size_t passes = 0;
  std::size_t breaks = 0;
  auto lock = device.lock();
  device.require_alive();
  for (const State::Item& item : state.items) {
    first_scratch.push_back(state.scratch_ranges.size());
    for (const ProgramScratch& scratch : item.program->scratch) {
      state.scratch.push_back(engine.buffers().acquire(BufferUse::storage, scratch.bytes, scratch.id));
      state.scratch_ranges.push_back(state.scratch.back().range(scratch.bytes));
      breaks += scratch.zero_init ? 1 : 0;
    }
    for (const ProgramPass& pass : item.program->passes) breaks += pass.submit_after ? 1 : 0;
    passes += item.program->passes.size();
  }
  const auto rounds = static_cast<std::size_t>(options.rounds);
  PassClock clock(engine, options.each_pass ? passes * rounds : 1 + breaks * rounds, options.each_pass);
  std::chrono::steady_clock::time_point start;
  {
    Recorder recorder(device, engine.bind_groups(), &clock);
    start = std::chrono::steady_clock::now();
    for (int round = 0; round < options.rounds; ++round) {
      for (std::size_t i = 0; i < state.items.size(); ++i) {
        const State::Item& item = state.items[i];
        recorder.record(*item.program,
                        std::span<const BoundRange>(state.ranges)
                            .subspan(item.first_tensor, item.program->tensors.size()),
                        std::span<const BoundRange>(state.scratch_ranges).subspan(first_scratch[i]));
      }
    }
    recorder.resolve_clock();
    if (!clock.on_device()) start = std::chrono::steady_clock::now();
    recorder.submit();
    clock.map();
  }
  if (!device.waits_need_lock()) lock.unlock();
  wait_for_queue(device);
  const auto wall = std::chrono::steady_clock::now() - start;
  if (lock.owns_lock()) lock.unlock();
  return clock.finish(wall);
}

bool wait_until_idle(const Engine& engine, std::optional<std::chrono::nanoseconds> timeout,
                     const std::stop_token& stop) {
  engine.device().require_alive();
  std::unique_lock<std::mutex> lock;
  if (engine.device().waits_need_lock()) lock = engine.device().lock();
  return wait_for_queue(engine.device(), after(timeout), stop);
}

}  // namespace kernelpack::webgpu
