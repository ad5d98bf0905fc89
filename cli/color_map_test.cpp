#include "color_map.hpp"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace kernelpack::cli {
namespace {

TEST(ColorMap, GrowsLighterInEqualSteps) {
  for (int i = 0; i <= 255; ++i) {
    const double t = i / 255.0;
    EXPECT_NEAR(lightness(color_at(t)), 0.15 + 0.82 * t, 0.012) << t;
  }
}

TEST(ColorMap, ClampsWhatIsOutside) {
  EXPECT_EQ(color_at(-1), color_at(0));
  EXPECT_EQ(color_at(2), color_at(1));
  EXPECT_EQ(color_at(std::numeric_limits<double>::infinity()), color_at(1));
  EXPECT_EQ(color_at(std::numeric_limits<double>::quiet_NaN()), color_at(0));
}

}  // namespace
}  // namespace kernelpack::cli
