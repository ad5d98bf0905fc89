#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <iostream>
#include <limits>

#include "base/json.hpp"
#include "base/number_text.hpp"
#include "expr/corpus_test.hpp"
#include "expr/expression.hpp"
#include "expr/scope.hpp"
#include "expr/text.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::expr {
namespace {

constexpr std::size_t kFewest = 4000;

std::string number_notation(double value) {
  return value == 0 && std::signbit(value) ? "-0" : javascript_number_text(value);
}

/// The notation of tests/oracle/oracle.mjs.
std::string notation(const Value& value) {
  const auto sequence = [](const char* tag, const Value& list) {
    std::string text = fmt::format("[\"{}\"", tag);
    for (const Value& item : list.items()) text.append(",").append(notation(item));
    return text.append("]");
  };
  switch (value.kind()) {
    case Kind::undefined:
      return "[\"u\"]";
    case Kind::none:
      return "null";
    case Kind::boolean:
      return value.boolean() ? "true" : "false";
    case Kind::number:
      return fmt::format("[\"{}\",\"{}\"]", value.is_integer() ? "i" : "f", number_notation(value.number()));
    case Kind::string: {
      if (to_valid_utf8(value.string()) == value.string())
        return fmt::format("[\"s\",{}]", json::quote(value.string()));
      std::string text = "[\"w\"";
      for (std::size_t i = 0; i < value.string_length(); ++i) {
        text += fmt::format(",{}", static_cast<unsigned>(symbol_at(unit_at(value.string(), i), 0).value));
      }
      return text.append("]");
    }
    case Kind::list:
      return sequence("l", value);
    case Kind::tuple:
      return sequence("t", value);
    case Kind::dict: {
      std::string text = "[\"d\"";
      for (const Dict::Entry& entry : value.dict().entries()) {
        text += fmt::format(",[{},{}]", json::quote(entry.key.string()), notation(entry.value));
      }
      return text.append("]");
    }
    case Kind::function:
      return "[\"fn\"]";
    default:
      return "?";
  }
}

std::int64_t ordered_bits(double value) {
  std::int64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits < 0 ? std::numeric_limits<std::int64_t>::min() - bits : bits;
}

/// Same tag, and the same value within 4 ULP.
bool nearly_equal(const Value& value, const json::Value& expected) {
  if (!value.is_number() || expected.kind() != json::Kind::array) return false;
  if ((expected.items()[0].string() == "i") != value.is_integer()) return false;
  const double wanted = javascript_to_number(expected.items()[1].string());
  if (std::isnan(wanted) || std::isnan(value.number()))
    return std::isnan(wanted) && std::isnan(value.number());
  return std::abs(ordered_bits(value.number()) - ordered_bits(wanted)) <= 4;
}

std::string disagreement(const json::Value& line, const Scope& scope) {
  const bool fails = line.find("fails") != nullptr;
  Value value;
  try {
    value = Expression::parse(line.find("e")->string(), {}).evaluate_unchecked(scope, no_budgets());
  } catch (const Error& error) {
    return fails ? "" : std::string("fails: ") + error.what();
  }
  if (fails) return "gives " + notation(value) + " where the oracle fails";
  if (line.find("approx") != nullptr) {
    return nearly_equal(value, *line.find("v")) ? ""
                                                : "gives " + notation(value) + ", not nearly the oracle's";
  }
  if (notation(value) != json::write(*line.find("v"))) {
    return "gives " + notation(value) + ", the oracle " + json::write(*line.find("v"));
  }
  std::optional<std::string> printed;
  try {
    printed = print(value);
  } catch (const Error&) {
    printed.reset();
  }
  const json::Value& expected = *line.find("p");
  if (expected.is_null()) return printed ? "prints " + *printed + " where the oracle fails" : "";
  if (!printed) return "cannot be printed, the oracle prints " + expected.string();
  return *printed == expected.string() ? "" : "prints " + *printed + ", the oracle " + expected.string();
}

// Point 31 of format.md 15.
TEST(ExpressionCorpus, AgreesWithTheOracle) {
  std::size_t disagreements = 0;
  const std::size_t count = for_each_case(KERNELPACK_SOURCE_DIR "/tests/fixtures/expr/corpus.jsonl",
                                          [&](const json::Value& line, const Scope& scope) {
                                            const std::string complaint = disagreement(line, scope);
                                            if (complaint.empty()) return;
                                            if (++disagreements <= 40)
                                              ADD_FAILURE()
                                                  << line.find("e")->string() << "\n  " << complaint;
                                          });
  std::cout << count << " expressions compared with the oracle, " << disagreements << " disagreements\n";
  RecordProperty("expressions", static_cast<int>(count));
  EXPECT_EQ(disagreements, 0u);
  EXPECT_GE(count, kFewest);
}

}  // namespace
}  // namespace kernelpack::expr
