#pragma once

#include <cstdint>
#include <optional>

#include "kernelpack/tensor.hpp"

namespace kernelpack {

/// The largest integer that a double holds exactly together with all smaller ones; no dimension or count
/// exceeds it.
inline constexpr std::int64_t kMaxExactInteger = (std::int64_t{1} << 53) - 1;

/// a * b for non-negative operands, or nothing if it exceeds kMaxExactInteger.
std::optional<std::int64_t> checked_multiply(std::int64_t a, std::int64_t b) noexcept;
/// The product of dims [first, last), or nothing on overflow or a negative dimension. A zero anywhere in the
/// range makes the product zero, also beside dimensions whose own product would overflow.
std::optional<std::int64_t> checked_product(const Shape& shape, std::size_t first, std::size_t last) noexcept;
/// element_count(shape) * element_size in bytes; throws contract on overflow.
std::int64_t byte_count(const TensorSpec& spec);

}  // namespace kernelpack
