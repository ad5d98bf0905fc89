#pragma once

#include <memory>

#include "webgpu/engine.hpp"

namespace kernelpack::webgpu {

/// A buffer that tensors lie in: ours, destroyed with its last tensor, or the caller's, of which one
/// reference is held.
class DeviceMemory {
 public:
  /// A new buffer, all zero. Takes the device's lock.
  static std::shared_ptr<DeviceMemory> allocate(std::shared_ptr<Engine> engine, std::uint64_t bytes,
                                                std::string_view label);
  static std::shared_ptr<DeviceMemory> wrap(std::shared_ptr<Engine> engine, WGPUBuffer buffer);

  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory();

  Engine& engine() const noexcept { return *engine_; }
  const std::shared_ptr<Engine>& shared_engine() const noexcept { return engine_; }
  WGPUBuffer get() const noexcept { return buffer_.handle.get(); }
  std::uint64_t id() const noexcept { return buffer_.id; }
  std::uint64_t size() const noexcept { return buffer_.size; }
  bool foreign() const noexcept { return foreign_; }

 private:
  DeviceMemory(std::shared_ptr<Engine> engine, Buffer buffer, bool foreign)
      : engine_(std::move(engine)), buffer_(std::move(buffer)), foreign_(foreign) {}

  std::shared_ptr<Engine> engine_;
  Buffer buffer_;
  bool foreign_;
};

/// The range that a tensor exposes to a shader.
BoundRange range_of(const DeviceTensor& tensor);

}  // namespace kernelpack::webgpu
