#include "base/source.hpp"

#include <gtest/gtest.h>

namespace kernelpack {
namespace {

TEST(Source, LineAndColumnCountCodePoints) {
  const std::string text = "ab\n\xC3\xA4\xF0\x9F\x98\x80x\r\nz";
  const auto place = [&](std::size_t offset) {
    const LineColumn at = line_column(text, offset);
    return std::pair(at.line, at.column);
  };
  EXPECT_EQ(place(0), std::pair(std::size_t{1}, std::size_t{1}));
  EXPECT_EQ(place(2), std::pair(std::size_t{1}, std::size_t{3}));
  EXPECT_EQ(place(3), std::pair(std::size_t{2}, std::size_t{1}));
  EXPECT_EQ(place(9), std::pair(std::size_t{2}, std::size_t{3}));
  EXPECT_EQ(place(12), std::pair(std::size_t{3}, std::size_t{1}));
  EXPECT_EQ(place(1000), std::pair(std::size_t{3}, std::size_t{2}));
}

TEST(Source, OriginAndPlaceAsText) {
  EXPECT_EQ(to_string(Origin{"manifest.json", "/a/0"}), "manifest.json:/a/0");
  EXPECT_EQ(to_string(Origin{"a.jinja", ""}), "a.jinja");
  EXPECT_EQ(to_string(Origin{"", "/a"}), "/a");
  EXPECT_EQ(to_string(Origin{}), "");
  EXPECT_EQ(locate({"manifest.json", "/a/0"}, "ab\ncd", 4), "manifest.json:/a/0, line 2, column 2");
  EXPECT_EQ(locate({}, "ab", 1), "line 1, column 2");
}

TEST(Source, ExcerptMarksTheSpan) {
  EXPECT_EQ(excerpt("shapes.data + 1", {7, 11}), "shapes.data + 1\n       ^^^^");
  EXPECT_EQ(excerpt("a\nbc d\ne", {3, 4}), "bc d\n ^");
  EXPECT_EQ(excerpt("ab", {2, 2}), "ab\n  ^");
  EXPECT_EQ(excerpt("", {0, 0}), "\n^");
  EXPECT_EQ(excerpt("ab\ncd", {1, 5}), "ab\n ^") << "only the part on the first line is marked";
  EXPECT_EQ(excerpt("ab\r\n", {0, 1}), "ab\n^");
  EXPECT_EQ(excerpt("ab", {99, 120}), "ab\n  ^");
}

TEST(Source, ExcerptKeepsTabsAndHidesControls) {
  EXPECT_EQ(excerpt("\tx\x01y", {3, 4}), "\tx?y\n\t  ^");
  EXPECT_EQ(excerpt("\x1b[31m\xFFz", {6, 7}), "?[31m?z\n      ^");
  EXPECT_EQ(excerpt("\xC3\xA4 = b", {5, 6}), "\xC3\xA4 = b\n    ^");
}

TEST(Source, ExcerptCutsLongLines) {
  const std::string line = std::string(500, 'a') + "!" + std::string(500, 'b');
  const std::string cut = excerpt(line, {500, 501});
  const std::size_t newline = cut.find('\n');
  const std::string source = cut.substr(0, newline);
  EXPECT_LT(source.size(), 120u);
  EXPECT_TRUE(source.starts_with("...a"));
  EXPECT_TRUE(source.ends_with("b..."));
  const std::string carets = cut.substr(newline + 1);
  EXPECT_EQ(source[carets.find('^')], '!');
  EXPECT_EQ(carets.find('^'), carets.size() - 1);

  EXPECT_TRUE(excerpt(line, {0, 1000}).starts_with("aaaa"));
  const std::string at_end = excerpt(line, {1001, 1001});
  EXPECT_EQ(at_end.size() - at_end.find('\n') - 1, at_end.find('\n') + 1) << at_end;
}

TEST(Source, ErrorAtFillsPlaceAndExcerpt) {
  const Error error = error_at(ErrorKind::expression, "Bad", {"m.json", "/x"}, "a + b", {4, 5});
  EXPECT_EQ(error.line(), "expression: Bad (m.json:/x, line 1, column 5)");
  EXPECT_EQ(error.excerpt(), "a + b\n    ^");
}

}  // namespace
}  // namespace kernelpack
