#pragma once

#include <string_view>
#include <vector>

namespace kernelpack::cli {

struct Point {
  double x = 0;
  double y = 0;
};
/// One pen stroke; a stroke of two equal points is a dot.
using Stroke = std::vector<Point>;

struct LaidOutText {
  std::vector<Stroke> strokes;  ///< y = 0 at the top of capitals, y = 1 at the baseline, descenders to 1.33
  double width = 0;             ///< in capital heights
};

/// The strokes of a line of ASCII text, drawn with a pen. Other characters become '?'.
LaidOutText lay_out(std::string_view text);

}  // namespace kernelpack::cli
