#include "expr/fuzz_test.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <string>

#include "expr/corpus_test.hpp"
#include "expr/expression.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::expr {
namespace {

// Whatever the bytes are: a value or an Error.
TEST(ExpressionFuzz, MutatedTextsGiveAValueOrAnError) {
  constexpr std::uint64_t kSeed = 7;
  std::cout << "seed " << kSeed << "\n";
  Mutator mutator(kSeed);
  Budgets budgets;
  budgets.evaluation_steps = 20000;
  budgets.rendered_bytes = 1u << 16;
  budgets.list_length = 2000;
  std::size_t values = 0;
  std::size_t errors = 0;
  for_each_case(KERNELPACK_SOURCE_DIR "/tests/fixtures/expr/corpus.jsonl",
                [&](const json::Value& line, const Scope& scope) {
                  for (int i = 0; i < 4; ++i) {
                    const std::string text = mutator.mutate(line.find("e")->string());
                    try {
                      const Expression expression = Expression::parse(text, {"m", "/x"}, budgets);
                      const Value value = i % 2 == 0 ? expression.evaluate(scope, budgets)
                                                     : expression.evaluate_unchecked(scope, budgets);
                      describe(value);
                      print(value.as_scope_value());
                      ++values;
                    } catch (const Error& error) {
                      EXPECT_NE(error.kind(), ErrorKind::internal) << text;
                      ++errors;
                    }
                  }
                });
  std::cout << values << " values, " << errors << " errors\n";
  EXPECT_GT(values, 5000u);
  EXPECT_GT(errors, 5000u);
}

}  // namespace
}  // namespace kernelpack::expr
