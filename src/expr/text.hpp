#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kernelpack::expr {

// Strings of the language count UTF-16 units (format.md 14 (w)) but are stored as UTF-8. A half of a
// surrogate pair that stands alone is stored as three bytes; `join_text` makes a pair of two halves that
// meet.

/// A code point, or a lone surrogate, and the bytes it takes. Malformed bytes count as one code point each.
struct Symbol {
  char32_t value = 0;
  std::size_t length = 1;
  std::size_t units() const noexcept { return value > 0xFFFF ? 2 : 1; }
};
Symbol symbol_at(std::string_view text, std::size_t offset) noexcept;

bool is_ascii(std::string_view text) noexcept;
std::size_t utf16_length(std::string_view text) noexcept;
/// The UTF-16 unit at that index, which must exist, as a string of its own.
std::string unit_at(std::string_view text, std::size_t index);
/// One string per code point.
std::vector<std::string_view> code_points(std::string_view text);
/// Compares by UTF-16 units: negative, 0 or positive.
int compare_units(std::string_view a, std::string_view b) noexcept;
/// Appends one UTF-16 unit; a low surrogate completes a high one at the end of `text`.
void append_unit(std::string& text, char32_t unit);
void append_text(std::string& text, std::string_view more);
/// Makes one character of two halves of a pair that were appended separately.
void join_halves(std::string& text);
/// `text` with lone surrogates replaced by U+FFFD: what may leave the language as UTF-8.
std::string to_valid_utf8(std::string text);

/// JavaScript's white space and line terminators.
bool is_space(char32_t c) noexcept;
std::string_view trim_start(std::string_view text) noexcept;
std::string_view trim_end(std::string_view text) noexcept;
std::string_view trim(std::string_view text) noexcept;

constexpr bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}
constexpr bool is_word(char c) noexcept {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr char ascii_upper(char c) noexcept {
  return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
}
constexpr char ascii_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}
std::string to_upper(std::string_view text);
std::string to_lower(std::string_view text);
/// Upper case for each word character that follows none.
std::string to_title(std::string_view text);

/// The offset of `part` in `text` at or after `from`, or npos; linear time.
std::size_t find_text(std::string_view text, std::string_view part, std::size_t from = 0) noexcept;

/// JavaScript's parseInt(text, 10) and parseFloat(text): a prefix counts, NaN if there is none.
double parse_int_prefix(std::string_view text) noexcept;
double parse_float_prefix(std::string_view text) noexcept;

/// JavaScript's String.prototype.localeCompare for sorting dict keys: negative, 0 or positive. ASCII follows
/// the collation of the Unicode root locale (punctuation, digits, letters with lower case first); what is
/// beyond ASCII sorts behind it by code point.
int compare_locale(std::string_view a, std::string_view b) noexcept;

}  // namespace kernelpack::expr
