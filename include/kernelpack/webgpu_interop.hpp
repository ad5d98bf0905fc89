#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "kernelpack/batch.hpp"
#include "kernelpack/device.hpp"
#include "kernelpack/device_tensor.hpp"

// The handles of webgpu.h, which this header does not include: use whichever release your library belongs to.
struct WGPUBufferImpl;
struct WGPUCommandEncoderImpl;
struct WGPUDeviceImpl;
struct WGPUInstanceImpl;

namespace kernelpack {

namespace webgpu {
class RecordedWork;
}

/// A WebGPU device of the caller in this process. One reference to it is held while the Device or a tensor on
/// it lives; nothing of the caller's is ever destroyed, in whatever order things are disposed of.
///
/// Errors of our calls are caught in error scopes of the device, pushed and popped by one thread. With Dawn,
/// the caller must not use the device from another thread at the same time unless it has the feature
/// implicit-device-synchronization. With wgpu-native every thread may use it, but an error that the caller
/// raises while a call of ours is in its scope is reported to us.
struct AdoptedDevice {
  /// Dawn: the address of wgpuGetProcAddress. Must be null for wgpu-native, where that function ends the
  /// process.
  void* get_proc_address = nullptr;
  /// Otherwise: the file of the library, which the process must have loaded already.
  std::string library{};
  /// Dawn: the instance of the device, for waits; null: the one that the device knows. May be null for
  /// wgpu-native.
  WGPUInstanceImpl* instance = nullptr;
  WGPUDeviceImpl* device = nullptr;
};

/// The caller's device as a Device. Throws device for a library that kernelpack does not support.
Device adopt_device(const AdoptedDevice& adopted);
WGPUDeviceImpl* webgpu_device(const Device& device);

/// A tensor in a buffer of the caller on that device, from `byte_offset` on, a multiple of the device's
/// minStorageBufferOffsetAlignment. The buffer needs the usage storage, and copy source or destination to be
/// read or written by us; one reference to it is held. A shader sees the tensor's bytes rounded up to 4,
/// which the buffer must hold; values behind an odd tensor are never written by an upload. Throws contract.
DeviceTensor wrap_buffer(const Device& device, WGPUBufferImpl* buffer, std::uint64_t byte_offset,
                         const TensorSpec& spec, const StorageOptions& options = {});
/// The buffer that the tensor lies in.
WGPUBufferImpl* webgpu_buffer(const DeviceTensor& tensor);

/// Calls recorded into command encoders of the caller, with the uniforms, scratch and tensors that they need.
/// Keep it until the encoder's commands are submitted; then it can be released or used again, at any time and
/// without waiting. For one thread at a time.
class Recording {
 public:
  Recording();
  Recording(Recording&&) noexcept;
  Recording& operator=(Recording&&) noexcept;
  ~Recording();

  /// Records the calls of the batch instead of submitting them, which leaves the batch empty, also if it
  /// throws. The encoder belongs to the batch's device, is not finished and has no open pass (Dawn of June
  /// 2025 never returns from using a finished encoder of a device with implicit synchronization). Every call
  /// is checked before the first command is recorded: buffers (their device, usage, alignment and size),
  /// limits, dispatch sizes and hazards. Throws contract for what is wrong and for a plan that submits
  /// between its passes, device for what the library refuses.
  void add(Batch& batch, WGPUCommandEncoderImpl* encoder);
  /// The number of calls.
  std::size_t size() const noexcept;
  /// Gives everything back to the device.
  void release() noexcept;

 private:
  std::unique_ptr<webgpu::RecordedWork> work_;
};

}  // namespace kernelpack
