#include "kernelpack/device_tensor.hpp"

#include "kernelpack/error.hpp"
#include "webgpu/runtime.hpp"

namespace kernelpack {
namespace {

const DeviceTensor& require_memory(const DeviceTensor& tensor) {
  if (!tensor) throw Error(ErrorKind::contract, "The tensor is empty: it lies in no buffer");
  return tensor;
}

}  // namespace

DeviceTensor DeviceTensor::zeros(const Device& device, const TensorSpec& spec,
                                 const StorageOptions& options) {
  if (!device.is_gpu())
    throw Error(ErrorKind::device, "The CPU has no tensors of its own: calls on it take tensors of the host");
  return webgpu::allocate(device.shared_engine(), webgpu::stored_as(spec, options));
}

DeviceTensor DeviceTensor::upload(const Device& device, const TensorView& values,
                                  const StorageOptions& options) {
  DeviceTensor tensor = zeros(device, values.spec(), options);
  tensor.write(values);
  return tensor;
}

Tensor DeviceTensor::read() const {
  Tensor values = Tensor::uninitialized(require_memory(*this).spec());
  read(values.mutable_view());
  return values;
}

void DeviceTensor::read(const MutableTensorView& destination) const {
  webgpu::read(require_memory(*this), destination);
}

void DeviceTensor::write(const TensorView& values) const {
  webgpu::write(require_memory(*this), values);
}

}  // namespace kernelpack
