#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "expr/meter.hpp"
#include "expr/value.hpp"

namespace kernelpack::expr {

/// The printed text of a float: with ".0" where integral below 1e21.
std::string float_text(double value);
/// JSON.stringify of a string, quotes included.
void append_json_string(std::string& out, std::string_view text, bool ensure_ascii = false);

struct JsonStyle {
  std::optional<double> indent;  ///< absent or 0: one line
  bool ensure_ascii = false;
  bool sort_keys = false;
  std::optional<std::string> item_separator;
  std::string key_separator = ": ";
  bool undefined_as_null = true;
};
/// Appends the JSON form of 4.6 and of the filter tojson. Fails for tuples, functions and native objects.
void append_json(std::string& out, const Value& value, const JsonStyle& style, Meter& meter);

/// Appends what `{{ }}` prints (4.6).
void append_printed(std::string& out, const Value& value, Meter& meter);
/// Appends the text that `~` joins and that comparisons with text use (4.5).
void append_joined(std::string& out, const Value& value, Meter& meter);
std::string joined_text(const Value& value, Meter& meter);

}  // namespace kernelpack::expr
