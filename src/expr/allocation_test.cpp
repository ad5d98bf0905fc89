#include <gtest/gtest.h>

#include <string>

#include "base/allocation_count_test.hpp"
#include "expr/expression.hpp"
#include "expr/scope.hpp"

namespace kernelpack::expr {
namespace {

// Arithmetic and comparison allocate nothing per evaluation.
TEST(Speed, ArithmeticAllocatesNothing) {
  if (!allocation_count()) GTEST_SKIP() << "Allocations cannot be counted under a sanitizer";
  Scope scope(&functions(false));
  scope.set("n", Value::number(7));
  scope.set("x",
            Value::dict(
                {{"rows", Value::number(4096)}, {"cols", Value::number(48)}, {"half", Value::number(0.5)}}));
  scope.set("s", Value::list(std::vector<std::int64_t>{8, 12, 48, 48}));
  scope.set("mode", Value::string("linear"));
  for (const char* text :
       {"1 + 2 * 3 - 4 / 5 // 6 % 7", "(x.rows * x.cols + 255) // 256",
        "n > 3 and x.cols % 4 == 0 or not (n < 2)", "-n ** 2 <= x.half", "s[-1] * s[0]",
        "s[1] if n is odd else s[2]", "mode == 'linear' and n != 3", "n in s or n not in s",
        "x.half is number", "s | length", "x.missing is defined", "x.half | int", "s == s"}) {
    const Expression expression = Expression::parse(text, {});
    expression.evaluate(scope);
    const long before = allocation_count().value();
    for (int i = 0; i < 100; ++i) expression.evaluate(scope);
    EXPECT_EQ(allocation_count().value() - before, 0) << text;
  }
  const long before = allocation_count().value();
  Expression::parse("1 + 1", {});
  EXPECT_GT(allocation_count().value() - before, 0) << "Allocations are not counted";
}

}  // namespace
}  // namespace kernelpack::expr
