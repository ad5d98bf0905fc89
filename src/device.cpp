// Where calls run: the rooms of the CPU and of WebGPU meet here and nowhere else.
#include "kernelpack/device.hpp"

#include "kernelpack/error.hpp"
#include "kernelpack/webgpu_interop.hpp"
#include "webgpu/runtime.hpp"

namespace kernelpack {

Device Device::open(const GpuOptions& options) {
  std::shared_ptr<webgpu::Engine> engine = webgpu::open(options);
  std::string description = webgpu::description(*engine);
  return Device(std::move(engine), std::move(description));
}

Device adopt_device(const AdoptedDevice& adopted) {
  std::shared_ptr<webgpu::Engine> engine = webgpu::adopt(adopted);
  std::string description = webgpu::description(*engine);
  return Device(std::move(engine), std::move(description));
}

WGPUDeviceImpl* webgpu_device(const Device& device) {
  if (!device.is_gpu()) throw Error(ErrorKind::device, "The CPU has no WebGPU device");
  return webgpu::raw_device(device.engine());
}

DeviceTensor wrap_buffer(const Device& device, WGPUBufferImpl* buffer, std::uint64_t byte_offset,
                         const TensorSpec& spec, const StorageOptions& options) {
  if (!device.is_gpu()) throw Error(ErrorKind::device, "The CPU has no WebGPU buffers");
  return webgpu::wrap(device.shared_engine(), buffer, byte_offset, webgpu::stored_as(spec, options));
}

WGPUBufferImpl* webgpu_buffer(const DeviceTensor& tensor) {
  if (!tensor) throw Error(ErrorKind::contract, "The tensor is empty: it lies in no buffer");
  return webgpu::raw_buffer(*tensor.memory());
}

void Device::close() const {
  if (is_gpu()) webgpu::close(*engine_);
}

const GpuAdapter& Device::adapter() const {
  if (!is_gpu()) throw Error(ErrorKind::device, "The CPU has no adapter");
  return webgpu::adapter(*engine_);
}

const DeviceFacts& Device::facts() const {
  if (!is_gpu())
    throw Error(ErrorKind::device, "The CPU has no device facts: only calls on a GPU are planned");
  return webgpu::facts(*engine_);
}

}  // namespace kernelpack
