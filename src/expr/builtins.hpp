#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "expr/meter.hpp"
#include "expr/value.hpp"

namespace kernelpack::expr {

// What the language is born with, each as one table from which docs/language.md is made: functions
// (format.md 4.9), filters and tests (4.7), members of strings, lists and dicts (4.5).

/// One application of a filter.
struct FilterCall {
  std::string_view name;
  bool parentheses = false;  ///< written with an argument list, which changes what some filters do
  bool literals = false;     ///< every argument is a positional string literal
  Call& call;
  Meter& meter;
};

struct FilterEntry {
  std::string_view name;
  std::string_view operands;   ///< "any", "list string", ...
  std::string_view arguments;  ///< "(sep)", empty if it takes none
  std::string_view summary;
  /// Throws expression without place. `std::nullopt`: the operand or the form is not one of the filter's.
  std::optional<Value> (*apply)(const Value& operand, const FilterCall& filter);
};

struct TestEntry {
  std::string_view name;
  std::string_view summary;
  /// `argument` is null but for eq and equalto under selectattr.
  bool (*holds)(const Value& operand, const Value* argument);
};

enum class MemberOf : std::uint8_t { string, list, dict };

struct MemberEntry {
  MemberOf owner;
  std::string_view name;
  std::string_view arguments;  ///< empty for a plain value (length)
  std::string_view summary;
  Value (*apply)(const Value& owner, Call& call, Meter& meter);
  bool is_method() const noexcept { return !arguments.empty(); }
};

struct FunctionEntry {
  std::string_view name;
  std::string_view arguments;
  std::string_view summary;
  Value (*apply)(Call& call, Meter& meter);
};

std::span<const FilterEntry> filters() noexcept;
std::span<const TestEntry> tests() noexcept;
std::span<const MemberEntry> members() noexcept;
std::span<const FunctionEntry> function_table() noexcept;

/// Index in the table, or kNoBuiltin.
std::uint16_t find_filter(NameView name) noexcept;
std::uint16_t find_test(NameView name) noexcept;

/// The built-in member of a string, list, tuple or dict (a method comes bound to `owner`), or undefined.
Value builtin_member(const Value& owner, NameView name, Meter& meter);
/// Calls a dict method by name, as the filters of that name do; nothing if there is none.
std::optional<Value> call_dict_method(const Value& dict, NameView name, Call& call, Meter& meter);
/// JavaScript's String.prototype.replaceAll limited to `count` replacements (negative: all).
Value replace_text(std::string_view text, std::string_view old_text, std::string_view new_text, double count,
                   Meter& meter);
Value replace_method(const Value& owner, Call& call, Meter& meter);

/// Sorts stably by `before(a, b)`, a three-way order that may fail and, with NaN among the items, may
/// contradict itself: then the result is that of the reference for lists below 64 items.
void sort_items(std::vector<Value>& items, const std::function<int(const Value&, const Value&)>& order,
                Meter& meter);

}  // namespace kernelpack::expr
