#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "color_map.hpp"
#include "stroke_font.hpp"

namespace kernelpack::cli {

enum class Align { start, middle, end };

/// An RGB picture in memory. Coordinates are pixels from the top left; what lies outside is cut off.
class Canvas {
 public:
  Canvas(int width, int height, Rgb background);

  int width() const noexcept { return width_; }
  int height() const noexcept { return height_; }
  Rgb at(int x, int y) const { return pixels_[index(x, y)]; }
  std::span<const Rgb> pixels() const noexcept { return pixels_; }

  void set(int x, int y, Rgb color);
  void fill(int left, int top, int width, int height, Rgb color);
  /// A rounded line with smooth edges.
  void line(Point from, Point to, double thickness, Rgb color);
  /// Text whose capitals are `size` pixels high. `at` is on the vertical middle of the capitals, at the
  /// start, middle or end of the line; `upward` turns the text by 90 degrees so that it reads from bottom to
  /// top.
  void text(std::string_view text, Point at, double size, Rgb color, Align align, bool upward = false);

 private:
  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x);
  }
  int width_;
  int height_;
  std::vector<Rgb> pixels_;
};

}  // namespace kernelpack::cli
