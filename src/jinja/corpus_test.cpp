#include <gtest/gtest.h>

#include <iostream>
#include <string>

#include "expr/corpus_test.hpp"
#include "jinja/template.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::jinja {
namespace {

constexpr std::size_t kFewest = 800;

std::string disagreement(const json::Value& line, const expr::Scope& scope) {
  const bool fails = line.find("fails") != nullptr;
  std::string out;
  try {
    out = Template::parse(line.find("t")->string(), {"corpus.jinja", ""}).render(scope, expr::no_budgets());
  } catch (const Error& error) {
    if (!fails) return std::string("fails: ").append(error.what());
    if (error.kind() != ErrorKind::template_ && error.kind() != ErrorKind::limit) {
      return std::string("fails with another kind: ").append(error.what());
    }
    return error.where().rfind("corpus.jinja, line ", 0) == 0
               ? ""
               : std::string("has no place: ").append(error.what());
  }
  if (fails) return std::string("renders where the oracle fails: ").append(out);
  const std::string& expected = line.find("out")->string();
  return out == expected ? ""
                         : std::string("renders\n").append(out).append("\n  the oracle\n").append(expected);
}

// Points 45 to 50 of format.md 15, at large.
TEST(TemplateCorpus, AgreesWithTheOracle) {
  std::size_t disagreements = 0;
  const std::size_t count = expr::for_each_case(KERNELPACK_SOURCE_DIR "/tests/fixtures/jinja/corpus.jsonl",
                                                [&](const json::Value& line, const expr::Scope& scope) {
                                                  const std::string complaint = disagreement(line, scope);
                                                  if (complaint.empty()) return;
                                                  if (++disagreements <= 40)
                                                    ADD_FAILURE()
                                                        << line.find("t")->string() << "\n  " << complaint;
                                                });
  std::cout << count << " templates compared with the oracle, " << disagreements << " disagreements\n";
  RecordProperty("templates", static_cast<int>(count));
  EXPECT_EQ(disagreements, 0u);
  EXPECT_GE(count, kFewest);
}

}  // namespace
}  // namespace kernelpack::jinja
