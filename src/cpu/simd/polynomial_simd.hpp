#pragma once

#include "cpu/simd/operations_simd.hpp"

namespace kernelpack::cpu {
namespace {

/// e^v / 2^N by a polynomial of degree 6 (relative error 2e-9 before rounding), for targets without a table
/// in registers; exactly 0 where that is below 2^-126.
template <class Vector>
struct PolynomialExponential {
  using Floats = typename Vector::Floats;
  Floats one, lowest, highest;  ///< `one` holds the bits of 2^-N

  /// N = 0, for arguments <= 0.
  KERNELPACK_INLINE static PolynomialExponential at_zero() {
    return {Vector::set(1.0f), Vector::set(-126 * kLn2), Vector::set(127 * kLn2)};
  }
  /// The N for which e^top / 2^N is between 1.4 and 2.9; |top| <= 1000.
  KERNELPACK_INLINE static PolynomialExponential below(Floats top) {
    const Floats shifted = Vector::multiply_add(top, Vector::set(kLog2E), Vector::set(kRound));
    const Floats exponent = Vector::subtract(shifted, Vector::set(kRound + 1));
    return {Vector::add_exponent(Vector::subtract(Vector::set(kRound), exponent), Vector::set(1.0f)),
            Vector::multiply_add(exponent, Vector::set(kLn2), Vector::set(-126 * kLn2)),
            Vector::multiply_add(exponent, Vector::set(kLn2), Vector::set(127 * kLn2))};
  }

  template <bool kBounded, bool kFine>
  KERNELPACK_INLINE Floats apply(Floats v) const {
    // The high part has so few bits that its product with n is exact without a fused multiply-add.
    constexpr float kLn2High = 0x1.63p-1f;
    constexpr float kLn2Low = -0x1.bd0106p-13f;
    if constexpr (kBounded) v = Vector::min(highest, v);
    const Floats shifted = Vector::multiply_add(v, Vector::set(kLog2E), Vector::set(kRound));
    const Floats n = Vector::subtract(shifted, Vector::set(kRound));
    Floats r = Vector::multiply_add(n, Vector::set(-kLn2High), v);
    r = Vector::multiply_add(n, Vector::set(-kLn2Low), r);
    Floats p = Vector::multiply_add(r, Vector::set(0x1.6ae73p-10f), Vector::set(0x1.126782p-7f));
    p = Vector::multiply_add(p, r, Vector::set(0x1.555822p-5f));
    p = Vector::multiply_add(p, r, Vector::set(0x1.55541ap-3f));
    p = Vector::multiply_add(p, r, Vector::set(0x1.fffffcp-2f));
    p = Vector::multiply_add(p, r, Vector::set(1.0f));
    const Floats scale = Vector::add_exponent(shifted, one);
    const Floats e = Vector::multiply_add(scale, Vector::multiply(p, r), scale);
    return Vector::keep(Vector::not_less(v, lowest), e);
  }
};

}  // namespace
}  // namespace kernelpack::cpu
