#include "kernelpack/tensor.hpp"

#include <fmt/format.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <cstring>
#include <new>

#include "base/shape.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack {
namespace {

constexpr std::align_val_t kAlignment{64};

// Asks for huge pages: first writes to fresh memory otherwise cost more than what a kernel computes.
void prefer_huge_pages(void* memory, std::size_t bytes) noexcept {
#if defined(__linux__)
  constexpr std::size_t kLeast = std::size_t{4} << 20;
  constexpr std::uintptr_t kHugePage = std::uintptr_t{2} << 20;
  if (bytes < kLeast) return;
  const auto first = (reinterpret_cast<std::uintptr_t>(memory) + kHugePage - 1) & ~(kHugePage - 1);
  const auto last = (reinterpret_cast<std::uintptr_t>(memory) + bytes) & ~(kHugePage - 1);
  // A system without them refuses, which changes nothing.
  if (first < last) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#else
  static_cast<void>(memory);
  static_cast<void>(bytes);
#endif
}

}  // namespace

TensorView::TensorView(DType dtype, Shape shape, std::span<const std::byte> bytes)
    : spec_{dtype, std::move(shape)}, count_(kernelpack::element_count(spec_.shape)), data_(bytes.data()) {
  const auto needed = static_cast<std::uint64_t>(byte_count(spec_));
  if (bytes.size() != needed) {
    throw Error(
        ErrorKind::contract,
        fmt::format("The size of the memory ({} bytes) differs from the size of the tensor ({}, {} bytes)",
                    bytes.size(), to_string(spec_), needed));
  }
  if (reinterpret_cast<std::uintptr_t>(data_) % element_size(dtype) != 0) {
    throw Error(ErrorKind::contract,
                fmt::format("The memory of the tensor ({}) is not aligned to its elements ({} bytes)",
                            to_string(spec_), element_size(dtype)));
  }
}

const TensorSpec& TensorView::nothing() noexcept {
  static const TensorSpec spec{DType::float32, {0}};
  return spec;
}

void TensorView::require_dtype(DType wanted) const {
  if (wanted == spec_.dtype) return;
  throw Error(
      ErrorKind::contract,
      fmt::format("The dtype of the tensor ({}) differs from the dtype that its values are asked for as ({})",
                  to_string(spec_.dtype), to_string(wanted)));
}

void Tensor::Release::operator()(std::byte* memory) const noexcept {
  ::operator delete(memory, kAlignment);
}

Tensor Tensor::uninitialized(TensorSpec spec) {
  const auto bytes = static_cast<std::size_t>(byte_count(spec));
  Tensor tensor;
  if (bytes > 0) {
    void* memory = ::operator new(bytes, kAlignment, std::nothrow);
    if (memory == nullptr) throw std::bad_alloc();
    prefer_huge_pages(memory, bytes);
    tensor.memory_.reset(static_cast<std::byte*>(memory));
  }
  tensor.view_ = MutableTensorView(spec.dtype, std::move(spec.shape), {tensor.memory_.get(), bytes});
  return tensor;
}

Tensor::Tensor(TensorSpec spec) : Tensor(uninitialized(std::move(spec))) {
  if (byte_size() > 0) std::memset(data(), 0, byte_size());
}

Tensor::Tensor(const TensorView& view) : Tensor(uninitialized(view.spec())) {
  if (byte_size() > 0) std::memcpy(data(), view.data(), byte_size());
}

Tensor::Tensor(const Tensor& other) : Tensor(other.view()) {}

Tensor& Tensor::operator=(const Tensor& other) {
  if (this != &other) *this = Tensor(other);
  return *this;
}

}  // namespace kernelpack
