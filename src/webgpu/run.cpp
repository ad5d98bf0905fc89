#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "webgpu/engine.hpp"
#include "webgpu/readback.hpp"
#include "webgpu/storage.hpp"

namespace kernelpack::webgpu {
namespace {

// From here on a buffer that is mapped while it is made beats a write through the queue.
constexpr std::uint64_t kMappedUpload = std::uint64_t{64} << 10;

struct Download {
  Readback readback;
  std::size_t tensor = 0;
  MutableTensorView destination;
};

void require_host(const BoundTensor& bound, const TensorView& tensor, std::string_view what) {
  if (tensor.spec() != TensorSpec{bound.dtype, bound.shape})
    throw Error(ErrorKind::contract,
                fmt::format("The {} {} ({}) differs from what the plan was made for ({})", what, bound.name,
                            to_string(tensor.spec()), to_string(TensorSpec{bound.dtype, bound.shape})));
}

// The values of an input, ready in a buffer of the pool. Under the device's lock.
PooledBuffer upload(Engine& engine, const ProgramTensor& tensor, const TensorView& host) {
  const Functions& f = engine.device().functions();
  const std::uint64_t size = tensor.range_bytes;
  PooledBuffer buffer = engine.buffers().take_idle(BufferUse::storage, size);
  if (buffer.get() == nullptr && size >= kMappedUpload) {
    buffer = engine.buffers().create_mapped(BufferUse::storage, size, tensor.bound.name);
    void* mapped = f.BufferGetMappedRange(buffer.get(), 0, size);
    if (mapped == nullptr) {
      buffer.discard();
      throw Error(ErrorKind::device,
                  fmt::format("The buffer of {} ({} bytes) cannot be mapped", tensor.bound.name, size));
    }
    try {
      to_storage(tensor.bound, host.bytes(), {static_cast<std::byte*>(mapped), size});
    } catch (...) {
      buffer.discard();
      throw;
    }
    f.BufferUnmap(buffer.get());
    return buffer;
  }
  if (buffer.get() == nullptr) buffer = engine.buffers().acquire(BufferUse::storage, size, tensor.bound.name);
  if (stored_as_is(tensor.bound) && tensor.bytes == size) {
    f.QueueWriteBuffer(engine.device().queue(), buffer.get(), 0, host.data(), size);
  } else {
    std::vector<std::byte> stored(size);
    to_storage(tensor.bound, host.bytes(), stored);
    f.QueueWriteBuffer(engine.device().queue(), buffer.get(), 0, stored.data(), size);
  }
  return buffer;
}

}  // namespace

struct PendingRun::State {
  std::shared_ptr<Engine> engine;
  std::shared_ptr<const Program> program;
  std::vector<PooledBuffer> buffers;  ///< kept from other calls until the results are here
  std::vector<Download> downloads;
  bool finished = false;

  bool wait(const Deadline& deadline, const std::stop_token& stop);
  void finish();
};

namespace {

std::unique_ptr<PendingRun::State> begin(std::shared_ptr<Engine> engine, const Plan& plan,
                                         std::span<const HostTensor> hosts) {
  auto state = std::make_unique<PendingRun::State>();
  state->program = engine->program(plan);
  const Program& program = *state->program;
  if (hosts.size() != program.tensors.size())
    throw Error(ErrorKind::contract, fmt::format("The number of tensors ({}) differs from the plan's ({})",
                                                 hosts.size(), program.tensors.size()));
  const GpuDevice& device = engine->device();
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (hosts[i].input != nullptr) require_host(program.tensors[i].bound, *hosts[i].input, "input");
    if (hosts[i].output != nullptr) require_host(program.tensors[i].bound, *hosts[i].output, "output");
  }

  const auto lock = device.lock();
  device.require_alive();
  ErrorScope upload_scope(device, {WGPUErrorFilter_Validation, WGPUErrorFilter_OutOfMemory});
  std::vector<BoundRange> tensors;
  std::vector<BoundRange> scratch;
  std::vector<BoundRange> dirty;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const ProgramTensor& tensor = program.tensors[i];
    const bool has_values = hosts[i].input != nullptr && tensor.bytes > 0;
    PooledBuffer buffer =
        has_values ? upload(*engine, tensor, *hosts[i].input)
                   : engine->buffers().acquire(BufferUse::storage, tensor.range_bytes, tensor.bound.name);
    tensors.push_back(buffer.range(tensor.range_bytes));
    // New buffers are zero, and packages may lean on that for outputs.
    if (!has_values && !buffer.fresh()) dirty.push_back(tensors.back());
    state->buffers.push_back(std::move(buffer));
  }
  for (const ProgramScratch& item : program.scratch) {
    state->buffers.push_back(engine->buffers().acquire(BufferUse::storage, item.bytes, item.id));
    scratch.push_back(state->buffers.back().range(item.bytes));
  }
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const ProgramTensor& tensor = program.tensors[i];
    if (hosts[i].output == nullptr || tensor.bytes == 0) continue;
    Download download{Readback(*engine, tensor.range_bytes, tensor.bound.name), i, *hosts[i].output};
    state->downloads.push_back(std::move(download));
  }
  if (const auto refused = upload_scope.close())
    throw library_error(*refused, "The inputs cannot be uploaded");

  Recorder recorder(device, engine->bind_groups());
  for (const BoundRange& range : dirty) recorder.clear(range);
  recorder.record(program, tensors, scratch);
  for (const Download& download : state->downloads)
    recorder.copy(tensors[download.tensor], download.readback.range());
  recorder.submit();
  for (Download& download : state->downloads) download.readback.map(device);
  state->engine = std::move(engine);
  return state;
}

}  // namespace

bool PendingRun::State::wait(const Deadline& deadline, const std::stop_token& stop) {
  if (finished) return true;
  for (const Download& download : downloads)
    if (!download.readback.wait(engine->device(), deadline, stop)) return false;
  return true;
}

void PendingRun::State::finish() {
  if (std::exchange(finished, true)) return;
  for (Download& download : downloads)
    download.readback.finish(engine->device(), program->tensors[download.tensor].bound,
                             download.destination.bytes());
}

PendingRun::PendingRun(std::unique_ptr<State> state) : state_(std::move(state)) {}
PendingRun::PendingRun(PendingRun&&) noexcept = default;
PendingRun& PendingRun::operator=(PendingRun&&) noexcept = default;
PendingRun::~PendingRun() = default;

bool PendingRun::wait(std::optional<std::chrono::nanoseconds> timeout, const std::stop_token& stop) {
  return state_->wait(after(timeout), stop);
}
void PendingRun::finish() {
  state_->finish();
}

PendingRun start(std::shared_ptr<Engine> engine, const Plan& plan, std::span<const HostTensor> tensors) {
  return PendingRun(begin(std::move(engine), plan, tensors));
}

void run(Engine& engine, const Plan& plan, std::span<const HostTensor> tensors) {
  // The caller keeps the engine for the duration of the call.
  begin(std::shared_ptr<Engine>(std::shared_ptr<Engine>(), &engine), plan, tensors)->finish();
}

}  // namespace kernelpack::webgpu
