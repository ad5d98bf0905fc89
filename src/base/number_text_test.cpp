#include "base/number_text.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace kernelpack {
namespace {

TEST(NumberText, AsJavaScriptPrints) {
  const std::pair<double, const char*> cases[] = {
      {0, "0"},
      {-0.0, "0"},
      {4, "4"},
      {-3.7, "-3.7"},
      {0.1 + 0.2, "0.30000000000000004"},
      {0.000001, "0.000001"},
      {0.0000015, "0.0000015"},
      {1e-7, "1e-7"},
      {1.5e-7, "1.5e-7"},
      {1e20, "100000000000000000000"},
      {123456789012345680000.0, "123456789012345680000"},
      {1e21, "1e+21"},
      {-1.25e21, "-1.25e+21"},
      {9007199254740993.0, "9007199254740992"},
      {1.7976931348623157e308, "1.7976931348623157e+308"},
      {5e-324, "5e-324"},
      {2.2250738585072014e-308, "2.2250738585072014e-308"},
      {0.5, "0.5"},
      {123.456, "123.456"},
      {std::numeric_limits<double>::quiet_NaN(), "NaN"},
      {INFINITY, "Infinity"},
      {-INFINITY, "-Infinity"},
  };
  for (const auto& [value, text] : cases) EXPECT_EQ(javascript_number_text(value), text);
}

TEST(NumberText, RandomDoublesRoundTrip) {
  std::mt19937_64 random(20240607);
  for (int i = 0; i < 100000; ++i) {
    const double value = std::bit_cast<double>(static_cast<std::uint64_t>(random()));
    if (!std::isfinite(value)) continue;
    ASSERT_EQ(javascript_to_number(javascript_number_text(value)), value);
  }
}

TEST(NumberText, ReadsAsJavaScriptNumberDoes) {
  const std::pair<const char*, double> cases[] = {
      {"", 0},
      {" \t\n\v\f\r ", 0},
      {"\xC2\xA0\xEF\xBB\xBF 7 \xE2\x80\xA8\xE3\x80\x80", 7},
      {"12", 12},
      {"+12", 12},
      {"-12.5", -12.5},
      {".5", 0.5},
      {"5.", 5},
      {"5.e1", 50},
      {"1e3", 1000},
      {"1E+3", 1000},
      {"1e-3", 0.001},
      {"1e400", INFINITY},
      {"-1e400", -INFINITY},
      {"1e-400", 0},
      {"0e999999999999999999999", 0},
      {"1e999999999999999999999", INFINITY},
      {"1e-999999999999999999999", 0},
      {"Infinity", INFINITY},
      {"-Infinity", -INFINITY},
      {"+Infinity", INFINITY},
      {"0x10", 16},
      {"0XfF", 255},
      {"0o17", 15},
      {"0b101", 5},
      {"010", 10},
      {"0x20000000000001", 9007199254740992.0},
      {"0x20000000000003", 9007199254740996.0},
      {"0x200000000000010000000000000001", 0x1.0000000000001p117},
      {"4.9406564584124654e-324", 5e-324},
      {"2.4703282292062328e-324", 5e-324},
      {"2.4703282292062327e-324", 0},
      {"1.7976931348623158e308", 1.7976931348623157e308},
      {"1.7976931348623159e308", INFINITY},
  };
  for (const auto& [text, value] : cases) EXPECT_EQ(javascript_to_number(text), value) << text;
  EXPECT_TRUE(std::signbit(javascript_to_number("-0")));
  EXPECT_TRUE(std::signbit(javascript_to_number("-1e-400")));
  EXPECT_EQ(javascript_to_number(std::string(400, '9') + "e-390"), 1e10);
  EXPECT_EQ(javascript_to_number("0." + std::string(400, '0') + "1e401"), 1);
  EXPECT_EQ(javascript_to_number("0x" + std::string(300, 'f')), INFINITY);
  EXPECT_EQ(javascript_to_number("0x" + std::string(300, '0') + "1"), 1);
}

TEST(NumberText, AnythingElseIsNaN) {
  for (const char* text :
       {"x",   "1x",       "1 2",      "+",   "-",     ".",     "e5",    "1e",  "1e+",   "+-1",
        "--1", "infinity", "INFINITY", "Inf", "nan",   "NaN",   "0x",    "0xg", "-0x10", "+0x10",
        "0o8", "0b2",      "1_000",    "1,5", "1e1.5", "0x1p3", "0x1.8", "\x80"}) {
    EXPECT_TRUE(std::isnan(javascript_to_number(text))) << text;
  }
  EXPECT_TRUE(std::isnan(javascript_to_number(std::string_view("1\0", 2))));
}

}  // namespace
}  // namespace kernelpack
