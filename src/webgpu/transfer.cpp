// Values between the host and tensors on a device.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "webgpu/device_memory.hpp"
#include "webgpu/readback.hpp"
#include "webgpu/storage.hpp"

namespace kernelpack::webgpu {
namespace {

void require_spec(const DeviceTensor& tensor, const TensorSpec& given) {
  if (tensor.spec() != given)
    throw Error(ErrorKind::contract,
                fmt::format("The tensor on the device ({}) differs from that on the host ({})",
                            to_string(tensor.spec()), to_string(given)));
}

void require_usage(const DeviceTensor& tensor, WGPUBufferUsage needed, std::string_view what) {
  const DeviceMemory& memory = *tensor.memory();
  if (!memory.foreign()) return;
  if ((memory.engine().device().functions().BufferGetUsage(memory.get()) & needed) == 0)
    throw Error(ErrorKind::contract, fmt::format("The wrapped buffer has no usage as a copy {}", what));
}

// The last bytes of a tensor that does not fill its last word, where the rest of the word belongs to somebody
// else: a shader puts them into the word, since copies move whole words.
Plan tail_plan(const DeviceTensor& tensor, std::uint32_t word_index, std::uint32_t mask,
               std::uint32_t value) {
  Plan plan;
  plan.op = "kernelpack.Tail";
  plan.tensors = {tensor.bound()};
  plan.tensors[0].name = "target";
  PlannedPass pass;
  pass.id = "tail";
  pass.shader = "tail.wgsl";
  pass.wgsl =
      "struct Tail { index: u32, mask: u32, value: u32, _pad0: u32 };\n"
      "@group(0) @binding(0) var<storage, read_write> words: array<u32>;\n"
      "@group(0) @binding(1) var<uniform> tail: Tail;\n"
      "@compute @workgroup_size(1)\n"
      "fn main() { words[tail.index] = (words[tail.index] & ~tail.mask) | tail.value; }\n";
  PlannedBinding words;
  words.name = "words";
  words.target = "target";
  PlannedBinding uniform;
  uniform.name = "tail";
  uniform.buffer = BufferKind::uniform;
  uniform.index = 1;
  uniform.resource = PlannedBinding::Resource::uniform;
  uniform.words = {word_index, mask, value, 0};
  pass.bindings = {words, uniform};
  pass.workgroups = {1, 1, 1};
  plan.passes = {pass};
  return plan;
}

}  // namespace

BoundTensor stored_as(const TensorSpec& spec, const StorageOptions& options) {
  BoundTensor bound;
  bound.name = "tensor";
  bound.dtype = spec.dtype;
  bound.storage = options.storage.value_or(spec.dtype);
  bound.shape = spec.shape;
  bound.packed = options.packed;
  bound.saturating = options.saturating;
  const bool projected =
      spec.dtype == DType::int64 && (bound.storage == DType::int32 || bound.storage == DType::uint32);
  if (bound.storage != spec.dtype && !projected)
    throw Error(ErrorKind::contract, fmt::format("A tensor of dtype {} cannot be stored as {}",
                                                 to_string(spec.dtype), to_string(bound.storage)));
  if (options.packed && spec.dtype != DType::uint8)
    throw Error(ErrorKind::contract,
                fmt::format("A tensor of dtype {} cannot be packed, only uint8 can", to_string(spec.dtype)));
  return bound;
}

DeviceTensor allocate(std::shared_ptr<Engine> engine, const BoundTensor& bound) {
  auto memory = DeviceMemory::allocate(std::move(engine), buffer_bytes(storage_bytes(bound)), bound.name);
  return DeviceTensor(std::move(memory), 0, bound);
}

void write(const DeviceTensor& tensor, const TensorView& values) {
  require_spec(tensor, values.spec());
  require_usage(tensor, WGPUBufferUsage_CopyDst, "destination");
  const std::uint64_t bytes = storage_bytes(tensor.bound());
  if (bytes == 0) return;
  Engine& engine = tensor.memory()->engine();
  const GpuDevice& device = engine.device();
  std::vector<std::byte> stored(buffer_bytes(bytes));
  to_storage(tensor.bound(), values.bytes(), stored);
  const bool keep_tail = tensor.memory()->foreign() && bytes % 4 != 0;
  const std::uint64_t whole = keep_tail ? bytes / 4 * 4 : stored.size();
  std::shared_ptr<const Program> tail;
  if (keep_tail) {
    std::uint32_t value = 0;
    std::memcpy(&value, stored.data() + whole, bytes - whole);
    const std::uint32_t mask = (std::uint32_t{1} << (8 * (bytes - whole))) - 1;
    tail = engine.compile_once(tail_plan(tensor, static_cast<std::uint32_t>(whole / 4), mask, value));
  }
  const auto lock = device.lock();
  device.require_alive();
  if (whole > 0) {
    ErrorScope scope(device);
    device.functions().QueueWriteBuffer(device.queue(), tensor.memory()->get(), tensor.byte_offset(),
                                        stored.data(), whole);
    if (const auto refused = scope.close()) throw library_error(*refused, "The values cannot be written");
  }
  if (tail == nullptr) return;
  Recorder recorder(device, engine.bind_groups());
  const BoundRange range = range_of(tensor);
  recorder.record(*tail, std::span(&range, 1), {});
  recorder.submit();
}

void read(const DeviceTensor& tensor, const MutableTensorView& destination) {
  require_spec(tensor, destination.spec());
  require_usage(tensor, WGPUBufferUsage_CopySrc, "source");
  if (storage_bytes(tensor.bound()) == 0) return;
  Engine& engine = tensor.memory()->engine();
  const GpuDevice& device = engine.device();
  const BoundRange range = range_of(tensor);
  Readback readback;
  {
    const auto lock = device.lock();
    device.require_alive();
    readback = Readback(engine, range.size, "readback");
    Recorder recorder(device, engine.bind_groups());
    recorder.copy(range, readback.range());
    recorder.submit();
    readback.map(device);
  }
  readback.finish(device, tensor.bound(), destination.bytes());
}

}  // namespace kernelpack::webgpu
