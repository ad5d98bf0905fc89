#include "heat_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "kernelpack/error.hpp"

namespace kernelpack::cli {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Tensor counting(Shape shape) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return Tensor::from(values, std::move(shape));
}

HeatMap slice(const Tensor& tensor, std::vector<std::int64_t> index) {
  return take_slice(tensor, index, "t.npy");
}

TEST(HeatMap, TakesTheMatrixOfTheLastTwoAxes) {
  const HeatMap map = slice(counting({2, 3, 2, 4}), {1, -2});
  EXPECT_EQ(map.rows, 2);
  EXPECT_EQ(map.columns, 4);
  EXPECT_EQ(map.values.front(), 32);
  EXPECT_EQ(map.values.back(), 39);
  EXPECT_EQ(map.low, 32);
  EXPECT_EQ(map.high, 39);
  EXPECT_EQ(map.title, "t.npy[1, 1, :, :]");
}

TEST(HeatMap, TakesARowOfAVector) {
  const HeatMap map = slice(counting({2, 3}), {1});
  EXPECT_EQ(map.rows, 1);
  EXPECT_EQ(map.values, (std::vector<double>{3, 4, 5}));
}

TEST(HeatMap, RefusesAnIndexThatDoesNotFit) {
  EXPECT_THROW(slice(counting({2, 3, 4}), {}), Error);
  EXPECT_THROW(slice(counting({2, 3, 4}), {2}), Error);
  EXPECT_THROW(slice(counting({2, 3, 4}), {-3}), Error);
  EXPECT_THROW(slice(counting({2, 3, 4}), {0, 0, 0}), Error);
  EXPECT_THROW(slice(counting({}), {}), Error);
  EXPECT_THROW(slice(Tensor(DType::float32, {0, 4}), {}), Error);
}

TEST(HeatMap, ScalesByFiniteValues) {
  const float infinity = std::numeric_limits<float>::infinity();
  const HeatMap map = slice(Tensor::from<float>({kNan, -2, infinity, 6}, {2, 2}), {});
  EXPECT_EQ(map.low, -2);
  EXPECT_EQ(map.high, 6);
  EXPECT_EQ(map.position(map.mean(1, 2, 0, 1)), 1);
  EXPECT_TRUE(std::isnan(map.mean(0, 1, 0, 1)));
  EXPECT_EQ(map.mean(0, 1, 0, 2), -2);
  const HeatMap constant = slice(Tensor::from<float>({5, 5}, {1, 2}), {});
  EXPECT_DOUBLE_EQ(constant.position(5), 0.5);
  const HeatMap nothing = slice(Tensor::from<float>({kNan}, {1, 1}), {});
  EXPECT_LT(nothing.low, nothing.high);
}

TEST(HeatMap, PlacesTicksAtRoundNumbers) {
  EXPECT_EQ(tick_values(0, 41, 10), (std::vector<double>{0, 5, 10, 15, 20, 25, 30, 35, 40}));
  EXPECT_EQ(tick_values(-1, 1, 4), (std::vector<double>{-1, -0.5, 0, 0.5, 1}));
  EXPECT_EQ(tick_values(0, 0.9977, 5), (std::vector<double>{0, 0.2, 0.4, 0.6000000000000001, 0.8}));
}

TEST(HeatMap, DrawsEveryCellInItsColor) {
  const Canvas canvas = draw(slice(Tensor::from<float>({0, 1, kNan, 0}, {2, 2}), {}));
  // Cells are 336 pixels wide; the plot begins where the frame ends.
  int left = 0;
  int top = 0;
  for (int y = 0; y < canvas.height() && top == 0; ++y) {
    for (int x = 0; x < canvas.width(); ++x) {
      if (canvas.at(x, y) == color_at(0)) {
        left = x;
        top = y;
        break;
      }
    }
  }
  ASSERT_GT(top, 0);
  EXPECT_EQ(canvas.at(left + 100, top + 100), color_at(0));
  EXPECT_EQ(canvas.at(left + 436, top + 100), color_at(1));
  EXPECT_EQ(canvas.at(left + 100, top + 436), (Rgb{190, 190, 190}));
  EXPECT_EQ(canvas.at(left + 436, top + 436), color_at(0));
}

TEST(HeatMap, KeepsALargeMatrixDrawable) {
  const Canvas canvas = draw(slice(Tensor(DType::float32, {3, 100000}), {}));
  EXPECT_LT(canvas.width(), 2600);
  EXPECT_LT(canvas.height(), 1000);
}

TEST(HeatMap, PrintsAscii) {
  EXPECT_EQ(to_terminal(slice(Tensor::from<float>({0, 1, 1, kNan}, {2, 2}), {}), 80, false),
            "  t.npy[:, :]\n"
            "    @@\n"
            "  @@??\n"
            "  0 |  ..::--==++**##%%@@| 1\n");
}

TEST(HeatMap, PrintsTallMatricesWithTwoCellsInACharacter) {
  const std::string text = to_terminal(slice(counting({26, 3}), {}), 80, false);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 15);
}

TEST(HeatMap, KeepsToTheWidthOfTheTerminal) {
  for (const Shape& shape : {Shape{2, 500}, Shape{300, 500}}) {
    const std::string text = to_terminal(slice(counting(shape), {}), 60, false);
    std::size_t longest = 0;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      longest = std::max(longest, end - at);
      at = end + 1;
    }
    EXPECT_LE(longest, 60u);
    EXPECT_GT(longest, 40u);
  }
}

TEST(HeatMap, PrintsHalfBlocksInColor) {
  const std::string text = to_terminal(slice(counting({2, 3}), {}), 80, true);
  std::size_t blocks = 0;
  for (std::size_t at = text.find("\u2580"); at != std::string::npos; at = text.find("\u2580", at + 1))
    ++blocks;
  EXPECT_EQ(blocks, 3u);
}

}  // namespace
}  // namespace kernelpack::cli
