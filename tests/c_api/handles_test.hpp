#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "kernelpack/kernelpack.h"

namespace kernelpack {

template <auto Free>
struct FreeWith {
  template <class T>
  void operator()(T* handle) const noexcept {
    Free(handle);
  }
};
using TensorHandle = std::unique_ptr<kernelpack_tensor, FreeWith<kernelpack_free_tensor>>;
using DeviceHandle = std::unique_ptr<kernelpack_device, FreeWith<kernelpack_free_device>>;
using KernelHandle = std::unique_ptr<kernelpack_kernel, FreeWith<kernelpack_free_kernel>>;
using RequestHandle = std::unique_ptr<kernelpack_request, FreeWith<kernelpack_free_request>>;
using TextHandle = std::unique_ptr<char, FreeWith<kernelpack_free_text>>;

/// Fails the test with the last error unless the status is KERNELPACK_OK.
inline void expect_ok(kernelpack_status status) {
  EXPECT_EQ(status, KERNELPACK_OK) << kernelpack_get_error_report();
}

/// The status, with the last error held against it: "argument: The argument name is NULL (kernelpack_x)".
inline std::string report_of(kernelpack_status status) {
  EXPECT_NE(status, KERNELPACK_OK);
  EXPECT_EQ(status, kernelpack_get_error_status());
  EXPECT_STREQ(kernelpack_get_status_name(status), kernelpack_get_error_kind());
  return kernelpack_get_error_report();
}

inline KernelHandle load(const std::string& source, const kernelpack_kernel_options* options = nullptr) {
  kernelpack_kernel* kernel = nullptr;
  expect_ok(kernelpack_load_kernel(source.c_str(), options, &kernel));
  return KernelHandle(kernel);
}

inline RequestHandle request_of(const KernelHandle& kernel) {
  kernelpack_request* request = nullptr;
  expect_ok(kernelpack_create_request(kernel.get(), &request));
  return RequestHandle(request);
}

/// Borrows the values, which must outlive the tensor and what keeps it.
inline TensorHandle wrap(std::vector<float>& values, const std::vector<int64_t>& shape) {
  kernelpack_tensor* tensor = nullptr;
  expect_ok(kernelpack_wrap_mutable_tensor(KERNELPACK_FLOAT32, shape.data(), shape.size(), values.data(),
                                           values.size() * sizeof(float), nullptr, nullptr, &tensor));
  return TensorHandle(tensor);
}

inline std::vector<float> floats(const TensorHandle& tensor) {
  const auto* data = static_cast<const float*>(kernelpack_get_tensor_data(tensor.get()));
  if (data == nullptr) return {};
  return std::vector<float>(data, data + kernelpack_get_tensor_byte_size(tensor.get()) / sizeof(float));
}

inline TensorHandle output(const RequestHandle& request, const char* name) {
  kernelpack_tensor* tensor = nullptr;
  expect_ok(kernelpack_get_output(request.get(), name, &tensor));
  return TensorHandle(tensor);
}

inline const std::string kBiasSoftmax = KERNELPACK_SOURCE_DIR "/packages/com.microsoft.BiasSoftmax";
inline const std::string kTestPackages = KERNELPACK_SOURCE_DIR "/tests/packages/";

}  // namespace kernelpack
