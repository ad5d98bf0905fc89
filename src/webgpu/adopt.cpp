#include <fmt/format.h>

#include "kernelpack/webgpu_interop.hpp"
#include "webgpu/device_memory.hpp"
#include "webgpu/storage.hpp"

namespace kernelpack::webgpu {
namespace {

// The instance that the caller names or, with Dawn, that the device itself knows: ticking the device alone
// does not make its callbacks come reliably.
std::shared_ptr<const Instance> adopt_instance(std::shared_ptr<const Library> library,
                                               const AdoptedDevice& adopted) {
  const Functions& f = library->functions();
  if (adopted.instance != nullptr || f.DeviceGetAdapter == nullptr || f.AdapterGetInstance == nullptr)
    return Instance::adopt(std::move(library), adopted.instance);
  const Handle<WGPUAdapter> adapter(f.DeviceGetAdapter(adopted.device), f.AdapterRelease);
  if (!adapter) return Instance::adopt(std::move(library), nullptr);
  const Handle<WGPUInstance> instance(f.AdapterGetInstance(adapter.get()), f.InstanceRelease);
  return Instance::adopt(std::move(library), instance.get());
}

}  // namespace

std::shared_ptr<Engine> adopt(const AdoptedDevice& adopted) {
  if (adopted.device == nullptr) throw Error(ErrorKind::device, "No device is given to adopt");
  std::shared_ptr<const Library> library;
  if (adopted.get_proc_address != nullptr) {
    library = Library::behind(adopted.get_proc_address);
  } else if (!adopted.library.empty()) {
    library = Library::loaded(adopted.library);
  } else {
    throw Error(ErrorKind::device,
                "The library of the device to adopt is not given: neither get_proc_address nor a file");
  }
  auto instance = adopt_instance(std::move(library), adopted);
  return std::make_shared<Engine>(GpuDevice::adopt(std::move(instance), adopted.device));
}

WGPUDevice raw_device(const Engine& engine) noexcept {
  return engine.device().get();
}
WGPUBuffer raw_buffer(const DeviceMemory& memory) noexcept {
  return memory.get();
}

DeviceTensor wrap(std::shared_ptr<Engine> engine, WGPUBuffer buffer, std::uint64_t byte_offset,
                  const BoundTensor& bound) {
  if (buffer == nullptr) throw Error(ErrorKind::contract, "No buffer is given to wrap");
  const std::uint64_t alignment = engine->device().limits().minStorageBufferOffsetAlignment;
  if (byte_offset % alignment != 0)
    throw Error(ErrorKind::contract,
                fmt::format("The offset of the wrapped tensor ({}) is no multiple of the device's "
                            "minStorageBufferOffsetAlignment ({})",
                            byte_offset, alignment));
  auto memory = DeviceMemory::wrap(std::move(engine), buffer);
  const std::uint64_t needed = buffer_bytes(storage_bytes(bound));
  if (byte_offset > memory->size() || memory->size() - byte_offset < needed)
    throw Error(
        ErrorKind::contract,
        fmt::format("The wrapped buffer ({} bytes) does not hold the tensor ({} bytes from offset {})",
                    memory->size(), needed, byte_offset));
  return DeviceTensor(std::move(memory), byte_offset, bound);
}

}  // namespace kernelpack::webgpu
