#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "bench_report.hpp"
#include "figures.hpp"

namespace kernelpack::cli {
namespace {

constexpr Rgb kPaper{255, 255, 255};
constexpr Rgb kInk{38, 38, 46};
constexpr Rgb kSoftInk{120, 120, 130};
constexpr Rgb kGrid{228, 228, 232};
// Package, the other package, copy.
constexpr std::array<Rgb, 3> kColors{{{196, 56, 72}, {52, 96, 168}, {150, 150, 158}}};
constexpr int kLeft = 84;
constexpr int kTop = 78;
constexpr int kWidth = 860;
constexpr int kHeight = 480;
constexpr double kTextSize = 10;

/// A logarithmic axis over at least one decade.
class Scale {
 public:
  Scale(double low, double high, int pixels) : pixels_(pixels) {
    low_ = std::floor(std::log10(low) * 2) / 2;
    high_ = std::max(std::ceil(std::log10(high) * 2) / 2, low_ + 1);
  }
  double place(double value) const { return (std::log10(value) - low_) / (high_ - low_) * pixels_; }
  /// 1, 2 and 5 of each decade, or powers of ten alone where there are many.
  std::vector<double> ticks() const {
    std::vector<double> values;
    for (double decade = std::floor(low_); decade <= high_; ++decade) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        if (factor > 1 && high_ - low_ > 4) continue;
        const double value = factor * std::pow(10, decade);
        const double at = place(value);
        if (at >= -0.5 && at <= pixels_ + 0.5) values.push_back(value);
      }
    }
    return values;
  }

 private:
  double low_ = 0;
  double high_ = 1;
  int pixels_;
};

struct Mark {
  double columns;
  double rate;
  std::size_t series;
  bool half;
};

bool is_half(const BenchCaseResult& each) {
  return !each.inputs.empty() && each.inputs.front().spec.dtype == DType::float16;
}

std::vector<Mark> marks_of(const BenchResult& result) {
  std::vector<Mark> marks;
  for (const BenchCaseResult& each : result.cases) {
    if (!each.skipped.empty()) continue;
    const auto columns = static_cast<double>(std::max<std::int64_t>(each.columns, 1));
    const auto add = [&](const BenchEntry& entry, std::size_t series) {
      if (entry.failure.empty() && !entry.measured.seconds.empty())
        marks.push_back(
            {columns, static_cast<double>(each.bytes) / entry.measured.median(), series, is_half(each)});
    };
    add(each.copy, 2);
    for (std::size_t i = std::min<std::size_t>(each.entries.size(), 2); i-- > 0;) add(each.entries[i], i);
  }
  return marks;
}

// The roof is a bar, float32 a filled square, float16 a hollow one.
void draw_mark(Canvas& canvas, const Mark& mark, int x, int y) {
  const Rgb color = kColors[mark.series];
  if (mark.series == 2) {
    canvas.fill(x - 8, y - 1, 17, 3, color);
    return;
  }
  canvas.fill(x - 4, y - 4, 9, 9, color);
  if (mark.half) canvas.fill(x - 2, y - 2, 5, 5, kPaper);
}

}  // namespace

Canvas draw(const BenchResult& result) {
  Canvas canvas(kLeft + kWidth + 40, kTop + kHeight + 70, kPaper);
  canvas.text(fmt::format("{} on {}", result.packages.front(), result.device), {kLeft, 28}, 14, kInk,
              Align::start);
  double at = kLeft;
  const auto legend = [&](const std::string& name, std::size_t series, bool half) {
    draw_mark(canvas, {0, 0, series, half}, static_cast<int>(at) + 8, 54);
    canvas.text(name, {at + 22, 54}, kTextSize, kInk, Align::start);
    at += 40 + lay_out(name).width * kTextSize;
  };
  const std::vector<Mark> marks = marks_of(result);
  const bool halves = std::any_of(marks.begin(), marks.end(), [](const Mark& mark) { return mark.half; });
  for (std::size_t i = 0; i < std::min<std::size_t>(result.packages.size(), 2); ++i) {
    const std::string& package = result.packages[i];
    const std::string name = i == 0 ? "package" : package.substr(package.find_last_of('/') + 1);
    legend(name, i, false);
    if (halves) legend(name + " float16", i, true);
  }
  legend("copy of the same bytes", 2, false);
  if (marks.empty()) {
    canvas.text("no case ran", {kLeft, kTop + kHeight / 2.0}, 14, kSoftInk, Align::start);
    return canvas;
  }
  const auto [least_x, most_x] = std::minmax_element(
      marks.begin(), marks.end(), [](const Mark& a, const Mark& b) { return a.columns < b.columns; });
  const auto [least_y, most_y] = std::minmax_element(
      marks.begin(), marks.end(), [](const Mark& a, const Mark& b) { return a.rate < b.rate; });
  const Scale across(least_x->columns, most_x->columns, kWidth);
  const Scale up(least_y->rate, most_y->rate * 1.1, kHeight);
  for (const double tick : across.ticks()) {
    const int x = kLeft + static_cast<int>(across.place(tick));
    canvas.fill(x, kTop, 1, kHeight, kGrid);
    canvas.text(number_text(tick), {static_cast<double>(x), kTop + kHeight + 18.0}, kTextSize, kInk,
                Align::middle);
  }
  for (const double tick : up.ticks()) {
    const int y = kTop + kHeight - static_cast<int>(up.place(tick));
    canvas.fill(kLeft, y, kWidth, 1, kGrid);
    canvas.text(metric_text(tick, "B/s"), {kLeft - 8.0, static_cast<double>(y)}, kTextSize, kInk, Align::end);
  }
  canvas.fill(kLeft, kTop, 1, kHeight + 1, kInk);
  canvas.fill(kLeft, kTop + kHeight, kWidth, 1, kInk);
  canvas.text("elements of a row", {kLeft + kWidth / 2.0, kTop + kHeight + 46.0}, kTextSize + 1, kSoftInk,
              Align::middle);
  for (const Mark& mark : marks)
    draw_mark(canvas, mark, kLeft + static_cast<int>(across.place(mark.columns)),
              kTop + kHeight - static_cast<int>(up.place(mark.rate)));
  return canvas;
}

}  // namespace kernelpack::cli
