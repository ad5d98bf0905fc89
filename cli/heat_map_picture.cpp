#include <algorithm>
#include <cmath>

#include "figures.hpp"
#include "heat_map.hpp"

namespace kernelpack::cli {
namespace {

constexpr Rgb kPaper{255, 255, 255};
constexpr Rgb kInk{38, 38, 46};
constexpr Rgb kSoftInk{120, 120, 130};
constexpr Rgb kMissing{190, 190, 190};
constexpr int kPlotSize = 672;      // pixels of the longer side, about
constexpr int kLargestSize = 1600;  // pixels of a side before cells are averaged
constexpr double kTitleSize = 15;
constexpr double kTextSize = 10;

/// One side of the plot: how cells become pixels.
struct Side {
  std::int64_t cells;
  std::int64_t cells_per_pixel = 1;  ///< above 1 only where pixels_per_cell is 1
  int pixels_per_cell = 1;

  int pixels() const {
    return static_cast<int>((cells + cells_per_pixel - 1) / cells_per_pixel) * pixels_per_cell;
  }
  /// The pixel in the middle of a cell.
  double middle(double cell) const {
    return (cell + 0.5) / static_cast<double>(cells_per_pixel) * pixels_per_cell;
  }
};

Side side_of(std::int64_t cells, std::int64_t longer) {
  Side side{cells};
  side.pixels_per_cell = std::max(1, static_cast<int>(kPlotSize / longer));
  side.cells_per_pixel = std::max<std::int64_t>(1, (longer + kLargestSize - 1) / kLargestSize);
  return side;
}

void draw_cells(Canvas& canvas, const HeatMap& map, const Side& rows, const Side& columns, int left,
                int top) {
  const int blocks_down = rows.pixels() / rows.pixels_per_cell;
  const int blocks_across = columns.pixels() / columns.pixels_per_cell;
  for (int y = 0; y < blocks_down; ++y) {
    for (int x = 0; x < blocks_across; ++x) {
      const std::int64_t row = y * rows.cells_per_pixel;
      const std::int64_t column = x * columns.cells_per_pixel;
      const double value = map.mean(row, std::min(map.rows, row + rows.cells_per_pixel), column,
                                    std::min(map.columns, column + columns.cells_per_pixel));
      canvas.fill(left + x * columns.pixels_per_cell, top + y * rows.pixels_per_cell, columns.pixels_per_cell,
                  rows.pixels_per_cell, std::isnan(value) ? kMissing : color_at(map.position(value)));
    }
  }
}

void frame(Canvas& canvas, int left, int top, int width, int height) {
  canvas.fill(left - 1, top - 1, width + 2, 1, kInk);
  canvas.fill(left - 1, top + height, width + 2, 1, kInk);
  canvas.fill(left - 1, top, 1, height, kInk);
  canvas.fill(left + width, top, 1, height, kInk);
}

std::vector<double> cell_ticks(const Side& side, int spacing) {
  if (side.cells == 1) return {0};
  std::vector<double> ticks =
      tick_values(0, static_cast<double>(side.cells - 1), std::max(1, side.pixels() / spacing));
  std::erase_if(ticks, [](double tick) { return tick != std::floor(tick); });
  return ticks;
}

}  // namespace

Canvas draw(const HeatMap& map) {
  const std::int64_t longer = std::max(map.rows, map.columns);
  const Side rows = side_of(map.rows, longer);
  const Side columns = side_of(map.columns, longer);
  const int plot_width = columns.pixels();
  const int plot_height = rows.pixels();

  const std::vector<double> scale_ticks = tick_values(map.low, map.high, std::clamp(plot_height / 60, 2, 8));
  double scale_width = 0;
  for (const double tick : scale_ticks) scale_width = std::max(scale_width, lay_out(number_text(tick)).width);
  double row_width = 0;
  for (const double tick : cell_ticks(rows, 48))
    row_width = std::max(row_width, lay_out(number_text(tick)).width);

  const int left = 56 + static_cast<int>(row_width * kTextSize);
  const int top = 64;
  const int bar_left = left + plot_width + 32;
  const int bar_width = 20;
  const int bar_height = std::max(plot_height, 120);
  const int content_width = bar_left + bar_width + 20 + static_cast<int>(scale_width * kTextSize) + 24;
  const int title_width = static_cast<int>(lay_out(map.title).width * kTitleSize) + 2 * left;
  Canvas canvas(std::max(content_width, std::min(title_width, 2400)), top + bar_height + 72, kPaper);

  canvas.text(map.title, {static_cast<double>(left), 34}, kTitleSize, kInk, Align::start);
  draw_cells(canvas, map, rows, columns, left, top);
  frame(canvas, left, top, plot_width, plot_height);

  const double bottom = top + plot_height;
  for (const double tick : cell_ticks(columns, 48)) {
    const double x = left + columns.middle(tick);
    canvas.line({x, bottom + 2}, {x, bottom + 6}, 1, kInk);
    canvas.text(number_text(tick), {x, bottom + 17}, kTextSize, kInk, Align::middle);
  }
  canvas.text(map.column_label, {left + plot_width / 2.0, bottom + 43}, kTextSize + 1, kSoftInk,
              Align::middle);
  if (map.rows > 1) {
    for (const double tick : cell_ticks(rows, 48)) {
      const double y = top + rows.middle(tick);
      canvas.line({left - 6.0, y}, {left - 2.0, y}, 1, kInk);
      canvas.text(number_text(tick), {left - 12.0, y}, kTextSize, kInk, Align::end);
    }
    canvas.text(map.row_label, {22, top + plot_height / 2.0}, kTextSize + 1, kSoftInk, Align::middle, true);
  }

  for (int y = 0; y < bar_height; ++y) {
    canvas.fill(bar_left, top + y, bar_width, 1, color_at(1 - (y + 0.5) / bar_height));
  }
  frame(canvas, bar_left, top, bar_width, bar_height);
  for (const double tick : scale_ticks) {
    const double y = top + (1 - map.position(tick)) * bar_height;
    canvas.line({bar_left + bar_width + 2.0, y}, {bar_left + bar_width + 6.0, y}, 1, kInk);
    canvas.text(number_text(tick), {bar_left + bar_width + 12.0, y}, kTextSize, kInk, Align::start);
  }
  return canvas;
}

}  // namespace kernelpack::cli
