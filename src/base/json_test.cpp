#include "base/json.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace kernelpack::json {
namespace {

Value parsed(std::string text) {
  return parse(std::move(text), "t.json").root;
}

Error failure(std::string text, const Budgets& budgets = {}, ErrorKind kind = ErrorKind::package) {
  try {
    parse(text, "t.json", budgets, kind);
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "accepted: " << text;
  return Error(ErrorKind::internal, "no error");
}

TEST(Json, ReadsEveryKindAndKeepsOrder) {
  const Value root = parsed(R"( {"b": [null, true, false, -1.5e2, "x"], "a": {}, "": []} )");
  ASSERT_TRUE(root.is_object());
  ASSERT_EQ(root.members().size(), 3u);
  EXPECT_EQ(root.members()[0].key, "b");
  EXPECT_EQ(root.members()[1].key, "a");
  EXPECT_EQ(root.members()[2].key, "");
  const auto& items = root.find("b")->items();
  ASSERT_EQ(items.size(), 5u);
  EXPECT_TRUE(items[0].is_null());
  EXPECT_TRUE(items[1].boolean());
  EXPECT_FALSE(items[2].boolean());
  EXPECT_EQ(items[3].number(), -150);
  EXPECT_EQ(items[4].string(), "x");
  EXPECT_EQ(root.find("c"), nullptr);
  EXPECT_EQ(items[0].find("c"), nullptr);
}

TEST(Json, SpansAreTheBytesOfTheValue) {
  const Document document = parse("[ 12 , \"a\\\"b\" ,{ \"k\\u0041\" : [ ] },true,null,-0.5]", "t.json");
  const auto slice = [&](SourceSpan span) { return document.text.substr(span.begin, span.end - span.begin); };
  const auto& items = document.root.items();
  EXPECT_EQ(slice(document.root.span), document.text);
  EXPECT_EQ(slice(items[0].span), "12");
  EXPECT_EQ(slice(items[1].span), "\"a\\\"b\"");
  EXPECT_EQ(slice(items[2].span), "{ \"k\\u0041\" : [ ] }");
  EXPECT_EQ(slice(items[2].members()[0].key_span), "\"k\\u0041\"");
  EXPECT_EQ(slice(items[2].members()[0].value.span), "[ ]");
  EXPECT_EQ(slice(items[3].span), "true");
  EXPECT_EQ(slice(items[4].span), "null");
  EXPECT_EQ(slice(items[5].span), "-0.5");
  EXPECT_EQ(parse(" 7 ", "t").root.span, (SourceSpan{1, 2}));
}

TEST(Json, NumbersAreExactDoubles) {
  EXPECT_EQ(parsed("9007199254740993").number(), 9007199254740992.0);
  EXPECT_EQ(parsed("0.1").number(), 0.1);
  EXPECT_EQ(parsed("5e-324").number(), 5e-324);
  EXPECT_EQ(parsed("1.7976931348623157e308").number(), 1.7976931348623157e308);
  EXPECT_EQ(parsed("123456789012345678901234567890").number(), 123456789012345678901234567890.0);
  EXPECT_EQ(parsed("1e-400").number(), 0.0);
  EXPECT_EQ(parsed("1e-99999999999999999999").number(), 0.0);
  EXPECT_EQ(parsed("0.00000000000000000000000000000000000001e-2147483640").number(), 0.0);
  EXPECT_TRUE(std::signbit(parsed("-0").number()));
  EXPECT_TRUE(std::signbit(parsed("[-0.0]").items()[0].number()));
  EXPECT_FALSE(std::signbit(parsed("0").number()));
}

TEST(Json, NumbersOutsideDoubleAreRefused) {
  for (const char* text : {"1e309", "-1e309", "1.7976931348623159e308", "1e99999999999999999999"}) {
    const Error error = failure(std::string("[1, ") + text + "]");
    EXPECT_EQ(error.kind(), ErrorKind::package);
    EXPECT_NE(error.message().find("outside the range of a double"), std::string::npos) << error.line();
    EXPECT_NE(error.where().find("line 1, column 5"), std::string::npos) << error.line();
  }
  EXPECT_NE(failure(std::string(400, '9')).message().find("outside the range"), std::string::npos);
}

TEST(Json, StringsAndEscapes) {
  EXPECT_EQ(parsed(R"("\"\\\/\b\f\n\r\t\u0041\u00e4\u20ac\ud83d\ude00")").string(),
            "\"\\/\b\f\n\r\tA\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80");
  EXPECT_EQ(parsed(R"("a\u0000b")").string(), std::string("a\0b", 3));
  EXPECT_EQ(parsed("\"\xE2\x82\xAC\x7F\"").string(), "\xE2\x82\xAC\x7F");
}

TEST(Json, SyntaxErrorsNameThePlace) {
  struct Case {
    const char* text;
    const char* message;
    const char* where;
  };
  const Case cases[] = {
      {"", "The JSON text holds no value", "t.json, line 1, column 1"},
      {" \n ", "The JSON text holds no value", "t.json, line 2, column 2"},
      {"1 2", "The JSON text goes on after its value", "t.json, line 1, column 3"},
      {"{} x", "The JSON text goes on after its value", "t.json, line 1, column 4"},
      {"[1,]", "A JSON value is missing or malformed", "t.json, line 1, column 4"},
      {"[1 2]", "The comma or closing bracket after an array item is missing", "t.json, line 1, column 4"},
      {"[1", "The comma or closing bracket after an array item is missing", "t.json, line 1, column 3"},
      {"{\"a\":1,}", "The quoted key of an object member is missing", "t.json, line 1, column 8"},
      {"{a:1}", "The quoted key of an object member is missing", "t.json, line 1, column 2"},
      {"{\"a\" 1}", "The colon after the key of an object member is missing", "t.json, line 1, column 6"},
      {"{\"a\":1 \"b\":2}", "The comma or closing brace after an object member is missing",
       "t.json, line 1, column 8"},
      {"{\n\"a\": tru}", "A JSON value is missing or malformed", "t.json, line 2, column 9"},
      {"\"a", "The closing quotation mark of a string is missing", "t.json, line 1, column 3"},
      {"\"\\x\"", "The escape in a string is none that JSON knows", "t.json, line 1, column 2"},
      {"\"\\u12g4\"", "The unicode escape in a string lacks its four hexadecimal digits",
       "t.json, line 1, column 2"},
      {"\"a\nb\"", "The control character (0x0a) in a string is not escaped", "t.json, line 1, column 3"},
      {"1.", "The digits after the decimal point of a number are missing", "t.json, line 1, column 3"},
      {"1e+", "The digits of the exponent of a number are missing", "t.json, line 1, column 4"},
      {"// c\n1", "A JSON value is missing or malformed", "t.json, line 1, column 1"},
      {"'a'", "A JSON value is missing or malformed", "t.json, line 1, column 1"},
      {"NaN", "A JSON value is missing or malformed", "t.json, line 1, column 1"},
      {"+1", "A JSON value is missing or malformed", "t.json, line 1, column 1"},
      {"01", "The JSON text goes on after its value", "t.json, line 1, column 2"},
      {"\xEF\xBB\xBF{}", "The JSON text begins with a byte order mark, which JSON does not allow",
       "t.json, line 1, column 1"},
  };
  for (const Case& c : cases) {
    const Error error = failure(c.text);
    EXPECT_EQ(error.kind(), ErrorKind::package);
    EXPECT_EQ(error.message(), c.message) << c.text;
    EXPECT_EQ(error.where(), c.where) << c.text;
    EXPECT_FALSE(error.excerpt().empty());
  }
  EXPECT_EQ(failure("[", {}, ErrorKind::contract).kind(), ErrorKind::contract);
}

TEST(Json, NulDoesNotEndTheText) {
  const Error error = failure(std::string("{}\0{", 4));
  EXPECT_EQ(error.message(), "The byte at offset 2 is a NUL, which JSON does not allow");
  failure(std::string("\"a\0b\"", 5));
}

TEST(Json, DuplicateKeysNameBothPlaces) {
  const Error error = failure("{\"x\": [1, {\n  \"a\": 1,\n  \"b\": 2,\n  \"\\u0061\": 3}]}");
  EXPECT_EQ(error.line(),
            "package: The key (\"a\") occurs twice in one object, first at line 2, column 3 "
            "(t.json:/x/1, line 4, column 3)");
  EXPECT_EQ(error.excerpt(), "  \"\\u0061\": 3}]}\n  ^^^^^^^^");
  EXPECT_EQ(failure("{\"a\":1,\"a\":1,\"a\":1}").where(), "t.json, line 1, column 8");
  EXPECT_EQ(parsed("{\"a\":{\"a\":1},\"b\":{\"a\":1}}").members().size(), 2u);
}

TEST(Json, InvalidUtf8AndLoneSurrogatesAreRefused) {
  const Error bytes = failure("{\"a\": \"x\xFFy\"}");
  EXPECT_EQ(bytes.message(), "The byte at offset 8 (0xff) is not valid UTF-8");
  EXPECT_EQ(bytes.where(), "t.json, line 1, column 9");
  failure("\"\xED\xA0\x80\"");
  failure("\"\xC0\xAF\"");
  for (const char* text : {R"(["\ud800"])", R"(["\udc00"])", R"(["\ud800\u0041"])", R"(["\udc00\ud800"])",
                           R"({"\udfff":1})", R"(["\ud800x"])"}) {
    EXPECT_EQ(failure(text).message(), "The string holds a lone surrogate escape, which is no character")
        << text;
  }
  EXPECT_EQ(failure(R"({"k": ["a", "\udc00"]})").where(), "t.json:/k/1, line 1, column 13");
}

TEST(Json, BudgetsTrip) {
  Budgets budgets;
  budgets.json_depth = 3;
  EXPECT_NO_THROW(parse("[[[1]]]", "t.json", budgets));
  const Error deep = failure("[[[[1]]]]", budgets);
  EXPECT_EQ(deep.kind(), ErrorKind::limit);
  EXPECT_EQ(deep.message(), "The nesting of arrays and objects (4) exceeds the budget json_depth (3)");
  EXPECT_EQ(failure(std::string(1000000, '[')).kind(), ErrorKind::limit);

  budgets.json_values = 4;
  EXPECT_NO_THROW(parse("[1, {\"a\": 2}]", "t.json", budgets));
  const Error many = failure("[1, {\"a\": 2}, 3]", budgets);
  EXPECT_EQ(many.kind(), ErrorKind::limit);
  EXPECT_EQ(many.message(), "The number of values in the JSON text exceeds the budget json_values (4)");

  budgets.json_bytes = 10;
  EXPECT_NO_THROW(parse("1234567890", "t.json", budgets));
  const Error large = failure("12345678901", budgets);
  EXPECT_EQ(large.kind(), ErrorKind::limit);
  EXPECT_EQ(large.message(), "The size of the JSON text (11 bytes) exceeds the budget json_bytes (10)");
}

TEST(Json, PointersAreEscaped) {
  EXPECT_EQ(join_pointer("", "a"), "/a");
  EXPECT_EQ(join_pointer("/x", "a/b~c"), "/x/a~1b~0c");
  EXPECT_EQ(join_pointer("/x", std::size_t{12}), "/x/12");
}

TEST(Json, WritesCompactText) {
  const char* text = R"({"b":[null,true,-1.5,"a\"\\\n\u0001é"],"a":{},"":[]})";
  EXPECT_EQ(write(parsed(text)), text);
  EXPECT_EQ(write(Value::make(INFINITY)), "null");
  EXPECT_EQ(write(Value::make(-0.0)), "0");
  EXPECT_EQ(write(Value::make(1e21)), "1e+21");
  EXPECT_EQ(write(Value::make_null()), "null");
  EXPECT_EQ(quote("\b\f\r\t\x1f\x7f/"), "\"\\b\\f\\r\\t\\u001f\x7f/\"");
}

/// Every mutation of a valid text either parses or throws Error: nothing else, and no bad memory access.
TEST(Json, MutatedTextsNeverEscapeAsAnythingElse) {
  const std::string valid = "{\"a\":[1,-2.5e3,\"\\ud83d\\ude00\\n\xC3\xA4\",true,null],\"b\":{\"c\":false}}";
  int accepted = 0;
  int refused = 0;
  const auto attempt = [&](const std::string& text) {
    try {
      const Document document = parse(text, "t.json");
      parse(write(document.root), "again");
      ++accepted;
    } catch (const Error& error) {
      EXPECT_NE(error.kind(), ErrorKind::internal) << error.line();
      ++refused;
    }
  };
  for (std::size_t i = 0; i < valid.size(); ++i) {
    attempt(valid.substr(0, i));
    for (int byte = 0; byte < 256; ++byte) {
      std::string text = valid;
      text[i] = static_cast<char>(byte);
      attempt(text);
    }
  }
  EXPECT_GT(accepted, 500);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace kernelpack::json
