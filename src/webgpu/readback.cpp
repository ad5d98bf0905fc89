#include "webgpu/readback.hpp"

#include <fmt/format.h>

#include "webgpu/engine.hpp"
#include "webgpu/storage.hpp"

namespace kernelpack::webgpu {

Readback::Readback(Engine& engine, std::uint64_t bytes, std::string_view label)
    : buffer_(engine.buffers().acquire(BufferUse::readback, bytes, label)), bytes_(bytes) {}

Readback::~Readback() {
  // A buffer whose mapping is under way or done cannot be lent out again.
  if (map_ != nullptr) buffer_.discard();
}

void Readback::map(const GpuDevice& device) {
  map_ = std::make_shared<Map>();
  WGPUBufferMapCallbackInfo callback{};
  callback.mode = device.callback_mode();
  // The callback may come after this object is gone, so both own the state.
  callback.userdata1 = new std::shared_ptr<Map>(map_);
  callback.callback = [](WGPUMapAsyncStatus status, WGPUStringView message, void* user, void*) noexcept {
    const std::unique_ptr<std::shared_ptr<Map>> owned(static_cast<std::shared_ptr<Map>*>(user));
    (*owned)->status = status;
    (*owned)->message = text_of(message);
    (*owned)->done.store(true, std::memory_order_release);
  };
  future_ = device.functions().BufferMapAsync(buffer_.get(), WGPUMapMode_Read, 0, bytes_, callback);
}

bool Readback::wait(const GpuDevice& device, const Deadline& deadline, const std::stop_token& stop) const {
  std::unique_lock<std::mutex> lock;
  if (device.waits_need_lock()) lock = device.lock();
  return device.wait(future_, *map_, deadline, stop);
}

void Readback::finish(const GpuDevice& device, const BoundTensor& bound, std::span<std::byte> destination) {
  device.require_alive();
  wait(device);
  if (map_->status != WGPUMapAsyncStatus_Success) {
    device.require_alive();
    throw Error(ErrorKind::device,
                fmt::format("The tensor {} cannot be read back: {}", bound.name, one_line(map_->message)));
  }
  const void* mapped = device.functions().BufferGetConstMappedRange(buffer_.get(), 0, bytes_);
  if (mapped == nullptr)
    throw Error(ErrorKind::device,
                fmt::format("The tensor {} cannot be read back: it is not mapped", bound.name));
  from_storage(bound, {static_cast<const std::byte*>(mapped), bytes_}, destination);
  device.functions().BufferUnmap(buffer_.get());
  map_.reset();
  const PooledBuffer returned = std::move(buffer_);
}

}  // namespace kernelpack::webgpu
