// Where calls run: the rooms of the CPU and of WebGPU meet here and nowhere else.
#include "kernelpack/device.hpp"

#include "kernelpack/error.hpp"
#include "webgpu/runtime.hpp"

namespace kernelpack {

Device Device::open(const GpuOptions& options) {
  std::shared_ptr<webgpu::Engine> engine = webgpu::open(options);
  std::string description = webgpu::description(*engine);
  return Device(std::move(engine), std::move(description));
}

const DeviceFacts& Device::facts() const {
  if (!is_gpu())
    throw Error(ErrorKind::device, "The CPU has no device facts: only calls on a GPU are planned");
  return webgpu::facts(*engine_);
}

}  // namespace kernelpack
