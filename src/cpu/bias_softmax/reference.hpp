#pragma once

#include <span>

#include "cpu/bias_softmax/bias_softmax.hpp"

namespace kernelpack::cpu {

/// The definition, in double: every other implementation is measured against it. v is rounded to float as the
/// definition says. `output` has one element per element of data.
void reference_bias_softmax(const BiasSoftmaxShape& shape, const TensorView& data, const TensorView& bias,
                            std::span<double> output);

/// How far a float32 result may be from `expected`, a value of reference_bias_softmax whose v is `distance`
/// below the maximum of its row: max(1.2e-38, (5e-7 + 6e-8 * distance) * expected), the bracket 1e-6 larger
/// in rows of more than 65536 columns. 6e-8 * distance is the rounding of v - max in float32.
double bias_softmax_tolerance(double expected, double distance, std::int64_t columns) noexcept;

/// Whether a result is right: within the tolerance for float32, at most one step of float16 from the rounded
/// `expected` for float16; never below 0 or above 1, exactly 0 where `distance` exceeds 104, NaN where, and
/// only where, `expected` is NaN.
bool bias_softmax_matches(DType dtype, double got, double expected, double distance,
                          std::int64_t columns) noexcept;

/// v of every element, as float, and how far it is below the maximum of its row; NaN in rows that give NaN
/// and 0 in rows of -inf alone.
void bias_softmax_distances(const BiasSoftmaxShape& shape, const TensorView& data, const TensorView& bias,
                            std::span<double> distances);

/// Both for a bound call: the function of the kernel table.
void reference_of_bias_softmax(const Call& call, std::span<const TensorView> inputs,
                               std::span<const std::span<double>> expected,
                               std::span<const std::span<double>> distances);

}  // namespace kernelpack::cpu
