#include "expr/expression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "expr/eval.hpp"
#include "expr/scope.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::expr {
namespace {

const Scope& scope() {
  static const Scope names = [] {
    Scope made(&functions(false));
    made.set("attrs", Value::dict({{"axis", Value::number(3)}}));
    made.set("shapes", Value::dict({{"x", Value::list(std::vector<std::int64_t>{2, 3, 4})}}));
    made.set("tunables", Value::dict({{"WG", Value::number(256)}}));
    made.set("l", Value::list(std::vector<std::int64_t>{10, 20, 30}));
    return made;
  }();
  return names;
}

Value value_of(const std::string& text) {
  return Expression::parse(text, {}).evaluate(scope());
}

/// "fails: MESSAGE", or the printed value.
std::string outcome(const std::string& text) {
  try {
    return print(value_of(text));
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::expression) << text;
    return std::string("fails: ").append(error.message());
  }
}

bool fails(const std::string& text) {
  return outcome(text).rfind("fails: ", 0) == 0;
}

// Point 32 of format.md 15.
TEST(Expression, Arithmetic) {
  EXPECT_EQ(outcome("-7 % 3"), "-1");
  EXPECT_EQ(outcome("-7 // 2"), "-4");
  EXPECT_EQ(outcome("7 / 2 * 2"), "7.0");
  EXPECT_EQ(outcome("-2 ** 2"), "4");
  EXPECT_EQ(outcome("2 ** 3 ** 2"), "64");
}

// Point 33.
TEST(Expression, Equality) {
  EXPECT_EQ(outcome("[1] == [1]"), "false");
  EXPECT_EQ(outcome("\"1\" == 1"), "true");
  EXPECT_EQ(outcome("tunables.NONE == none"), "true");
  EXPECT_EQ(outcome("none == 0"), "false");
  EXPECT_EQ(outcome("shapes.x == shapes.x"), "true");
}

// Point 34.
TEST(Expression, IndicesNeedAnInt) {
  EXPECT_TRUE(fails("l[4/2]"));
  EXPECT_EQ(outcome("l[(4/2) | int]"), "30");
  EXPECT_TRUE(value_of("l[9]").is_undefined());
}

// Point 35.
TEST(Expression, IntFloorsOnlyWithoutParentheses) {
  EXPECT_EQ(outcome("-3.7 | int"), "-4");
  EXPECT_EQ(outcome("3.7 | int(0)"), "3.7");
}

// Point 36.
TEST(Expression, WhatHasNoMeaningFails) {
  for (const char* text : {"1 < 2 < 3", "\"a\" < \"b\"", "true + 1", "none > 1", "1e3"})
    EXPECT_TRUE(fails(text)) << text;
}

// Point 37; format.md 4.8.
TEST(NameCheck, UnknownNamesFailEvenInABranchThatIsNotTaken) {
  EXPECT_EQ(outcome("1 if true else nope").substr(0, 41), "fails: The name nope is not known here; k");
  EXPECT_TRUE(fails("x | default(1)"));
  EXPECT_TRUE(fails("true or nope"));
  EXPECT_TRUE(fails("[attrs.axis, nope]"));
  EXPECT_TRUE(fails("attrs[nope]"));
  EXPECT_TRUE(fails("min(nope, 1)"));
  EXPECT_TRUE(fails("nope(1)"));
  EXPECT_TRUE(fails("(x is defined) and x > 1"));
  EXPECT_TRUE(fails("x.y is defined"));
  EXPECT_TRUE(fails("x is none"));
}

TEST(NameCheck, WhatIsNoFreeNameDoesNotCount) {
  EXPECT_EQ(outcome("x is defined"), "false");
  EXPECT_EQ(outcome("x is not defined"), "true");
  EXPECT_EQ(outcome("x is undefined"), "true");
  EXPECT_EQ(outcome("tunables.X | default(3)"), "3");
  EXPECT_EQ(outcome("tunables.a.b.c is defined"), "false");
  EXPECT_EQ(outcome("attrs.axis | int"), "3");
  EXPECT_EQ(outcome("true and True and not False and None is none"), "true");
  EXPECT_EQ(outcome("'a-b' | replace('-', '+', count=1)"), "a+b");
}

TEST(NameCheck, ListsUnknownAndAvailableNames) {
  const std::string message = outcome("nope + other + nope");
  EXPECT_NE(message.find("The names nope, other are not known here"), std::string::npos) << message;
  EXPECT_NE(message.find("attrs, shapes, tunables"), std::string::npos) << message;
  EXPECT_NE(message.find("functions ceil, floor, pow"), std::string::npos) << message;
}

TEST(NameCheck, NamesAreAvailableForAnalysis) {
  const Expression expression =
      Expression::parse("b + a.x[c] if d is defined else min(b, e is undefined)", {});
  EXPECT_EQ(expression.required_names(), (std::vector<std::string>{"b", "a", "c", "min"}));
  EXPECT_EQ(expression.tested_names(), (std::vector<std::string>{"d", "e"}));
  EXPECT_FALSE(expression.closed());
  EXPECT_TRUE(Expression::parse("1 + 2 if true else 'a' | length", {}).closed());
  EXPECT_TRUE(Expression::parse("d is defined and d", {}).tested_names().empty());
}

TEST(NameCheck, CanBeSwitchedOff) {
  EXPECT_TRUE(Expression::parse("nope.a.b", {}).evaluate_unchecked(scope()).is_undefined());
}

// Points 38 and 40.
TEST(Expression, FunctionsAtTheEdges) {
  EXPECT_EQ(outcome("dim([2,3,4], 5)"), "4");
  EXPECT_TRUE(value_of("dim([], 0)").is_none());
  EXPECT_EQ(outcome("outer([], 0)"), "1");
  EXPECT_EQ(outcome("pick([[[], 1]], 2)"), "1");
}

// Point 39.
TEST(Expression, MissingTunablesMakeComparisonsFalse) {
  EXPECT_TRUE(std::isnan(value_of("min(tunables.NONE, 3)").number()));
  for (const char* text :
       {"min(tunables.NONE, 3) <= 3", "min(tunables.NONE, 3) >= 0", "min(tunables.NONE, 3) == 3"}) {
    EXPECT_FALSE(value_of(text).truthy()) << text;
  }
}

// Point 41.
TEST(Expression, ShapeFunctionsRaiseOnMismatch) {
  for (const char* text :
       {"matmulShape([2,3],[4,5])", "permuteShape([2,3],[0])", "broadcastShape([2],[3])"}) {
    EXPECT_TRUE(fails(text)) << text;
  }
}

// Point 42.
TEST(Expression, DtypeFunctions) {
  EXPECT_EQ(outcome("dtypeBytes(\"int8\")"), "4");
  EXPECT_TRUE(fails("onnxDtypeCode(\"f32\")"));
}

// Point 43.
TEST(Expression, NumbersPrintAsInJavaScript) {
  EXPECT_EQ(outcome("0.0000001"), "1e-7");
  EXPECT_EQ(outcome("1000000000000000000000"), "1e+21");
  EXPECT_EQ(outcome("0.1 + 0.2"), "0.30000000000000004");
  EXPECT_EQ(outcome("0.000001"), "0.000001");
  EXPECT_EQ(outcome("100000000000000000000"), "100000000000000000000");
}

TEST(Expression, TagsAreLostOutside) {
  const Value inside = value_of("[8 / 2, (1, 2), {'a': 2.0}]");
  EXPECT_FALSE(inside.items()[0].is_integer());
  const Value outside = inside.as_scope_value();
  EXPECT_TRUE(outside.items()[0].is_integer());
  EXPECT_TRUE(outside.items()[1].is_list());
  EXPECT_TRUE(outside.items()[2].dict().find("a")->is_integer());
}

TEST(Expression, ErrorsNamePlaceAndValues) {
  try {
    Expression::parse("attrs.axis +\n  attrs.nope * 2", {"manifest.json", "/variants/2/when/1"})
        .evaluate(scope());
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::expression);
    EXPECT_EQ(error.where(), "manifest.json:/variants/2/when/1, line 2, column 3");
    EXPECT_EQ(error.message(), "An operand of * is undefined: undefined * 2");
    EXPECT_NE(error.excerpt().find("  attrs.nope * 2\n  ^^^^^^^^^^^^^^"), std::string::npos)
        << error.excerpt();
  }
}

TEST(Expression, SyntaxErrorsNameThePlace) {
  const auto place = [](const char* text) {
    try {
      Expression::parse(text, {});
    } catch (const Error& error) {
      return error.where();
    }
    return std::string("none");
  };
  EXPECT_EQ(place("1 + "), "line 1, column 5");
  EXPECT_EQ(place("a\n  $"), "line 2, column 3");
  EXPECT_EQ(place("'abc"), "line 1, column 1");
  EXPECT_EQ(place("1e3"), "line 1, column 2");
  EXPECT_EQ(place("'a\\q'"), "line 1, column 3");
}

TEST(Expression, ConstantsStandForThemselves) {
  const Expression constant = Expression::constant(Value::number(3), {"manifest.json", "/x"});
  EXPECT_EQ(constant.text(), "3");
  EXPECT_TRUE(constant.closed());
  EXPECT_EQ(constant.evaluate(scope()).number(), 3);
}

TEST(Expression, ASinkSeesSubValues) {
  class Record final : public EvaluationSink {
   public:
    void evaluated(SourceSpan part, const Value& value) override {
      seen.push_back(text.substr(part.begin, part.end - part.begin) + "=" + describe(value));
    }
    std::string text = "attrs.axis < 2 + 2";
    std::vector<std::string> seen;
  } record;
  Expression::parse(record.text, {}).evaluate(scope(), {}, &record);
  EXPECT_EQ(record.seen, (std::vector<std::string>{"attrs={\"axis\": 3}", "attrs.axis=3", "2 + 2=4",
                                                   "attrs.axis < 2 + 2=true"}));
}

TEST(Scope, InnerLayersHideOuterOnes) {
  Scope outer(&functions(false));
  outer.set("a", Value::number(1));
  outer.set("b", Value::number(2));
  Scope inner(&outer);
  inner.set("a", Value::number(3));
  EXPECT_EQ(Expression::parse("a * 10 + b", {}).evaluate(inner).number(), 32);
  EXPECT_EQ(Expression::parse("a * 10 + b", {}).evaluate(outer).number(), 12);
  const std::vector<std::string> visible = inner.visible_names();
  EXPECT_EQ((std::vector<std::string>{visible.begin(), visible.begin() + 3}),
            (std::vector<std::string>{"a", "b", "ceil"}));
}

TEST(Scope, NativeObjectsHaveMembersAndMethods) {
  class Device final : public NativeObject {
   public:
    std::optional<Value> member(NameView name) const override {
      if (name.text == "size") return Value::number(2);
      if (name.text != "has") return std::nullopt;
      return Value::function("has",
                             [](Call& call) { return Value::boolean(print(call[0]) == "shader-f16"); });
    }
  };
  Scope names(&functions(false));
  names.set("features", Value::object(std::make_shared<const Device>()));
  const auto text = [&](const char* source) { return print(Expression::parse(source, {}).evaluate(names)); };
  EXPECT_EQ(text("features.has('shader-f16')"), "true");
  EXPECT_EQ(text("features['has']('x')"), "false");
  EXPECT_EQ(text("features.size + 1"), "3");
  EXPECT_EQ(text("features.nope is undefined"), "true");
  EXPECT_EQ(text("has(features, 'size') and not has(features, 'x')"), "true");
  EXPECT_THROW(text("features"), Error);
}

}  // namespace
}  // namespace kernelpack::expr
