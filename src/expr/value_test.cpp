#include "expr/value.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <limits>
#include <string>
#include <vector>

#include "expr/ast.hpp"
#include "expr/text.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::expr {
namespace {

TEST(Value, CopiesShareTheirContent) {
  Value list = Value::list(std::vector<std::int64_t>{1, 2});
  const Value copy = list;
  EXPECT_TRUE(copy.identical(list));
  EXPECT_FALSE(Value::list(std::vector<std::int64_t>{1, 2}).identical(list));
  list = Value::string("a");
  EXPECT_EQ(copy.items().size(), 2u);
  EXPECT_TRUE(Value::string("a").identical(list));
  Value moved = std::move(list);
  EXPECT_EQ(moved.string(), "a");
  EXPECT_EQ(moved.string(), "a");
}

TEST(Value, NumbersFromOutsideAreIntIfIntegral) {
  EXPECT_TRUE(Value::number(4.0).is_integer());
  EXPECT_TRUE(Value::number(-0.0).is_integer());
  EXPECT_TRUE(Value::number(1e300).is_integer());
  EXPECT_FALSE(Value::number(0.5).is_integer());
  EXPECT_FALSE(Value::number(std::nan("")).is_integer());
  EXPECT_FALSE(Value::number(std::numeric_limits<double>::infinity()).is_integer());
}

TEST(Value, NanIsIdenticalToNothing) {
  const Value nan = Value::number(std::nan(""));
  EXPECT_FALSE(nan.identical(nan));
  EXPECT_TRUE(Value::none().identical(Value::undefined()));
}

TEST(Value, NestingIsBounded) {
  Value value;
  const auto nest = [&] { value = Value::list(std::vector<Value>{value}); };
  for (std::uint32_t i = 0; i < kValueDepth; ++i) nest();
  EXPECT_EQ(value.depth(), kValueDepth);
  EXPECT_THROW(nest(), Error);
}

TEST(Value, DescriptionsAreShort) {
  EXPECT_EQ(describe(Value::string("a\"b")), "\"a\\\"b\"");
  EXPECT_LE(describe(Value::string(std::string(1000, 'x'))).size(), 90u);
  EXPECT_LE(describe(Value::list(std::vector<std::int64_t>(1000, 7))).size(), 90u);
  EXPECT_EQ(describe(Value::dict({{"a", Value::floating(2)}})), "{\"a\": 2.0}");
  EXPECT_EQ(name_value(Value::integer(3)), "an int (3)");
  EXPECT_EQ(name_value(Value::none()), "none");
  EXPECT_EQ(name_value(Value::tuple({Value::boolean(true)})), "a tuple ((true))");
}

TEST(Value, JsonBecomesScopeValues) {
  const json::Document document = json::parse(R"({"a": [1, 2.5, null, true, "x"], "b": {}})", "x.json");
  const Value value = Value::of(document.root);
  EXPECT_EQ(print(value), R"({"a": [1, 2.5, null, true, "x"], "b": {}})");
  EXPECT_TRUE(value.dict().find("a")->items()[0].is_integer());
}

TEST(Dict, KeepsOrderAndFindsKeys) {
  Dict dict;
  for (int i = 0; i < 1000; ++i) dict.set(std::to_string(i), Value::number(i));
  dict.set("5", Value::number(-5));
  dict.erase("7");
  EXPECT_EQ(dict.size(), 999u);
  EXPECT_EQ(dict.find("5")->number(), -5);
  EXPECT_EQ(dict.find("7"), nullptr);
  EXPECT_EQ(dict.find("999")->number(), 999);
  EXPECT_EQ(dict.entries()[5].key.string(), "5");
  const Dict copy = dict;
  dict.clear();
  EXPECT_EQ(copy.find("999")->number(), 999);
  EXPECT_EQ(dict.find("999"), nullptr);
}

/// Names whose hashes share their low bits, as a hostile text would choose them.
std::vector<std::string> colliding_names() {
  std::vector<std::string> names;
  for (int i = 0; names.size() < 400; ++i) {
    std::string name = std::string("n").append(std::to_string(i));
    if ((name_hash(name) & 0xFFFu) == 7) names.push_back(std::move(name));
  }
  return names;
}

TEST(Dict, CollidingKeysAreFound) {
  const std::vector<std::string> names = colliding_names();
  Dict dict;
  for (std::size_t i = 0; i < names.size(); ++i) dict.set(names[i], Value::number(static_cast<double>(i)));
  for (std::size_t i = 0; i < names.size(); ++i) {
    ASSERT_NE(dict.find(names[i]), nullptr);
    EXPECT_EQ(dict.find(names[i])->number(), static_cast<double>(i));
  }
  EXPECT_EQ(dict.find("n"), nullptr);
  Dict copy = dict;
  dict.clear();
  EXPECT_EQ(copy.find(names.back())->number(), static_cast<double>(names.size() - 1));
}

TEST(NameTable, CollidingNamesAreFound) {
  const std::vector<std::string> names = colliding_names();
  NameTable table;
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(table.add(names[i]), i);
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_EQ(table.add(names[i]), i);
  EXPECT_EQ(table[3].text, names[3]);
}

TEST(Text, CountsUtf16Units) {
  EXPECT_EQ(utf16_length("a\xC3\xA9\xF0\x9F\x98\x80"), 4u);
  EXPECT_EQ(unit_at("\xF0\x9F\x98\x80", 0), "\xED\xA0\xBD");
  EXPECT_EQ(unit_at("\xF0\x9F\x98\x80", 1), "\xED\xB8\x80");
  std::string text = "\xED\xA0\xBD";
  append_text(text, "\xED\xB8\x80!");
  EXPECT_EQ(text, "\xF0\x9F\x98\x80!");
  EXPECT_EQ(to_valid_utf8("a\xED\xA0\xBD"), "a\xEF\xBF\xBD");
  text = "x\xED\xA0\xBD\xED\xB8\x80\xED\xA0\xBD";
  join_halves(text);
  EXPECT_EQ(text, "x\xF0\x9F\x98\x80\xED\xA0\xBD");
}

TEST(Text, TrimsJavaScriptsWhiteSpace) {
  EXPECT_EQ(trim("\xC2\xA0\xEF\xBB\xBF\t a b\xE2\x80\xA8\n"), "a b");
  EXPECT_EQ(trim("\xC2\x85x\xE2\x80\x8B"), "\xC2\x85x\xE2\x80\x8B");
  EXPECT_EQ(trim(" \n "), "");
}

TEST(Text, OrdersByUtf16Units) {
  EXPECT_LT(compare_units("a", "b"), 0);
  EXPECT_LT(compare_units("a", "ab"), 0);
  EXPECT_EQ(compare_units("\xC3\xA9", "\xC3\xA9"), 0);
  // U+1F600 starts with the unit D83D, which is below U+FF5E.
  EXPECT_LT(compare_units("\xF0\x9F\x98\x80", "\xEF\xBD\x9E"), 0);
  EXPECT_GT(compare_units("\xC3\xA9", "z"), 0);
}

TEST(Text, JoiningManyHalvesTakesLinearTime) {
  std::string text;
  for (int i = 0; i < 300000; ++i) text += "\xED\xA0\xBD\xED\xB8\x80";
  const std::clock_t start = std::clock();
  join_halves(text);
  EXPECT_EQ(text.size(), 1200000u);
  EXPECT_LT(std::clock() - start, 5 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace kernelpack::expr
