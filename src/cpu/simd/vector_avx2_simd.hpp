#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "cpu/simd/operations_simd.hpp"

namespace kernelpack::cpu::avx2 {
namespace {

/// Eight floats of an AVX2 register; the operations are described in vector_avx3_simd.hpp.
struct Vector {
  static constexpr std::size_t kLanes = 8;
  static constexpr bool kPermutes = true;
  static constexpr bool kFused = true;
  static constexpr bool kWholeLines = false;
  static constexpr int kRegisterVectors = 16;
  static constexpr int kRegisterVectorsOfHalves = 8;
  static constexpr int rows_in_registers(int vectors) { return vectors <= 4 ? 4 : 2; }
  using Floats = __m256;
  using Rows4 = __m256;
  using Mask = __m256;
  using Lanes = __m256i;

  KERNELPACK_INLINE static Floats set(float value) { return _mm256_set1_ps(value); }
  KERNELPACK_INLINE static Floats load(const float* from) { return _mm256_loadu_ps(from); }
  KERNELPACK_INLINE static Floats load(const std::uint16_t* from) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  KERNELPACK_INLINE static void store(float* to, Floats a) { _mm256_storeu_ps(to, a); }
  KERNELPACK_INLINE static void store(std::uint16_t* to, Floats a) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
  }
  KERNELPACK_INLINE static Floats load_partial(const float* from, std::size_t count) {
    return _mm256_maskload_ps(from, _mm256_castps_si256(first(count)));
  }
  KERNELPACK_INLINE static Floats load_partial(const std::uint16_t* from, std::size_t count) {
    std::uint16_t whole[8] = {};
    for (std::size_t i = 0; i < count; ++i) whole[i] = from[i];
    return load(whole);
  }
  template <class T>
  KERNELPACK_INLINE static void store_partial(T* to, Floats a, std::size_t count) {
    T whole[8];
    store(whole, a);
    for (std::size_t i = 0; i < count; ++i) to[i] = whole[i];
  }
  KERNELPACK_INLINE static void stream(float* to, Floats a) { _mm256_stream_ps(to, a); }
  KERNELPACK_INLINE static void stream(std::uint16_t* to, Floats a) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
  }
  KERNELPACK_INLINE static void finish_streams() { _mm_sfence(); }

  KERNELPACK_INLINE static Floats add(Floats a, Floats b) { return _mm256_add_ps(a, b); }
  KERNELPACK_INLINE static Floats subtract(Floats a, Floats b) { return _mm256_sub_ps(a, b); }
  KERNELPACK_INLINE static Floats multiply(Floats a, Floats b) { return _mm256_mul_ps(a, b); }
  KERNELPACK_INLINE static Floats divide(Floats a, Floats b) { return _mm256_div_ps(a, b); }
  KERNELPACK_INLINE static Floats multiply_add(Floats a, Floats b, Floats c) {
    return _mm256_fmadd_ps(a, b, c);
  }
  KERNELPACK_INLINE static Floats max(Floats a, Floats b) { return _mm256_max_ps(a, b); }
  KERNELPACK_INLINE static Floats min(Floats a, Floats b) { return _mm256_min_ps(a, b); }

  KERNELPACK_INLINE static Mask first(std::size_t count) { return window(8 - count); }
  KERNELPACK_INLINE static Mask last(std::size_t count) { return window(8 + count); }
  KERNELPACK_INLINE static Mask is_nan(Floats a) { return _mm256_cmp_ps(a, a, _CMP_UNORD_Q); }
  KERNELPACK_INLINE static bool any(Mask mask) { return _mm256_movemask_ps(mask) != 0; }
  KERNELPACK_INLINE static Floats keep(Mask mask, Floats a) { return _mm256_and_ps(mask, a); }
  KERNELPACK_INLINE static Floats select(Mask mask, Floats a, Floats b) {
    return _mm256_blendv_ps(b, a, mask);
  }

  KERNELPACK_INLINE static Lanes load_lanes(const std::int32_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  KERNELPACK_INLINE static Floats permute(Floats a, Lanes from) { return _mm256_permutevar8x32_ps(a, from); }

  KERNELPACK_INLINE static float maximum(Floats a) {
    __m128 m = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    m = _mm_max_ps(m, _mm_movehl_ps(m, m));
    return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
  }

  template <class Operation, std::size_t kGroup>
  KERNELPACK_INLINE static Rows4 reduce4(Floats a, Floats b, Floats c, Floats d) {
    const Floats ab = Operation::template apply<Vector>(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
    const Floats cd = Operation::template apply<Vector>(_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
    const __m256d ab2 = _mm256_castps_pd(ab);
    const __m256d cd2 = _mm256_castps_pd(cd);
    Floats all = Operation::template apply<Vector>(_mm256_castpd_ps(_mm256_unpacklo_pd(ab2, cd2)),
                                                   _mm256_castpd_ps(_mm256_unpackhi_pd(ab2, cd2)));
    if constexpr (kGroup >= 8)
      all = Operation::template apply<Vector>(all, _mm256_permute2f128_ps(all, all, 0x01));
    return all;
  }
  template <int I>
  KERNELPACK_INLINE static Floats broadcast(Rows4 rows) {
    return _mm256_permute_ps(rows, I * 0x55);
  }
  KERNELPACK_INLINE static Rows4 at_least(Rows4 rows, float lowest) { return max(set(lowest), rows); }
  KERNELPACK_INLINE static Rows4 inverse(Rows4 sums) { return _mm256_div_ps(set(1.0f), sums); }
  KERNELPACK_INLINE static Rows4 inverse_or_zero(Rows4 sums) {
    return keep(_mm256_cmp_ps(sums, set(0.0f), _CMP_NEQ_UQ), inverse(sums));
  }
  KERNELPACK_INLINE static Rows4 inverse_rest(Rows4 sums, Rows4 inverse) {
    return multiply(_mm256_fnmadd_ps(sums, inverse, set(1.0f)), inverse);
  }
  KERNELPACK_INLINE static bool all_within(Rows4 rows, float low, float high) {
    return _mm256_movemask_ps(_mm256_and_ps(_mm256_cmp_ps(rows, set(low), _CMP_GE_OQ),
                                            _mm256_cmp_ps(rows, set(high), _CMP_LE_OQ))) == 0xff;
  }

  struct Doubles {
    __m256d low, high;
  };
  KERNELPACK_INLINE static Doubles zero_doubles() { return {_mm256_setzero_pd(), _mm256_setzero_pd()}; }
  KERNELPACK_INLINE static void accumulate(Doubles& sums, Floats a) {
    sums.low = _mm256_add_pd(sums.low, _mm256_cvtps_pd(_mm256_castps256_ps128(a)));
    sums.high = _mm256_add_pd(sums.high, _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1)));
  }
  KERNELPACK_INLINE static double total(Doubles sums) {
    const __m256d four = _mm256_add_pd(sums.low, sums.high);
    const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(four), _mm256_extractf128_pd(four, 1));
    return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
  }

 private:
  KERNELPACK_INLINE static Mask window(std::size_t start) {
    alignas(32) static constexpr std::int32_t kOnes[24] = {-1, -1, -1, -1, -1, -1, -1, -1, 0,  0,  0,  0,
                                                           0,  0,  0,  0,  -1, -1, -1, -1, -1, -1, -1, -1};
    return _mm256_loadu_ps(reinterpret_cast<const float*>(kOnes + start));
  }
};

/// As in vector_avx3_simd.hpp, by a table of 8 powers of two and a polynomial of degree 3 (relative
/// error 2.5e-8 before rounding), or of degree 2 (3.4e-6) for results that are rounded to float16.
struct Exponential {
  using Floats = Vector::Floats;
  __m256i table;
  Floats lowest, highest;

  KERNELPACK_INLINE static Exponential at_zero() {
    return {Vector::load_lanes(kTable), Vector::set(-126 * kLn2), Vector::set(127 * kLn2)};
  }
  KERNELPACK_INLINE static Exponential below(Floats top) {
    const Floats shifted = Vector::multiply_add(top, Vector::set(kLog2E), Vector::set(kRound));
    const Floats exponent = Vector::subtract(shifted, Vector::set(kRound + 1));
    const __m256i bits =
        _mm256_slli_epi32(_mm256_sub_epi32(_mm256_castps_si256(shifted), _mm256_set1_epi32(1)), 23);
    return {_mm256_sub_epi32(Vector::load_lanes(kTable), bits),
            Vector::multiply_add(exponent, Vector::set(kLn2), Vector::set(-126 * kLn2)),
            Vector::multiply_add(exponent, Vector::set(kLn2), Vector::set(127 * kLn2))};
  }

  template <bool kBounded, bool kFine>
  KERNELPACK_INLINE Floats apply(Floats v) const {
    if constexpr (kBounded) v = Vector::min(highest, v);
    const Floats live = _mm256_cmp_ps(v, lowest, _CMP_NLT_UQ);
    const Floats shifted = Vector::multiply_add(v, Vector::set(8 * kLog2E), Vector::set(kRound));
    const Floats n = Vector::subtract(shifted, Vector::set(kRound));
    Floats r = _mm256_fnmadd_ps(n, Vector::set(kLn2 / 8), v);
    if constexpr (kFine) r = _mm256_fnmadd_ps(n, Vector::set(kLn2Rest / 8), r);
    const __m256i bits = _mm256_castps_si256(shifted);
    const Floats scale = _mm256_castsi256_ps(
        _mm256_add_epi32(_mm256_slli_epi32(bits, 20), _mm256_permutevar8x32_epi32(table, bits)));
    Floats c;
    if constexpr (kFine) {
      c = Vector::multiply_add(r, Vector::set(0x1.5548eap-3f), Vector::set(0x1.00087ep-1f));
      c = Vector::multiply_add(c, r, Vector::set(1.0f));
    } else {
      c = Vector::multiply_add(r, Vector::set(0x1.ffffaap-2f), Vector::set(0x1.000f4ap+0f));
    }
    return _mm256_and_ps(live, Vector::multiply_add(scale, Vector::multiply(c, r), scale));
  }

 private:
  static constexpr std::int32_t kTable[8] = {0x3f800000, 0x3f7b95c2, 0x3f7837f0, 0x3f75fed7,
                                             0x3f7504f3, 0x3f75672a, 0x3f7744fd, 0x3f7ac0c7};
};

}  // namespace
}  // namespace kernelpack::cpu::avx2
