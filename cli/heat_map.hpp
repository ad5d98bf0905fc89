#pragma once

#include <span>
#include <string>
#include <vector>

#include "canvas.hpp"
#include "kernelpack/tensor.hpp"

namespace kernelpack::cli {

/// A matrix to show, with the values at the two ends of the colour scale.
struct HeatMap {
  std::string title;
  std::string row_label;
  std::string column_label;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> values;  ///< row-major
  double low = 0;
  double high = 1;

  /// Mean over a block of cells (NaN cells left out), NaN if there is none.
  double mean(std::int64_t row, std::int64_t row_end, std::int64_t column, std::int64_t column_end) const;
  /// 0 at `low`, 1 at `high`; NaN stays NaN.
  double position(double value) const;
};

/// The matrix that is left of a tensor when its leading axes are fixed. Negative indices count from the end.
/// A tensor with one axis left is shown as one row. Throws contract, placed in `file`, if the index does not
/// leave one or two axes, lies outside, or leaves no elements.
HeatMap take_slice(const TensorView& tensor, std::span<const std::int64_t> index, const std::string& file);

/// Multiples of 1, 2 or 5 times a power of ten inside [low, high], at most `count` + 1 of them.
std::vector<double> tick_values(double low, double high, int count);

/// A picture with axes, ticks, title and colour bar.
Canvas draw(const HeatMap& map);

/// Text for a terminal at most `width` cells wide: half blocks in 24-bit colour, or ASCII.
std::string to_terminal(const HeatMap& map, int width, bool color);

}  // namespace kernelpack::cli
