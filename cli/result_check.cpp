#include "result_check.hpp"

#include <algorithm>
#include <cmath>
#include <future>
#include <limits>
#include <span>
#include <thread>
#include <vector>

#include "comparison.hpp"

namespace kernelpack::cli {
namespace {

/// A float32 difference in parts of what CPU and GPU together may differ by. The distance from the row's
/// maximum is taken as 32, more than the cases have.
double error_of(float got, float expected) {
  const double size = std::fabs(static_cast<double>(expected));
  return std::fabs(static_cast<double>(got) - static_cast<double>(expected)) /
         std::max(1.2e-38, size * (2.5e-6 + 3.6e-7 * 32));
}
double error_of(Float16 got, Float16 expected) {
  const auto a = static_cast<double>(static_cast<float>(got));
  const auto b = static_cast<double>(static_cast<float>(expected));
  const double allowed =
      std::fabs(b) < 0x1p-14 ? 6.2e-5 : 2 * std::exp2(std::floor(std::log2(std::fabs(b))) - 10);
  return std::fabs(a - b) / allowed;
}

/// The largest of all; NaN matches NaN alone.
template <class T>
double worst_of(std::span<const T> got, std::span<const T> expected) {
  const auto part = [&](std::size_t begin, std::size_t end) {
    double worst = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const auto a = static_cast<float>(got[i]);
      const auto b = static_cast<float>(expected[i]);
      if (a == b || (std::isnan(a) && std::isnan(b))) continue;
      const double error = error_of(got[i], expected[i]);
      worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::max(worst, error);
    }
    return worst;
  };
  const std::size_t parts =
      std::clamp<std::size_t>(got.size() >> 20, 1, std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::future<double>> others;
  for (std::size_t i = 0; i < parts; ++i)
    others.push_back(
        std::async(std::launch::async, part, got.size() * i / parts, got.size() * (i + 1) / parts));
  double worst = 0;
  for (std::future<double>& each : others) worst = std::max(worst, each.get());
  return worst;
}

}  // namespace

double worst_of(const TensorView& got, const TensorView& expected) {
  if (got.dtype() == DType::float32) return worst_of(got.values<float>(), expected.values<float>());
  if (got.dtype() == DType::float16) return worst_of(got.values<Float16>(), expected.values<Float16>());
  return compare(got, expected, {}, "").passed ? 0 : std::numeric_limits<double>::infinity();
}

}  // namespace kernelpack::cli
