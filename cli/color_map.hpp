#pragma once

#include <cstdint>

namespace kernelpack::cli {

struct Rgb {
  std::uint8_t red = 0;
  std::uint8_t green = 0;
  std::uint8_t blue = 0;
  bool operator==(const Rgb&) const = default;
};

/// A colour of the sequential scale, dark violet at 0 over red to pale yellow at 1; outside values are
/// clamped. Lightness rises linearly in OKLab, so equal steps of `t` look like equal steps.
Rgb color_at(double t);

/// Perceived lightness in OKLab, 0 (black) to 1 (white).
double lightness(Rgb color);

}  // namespace kernelpack::cli
