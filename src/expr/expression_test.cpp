#include <gtest/gtest.h>

#include "expr/expression.hpp"
#include "expr/scope.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::expr {
namespace {

std::string text_of(const std::string& source) {
  return print(Expression::parse(source, {}).evaluate(functions(false)));
}

TEST(Expression, Smoke) {
  EXPECT_EQ(text_of("7 / 2 * 2"), "7.0");
}

}  // namespace
}  // namespace kernelpack::expr
