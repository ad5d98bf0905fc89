#include "heat_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "figures.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::cli {

double HeatMap::mean(std::int64_t row, std::int64_t row_end, std::int64_t column,
                     std::int64_t column_end) const {
  double sum = 0;
  std::int64_t count = 0;
  for (std::int64_t r = row; r < row_end; ++r) {
    for (std::int64_t c = column; c < column_end; ++c) {
      const double value = values[static_cast<std::size_t>(r * columns + c)];
      if (std::isnan(value)) continue;
      sum += std::clamp(value, low, high);
      ++count;
    }
  }
  return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(count);
}

double HeatMap::position(double value) const {
  return (value - low) / (high - low);
}

HeatMap take_slice(const TensorView& tensor, std::span<const std::int64_t> index, const std::string& file) {
  const Shape& shape = tensor.shape();
  if (shape.size() < index.size() + 1 || shape.size() > index.size() + 2) {
    throw Error(ErrorKind::contract,
                fmt::format("The index fixes {} of the {} axes of shape {}, which does not leave two",
                            index.size(), shape.size(), to_string(shape)),
                file);
  }
  const bool one_row = shape.size() == index.size() + 1;
  HeatMap map;
  map.columns = shape.back();
  map.rows = one_row ? 1 : shape[shape.size() - 2];
  if (tensor.element_count() == 0) {
    throw Error(ErrorKind::contract,
                fmt::format("The tensor {} has no elements to plot", to_string(tensor.spec())), file);
  }
  std::int64_t offset = 0;
  std::string position;
  for (std::size_t axis = 0; axis < index.size(); ++axis) {
    const std::int64_t size = shape[axis];
    if (index[axis] < -size || index[axis] >= size) {
      throw Error(ErrorKind::contract,
                  fmt::format("The index ({}) of axis {} is outside its size ({})", index[axis], axis, size),
                  file);
    }
    const std::int64_t at = index[axis] < 0 ? index[axis] + size : index[axis];
    offset = offset * size + at;
    position += fmt::format("{}, ", at);
  }
  const std::size_t bytes = static_cast<std::size_t>(map.rows * map.columns) * element_size(tensor.dtype());
  map.values =
      to_doubles(TensorView(tensor.dtype(), {map.rows, map.columns},
                            tensor.bytes().subspan(static_cast<std::size_t>(offset) * bytes, bytes)));
  map.title = fmt::format("{}[{}{}]", file, position, one_row ? ":" : ":, :");
  map.column_label = fmt::format("axis {}", shape.size() - 1);
  if (!one_row) map.row_label = fmt::format("axis {}", shape.size() - 2);

  bool any = false;
  for (const double value : map.values) {
    if (!std::isfinite(value)) continue;
    map.low = any ? std::min(map.low, value) : value;
    map.high = any ? std::max(map.high, value) : value;
    any = true;
  }
  if (!any) {
    map.low = 0;
    map.high = 1;
  } else if (!(map.high > map.low)) {
    map.low -= std::max(0.5, std::abs(map.low) * 0.01);
    map.high += std::max(0.5, std::abs(map.high) * 0.01);
  }
  return map;
}

std::vector<double> tick_values(double low, double high, int count) {
  const double rough = (high - low) / count;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double digit = rough / power;
  const double step = power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
  std::vector<double> ticks;
  if (!std::isfinite(step) || step <= 0) return ticks;
  const double first = std::ceil(low / step - 1e-9);
  const double last = std::floor(high / step + 1e-9);
  for (double i = first; i <= last && ticks.size() < 64; ++i) ticks.push_back(i == 0 ? 0.0 : i * step);
  return ticks;
}

}  // namespace kernelpack::cli
