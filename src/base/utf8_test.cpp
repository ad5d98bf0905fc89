#include "base/utf8.hpp"

#include <gtest/gtest.h>

namespace kernelpack {
namespace {

TEST(Utf8, EveryCodePointRoundTrips) {
  for (char32_t value = 0; value <= 0x10FFFF; ++value) {
    std::string text;
    append_utf8(text, value);
    const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
    const CodePoint point = decode_utf8(text, 0);
    ASSERT_EQ(point.valid, !surrogate) << static_cast<unsigned>(value);
    ASSERT_EQ(find_invalid_utf8(text).has_value(), surrogate);
    if (surrogate) continue;
    ASSERT_EQ(point.value, value);
    ASSERT_EQ(point.length, text.size());
  }
}

TEST(Utf8, MalformedBytesAreFound) {
  EXPECT_EQ(find_invalid_utf8("ab\x80"), 2u);            // continuation without a start
  EXPECT_EQ(find_invalid_utf8("\xC0\x80"), 0u);          // overlong NUL
  EXPECT_EQ(find_invalid_utf8("\xE0\x9F\xBF"), 0u);      // overlong U+07FF
  EXPECT_EQ(find_invalid_utf8("\xF0\x8F\xBF\xBF"), 0u);  // overlong U+FFFF
  EXPECT_EQ(find_invalid_utf8("\xF4\x90\x80\x80"), 0u);  // U+110000
  EXPECT_EQ(find_invalid_utf8("\xFF"), 0u);
  EXPECT_EQ(find_invalid_utf8("x\xE2\x82"), 1u);  // cut off at the end
  EXPECT_EQ(find_invalid_utf8("\xE2\x82"
                              "a"),
            0u);
  EXPECT_EQ(find_invalid_utf8("\xE2\x82\xAC"), std::nullopt);
  EXPECT_EQ(find_invalid_utf8(""), std::nullopt);
}

TEST(Utf8, ClipsBetweenCodePoints) {
  EXPECT_EQ(clip("abc", 3), "abc");
  EXPECT_EQ(clip("abcd", 3), "abc...");
  EXPECT_EQ(clip("ab\xE2\x82\xAC!", 4), "ab...");
  EXPECT_EQ(clip(std::string(100, '\x80'), 10), "...");
}

}  // namespace
}  // namespace kernelpack
