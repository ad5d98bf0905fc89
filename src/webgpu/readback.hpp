#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "kernelpack/call.hpp"
#include "webgpu/buffers.hpp"

namespace kernelpack::webgpu {

class Engine;

/// A copy of device memory on its way to the host: a mapped buffer of the pool. Dropping it before the end is
/// safe.
class Readback {
 public:
  Readback() = default;
  /// Under the device's lock.
  Readback(Engine& engine, std::uint64_t bytes, std::string_view label);
  Readback(Readback&&) noexcept = default;
  Readback& operator=(Readback&&) noexcept = default;
  ~Readback();

  /// Where the copy goes.
  BoundRange range() const noexcept { return buffer_.range(bytes_); }
  /// Asks for the mapping, after the copy was submitted; under the device's lock.
  void map(const GpuDevice& device);
  /// Waits for the mapping; takes the lock where waits need it. False if the deadline passes or `stop` is
  /// requested first.
  bool wait(const GpuDevice& device, const Deadline& deadline = {}, const std::stop_token& stop = {}) const;
  /// Waits, converts to the host's layout and gives the buffer back. Throws device.
  void finish(const GpuDevice& device, const BoundTensor& bound, std::span<std::byte> destination);

 private:
  struct Map : Completion {
    WGPUMapAsyncStatus status = WGPUMapAsyncStatus_Error;
    std::string message;
  };
  PooledBuffer buffer_;
  std::uint64_t bytes_ = 0;
  std::shared_ptr<Map> map_;
  WGPUFuture future_{};
};

}  // namespace kernelpack::webgpu
