#include "webgpu/storage.hpp"

#include <fmt/format.h>

#include <cstring>
#include <limits>

#include "base/dtype.hpp"
#include "base/shape.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::webgpu {
namespace {

template <class T>
T load(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void store(std::byte* to, T value) noexcept {
  std::memcpy(to, &value, sizeof value);
}

template <class From, class To>
void convert(std::span<const std::byte> in, std::span<std::byte> out) noexcept {
  const std::size_t count = in.size() / sizeof(From);
  for (std::size_t i = 0; i < count; ++i)
    store(out.data() + i * sizeof(To), static_cast<To>(load<From>(in.data() + i * sizeof(From))));
}

template <class To>
void project(const BoundTensor& tensor, std::span<const std::byte> in, std::span<std::byte> out) {
  constexpr std::int64_t low = std::numeric_limits<To>::min();
  constexpr std::int64_t high = std::numeric_limits<To>::max();
  const std::size_t count = in.size() / sizeof(std::int64_t);
  for (std::size_t i = 0; i < count; ++i) {
    std::int64_t value = load<std::int64_t>(in.data() + i * sizeof(std::int64_t));
    if (value < low || value > high) {
      if (!tensor.saturating)
        throw Error(ErrorKind::contract,
                    fmt::format("Element {} ({}) of {} does not fit its storage dtype ({})", i, value,
                                tensor.name, to_string(tensor.storage)),
                    fmt::format("input {}", tensor.name));
      value = value < low ? low : high;
    }
    store(out.data() + i * sizeof(To), static_cast<To>(value));
  }
}

bool projected(const BoundTensor& tensor) noexcept {
  return tensor.dtype == DType::int64 && tensor.storage != DType::int64;
}

}  // namespace

std::uint64_t storage_bytes(const BoundTensor& tensor) {
  const std::size_t element = tensor.packed ? 1 : info(tensor.storage).storage_bytes;
  if (element == 0)
    throw Error(ErrorKind::contract, fmt::format("The dtype of {} ({}) has no storage on a GPU", tensor.name,
                                                 to_string(tensor.storage)));
  const auto count = checked_product(tensor.shape, 0, tensor.shape.size());
  const auto bytes = count ? checked_multiply(*count, static_cast<std::int64_t>(element)) : std::nullopt;
  if (!bytes)
    throw Error(ErrorKind::limit,
                fmt::format("The size of {} ({}) overflows", tensor.name, to_string(tensor.shape)));
  return static_cast<std::uint64_t>(*bytes);
}

bool stored_as_is(const BoundTensor& tensor) noexcept {
  if (projected(tensor) || tensor.dtype == DType::bool_) return false;
  return tensor.packed || info(tensor.storage).storage_bytes == element_size(tensor.dtype);
}

void to_storage(const BoundTensor& tensor, std::span<const std::byte> host, std::span<std::byte> out) {
  if (stored_as_is(tensor)) {
    if (!host.empty()) std::memcpy(out.data(), host.data(), host.size());
    return;
  }
  switch (tensor.dtype) {
    case DType::bool_:
      for (std::size_t i = 0; i < host.size(); ++i)
        store<std::uint32_t>(out.data() + i * 4, host[i] != std::byte{0} ? 1u : 0u);
      return;
    case DType::int8:
      return convert<std::int8_t, std::int32_t>(host, out);
    case DType::int16:
      return convert<std::int16_t, std::int32_t>(host, out);
    case DType::uint8:
      return convert<std::uint8_t, std::uint32_t>(host, out);
    case DType::int64:
      if (tensor.storage == DType::int32) return project<std::int32_t>(tensor, host, out);
      if (tensor.storage == DType::uint32) return project<std::uint32_t>(tensor, host, out);
      break;
    default:
      break;
  }
  throw Error(ErrorKind::internal, fmt::format("No conversion exists from {} to storage dtype {}",
                                               to_string(tensor.dtype), to_string(tensor.storage)));
}

void from_storage(const BoundTensor& tensor, std::span<const std::byte> stored, std::span<std::byte> host) {
  if (stored_as_is(tensor)) {
    if (!host.empty()) std::memcpy(host.data(), stored.data(), host.size());
    return;
  }
  switch (tensor.dtype) {
    case DType::bool_:
      for (std::size_t i = 0; i < host.size(); ++i)
        host[i] = load<std::uint32_t>(stored.data() + i * 4) != 0 ? std::byte{1} : std::byte{0};
      return;
    case DType::int8:
      return convert<std::int32_t, std::int8_t>(stored.first(host.size() * 4), host);
    case DType::int16:
      return convert<std::int32_t, std::int16_t>(stored.first(host.size() * 2), host);
    case DType::uint8:
      return convert<std::uint32_t, std::uint8_t>(stored.first(host.size() * 4), host);
    case DType::int64:
      if (tensor.storage == DType::int32)
        return convert<std::int32_t, std::int64_t>(stored.first(host.size() / 2), host);
      if (tensor.storage == DType::uint32)
        return convert<std::uint32_t, std::int64_t>(stored.first(host.size() / 2), host);
      break;
    default:
      break;
  }
  throw Error(ErrorKind::internal, fmt::format("No conversion exists from storage dtype {} to {}",
                                               to_string(tensor.storage), to_string(tensor.dtype)));
}

}  // namespace kernelpack::webgpu
