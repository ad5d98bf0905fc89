#include "cpu/bias_softmax/reference.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

namespace kernelpack::cpu {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

float element(const TensorView& tensor, std::int64_t index) {
  const auto at = static_cast<std::size_t>(index);
  if (tensor.dtype() == DType::float16) return static_cast<float>(tensor.values<Float16>()[at]);
  return tensor.values<float>()[at];
}

/// Calls use(first element of the row, its v) for each row.
template <class Use>
void for_each_row(const BiasSoftmaxShape& shape, const TensorView& data, const TensorView& bias,
                  const Use& use) {
  std::vector<float> v(static_cast<std::size_t>(shape.columns));
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    const std::int64_t bias_row = row / shape.repeat % shape.bias_rows;
    for (std::int64_t i = 0; i < shape.columns; ++i) {
      v[static_cast<std::size_t>(i)] =
          element(data, row * shape.columns + i) + element(bias, bias_row * shape.columns + i);
    }
    use(static_cast<std::size_t>(row * shape.columns), v);
  }
}

/// The greatest v, or NaN if the row gives NaN, or -inf if it gives zeros.
double row_maximum(const std::vector<float>& v) {
  double top = -std::numeric_limits<double>::infinity();
  for (const float value : v) {
    if (std::isnan(value) || value == std::numeric_limits<float>::infinity()) return kNaN;
    top = std::max(top, static_cast<double>(value));
  }
  return top;
}

}  // namespace

void reference_bias_softmax(const BiasSoftmaxShape& shape, const TensorView& data, const TensorView& bias,
                            std::span<double> output) {
  for_each_row(shape, data, bias, [&](std::size_t first, const std::vector<float>& v) {
    const double top = row_maximum(v);
    // Exponents of -inf - -inf would be NaN where the definition says zero.
    const double base = std::isinf(top) ? 0.0 : top;
    double sum = 0.0;
    for (std::size_t i = 0; i < v.size(); ++i) {
      output[first + i] = std::exp(static_cast<double>(v[i]) - base);
      sum += output[first + i];
    }
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (std::isnan(top)) {
        output[first + i] = kNaN;
      } else if (sum > 0) {
        output[first + i] /= sum;
      }
    }
  });
}

void bias_softmax_distances(const BiasSoftmaxShape& shape, const TensorView& data, const TensorView& bias,
                            std::span<double> distances) {
  for_each_row(shape, data, bias, [&](std::size_t first, const std::vector<float>& v) {
    const double top = row_maximum(v);
    for (std::size_t i = 0; i < v.size(); ++i) {
      distances[first + i] = std::isinf(top) ? 0.0 : top - static_cast<double>(v[i]);
      if (std::isnan(top)) distances[first + i] = kNaN;
    }
  });
}

double bias_softmax_tolerance(double expected, double distance, std::int64_t columns) noexcept {
  const double relative = 5e-7 + 6e-8 * distance + (columns > 65536 ? 1e-6 : 0.0);
  return expected == 0 ? 1.2e-38 : std::max(1.2e-38, relative * expected);
}

bool bias_softmax_matches(DType dtype, double got, double expected, double distance,
                          std::int64_t columns) noexcept {
  if (std::isnan(expected)) return std::isnan(got);
  if (!(got >= 0 && got <= 1)) return false;
  if (distance > 104 && got != 0) return false;
  if (dtype == DType::float16) {
    // Halves that are not negative are ordered as their bits.
    const int wanted = Float16(static_cast<float>(expected)).bits;
    return std::abs(wanted - static_cast<int>(Float16(static_cast<float>(got)).bits)) <= 1;
  }
  return std::abs(got - expected) <= bias_softmax_tolerance(expected, distance, columns);
}

void reference_of_bias_softmax(const Call& call, std::span<const TensorView> inputs,
                               std::span<const std::span<double>> expected,
                               std::span<const std::span<double>> distances) {
  const TensorView& data = inputs[bias_softmax_input(call, "data")];
  const TensorView& bias = inputs[bias_softmax_input(call, "bias")];
  const BiasSoftmaxShape shape = bias_softmax_shape(call);
  reference_bias_softmax(shape, data, bias, expected[0]);
  bias_softmax_distances(shape, data, bias, distances[0]);
}

}  // namespace kernelpack::cpu
