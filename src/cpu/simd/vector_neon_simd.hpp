#pragma once

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>

#include "cpu/simd/operations_simd.hpp"
#include "cpu/simd/polynomial_simd.hpp"

namespace kernelpack::cpu::neon {
namespace {

/// Four floats of an AArch64 register; the operations are described in vector_avx3_simd.hpp.
struct Vector {
  static constexpr std::size_t kLanes = 4;
  static constexpr bool kPermutes = false;
  static constexpr bool kFused = true;
  static constexpr bool kWholeLines = false;
  static constexpr int kRegisterVectors = 8;
  static constexpr int kRegisterVectorsOfHalves = 8;
  static constexpr int rows_in_registers(int vectors) { return vectors <= 5 ? 4 : vectors <= 12 ? 2 : 1; }
  using Floats = float32x4_t;
  using Rows4 = float32x4_t;
  using Mask = uint32x4_t;

  KERNELPACK_INLINE static Floats set(float value) { return vdupq_n_f32(value); }
  KERNELPACK_INLINE static Floats load(const float* from) { return vld1q_f32(from); }
  KERNELPACK_INLINE static Floats load(const std::uint16_t* from) {
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from)));
  }
  KERNELPACK_INLINE static void store(float* to, Floats a) { vst1q_f32(to, a); }
  KERNELPACK_INLINE static void store(std::uint16_t* to, Floats a) {
    vst1_u16(to, vreinterpret_u16_f16(vcvt_f16_f32(a)));
  }
  template <class T>
  KERNELPACK_INLINE static Floats load_partial(const T* from, std::size_t count) {
    T whole[4] = {};
    for (std::size_t i = 0; i < count; ++i) whole[i] = from[i];
    return load(whole);
  }
  template <class T>
  KERNELPACK_INLINE static void store_partial(T* to, Floats a, std::size_t count) {
    T whole[4];
    store(whole, a);
    for (std::size_t i = 0; i < count; ++i) to[i] = whole[i];
  }
  template <class T>
  KERNELPACK_INLINE static void stream(T* to, Floats a) {
    store(to, a);
  }
  KERNELPACK_INLINE static void finish_streams() {}

  KERNELPACK_INLINE static Floats add(Floats a, Floats b) { return vaddq_f32(a, b); }
  KERNELPACK_INLINE static Floats subtract(Floats a, Floats b) { return vsubq_f32(a, b); }
  KERNELPACK_INLINE static Floats multiply(Floats a, Floats b) { return vmulq_f32(a, b); }
  KERNELPACK_INLINE static Floats divide(Floats a, Floats b) { return vdivq_f32(a, b); }
  KERNELPACK_INLINE static Floats multiply_add(Floats a, Floats b, Floats c) { return vfmaq_f32(c, a, b); }
  KERNELPACK_INLINE static Floats max(Floats a, Floats b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
  KERNELPACK_INLINE static Floats min(Floats a, Floats b) { return vbslq_f32(vcltq_f32(a, b), a, b); }

  KERNELPACK_INLINE static Mask first(std::size_t count) {
    return vcltq_u32(lanes(), vdupq_n_u32(static_cast<std::uint32_t>(count)));
  }
  KERNELPACK_INLINE static Mask last(std::size_t count) {
    return vcgeq_u32(lanes(), vdupq_n_u32(static_cast<std::uint32_t>(4 - count)));
  }
  KERNELPACK_INLINE static Mask is_nan(Floats a) { return vmvnq_u32(vceqq_f32(a, a)); }
  KERNELPACK_INLINE static Mask not_less(Floats a, Floats b) { return vmvnq_u32(vcltq_f32(a, b)); }
  KERNELPACK_INLINE static bool any(Mask mask) { return vmaxvq_u32(mask) != 0; }
  KERNELPACK_INLINE static Floats keep(Mask mask, Floats a) {
    return vreinterpretq_f32_u32(vandq_u32(mask, vreinterpretq_u32_f32(a)));
  }
  KERNELPACK_INLINE static Floats select(Mask mask, Floats a, Floats b) { return vbslq_f32(mask, a, b); }
  KERNELPACK_INLINE static Floats add_exponent(Floats a, Floats b) {
    return vreinterpretq_f32_u32(
        vaddq_u32(vshlq_n_u32(vreinterpretq_u32_f32(a), 23), vreinterpretq_u32_f32(b)));
  }

  KERNELPACK_INLINE static float maximum(Floats a) { return vmaxnmvq_f32(a); }

  template <class Operation, std::size_t kGroup>
  KERNELPACK_INLINE static Rows4 reduce4(Floats a, Floats b, Floats c, Floats d) {
    const Floats ab = Operation::template apply<Vector>(vzip1q_f32(a, b), vzip2q_f32(a, b));
    const Floats cd = Operation::template apply<Vector>(vzip1q_f32(c, d), vzip2q_f32(c, d));
    const float64x2_t ab2 = vreinterpretq_f64_f32(ab);
    const float64x2_t cd2 = vreinterpretq_f64_f32(cd);
    return Operation::template apply<Vector>(vreinterpretq_f32_f64(vzip1q_f64(ab2, cd2)),
                                             vreinterpretq_f32_f64(vzip2q_f64(ab2, cd2)));
  }
  template <int I>
  KERNELPACK_INLINE static Floats broadcast(Rows4 rows) {
    return vdupq_laneq_f32(rows, I);
  }
  KERNELPACK_INLINE static Rows4 at_least(Rows4 rows, float lowest) { return max(set(lowest), rows); }
  KERNELPACK_INLINE static Rows4 inverse(Rows4 sums) { return vdivq_f32(set(1.0f), sums); }
  KERNELPACK_INLINE static Rows4 inverse_or_zero(Rows4 sums) {
    return keep(vmvnq_u32(vceqq_f32(sums, set(0.0f))), inverse(sums));
  }
  KERNELPACK_INLINE static Rows4 inverse_rest(Rows4 sums, Rows4 inverse) {
    return multiply(vfmsq_f32(set(1.0f), sums, inverse), inverse);
  }
  KERNELPACK_INLINE static bool all_within(Rows4 rows, float low, float high) {
    return vminvq_u32(vandq_u32(vcgeq_f32(rows, set(low)), vcleq_f32(rows, set(high)))) != 0;
  }

  struct Doubles {
    float64x2_t low, high;
  };
  KERNELPACK_INLINE static Doubles zero_doubles() { return {vdupq_n_f64(0.0), vdupq_n_f64(0.0)}; }
  KERNELPACK_INLINE static void accumulate(Doubles& sums, Floats a) {
    sums.low = vaddq_f64(sums.low, vcvt_f64_f32(vget_low_f32(a)));
    sums.high = vaddq_f64(sums.high, vcvt_high_f64_f32(a));
  }
  KERNELPACK_INLINE static double total(Doubles sums) { return vaddvq_f64(vaddq_f64(sums.low, sums.high)); }

 private:
  KERNELPACK_INLINE static uint32x4_t lanes() {
    static constexpr std::uint32_t kLaneNumbers[4] = {0, 1, 2, 3};
    return vld1q_u32(kLaneNumbers);
  }
};

using Exponential = PolynomialExponential<Vector>;

}  // namespace
}  // namespace kernelpack::cpu::neon
