#pragma once

#include <smmintrin.h>

#include <cstddef>
#include <cstdint>

#include "cpu/simd/operations_simd.hpp"
#include "cpu/simd/polynomial_simd.hpp"

namespace kernelpack::cpu::sse4 {
namespace {

/// Four floats of an SSE4.1 register; the operations are described in vector_avx3_simd.hpp.
struct Vector {
  static constexpr std::size_t kLanes = 4;
  static constexpr bool kPermutes = false;
  static constexpr bool kFused = false;
  static constexpr bool kWholeLines = false;
  static constexpr int kRegisterVectors = 2;
  static constexpr int kRegisterVectorsOfHalves = 2;
  static constexpr int rows_in_registers(int vectors) { return vectors <= 2 ? 4 : 1; }
  using Floats = __m128;
  using Rows4 = __m128;
  using Mask = __m128;

  KERNELPACK_INLINE static Floats set(float value) { return _mm_set1_ps(value); }
  KERNELPACK_INLINE static Floats load(const float* from) { return _mm_loadu_ps(from); }
  KERNELPACK_INLINE static Floats load(const std::uint16_t* from) {
    const __m128i half = _mm_cvtepu16_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
    const __m128i sign = _mm_slli_epi32(_mm_and_si128(half, _mm_set1_epi32(0x8000)), 16);
    const __m128i rest = _mm_slli_epi32(_mm_and_si128(half, _mm_set1_epi32(0x7fff)), 13);
    // The exponent is raised by 112 in a product, which is exact and normalises subnormals.
    const __m128 scaled = _mm_mul_ps(_mm_castsi128_ps(rest), set(0x1p112f));
    const __m128 special = _mm_castsi128_ps(_mm_cmpgt_epi32(rest, _mm_set1_epi32(0x0f7fffff)));
    const __m128 infinite = _mm_and_ps(special, _mm_castsi128_ps(_mm_set1_epi32(0x7f800000)));
    return _mm_or_ps(_mm_or_ps(scaled, infinite), _mm_castsi128_ps(sign));
  }
  KERNELPACK_INLINE static void store(float* to, Floats a) { _mm_storeu_ps(to, a); }
  KERNELPACK_INLINE static void store(std::uint16_t* to, Floats a) {
    const __m128i bits = _mm_castps_si128(a);
    const __m128i rest = _mm_and_si128(bits, _mm_set1_epi32(0x7fffffff));
    const __m128i sign = _mm_srli_epi32(_mm_andnot_si128(_mm_set1_epi32(0x7fffffff), bits), 16);
    const __m128i odd = _mm_and_si128(_mm_srli_epi32(rest, 13), _mm_set1_epi32(1));
    const __m128i rounded = _mm_add_epi32(_mm_add_epi32(rest, odd), _mm_set1_epi32(0xfff - 0x38000000));
    const __m128i normal = _mm_srli_epi32(rounded, 13);
    // Adding one half leaves the subnormal, rounded, in the low bits.
    const __m128i half = _mm_castps_si128(_mm_add_ps(_mm_castsi128_ps(rest), set(0.5f)));
    const __m128i subnormal = _mm_sub_epi32(half, _mm_castps_si128(set(0.5f)));
    const __m128i nan =
        _mm_and_si128(_mm_cmpgt_epi32(rest, _mm_set1_epi32(0x7f800000)), _mm_set1_epi32(0x0200));
    const __m128i infinite = _mm_or_si128(_mm_set1_epi32(0x7c00), nan);
    const __m128i small = _mm_cmplt_epi32(rest, _mm_set1_epi32(0x38800000));
    const __m128i large = _mm_cmpgt_epi32(rest, _mm_set1_epi32(0x477fffff));
    const __m128i finite = _mm_blendv_epi8(normal, subnormal, small);
    const __m128i all = _mm_or_si128(_mm_blendv_epi8(finite, infinite, large), sign);
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_packus_epi32(all, all));
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

  KERNELPACK_INLINE static Floats add(Floats a, Floats b) { return _mm_add_ps(a, b); }
  KERNELPACK_INLINE static Floats subtract(Floats a, Floats b) { return _mm_sub_ps(a, b); }
  KERNELPACK_INLINE static Floats multiply(Floats a, Floats b) { return _mm_mul_ps(a, b); }
  KERNELPACK_INLINE static Floats divide(Floats a, Floats b) { return _mm_div_ps(a, b); }
  KERNELPACK_INLINE static Floats multiply_add(Floats a, Floats b, Floats c) {
    return add(multiply(a, b), c);
  }
  KERNELPACK_INLINE static Floats max(Floats a, Floats b) { return _mm_max_ps(a, b); }
  KERNELPACK_INLINE static Floats min(Floats a, Floats b) { return _mm_min_ps(a, b); }

  KERNELPACK_INLINE static Mask first(std::size_t count) { return window(4 - count); }
  KERNELPACK_INLINE static Mask last(std::size_t count) { return window(4 + count); }
  KERNELPACK_INLINE static Mask is_nan(Floats a) { return _mm_cmpunord_ps(a, a); }
  KERNELPACK_INLINE static Mask not_less(Floats a, Floats b) { return _mm_cmpnlt_ps(a, b); }
  KERNELPACK_INLINE static bool any(Mask mask) { return _mm_movemask_ps(mask) != 0; }
  KERNELPACK_INLINE static Floats keep(Mask mask, Floats a) { return _mm_and_ps(mask, a); }
  KERNELPACK_INLINE static Floats select(Mask mask, Floats a, Floats b) { return _mm_blendv_ps(b, a, mask); }
  /// The integer in the low bits of `a`, moved to the exponent, plus the bits of `b`.
  KERNELPACK_INLINE static Floats add_exponent(Floats a, Floats b) {
    return _mm_castsi128_ps(_mm_add_epi32(_mm_slli_epi32(_mm_castps_si128(a), 23), _mm_castps_si128(b)));
  }

  KERNELPACK_INLINE static float maximum(Floats a) {
    const __m128 m = max(a, _mm_movehl_ps(a, a));
    return _mm_cvtss_f32(_mm_max_ss(m, _mm_shuffle_ps(m, m, 1)));
  }

  template <class Operation, std::size_t kGroup>
  KERNELPACK_INLINE static Rows4 reduce4(Floats a, Floats b, Floats c, Floats d) {
    const Floats ab = Operation::template apply<Vector>(_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b));
    const Floats cd = Operation::template apply<Vector>(_mm_unpacklo_ps(c, d), _mm_unpackhi_ps(c, d));
    return Operation::template apply<Vector>(_mm_movelh_ps(ab, cd), _mm_movehl_ps(cd, ab));
  }
  template <int I>
  KERNELPACK_INLINE static Floats broadcast(Rows4 rows) {
    return _mm_shuffle_ps(rows, rows, I * 0x55);
  }
  KERNELPACK_INLINE static Rows4 at_least(Rows4 rows, float lowest) { return max(set(lowest), rows); }
  KERNELPACK_INLINE static Rows4 inverse(Rows4 sums) { return _mm_div_ps(set(1.0f), sums); }
  KERNELPACK_INLINE static Rows4 inverse_or_zero(Rows4 sums) {
    return keep(_mm_cmpneq_ps(sums, set(0.0f)), inverse(sums));
  }
  KERNELPACK_INLINE static bool all_within(Rows4 rows, float low, float high) {
    return _mm_movemask_ps(_mm_and_ps(_mm_cmpge_ps(rows, set(low)), _mm_cmple_ps(rows, set(high)))) == 0xf;
  }

  struct Doubles {
    __m128d low, high;
  };
  KERNELPACK_INLINE static Doubles zero_doubles() { return {_mm_setzero_pd(), _mm_setzero_pd()}; }
  KERNELPACK_INLINE static void accumulate(Doubles& sums, Floats a) {
    sums.low = _mm_add_pd(sums.low, _mm_cvtps_pd(a));
    sums.high = _mm_add_pd(sums.high, _mm_cvtps_pd(_mm_movehl_ps(a, a)));
  }
  KERNELPACK_INLINE static double total(Doubles sums) {
    const __m128d two = _mm_add_pd(sums.low, sums.high);
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
  }

 private:
  KERNELPACK_INLINE static Mask window(std::size_t start) {
    alignas(16) static constexpr std::int32_t kOnes[12] = {-1, -1, -1, -1, 0, 0, 0, 0, -1, -1, -1, -1};
    return _mm_loadu_ps(reinterpret_cast<const float*>(kOnes + start));
  }
};

using Exponential = PolynomialExponential<Vector>;

}  // namespace
}  // namespace kernelpack::cpu::sse4
