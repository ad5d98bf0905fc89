#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/budget.hpp"
#include "base/source.hpp"

namespace kernelpack::json {

enum class Kind { null, boolean, number, string, array, object };

/// "null", "boolean", "number", "string", "array", "object".
std::string_view to_string(Kind kind) noexcept;

struct Member;

/// One JSON value with its place in the text. Objects keep the order of their members.
class Value {
 public:
  Value() = default;

  Kind kind() const noexcept { return static_cast<Kind>(content_.index()); }
  bool is_null() const noexcept { return kind() == Kind::null; }
  bool is_boolean() const noexcept { return kind() == Kind::boolean; }
  bool is_number() const noexcept { return kind() == Kind::number; }
  bool is_string() const noexcept { return kind() == Kind::string; }
  bool is_array() const noexcept { return kind() == Kind::array; }
  bool is_object() const noexcept { return kind() == Kind::object; }

  /// Each requires the matching kind (asserted).
  bool boolean() const noexcept;
  double number() const noexcept;
  const std::string& string() const noexcept;
  const std::vector<Value>& items() const noexcept;
  const std::vector<Member>& members() const noexcept;

  /// The member of that name, or null; null as well if this is not an object.
  const Value* find(std::string_view key) const noexcept;

  /// Bytes of the value in the document's text; empty for a value made in memory.
  SourceSpan span;

  static Value make_null();
  static Value make(bool value);
  static Value make(double value);
  static Value make(std::string value);
  static Value make(std::vector<Value> items);
  static Value make(std::vector<Member> members);

 private:
  // In the order of Kind.
  std::variant<std::monostate, bool, double, std::string, std::vector<Value>, std::vector<Member>> content_;
};

struct Member {
  std::string key;
  Value value;
  SourceSpan key_span;
};

/// Appends one escaped reference token ("~" and "/" as "~0" and "~1") to a JSON pointer.
std::string join_pointer(std::string_view pointer, std::string_view token);
std::string join_pointer(std::string_view pointer, std::size_t index);

/// A parsed text with what is needed to report faults in it.
struct Document {
  std::string name;  ///< for messages, e.g. "manifest.json"
  std::string text;
  Value root;
};

/// Parses strict JSON (RFC 8259: no comments, no trailing commas, UTF-8). Throws `kind` (package by default)
/// naming line and column for a syntax error, a duplicate key, invalid UTF-8 or a number outside double;
/// limit for a text or nesting beyond the budgets.
Document parse(std::string text, std::string name, const Budgets& budgets = {},
               ErrorKind kind = ErrorKind::package);

/// Compact JSON text: members in order, numbers as JavaScript prints them, strings escaped.
std::string write(const Value& value);
/// The JSON string literal, quotes included, as JavaScript's JSON.stringify writes it.
std::string quote(std::string_view text);

}  // namespace kernelpack::json
