#include "webgpu/device_memory.hpp"

#include <fmt/format.h>

#include "webgpu/storage.hpp"

namespace kernelpack::webgpu {

std::shared_ptr<DeviceMemory> DeviceMemory::allocate(std::shared_ptr<Engine> engine, std::uint64_t bytes,
                                                     std::string_view label) {
  const auto lock = engine->device().lock();
  engine->device().require_alive();
  Buffer buffer = engine->buffers().create(BufferUse::storage, bytes, label);
  return std::shared_ptr<DeviceMemory>(new DeviceMemory(std::move(engine), std::move(buffer), false));
}

std::shared_ptr<DeviceMemory> DeviceMemory::wrap(std::shared_ptr<Engine> engine, WGPUBuffer raw) {
  const Functions& f = engine->device().functions();
  const WGPUBufferUsage usage = f.BufferGetUsage(raw);
  if ((usage & WGPUBufferUsage_Storage) == 0)
    throw Error(ErrorKind::contract,
                fmt::format("The wrapped buffer has no storage usage (its usage is {:#x})", usage));
  f.BufferAddRef(raw);
  Buffer buffer{next_buffer_id(), Handle<WGPUBuffer>(raw, f.BufferRelease), f.BufferGetSize(raw)};
  return std::shared_ptr<DeviceMemory>(new DeviceMemory(std::move(engine), std::move(buffer), true));
}

DeviceMemory::~DeviceMemory() {
  engine_->bind_groups().forget(buffer_.id);
  if (!foreign_) engine_->device().functions().BufferDestroy(buffer_.handle.get());
}

BoundRange range_of(const DeviceTensor& tensor) {
  const DeviceMemory& memory = *tensor.memory();
  return {memory.id(), memory.get(), tensor.byte_offset(), buffer_bytes(storage_bytes(tensor.bound()))};
}

}  // namespace kernelpack::webgpu
