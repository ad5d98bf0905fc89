#include "kernelpack/error.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace kernelpack {
namespace {

TEST(Error, EveryKindHasItsName) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(ErrorKind::internal); ++i)
    names.insert(to_string(static_cast<ErrorKind>(i)));
  const std::set<std::string_view> expected{"package",  "integrity",   "trust",   "expression", "template",
                                            "contract", "no_variant",  "limit",   "device",     "shader",
                                            "io",       "unsupported", "internal"};
  EXPECT_EQ(names, expected);
}

TEST(Error, LineNamesKindMessageAndPlace) {
  Error error(ErrorKind::template_, "The tag is not closed");
  EXPECT_EQ(error.line(), "template: The tag is not closed");
  error.set_where("a.wgsl.jinja, line 1, column 2");
  EXPECT_EQ(error.line(), "template: The tag is not closed (a.wgsl.jinja, line 1, column 2)");
  EXPECT_STREQ(error.what(), error.line().c_str());
}

TEST(Error, ReportAddsExcerptAndContext) {
  Error error(ErrorKind::expression, "Bad", "there");
  error.set_excerpt("a + \n    ^").add_context("While one").add_context("While two");
  EXPECT_EQ(error.report(), "expression: Bad (there)\na + \n    ^\nWhile one\nWhile two");
  ASSERT_EQ(error.context().size(), 2u);
  EXPECT_EQ(error.context()[0], "While one");
}

TEST(Error, LineStaysOneLineWhateverTheNames) {
  const Error error(ErrorKind::io, "The file does not exist", "a\nb\x1b[31m\x7f");
  EXPECT_EQ(error.line(), "io: The file does not exist (a?b?[31m?)");
  EXPECT_EQ(error.where(), "a\nb\x1b[31m\x7f");
}

}  // namespace
}  // namespace kernelpack
