#include <gtest/gtest.h>

#include <iostream>
#include <string>

#include "base/utf8.hpp"
#include "expr/corpus_test.hpp"
#include "expr/fuzz_test.hpp"
#include "jinja/enable_f16.hpp"
#include "jinja/template.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::jinja {
namespace {

// Whatever the bytes are: a text or an Error.
TEST(TemplateFuzz, MutatedTextsRenderOrGiveAnError) {
  constexpr std::uint64_t kSeed = 11;
  std::cout << "seed " << kSeed << "\n";
  expr::Mutator mutator(kSeed);
  Budgets budgets;
  budgets.evaluation_steps = 20000;
  budgets.rendered_bytes = 1u << 16;
  budgets.list_length = 2000;
  std::size_t texts = 0;
  std::size_t errors = 0;
  expr::for_each_case(KERNELPACK_SOURCE_DIR "/tests/fixtures/jinja/corpus.jsonl",
                      [&](const json::Value& line, const expr::Scope& scope) {
                        for (int i = 0; i < 8; ++i) {
                          const std::string text = mutator.mutate(line.find("t")->string());
                          try {
                            const std::string out =
                                Template::parse(
                                    text, {"m", ""},
                                    [](const std::string&) { return std::string("{% if n %}"); }, budgets)
                                    .render(scope, budgets);
                            with_f16_enabled(out);
                            EXPECT_TRUE(find_invalid_utf8(text) || !find_invalid_utf8(out)) << text;
                            ++texts;
                          } catch (const Error& error) {
                            EXPECT_NE(error.kind(), ErrorKind::internal) << text;
                            EXPECT_FALSE(error.where().empty()) << text;
                            ++errors;
                          }
                        }
                      });
  std::cout << texts << " texts, " << errors << " errors\n";
  EXPECT_GT(texts, 2000u);
  EXPECT_GT(errors, 2000u);
}

}  // namespace
}  // namespace kernelpack::jinja
