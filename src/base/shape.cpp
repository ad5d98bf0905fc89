#include "base/shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "kernelpack/error.hpp"

namespace kernelpack {

std::optional<std::int64_t> checked_multiply(std::int64_t a, std::int64_t b) noexcept {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product) || product > kMaxExactInteger) return std::nullopt;
  return product;
}

std::optional<std::int64_t> checked_product(const Shape& shape, std::size_t first,
                                            std::size_t last) noexcept {
  last = std::min(last, shape.size());
  bool zero = false;
  for (std::size_t i = first; i < last; ++i) {
    if (shape[i] < 0 || shape[i] > kMaxExactInteger) return std::nullopt;
    if (shape[i] == 0) zero = true;
  }
  if (zero) return 0;
  std::optional<std::int64_t> product = 1;
  for (std::size_t i = first; i < last && product; ++i) product = checked_multiply(*product, shape[i]);
  return product;
}

std::string to_string(const Shape& shape) {
  // A file may claim any rank; a message about it stays readable.
  constexpr std::ptrdiff_t kMostDimensions = 64;
  if (std::ssize(shape) <= kMostDimensions) return fmt::format("[{}]", fmt::join(shape, ", "));
  return fmt::format("[{}, ... {} dimensions]",
                     fmt::join(shape.begin(), shape.begin() + kMostDimensions, ", "), shape.size());
}

std::string to_string(const TensorSpec& spec) {
  return std::string(to_string(spec.dtype)) + to_string(spec.shape);
}

std::int64_t element_count(const Shape& shape) {
  if (const auto count = checked_product(shape, 0, shape.size())) return *count;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0) {
      throw Error(ErrorKind::contract, fmt::format("The dimension {} ({}) of the shape ({}) is negative", i,
                                                   shape[i], to_string(shape)));
    }
  }
  throw Error(ErrorKind::contract,
              fmt::format("The number of elements of the shape ({}) exceeds 2^53 - 1 ({})", to_string(shape),
                          kMaxExactInteger));
}

std::int64_t byte_count(const TensorSpec& spec) {
  const auto bytes =
      checked_multiply(element_count(spec.shape), static_cast<std::int64_t>(element_size(spec.dtype)));
  if (bytes) return *bytes;
  throw Error(ErrorKind::contract, fmt::format("The size in bytes of the tensor ({}) exceeds 2^53 - 1 ({})",
                                               to_string(spec), kMaxExactInteger));
}

}  // namespace kernelpack
