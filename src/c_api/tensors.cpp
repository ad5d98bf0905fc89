#include <array>

#include "c_api/failure.hpp"
#include "c_api/handles.hpp"
#include "c_api/options.hpp"
#include "kernelpack/webgpu_interop.hpp"

namespace kernelpack::c_api {
namespace {

// In the order of DType, which the constants keep with 1 added.
constexpr std::array<const char*, 10> kDtypeNames = {"float16", "float32", "float64", "int8",   "int16",
                                                     "int32",   "int64",   "uint8",   "uint32", "bool"};
static_assert(static_cast<kernelpack_dtype>(DType::float16) + 1 == KERNELPACK_FLOAT16);
static_assert(static_cast<kernelpack_dtype>(DType::float64) + 1 == KERNELPACK_FLOAT64);
static_assert(static_cast<kernelpack_dtype>(DType::int64) + 1 == KERNELPACK_INT64);
static_assert(static_cast<kernelpack_dtype>(DType::uint32) + 1 == KERNELPACK_UINT32);
static_assert(static_cast<kernelpack_dtype>(DType::bool_) + 1 == KERNELPACK_BOOL);

bool is_dtype(kernelpack_dtype dtype) noexcept {
  return dtype >= KERNELPACK_FLOAT16 && dtype <= KERNELPACK_BOOL;
}

template <class... Parts>
kernelpack_tensor* make_tensor(Parts&&... parts) {
  auto body = std::make_shared<const TensorBody>(std::forward<Parts>(parts)...);
  return make_handle<kernelpack_tensor>(std::move(body));
}

StorageOptions storage_of(const kernelpack_storage_options* given) {
  const kernelpack_storage_options options = read_options(given, "options");
  StorageOptions storage{.packed = options.packed != 0, .saturating = options.saturating != 0};
  if (options.storage != 0) storage.storage = dtype_of(options.storage);
  if (options.reserved != 0)
    throw Misuse{fmt::format("The field reserved of options ({}) is not 0", options.reserved)};
  return storage;
}

const TensorView& require_memory(const TensorBody& body) {
  if (body.on_gpu())
    throw Error(ErrorKind::contract, "The tensor lies on a GPU: kernelpack_download_tensor reads it");
  return body.view();
}

Tensor downloaded(const TensorBody& body) {
  return body.on_gpu() ? body.device().read() : Tensor(body.view());
}

}  // namespace

Release::~Release() {
  if (release_ == nullptr) return;
  try {
    release_(user_data_);
  } catch (...) {
    // A callback of a C++ program that breaks its promise: nobody is left to be told.
  }
}

DType dtype_of(kernelpack_dtype dtype) {
  if (!is_dtype(dtype)) throw Misuse{fmt::format("The dtype ({}) is no constant of kernelpack_dtype", dtype)};
  return static_cast<DType>(dtype - 1);
}

kernelpack_dtype constant_of(DType dtype) noexcept {
  return static_cast<kernelpack_dtype>(dtype) + 1;
}

Shape shape_of(const int64_t* shape, std::size_t rank) {
  constexpr std::size_t kMostDimensions = 1024;
  if (rank > kMostDimensions)
    throw Misuse{fmt::format("The rank ({}) exceeds what any tensor has ({})", rank, kMostDimensions)};
  if (rank == 0) return {};
  require_pointer(shape, "shape");
  return Shape(shape, shape + rank);
}

TensorSpec spec_of(kernelpack_dtype dtype, const int64_t* shape, std::size_t rank) {
  TensorSpec spec{dtype_of(dtype), shape_of(shape, rank)};
  element_count(spec.shape);
  return spec;
}

}  // namespace kernelpack::c_api

using namespace kernelpack::c_api;
using kernelpack::TensorSpec;

size_t kernelpack_get_dtype_size(kernelpack_dtype dtype) noexcept {
  return is_dtype(dtype) ? kernelpack::element_size(static_cast<kernelpack::DType>(dtype - 1)) : 0;
}

const char* kernelpack_get_dtype_name(kernelpack_dtype dtype) noexcept {
  return is_dtype(dtype) ? kDtypeNames[static_cast<std::size_t>(dtype - 1)] : "unknown";
}

kernelpack_status kernelpack_wrap_tensor(kernelpack_dtype dtype, const int64_t* shape, size_t rank,
                                         const void* data, size_t byte_size, kernelpack_release release,
                                         void* user_data, kernelpack_tensor** tensor) noexcept {
  Release once(release, user_data);
  return guard(__func__, [&] {
    auto& result = require_result(tensor, "tensor");
    if (byte_size != 0) require_pointer(data, "data");
    kernelpack::TensorView view(dtype_of(dtype), shape_of(shape, rank),
                                {static_cast<const std::byte*>(data), byte_size});
    result = make_tensor(std::move(view), std::move(once));
  });
}

kernelpack_status kernelpack_wrap_mutable_tensor(kernelpack_dtype dtype, const int64_t* shape, size_t rank,
                                                 void* data, size_t byte_size, kernelpack_release release,
                                                 void* user_data, kernelpack_tensor** tensor) noexcept {
  Release once(release, user_data);
  return guard(__func__, [&] {
    auto& result = require_result(tensor, "tensor");
    if (byte_size != 0) require_pointer(data, "data");
    kernelpack::MutableTensorView view(dtype_of(dtype), shape_of(shape, rank),
                                       {static_cast<std::byte*>(data), byte_size});
    result = make_tensor(std::move(view), std::move(once));
  });
}

kernelpack_status kernelpack_create_tensor(kernelpack_dtype dtype, const int64_t* shape, size_t rank,
                                           kernelpack_tensor** tensor) noexcept {
  return guard(__func__, [&] {
    auto& result = require_result(tensor, "tensor");
    result = make_tensor(kernelpack::Tensor(spec_of(dtype, shape, rank)));
  });
}

kernelpack_status kernelpack_read_npy(const char* path, kernelpack_tensor** tensor) noexcept {
  return guard(__func__, [&] {
    auto& result = require_result(tensor, "tensor");
    result = make_tensor(kernelpack::read_npy(&require(path, "path")));
  });
}

kernelpack_status kernelpack_write_npy(const char* path, const kernelpack_tensor* tensor) noexcept {
  return guard(__func__, [&] {
    require_pointer(path, "path");
    const TensorBody& body = *require(tensor, "tensor").body;
    if (body.on_gpu())
      kernelpack::write_npy(path, downloaded(body));
    else
      kernelpack::write_npy(path, body.view());
  });
}

kernelpack_status kernelpack_upload_tensor(const kernelpack_device* device, const kernelpack_tensor* values,
                                           const kernelpack_storage_options* options,
                                           kernelpack_tensor** tensor) noexcept {
  return guard(__func__, [&] {
    auto& result = require_result(tensor, "tensor");
    const kernelpack::Device& gpu = require(device, "device").device;
    const TensorBody& body = *require(values, "values").body;
    result = make_tensor(kernelpack::DeviceTensor::upload(gpu, require_memory(body), storage_of(options)));
  });
}

kernelpack_status kernelpack_wrap_buffer(const kernelpack_device* device, void* buffer, uint64_t byte_offset,
                                         kernelpack_dtype dtype, const int64_t* shape, size_t rank,
                                         const kernelpack_storage_options* options,
                                         kernelpack_tensor** tensor) noexcept {
  return guard(__func__, [&] {
    auto& result = require_result(tensor, "tensor");
    const kernelpack::Device& gpu = require(device, "device").device;
    require_pointer(buffer, "buffer");
    result = make_tensor(kernelpack::wrap_buffer(gpu, static_cast<WGPUBufferImpl*>(buffer), byte_offset,
                                                 spec_of(dtype, shape, rank), storage_of(options)));
  });
}

kernelpack_status kernelpack_download_tensor(const kernelpack_tensor* values,
                                             kernelpack_tensor** tensor) noexcept {
  return guard(__func__, [&] {
    auto& result = require_result(tensor, "tensor");
    result = make_tensor(downloaded(*require(values, "values").body));
  });
}

kernelpack_dtype kernelpack_get_tensor_dtype(const kernelpack_tensor* tensor) noexcept {
  return value_or<kernelpack_dtype>(__func__, 0,
                                    [&] { return constant_of(require(tensor, "tensor").body->dtype()); });
}

size_t kernelpack_get_tensor_rank(const kernelpack_tensor* tensor) noexcept {
  return value_or<size_t>(__func__, 0, [&] { return require(tensor, "tensor").body->shape().size(); });
}

const int64_t* kernelpack_get_tensor_shape(const kernelpack_tensor* tensor) noexcept {
  static constexpr int64_t kScalar = 1;
  return value_or<const int64_t*>(__func__, nullptr, [&] {
    const kernelpack::Shape& shape = require(tensor, "tensor").body->shape();
    return shape.empty() ? &kScalar : shape.data();
  });
}

size_t kernelpack_get_tensor_byte_size(const kernelpack_tensor* tensor) noexcept {
  return value_or<size_t>(__func__, 0, [&] {
    const TensorBody& body = *require(tensor, "tensor").body;
    return static_cast<size_t>(kernelpack::element_count(body.shape())) *
           kernelpack::element_size(body.dtype());
  });
}

int32_t kernelpack_is_on_gpu(const kernelpack_tensor* tensor) noexcept {
  return value_or<int32_t>(__func__, -1, [&] { return require(tensor, "tensor").body->on_gpu() ? 1 : 0; });
}

const void* kernelpack_get_tensor_data(const kernelpack_tensor* tensor) noexcept {
  return value_or<const void*>(__func__, nullptr, [&]() -> const void* {
    return require_memory(*require(tensor, "tensor").body).data();
  });
}

void* kernelpack_get_tensor_mutable_data(kernelpack_tensor* tensor) noexcept {
  return value_or<void*>(__func__, nullptr, [&]() -> void* {
    const TensorBody& body = *require(tensor, "tensor").body;
    require_memory(body);
    if (!body.writable())
      throw kernelpack::Error(kernelpack::ErrorKind::contract,
                              "The memory of the tensor is the caller's and may only be read");
    return body.mutable_view().data();
  });
}

void kernelpack_free_tensor(kernelpack_tensor* tensor) noexcept {
  delete tensor;
}
