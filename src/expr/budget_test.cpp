#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <iostream>
#include <string>
#include <thread>

#include "expr/expression.hpp"
#include "expr/scope.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::expr {
namespace {

std::string repeated(const std::string& text, std::size_t count) {
  std::string result;
  for (std::size_t i = 0; i < count; ++i) result += text;
  return result;
}

std::string chain(std::string first, const std::string& more, std::size_t count) {
  return first.append(repeated(more, count));
}

const Scope& scope() {
  static const Scope names = [] {
    Scope made(&functions(false));
    made.set("n", Value::number(7));
    made.set("x",
             Value::dict(
                 {{"rows", Value::number(4096)}, {"cols", Value::number(48)}, {"half", Value::number(0.5)}}));
    made.set("s", Value::list(std::vector<std::int64_t>{8, 12, 48, 48}));
    made.set("mode", Value::string("linear"));
    made.set("big", Value::string(std::string(1 << 20, 'a')));
    return made;
  }();
  return names;
}

/// Kind and message of the error, or "fine".
std::string trip(const std::string& text, const Budgets& budgets = {}) {
  try {
    Expression::parse(text, {"manifest.json", "/derive/x"}, budgets).evaluate(scope(), budgets);
  } catch (const Error& error) {
    EXPECT_FALSE(error.where().empty());
    return std::string(to_string(error.kind())).append(": ").append(error.message());
  }
  return "fine";
}

void expect_limit(const std::string& text, const std::string& budget, const Budgets& budgets = {}) {
  const std::string got = trip(text, budgets);
  EXPECT_EQ(got.rfind("limit: ", 0), 0u) << text.substr(0, 60) << ": " << got;
  EXPECT_NE(got.find(budget), std::string::npos) << text.substr(0, 60) << ": " << got;
}

// Point 44 of format.md 15; the budgets of 14 (u).
TEST(Budgets, DepthCountsWhatNests) {
  const auto nests = [](const std::string& open, const std::string& inner, const std::string& close) {
    const auto nested = [&](std::size_t depth) {
      return repeated(open, depth).append(inner).append(repeated(close, depth));
    };
    EXPECT_EQ(trip(nested(200)), "fine") << open;
    expect_limit(nested(201), "expression_depth (200)");
    expect_limit(nested(100000), "expression_depth (200)");
    expect_limit(repeated(open, 100000), "expression_depth (200)");
  };
  nests("(", "1", ")");
  nests("[", "1", "]");
  nests("{'a': ", "1", "}");
  nests("min(", "1", ")");
  nests("- ", "1", "");
  nests("+ ", "1", "");
  nests("not ", "1", "");
  nests("1 if false else ", "1", "");
  nests("1 | default(", "1", ")");
  expect_limit(chain(chain(repeated("s[", 201), "1", 1), "]", 201), "expression_depth (200)");
  expect_limit(chain(chain(repeated("(1 + ", 201), "1", 1), ")", 201), "expression_depth (200)");
}

TEST(Budgets, DepthIsConfigurableButBounded) {
  Budgets budgets;
  budgets.expression_depth = 3;
  EXPECT_EQ(trip("(((1)))", budgets), "fine");
  expect_limit("((((1))))", "expression_depth (3)", budgets);
  budgets.expression_depth = 1000000;
  expect_limit(repeated("(", 100000), "expression_depth (1000)", budgets);
  EXPECT_EQ(trip(chain(repeated("[", 499), "]", 499), budgets), "fine");
  expect_limit(chain(repeated("[", 900), "]", 900), "nests lists and dicts deeper", budgets);
}

// A chain is no nesting: it is parsed, evaluated and destroyed by loops.
TEST(Budgets, LongChainsDoNotRecurse) {
  constexpr std::size_t kLength = 100000;
  EXPECT_EQ(trip(chain("1", " + 1", kLength)), "fine");
  EXPECT_EQ(trip(chain("1", " and 1", kLength)), "fine");
  EXPECT_EQ(trip(chain("0", " or 0", kLength)), "fine");
  EXPECT_EQ(trip(chain("n", ".x", kLength)), "fine");
  EXPECT_EQ(trip(chain("n", " | abs", kLength)), "fine");
  EXPECT_EQ(trip(chain("n", " is defined", kLength)), "fine");
  EXPECT_EQ(trip(chain("n", " == 1", kLength)), "fine");
  EXPECT_EQ(trip(repeated("'a' ", kLength)), "fine");
  expect_limit(chain("1", " + 1", 600000), "evaluation_steps (1000000)");
}

TEST(Budgets, StepsBoundTheEvaluation) {
  Budgets budgets;
  budgets.evaluation_steps = 10;
  EXPECT_EQ(trip("1 + 2 + 3", budgets), "fine");
  expect_limit("1 + 2 + 3 + 4 + 5 + 6", "evaluation_steps (10)", budgets);
  expect_limit("fill(1, 11)", "evaluation_steps (10)", budgets);
  expect_limit("big == big ~ 'b'", "evaluation_steps (10)", budgets);
  expect_limit("numel(s + s + s)", "evaluation_steps (10)", budgets);
}

TEST(Budgets, ListsHaveALength) {
  expect_limit("fill(1, 1000001)", "list_length (1000000)");
  expect_limit("fill(1, 1000000000000000)", "list_length (1000000)");
  expect_limit("reversedAxes(1000001)", "list_length (1000000)");
  Budgets budgets;
  budgets.list_length = 4;
  EXPECT_EQ(trip("s[:]", budgets), "fine");
  expect_limit("s + [1]", "list_length (4)", budgets);
  expect_limit("[1, 2, 3, 4, 5]", "list_length (4)", budgets);
  expect_limit("fill(1, 5)", "list_length (4)", budgets);
  expect_limit("'a b c d e'.split()", "list_length (4)", budgets);
}

TEST(Budgets, StringsHaveALength) {
  const std::string four = "(big ~ big ~ big ~ big)";
  EXPECT_EQ(trip(four + " | length"), "fine");
  expect_limit(four + " ~ 'a'", "rendered_bytes (4194304)");
  expect_limit(four + " + 'a'", "rendered_bytes (4194304)");
  expect_limit("big | replace('a', 'aaaaaaaa')", "rendered_bytes (4194304)");
  expect_limit("big.replace('', '--------')", "rendered_bytes (4194304)");
  expect_limit("fill(big, 10) | join(',')", "rendered_bytes (4194304)");
  expect_limit("big | join('------')", "rendered_bytes (4194304)");
  expect_limit("fill(big, 10) | tojson", "rendered_bytes (4194304)");
  expect_limit("fill(big, 10) ~ ''", "rendered_bytes (4194304)");
  expect_limit("'a' | indent(100000000000, true)", "rendered_bytes (4194304)");
  expect_limit("[1] | tojson(indent=100000000000)", "rendered_bytes (4194304)");
  expect_limit("fill(fill(fill(1, 1000), 1000), 1000) | string", "evaluation_steps (1000000)");
}

// Work that grows with the product of two sizes must not escape the budgets either.
TEST(Budgets, HostileWorkStopsSoon) {
  const std::clock_t start = std::clock();
  trip("fill(big, 100000) | sort | length");
  trip("fill(big, 100000) | unique | length");
  trip("('b' ~ big) in fill('b' ~ big, 100000)");
  trip("(big ~ 'b') in big ~ big");
  trip("big | replace(big[:500000], 'b')");
  trip("fill(fill(fill(fill(4 / 2, 1000), 1000), 1000), 1000) == 3");
  trip("fill(fill(fill(fill([2.0], 1000), 1000), 1000), 1000)[0][0][0][0]");
  EXPECT_LT(std::clock() - start, 20 * CLOCKS_PER_SEC);
}

// A cold plan evaluates some 200 expressions; the bound is loose because the machine is shared.
TEST(Speed, TwoHundredExpressions) {
  std::vector<Expression> expressions;
  for (const char* text :
       {"x.rows % 4 == 0", "ceilDiv(x.rows * x.cols, 256)", "n > 3 and mode == 'linear'", "dim(s, -1)",
        "numel(s)", "s[3] * s[2] if x.cols < 64 else 1", "(s | length) == 4", "min(x.rows, 65535)"}) {
    expressions.push_back(Expression::parse(text, {}));
  }
  double best = 1e9;
  for (int round = 0; round < 50; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 25; ++i) {
      for (const Expression& expression : expressions) expression.evaluate(scope());
    }
    const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
    best = std::min(best, taken.count());
  }
  std::cout << "200 evaluations take " << best << " us\n";
  EXPECT_LT(best, 5000);
}

TEST(Threads, EvaluateOneExpressionAtOnce) {
  const Expression expression =
      Expression::parse("(s | join('x')) ~ mode ~ s[n % 4] ~ (s + [n]) | length", {});
  const std::string expected = print(expression.evaluate(scope()));
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) wrong += print(expression.evaluate(scope())) != expected;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace kernelpack::expr
