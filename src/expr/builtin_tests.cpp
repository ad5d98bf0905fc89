#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "expr/ast.hpp"
#include "expr/builtins.hpp"
#include "expr/print.hpp"
#include "expr/text.hpp"

namespace kernelpack::expr {
namespace {

bool is_even(const Value& value, std::string_view test) {
  if (!value.is_integer()) {
    fail(fmt::format("The test {} needs an int, not {}", test, name_value(value)));
  }
  return std::fmod(value.number(), 2) == 0;
}

bool is_equal(const Value& value, const Value* argument) {
  if (argument == nullptr) fail("The tests eq and equalto cannot take their argument here");
  return value.identical(*argument);
}

bool all_of(const Value& value, bool (*foreign)(char)) {
  return value.is_string() && std::none_of(value.string().begin(), value.string().end(), foreign);
}

constexpr std::array<TestEntry, 19> kTests = {{
    {"defined", "not undefined", [](const Value& v, const Value*) { return !v.is_undefined(); }},
    {"undefined", "undefined", [](const Value& v, const Value*) { return v.is_undefined(); }},
    {"none", "none", [](const Value& v, const Value*) { return v.is_none(); }},
    {"number", "an int or a float, not a bool", [](const Value& v, const Value*) { return v.is_number(); }},
    {"integer", "an int", [](const Value& v, const Value*) { return v.is_integer(); }},
    {"string", "a string", [](const Value& v, const Value*) { return v.is_string(); }},
    {"boolean", "a bool", [](const Value& v, const Value*) { return v.is_boolean(); }},
    {"true", "the bool true", [](const Value& v, const Value*) { return v.is_boolean() && v.boolean(); }},
    {"false", "the bool false", [](const Value& v, const Value*) { return v.is_boolean() && !v.boolean(); }},
    {"iterable", "a list or a string, not a tuple",
     [](const Value& v, const Value*) { return v.is_list() || v.is_string(); }},
    {"sequence", "a list, tuple, dict or string",
     [](const Value& v, const Value*) { return v.is_list_or_tuple() || v.is_dict() || v.is_string(); }},
    {"mapping", "a dict", [](const Value& v, const Value*) { return v.is_dict(); }},
    {"callable", "a function", [](const Value& v, const Value*) { return v.kind() == Kind::function; }},
    {"odd", "an odd int; fails for anything but an int",
     [](const Value& v, const Value*) { return !is_even(v, "odd"); }},
    {"even", "an even int; fails for anything but an int",
     [](const Value& v, const Value*) { return is_even(v, "even"); }},
    {"lower", "a string without upper-case ASCII letters",
     [](const Value& v, const Value*) { return all_of(v, [](char c) { return c >= 'A' && c <= 'Z'; }); }},
    {"upper", "a string without lower-case ASCII letters",
     [](const Value& v, const Value*) { return all_of(v, [](char c) { return c >= 'a' && c <= 'z'; }); }},
    {"eq", "strictly equal; only under selectattr and rejectattr, which pass the argument", is_equal},
    {"equalto", "the same as eq", is_equal},
}};

}  // namespace

std::span<const TestEntry> tests() noexcept {
  return kTests;
}

std::uint16_t find_test(NameView name) noexcept {
  for (std::size_t i = 0; i < tests().size(); ++i) {
    if (tests()[i].name == name.text) return static_cast<std::uint16_t>(i);
  }
  return kNoBuiltin;
}

}  // namespace kernelpack::expr
