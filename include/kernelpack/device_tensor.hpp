#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "kernelpack/call.hpp"
#include "kernelpack/device.hpp"
#include "kernelpack/tensor.hpp"

namespace kernelpack {

namespace webgpu {
class DeviceMemory;
}

/// How the buffer stores the elements, where that does not follow from the dtype.
struct StorageOptions {
  std::optional<DType> storage{};  ///< int32 or uint32 for int64 values that a package projects
  bool packed = false;             ///< uint8 four to a word
  bool saturating = false;         ///< projected values outside the range are clamped, not an error
};

/// A tensor in a buffer of a GPU. Cheap to copy: copies share the buffer, which lives as long as one of them.
/// Operations are ordered like the calls that made them: a read sees everything submitted before.
class DeviceTensor {
 public:
  DeviceTensor() = default;
  /// A new tensor with these values. Throws contract, limit or device.
  static DeviceTensor upload(const Device& device, const TensorView& values,
                             const StorageOptions& options = {});
  /// A new tensor of zeros.
  static DeviceTensor zeros(const Device& device, const TensorSpec& spec, const StorageOptions& options = {});

  explicit operator bool() const noexcept { return memory_ != nullptr; }
  DType dtype() const noexcept { return bound_.dtype; }
  DType storage() const noexcept { return bound_.storage; }
  const Shape& shape() const noexcept { return bound_.shape; }
  TensorSpec spec() const { return {bound_.dtype, bound_.shape}; }
  /// Of the first element in its buffer.
  std::uint64_t byte_offset() const noexcept { return offset_; }

  /// The values, once everything submitted so far is done. Throws device if the device is lost.
  Tensor read() const;
  void read(const MutableTensorView& destination) const;
  /// Replaces the values; never touches a byte behind the tensor.
  void write(const TensorView& values) const;

  /// For the library: what a tensor is made of.
  DeviceTensor(std::shared_ptr<webgpu::DeviceMemory> memory, std::uint64_t offset, BoundTensor bound)
      : memory_(std::move(memory)), offset_(offset), bound_(std::move(bound)) {}
  const std::shared_ptr<webgpu::DeviceMemory>& memory() const noexcept { return memory_; }
  const BoundTensor& bound() const noexcept { return bound_; }

 private:
  std::shared_ptr<webgpu::DeviceMemory> memory_;
  std::uint64_t offset_ = 0;
  BoundTensor bound_;
};

}  // namespace kernelpack
