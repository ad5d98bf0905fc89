#pragma once

#include <memory>
#include <utility>
#include <variant>

#include "kernelpack/device.hpp"
#include "kernelpack/device_tensor.hpp"
#include "kernelpack/kernel.hpp"
#include "kernelpack/kernelpack.h"
#include "kernelpack/tensor.hpp"

namespace kernelpack::c_api {

/// Calls back once, when it goes; never if it was moved from.
class Release {
 public:
  Release() = default;
  Release(kernelpack_release release, void* user_data) noexcept : release_(release), user_data_(user_data) {}
  Release(Release&& other) noexcept
      : release_(std::exchange(other.release_, nullptr)), user_data_(other.user_data_) {}
  Release& operator=(Release&&) = delete;
  ~Release();

 private:
  kernelpack_release release_ = nullptr;
  void* user_data_ = nullptr;
};

/// What a tensor handle, a request and its results share. Immutable but for the values.
class TensorBody {
 public:
  explicit TensorBody(Tensor tensor)
      : owned_(std::move(tensor)),
        view_(owned_.view()),
        mutable_view_(owned_.mutable_view()),
        writable_(true) {}
  explicit TensorBody(DeviceTensor tensor) : device_(std::move(tensor)), writable_(true) {}
  TensorBody(TensorView view, Release release) : release_(std::move(release)), view_(std::move(view)) {}
  TensorBody(MutableTensorView view, Release release)
      : release_(std::move(release)), view_(view), mutable_view_(std::move(view)), writable_(true) {}
  TensorBody(const TensorBody&) = delete;
  TensorBody& operator=(const TensorBody&) = delete;

  bool on_gpu() const noexcept { return static_cast<bool>(device_); }
  DType dtype() const noexcept { return on_gpu() ? device_.dtype() : view_.dtype(); }
  const Shape& shape() const noexcept { return on_gpu() ? device_.shape() : view_.shape(); }
  TensorSpec spec() const { return {dtype(), shape()}; }
  bool writable() const noexcept { return writable_; }
  /// Of a tensor in memory.
  const TensorView& view() const noexcept { return view_; }
  /// Of a writable one in memory.
  const MutableTensorView& mutable_view() const noexcept { return mutable_view_; }
  /// Of a tensor on a GPU.
  const DeviceTensor& device() const noexcept { return device_; }

 private:
  Release release_;
  Tensor owned_;
  DeviceTensor device_;
  TensorView view_;
  MutableTensorView mutable_view_;
  bool writable_ = false;
};

/// A handle for the caller, who frees it.
template <class Handle, class... Parts>
Handle* make_handle(Parts&&... parts) {
  return new Handle{std::forward<Parts>(parts)...};
}

/// The dtype of a constant. Throws Misuse for an unknown one.
DType dtype_of(kernelpack_dtype dtype);
kernelpack_dtype constant_of(DType dtype) noexcept;
/// Throws Misuse for NULL with a rank, and for more dimensions than any tensor has.
Shape shape_of(const int64_t* shape, std::size_t rank);
TensorSpec spec_of(kernelpack_dtype dtype, const int64_t* shape, std::size_t rank);

}  // namespace kernelpack::c_api

struct kernelpack_device {
  kernelpack::Device device;
};

struct kernelpack_tensor {
  std::shared_ptr<const kernelpack::c_api::TensorBody> body;
};

struct kernelpack_kernel {
  kernelpack::Kernel kernel;
  bool allow_missing_templates = false;
};
