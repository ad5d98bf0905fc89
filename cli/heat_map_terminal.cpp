#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "figures.hpp"
#include "heat_map.hpp"

namespace kernelpack::cli {
namespace {

constexpr std::string_view kRamp = " .:-=+*#%@";
constexpr Rgb kMissing{128, 128, 128};

char ramp_character(double position) {
  if (std::isnan(position)) return '?';
  const auto steps = static_cast<double>(kRamp.size());
  return kRamp[static_cast<std::size_t>(std::clamp(std::floor(position * steps), 0.0, steps - 1))];
}

std::string foreground(Rgb color) {
  return fmt::format("\033[38;2;{};{};{}m", color.red, color.green, color.blue);
}
std::string background(Rgb color) {
  return fmt::format("\033[48;2;{};{};{}m", color.red, color.green, color.blue);
}

/// The map with blocks of cells averaged so that it fits; `block` cells are one cell in each direction.
struct Reduced {
  const HeatMap& map;
  std::int64_t block;
  std::int64_t rows() const { return (map.rows + block - 1) / block; }
  std::int64_t columns() const { return (map.columns + block - 1) / block; }
  double position(std::int64_t row, std::int64_t column, std::int64_t rows_at_once = 1) const {
    return map.position(map.mean(row * block, std::min(map.rows, (row + rows_at_once) * block),
                                 column * block, std::min(map.columns, (column + 1) * block)));
  }
};

Rgb cell_color(const Reduced& map, std::int64_t row, std::int64_t column) {
  const double position = map.position(row, column);
  return std::isnan(position) ? kMissing : color_at(position);
}

std::string in_color(const Reduced& map) {
  std::string text;
  for (std::int64_t row = 0; row < map.rows(); row += 2) {
    text += "  ";
    for (std::int64_t column = 0; column < map.columns(); ++column) {
      text += foreground(cell_color(map, row, column));
      if (row + 1 < map.rows()) {
        text += background(cell_color(map, row + 1, column));
      }
      text += "\u2580";
    }
    text += "\033[0m\n";
  }
  return text;
}

/// Characters are about twice as high as wide: a cell is two characters, or two cells below each other are
/// one.
bool is_tall(const HeatMap& map) {
  return map.rows > 24;
}

std::string in_ascii(const Reduced& map) {
  std::string text;
  const std::int64_t cells = is_tall(map.map) ? 2 : 1;
  for (std::int64_t row = 0; row < map.rows(); row += cells) {
    std::string line = "  ";
    for (std::int64_t column = 0; column < map.columns(); ++column) {
      line.append(cells == 2 ? 1 : 2, ramp_character(map.position(row, column, cells)));
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  return text;
}

std::string legend(const HeatMap& map, bool color) {
  constexpr int kWidth = 20;
  std::string bar;
  for (int i = 0; i < kWidth; ++i) {
    const double position = (i + 0.5) / kWidth;
    bar += color ? background(color_at(position)) + ' ' : std::string(1, ramp_character(position));
  }
  if (color) bar += "\033[0m";
  return fmt::format("  {} |{}| {}\n", number_text(map.low), bar, number_text(map.high));
}

}  // namespace

std::string to_terminal(const HeatMap& map, int width, bool color) {
  const std::int64_t room = std::max(8, color || is_tall(map) ? width - 2 : (width - 2) / 2);
  const Reduced reduced{map, std::max<std::int64_t>(1, (map.columns + room - 1) / room)};
  return fmt::format("  {}\n{}{}", map.title, color ? in_color(reduced) : in_ascii(reduced),
                     legend(map, color));
}

}  // namespace kernelpack::cli
