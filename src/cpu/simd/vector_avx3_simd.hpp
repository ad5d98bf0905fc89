#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "cpu/simd/operations_simd.hpp"

namespace kernelpack::cpu::avx3 {
namespace {

/// Sixteen floats of an AVX-512 register. The operations have the same names and meaning for every target:
/// `max(a, b)` and `min(a, b)` return b where either is NaN, partial loads fill with zero, and nothing
/// outside the given elements is read or written.
struct Vector {
  static constexpr std::size_t kLanes = 16;
  static constexpr bool kPermutes = true;
  static constexpr bool kFused = true;       ///< multiply_add rounds once
  static constexpr bool kWholeLines = true;  ///< a store that crosses lines is dear, a partial one is not
  /// The most vectors of a row that are kept in registers, by element type, and of how many rows at once.
  static constexpr int kRegisterVectors = 16;
  static constexpr int kRegisterVectorsOfHalves = 7;
  static constexpr int rows_in_registers(int vectors) { return vectors <= 5 ? 4 : vectors <= 12 ? 2 : 1; }
  using Floats = __m512;
  using Rows4 = __m512;
  using Mask = __mmask16;
  using Lanes = __m512i;

  KERNELPACK_INLINE static Floats set(float value) { return _mm512_set1_ps(value); }
  KERNELPACK_INLINE static Floats load(const float* from) { return _mm512_loadu_ps(from); }
  KERNELPACK_INLINE static Floats load(const std::uint16_t* from) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  KERNELPACK_INLINE static void store(float* to, Floats a) { _mm512_storeu_ps(to, a); }
  KERNELPACK_INLINE static void store(std::uint16_t* to, Floats a) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
  }
  KERNELPACK_INLINE static Floats load_partial(const float* from, std::size_t count) {
    return _mm512_maskz_loadu_ps(first(count), from);
  }
  KERNELPACK_INLINE static Floats load_partial(const std::uint16_t* from, std::size_t count) {
    return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(first(count), from));
  }
  KERNELPACK_INLINE static void store_partial(float* to, Floats a, std::size_t count) {
    _mm512_mask_storeu_ps(to, first(count), a);
  }
  KERNELPACK_INLINE static void store_partial(std::uint16_t* to, Floats a, std::size_t count) {
    _mm256_mask_storeu_epi16(to, first(count), _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
  }
  KERNELPACK_INLINE static void stream(float* to, Floats a) { _mm512_stream_ps(to, a); }
  KERNELPACK_INLINE static void stream(std::uint16_t* to, Floats a) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtps_ph(a, _MM_FROUND_TO_NEAREST_INT));
  }
  KERNELPACK_INLINE static void finish_streams() { _mm_sfence(); }

  KERNELPACK_INLINE static Floats add(Floats a, Floats b) { return _mm512_add_ps(a, b); }
  KERNELPACK_INLINE static Floats subtract(Floats a, Floats b) { return _mm512_sub_ps(a, b); }
  KERNELPACK_INLINE static Floats multiply(Floats a, Floats b) { return _mm512_mul_ps(a, b); }
  KERNELPACK_INLINE static Floats divide(Floats a, Floats b) { return _mm512_div_ps(a, b); }
  KERNELPACK_INLINE static Floats multiply_add(Floats a, Floats b, Floats c) {
    return _mm512_fmadd_ps(a, b, c);
  }
  KERNELPACK_INLINE static Floats max(Floats a, Floats b) { return _mm512_max_ps(a, b); }
  KERNELPACK_INLINE static Floats min(Floats a, Floats b) { return _mm512_min_ps(a, b); }

  KERNELPACK_INLINE static Mask first(std::size_t count) {
    return static_cast<Mask>(_bzhi_u32(0xffff, static_cast<unsigned>(count)));
  }
  KERNELPACK_INLINE static Mask last(std::size_t count) { return static_cast<Mask>(0xffff0000u >> count); }
  KERNELPACK_INLINE static Mask is_nan(Floats a) { return _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q); }
  KERNELPACK_INLINE static bool any(Mask mask) { return mask != 0; }
  KERNELPACK_INLINE static Floats keep(Mask mask, Floats a) { return _mm512_maskz_mov_ps(mask, a); }
  KERNELPACK_INLINE static Floats select(Mask mask, Floats a, Floats b) {
    return _mm512_mask_mov_ps(b, mask, a);
  }

  /// Lane i of the result is lane `from[i]` of `a`.
  KERNELPACK_INLINE static Lanes load_lanes(const std::int32_t* from) { return _mm512_loadu_si512(from); }
  KERNELPACK_INLINE static Floats permute(Floats a, Lanes from) { return _mm512_permutexvar_ps(from, a); }

  KERNELPACK_INLINE static float maximum(Floats a) { return _mm512_reduce_max_ps(a); }

  /// Reduces each group of kGroup lanes (4, 8 or 16) of four vectors; `broadcast<I>` spreads the results of
  /// vector number I over its groups.
  template <class Operation, std::size_t kGroup>
  KERNELPACK_INLINE static Rows4 reduce4(Floats a, Floats b, Floats c, Floats d) {
    const Floats ab = Operation::template apply<Vector>(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
    const Floats cd = Operation::template apply<Vector>(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
    const __m512d ab2 = _mm512_castps_pd(ab);
    const __m512d cd2 = _mm512_castps_pd(cd);
    Floats all = Operation::template apply<Vector>(_mm512_castpd_ps(_mm512_unpacklo_pd(ab2, cd2)),
                                                   _mm512_castpd_ps(_mm512_unpackhi_pd(ab2, cd2)));
    if constexpr (kGroup >= 8)
      all = Operation::template apply<Vector>(all, _mm512_shuffle_f32x4(all, all, 0xb1));
    if constexpr (kGroup >= 16)
      all = Operation::template apply<Vector>(all, _mm512_shuffle_f32x4(all, all, 0x4e));
    return all;
  }
  template <int I>
  KERNELPACK_INLINE static Floats broadcast(Rows4 rows) {
    return _mm512_permute_ps(rows, I * 0x55);
  }
  KERNELPACK_INLINE static Rows4 at_least(Rows4 rows, float lowest) { return max(set(lowest), rows); }
  KERNELPACK_INLINE static Rows4 inverse(Rows4 sums) { return _mm512_div_ps(set(1.0f), sums); }
  /// 1 / sum, and 0 where the sum is 0.
  KERNELPACK_INLINE static Rows4 inverse_or_zero(Rows4 sums) {
    return _mm512_maskz_div_ps(_mm512_cmp_ps_mask(sums, set(0.0f), _CMP_NEQ_UQ), set(1.0f), sums);
  }
  /// What `inverse` lost by rounding: 1 / sum - inverse. Only where products are fused.
  KERNELPACK_INLINE static Rows4 inverse_rest(Rows4 sums, Rows4 inverse) {
    return multiply(_mm512_fnmadd_ps(sums, inverse, set(1.0f)), inverse);
  }
  /// Whether low <= row <= high for each of the four rows; false with NaN.
  KERNELPACK_INLINE static bool all_within(Rows4 rows, float low, float high) {
    return (_mm512_cmp_ps_mask(rows, set(low), _CMP_GE_OQ) &
            _mm512_cmp_ps_mask(rows, set(high), _CMP_LE_OQ)) == 0xffff;
  }

  /// Sums in double, kept per lane.
  struct Doubles {
    __m512d low, high;
  };
  KERNELPACK_INLINE static Doubles zero_doubles() { return {_mm512_setzero_pd(), _mm512_setzero_pd()}; }
  KERNELPACK_INLINE static void accumulate(Doubles& sums, Floats a) {
    sums.low = _mm512_add_pd(sums.low, _mm512_cvtps_pd(_mm512_castps512_ps256(a)));
    sums.high = _mm512_add_pd(sums.high, _mm512_cvtps_pd(_mm512_extractf32x8_ps(a, 1)));
  }
  KERNELPACK_INLINE static double total(Doubles sums) {
    return _mm512_reduce_add_pd(_mm512_add_pd(sums.low, sums.high));
  }
};

/// e^v / 2^N by a table of 32 powers of two and a polynomial of degree 2 (relative error 5.3e-8 before
/// rounding); exactly 0 where that is below 2^-126.
struct Exponential {
  using Floats = Vector::Floats;
  __m512i table_low, table_high;
  Floats lowest, highest;

  /// N = 0, for arguments <= 0 (`kBounded` below is not needed).
  KERNELPACK_INLINE static Exponential at_zero() {
    return {_mm512_loadu_si512(kTable), _mm512_loadu_si512(kTable + 16), Vector::set(-126 * kLn2),
            Vector::set(127 * kLn2)};
  }
  /// The N for which e^top / 2^N is between 1.4 and 2.9; |top| <= 1000.
  KERNELPACK_INLINE static Exponential below(Floats top) {
    const Floats shifted = Vector::multiply_add(top, Vector::set(kLog2E), Vector::set(kRound));
    const Floats exponent = Vector::subtract(shifted, Vector::set(kRound + 1));
    const __m512i bits =
        _mm512_slli_epi32(_mm512_sub_epi32(_mm512_castps_si512(shifted), _mm512_set1_epi32(1)), 23);
    return {_mm512_sub_epi32(_mm512_loadu_si512(kTable), bits),
            _mm512_sub_epi32(_mm512_loadu_si512(kTable + 16), bits),
            Vector::multiply_add(exponent, Vector::set(kLn2), Vector::set(-126 * kLn2)),
            Vector::multiply_add(exponent, Vector::set(kLn2), Vector::set(127 * kLn2))};
  }

  /// `kBounded`: arguments above 2^127 are brought down to it, so that the sum shows them. `kFine`: the
  /// argument is reduced in two steps, for results that are not rounded to float16.
  template <bool kBounded, bool kFine>
  KERNELPACK_INLINE Floats apply(Floats v) const {
    if constexpr (kBounded) v = Vector::min(highest, v);
    const __mmask16 live = _mm512_cmp_ps_mask(v, lowest, _CMP_NLT_UQ);
    const Floats shifted = Vector::multiply_add(v, Vector::set(32 * kLog2E), Vector::set(kRound));
    const Floats n = Vector::subtract(shifted, Vector::set(kRound));
    Floats r = _mm512_fnmadd_ps(n, Vector::set(kLn2 / 32), v);
    if constexpr (kFine) r = _mm512_fnmadd_ps(n, Vector::set(kLn2Rest / 32), r);
    const __m512i bits = _mm512_castps_si512(shifted);
    const Floats scale = _mm512_castsi512_ps(_mm512_add_epi32(
        _mm512_slli_epi32(bits, 18), _mm512_permutex2var_epi32(table_low, bits, table_high)));
    const Floats c = Vector::multiply_add(r, Vector::set(0x1.fffffep-2f), Vector::set(0x1.0000f6p+0f));
    return _mm512_maskz_fmadd_ps(live, scale, Vector::multiply(c, r), scale);
  }

 private:
  /// The bits of 2^(i/32) less those that i brings in when it is shifted to the exponent.
  static constexpr std::int32_t kTable[32] = {
      0x3f800000, 0x3f7ecd87, 0x3f7daac3, 0x3f7c980f, 0x3f7b95c2, 0x3f7aa43a, 0x3f79c3d3, 0x3f78f4f0,
      0x3f7837f0, 0x3f778d3a, 0x3f76f532, 0x3f767043, 0x3f75fed7, 0x3f75a15b, 0x3f75583f, 0x3f7523f6,
      0x3f7504f3, 0x3f74fbaf, 0x3f7508a4, 0x3f752c4d, 0x3f75672a, 0x3f75b9be, 0x3f76248c, 0x3f76a81e,
      0x3f7744fd, 0x3f77fbb8, 0x3f78ccdf, 0x3f79b907, 0x3f7ac0c7, 0x3f7be4ba, 0x3f7d257d, 0x3f7e83b3};
};

}  // namespace
}  // namespace kernelpack::cpu::avx3
