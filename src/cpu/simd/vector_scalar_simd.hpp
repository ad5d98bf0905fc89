#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/simd/float16_bits_simd.hpp"
#include "cpu/simd/operations_simd.hpp"
#include "cpu/simd/polynomial_simd.hpp"

namespace kernelpack::cpu::scalar {
namespace {

/// One float, for any processor; the operations are described in vector_avx3_simd.hpp.
struct Vector {
  static constexpr std::size_t kLanes = 1;
  static constexpr bool kPermutes = false;
  static constexpr bool kFused = false;
  static constexpr bool kWholeLines = false;
  static constexpr int kRegisterVectors = 2;
  static constexpr int kRegisterVectorsOfHalves = 2;
  static constexpr int rows_in_registers(int vectors) { return vectors <= 2 ? 4 : 1; }
  using Floats = float;
  struct Rows4 {
    float row[4];
  };
  using Mask = bool;

  KERNELPACK_INLINE static Floats set(float value) { return value; }
  KERNELPACK_INLINE static Floats load(const float* from) { return *from; }
  KERNELPACK_INLINE static Floats load(const std::uint16_t* from) { return from_float16_bits(*from); }
  KERNELPACK_INLINE static void store(float* to, Floats a) { *to = a; }
  KERNELPACK_INLINE static void store(std::uint16_t* to, Floats a) { *to = to_float16_bits(a); }
  template <class T>
  KERNELPACK_INLINE static Floats load_partial(const T* from, std::size_t count) {
    return count > 0 ? load(from) : 0.0f;
  }
  template <class T>
  KERNELPACK_INLINE static void store_partial(T* to, Floats a, std::size_t count) {
    if (count > 0) store(to, a);
  }
  template <class T>
  KERNELPACK_INLINE static void stream(T* to, Floats a) {
    store(to, a);
  }
  KERNELPACK_INLINE static void finish_streams() {}

  KERNELPACK_INLINE static Floats add(Floats a, Floats b) { return a + b; }
  KERNELPACK_INLINE static Floats subtract(Floats a, Floats b) { return a - b; }
  KERNELPACK_INLINE static Floats multiply(Floats a, Floats b) { return a * b; }
  KERNELPACK_INLINE static Floats divide(Floats a, Floats b) { return a / b; }
  KERNELPACK_INLINE static Floats multiply_add(Floats a, Floats b, Floats c) { return a * b + c; }
  KERNELPACK_INLINE static Floats max(Floats a, Floats b) { return a > b ? a : b; }
  KERNELPACK_INLINE static Floats min(Floats a, Floats b) { return a < b ? a : b; }

  KERNELPACK_INLINE static Mask first(std::size_t count) { return count > 0; }
  KERNELPACK_INLINE static Mask last(std::size_t count) { return count > 0; }
  KERNELPACK_INLINE static Mask is_nan(Floats a) { return !(a == a); }
  KERNELPACK_INLINE static Mask not_less(Floats a, Floats b) { return !(a < b); }
  KERNELPACK_INLINE static bool any(Mask mask) { return mask; }
  KERNELPACK_INLINE static Floats keep(Mask mask, Floats a) { return mask ? a : 0.0f; }
  KERNELPACK_INLINE static Floats select(Mask mask, Floats a, Floats b) { return mask ? a : b; }
  KERNELPACK_INLINE static Floats add_exponent(Floats a, Floats b) {
    return __builtin_bit_cast(
        float, (__builtin_bit_cast(std::uint32_t, a) << 23) + __builtin_bit_cast(std::uint32_t, b));
  }

  KERNELPACK_INLINE static float maximum(Floats a) { return a; }

  template <class Operation, std::size_t kGroup>
  KERNELPACK_INLINE static Rows4 reduce4(Floats a, Floats b, Floats c, Floats d) {
    return {{a, b, c, d}};
  }
  template <int I>
  KERNELPACK_INLINE static Floats broadcast(Rows4 rows) {
    return rows.row[I];
  }
  KERNELPACK_INLINE static Rows4 at_least(Rows4 rows, float lowest) {
    for (float& row : rows.row) row = max(lowest, row);
    return rows;
  }
  KERNELPACK_INLINE static Rows4 inverse(Rows4 sums) {
    for (float& row : sums.row) row = 1.0f / row;
    return sums;
  }
  KERNELPACK_INLINE static Rows4 inverse_or_zero(Rows4 sums) {
    for (float& row : sums.row) row = row == 0.0f ? 0.0f : 1.0f / row;
    return sums;
  }
  KERNELPACK_INLINE static bool all_within(Rows4 rows, float low, float high) {
    for (const float row : rows.row) {
      if (!(row >= low && row <= high)) return false;
    }
    return true;
  }

  using Doubles = double;
  KERNELPACK_INLINE static Doubles zero_doubles() { return 0.0; }
  KERNELPACK_INLINE static void accumulate(Doubles& sums, Floats a) { sums += static_cast<double>(a); }
  KERNELPACK_INLINE static double total(Doubles sums) { return sums; }
};

using Exponential = PolynomialExponential<Vector>;

}  // namespace
}  // namespace kernelpack::cpu::scalar
