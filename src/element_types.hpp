#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernelpack/tensor.hpp"

namespace kernelpack {

/// Calls use(T{}) for the element type T of the dtype.
template <class Use>
void with_element_type(DType dtype, const Use& use) {
  switch (dtype) {
    case DType::float32:
      return use(float{});
    case DType::float16:
      return use(Float16{});
    case DType::int32:
      return use(std::int32_t{});
    case DType::uint32:
      return use(std::uint32_t{});
    case DType::int64:
      return use(std::int64_t{});
    case DType::float64:
      return use(double{});
    case DType::int8:
      return use(std::int8_t{});
    case DType::int16:
      return use(std::int16_t{});
    case DType::uint8:
      return use(std::uint8_t{});
    case DType::bool_:
      return use(bool{});
  }
}

/// The value rounded once to an element type, to nearest even. Integers saturate and take 0 for NaN; bool is
/// true for all but 0.
template <class T>
T rounded(double value) {
  if constexpr (std::is_same_v<T, Float16>) {
    // Rounding to float first and to odd keeps the second rounding exact.
    auto single = static_cast<float>(value);
    const auto wide = static_cast<double>(single);
    if (wide != value && std::isfinite(value) && std::isfinite(single)) {
      auto bits = std::bit_cast<std::uint32_t>(single);
      if ((bits & 1) == 0) bits += (std::fabs(wide) < std::fabs(value)) ? 1u : ~0u;
      single = std::bit_cast<float>(bits);
    }
    return Float16(single);
  } else if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (std::is_integral_v<T>) {
    if (!(value == value)) return 0;
    const double low = static_cast<double>(std::numeric_limits<T>::min());
    const double high = static_cast<double>(std::numeric_limits<T>::max());
    if (value <= low) return std::numeric_limits<T>::min();
    if (value >= high) return std::numeric_limits<T>::max();
    return static_cast<T>(std::nearbyint(value));
  } else {
    return static_cast<T>(value);
  }
}

/// An element as a double.
template <class T>
double widened(T value) {
  if constexpr (std::is_same_v<T, Float16>)
    return static_cast<double>(static_cast<float>(value));
  else
    return static_cast<double>(value);
}

}  // namespace kernelpack
