#include "canvas.hpp"

#include <algorithm>
#include <cmath>

namespace kernelpack::cli {
namespace {

double distance_to_segment(Point p, Point a, Point b) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double length = dx * dx + dy * dy;
  const double t = length == 0 ? 0 : std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0, 1.0);
  return std::hypot(p.x - (a.x + t * dx), p.y - (a.y + t * dy));
}

std::uint8_t mix(std::uint8_t below, std::uint8_t above, double share) {
  return static_cast<std::uint8_t>(std::lround(below + (above - below) * share));
}

}  // namespace

Canvas::Canvas(int width, int height, Rgb background)
    : width_(width),
      height_(height),
      pixels_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), background) {}

void Canvas::set(int x, int y, Rgb color) {
  if (x >= 0 && y >= 0 && x < width_ && y < height_) pixels_[index(x, y)] = color;
}

void Canvas::fill(int left, int top, int width, int height, Rgb color) {
  for (int y = top; y < top + height; ++y) {
    for (int x = left; x < left + width; ++x) set(x, y, color);
  }
}

void Canvas::line(Point from, Point to, double thickness, Rgb color) {
  const double reach = thickness / 2 + 1;
  const int left = std::max(0, static_cast<int>(std::floor(std::min(from.x, to.x) - reach)));
  const int right = std::min(width_ - 1, static_cast<int>(std::ceil(std::max(from.x, to.x) + reach)));
  const int top = std::max(0, static_cast<int>(std::floor(std::min(from.y, to.y) - reach)));
  const int bottom = std::min(height_ - 1, static_cast<int>(std::ceil(std::max(from.y, to.y) + reach)));
  for (int y = top; y <= bottom; ++y) {
    for (int x = left; x <= right; ++x) {
      const double distance = distance_to_segment({x + 0.5, y + 0.5}, from, to);
      const double cover = std::clamp(thickness / 2 + 0.5 - distance, 0.0, 1.0);
      Rgb& pixel = pixels_[index(x, y)];
      pixel = {mix(pixel.red, color.red, cover), mix(pixel.green, color.green, cover),
               mix(pixel.blue, color.blue, cover)};
    }
  }
}

void Canvas::text(std::string_view text, Point at, double size, Rgb color, Align align, bool upward) {
  const LaidOutText laid_out = lay_out(text);
  const double shift = align == Align::start    ? 0
                       : align == Align::middle ? laid_out.width / 2
                                                : laid_out.width;
  const auto place = [&](Point point) {
    const double along = (point.x - shift) * size;
    const double across = (point.y - 0.5) * size;
    return upward ? Point{at.x + across, at.y - along} : Point{at.x + along, at.y + across};
  };
  const double thickness = std::max(1.0, size * 0.125);
  for (const Stroke& stroke : laid_out.strokes) {
    for (std::size_t i = 1; i < stroke.size(); ++i) {
      line(place(stroke[i - 1]), place(stroke[i]), thickness, color);
    }
  }
}

}  // namespace kernelpack::cli
