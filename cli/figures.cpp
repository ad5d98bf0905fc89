#include "figures.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace kernelpack::cli {
namespace {

template <class T>
double as_double(T value) {
  if constexpr (std::is_same_v<T, Float16>) {
    return static_cast<double>(static_cast<float>(value));
  } else {
    return static_cast<double>(value);
  }
}

template <class Visit>
void visit_values(const TensorView& tensor, Visit visit) {
  const auto each = [&]<class T>(std::span<const T> values) {
    for (const T value : values) visit(as_double(value));
  };
  switch (tensor.dtype()) {
    case DType::float16:
      return each(tensor.values<Float16>());
    case DType::float32:
      return each(tensor.values<float>());
    case DType::float64:
      return each(tensor.values<double>());
    case DType::int8:
      return each(tensor.values<std::int8_t>());
    case DType::int16:
      return each(tensor.values<std::int16_t>());
    case DType::int32:
      return each(tensor.values<std::int32_t>());
    case DType::int64:
      return each(tensor.values<std::int64_t>());
    case DType::uint8:
      return each(tensor.values<std::uint8_t>());
    case DType::uint32:
      return each(tensor.values<std::uint32_t>());
    case DType::bool_:
      return each(tensor.values<bool>());
  }
}

}  // namespace

std::string duration_text(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.0f} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

std::string metric_text(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 5> kPrefixes{"", "k", "M", "G", "T"};
  std::size_t prefix = 0;
  while (value >= 1000 && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  return fmt::format("{:.4g} {}{}", value, kPrefixes[prefix], unit);
}

std::string number_text(double value) {
  return fmt::format("{:.6g}", value);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

ValueSummary summarize(const TensorView& tensor) {
  ValueSummary summary;
  summary.elements = tensor.element_count();
  std::int64_t finite = 0;
  double sum = 0;
  visit_values(tensor, [&](double value) {
    if (std::isnan(value)) {
      ++summary.nans;
    } else if (std::isinf(value)) {
      ++summary.infinities;
    } else {
      summary.minimum = finite == 0 ? value : std::min(summary.minimum, value);
      summary.maximum = finite == 0 ? value : std::max(summary.maximum, value);
      sum += value;
      ++finite;
    }
  });
  if (finite > 0) summary.mean = sum / static_cast<double>(finite);
  return summary;
}

std::string values_text(const ValueSummary& summary) {
  if (summary.elements == 0) return "no elements";
  std::string text = summary.nans + summary.infinities == summary.elements
                         ? std::string("no finite value")
                         : fmt::format("min {}, max {}, mean {}", number_text(summary.minimum),
                                       number_text(summary.maximum), number_text(summary.mean));
  if (summary.nans > 0) text += fmt::format(", {} NaN", summary.nans);
  if (summary.infinities > 0) text += fmt::format(", {} infinite", summary.infinities);
  return text;
}

std::vector<double> to_doubles(const TensorView& tensor) {
  std::vector<double> values;
  values.reserve(static_cast<std::size_t>(tensor.element_count()));
  visit_values(tensor, [&](double value) { values.push_back(value); });
  return values;
}

}  // namespace kernelpack::cli
