#include "color_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace kernelpack::cli {
namespace {

using Linear = std::array<double, 3>;

// OKLab (Bjorn Ottosson, 2020): https://bottosson.github.io/posts/oklab/
Linear linear_from_oklab(double lightness, double a, double b) {
  const auto cube = [](double x) { return x * x * x; };
  const double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b);
  const double m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b);
  const double s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
  return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

bool in_gamut(const Linear& color) {
  return std::all_of(color.begin(), color.end(), [](double c) { return c >= 0 && c <= 1; });
}

std::uint8_t encode(double linear) {
  const double c = std::clamp(linear, 0.0, 1.0);
  const double srgb = c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1 / 2.4) - 0.055;
  return static_cast<std::uint8_t>(std::lround(255 * srgb));
}

double decode(std::uint8_t value) {
  const double c = value / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

Rgb make_color(double t) {
  const double lightness = 0.15 + 0.82 * t;
  const double hue = (280 + 185 * t) * std::numbers::pi / 180;
  const auto color_with = [&](double chroma) {
    return linear_from_oklab(lightness, chroma * std::cos(hue), chroma * std::sin(hue));
  };
  // The chroma that is wanted, or the largest one that the screen can show.
  double chroma = 0.06 + 0.15 * std::sin(std::numbers::pi * std::min(1.0, 0.12 + 0.95 * t));
  if (!in_gamut(color_with(chroma))) {
    double shown = 0;
    for (int i = 0; i < 30; ++i) {
      const double middle = (shown + chroma) / 2;
      (in_gamut(color_with(middle)) ? shown : chroma) = middle;
    }
    chroma = shown;
  }
  const Linear color = color_with(chroma);
  return {encode(color[0]), encode(color[1]), encode(color[2])};
}

}  // namespace

Rgb color_at(double t) {
  static const auto kTable = [] {
    std::array<Rgb, 256> table;
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = make_color(static_cast<double>(i) / 255);
    return table;
  }();
  if (!(t > 0)) return kTable.front();
  return kTable[static_cast<std::size_t>(std::lround(255 * std::min(t, 1.0)))];
}

double lightness(Rgb color) {
  const double red = decode(color.red);
  const double green = decode(color.green);
  const double blue = decode(color.blue);
  const double l = std::cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const double m = std::cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const double s = std::cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  return 0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s;
}

}  // namespace kernelpack::cli
