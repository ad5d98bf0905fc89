#include "expr/text.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/number_text.hpp"
#include "base/utf8.hpp"

namespace kernelpack::expr {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

unsigned char byte_at(std::string_view text, std::size_t offset) {
  return static_cast<unsigned char>(text[offset]);
}

/// A surrogate stored as three bytes at `offset`, or 0.
char32_t surrogate_at(std::string_view text, std::size_t offset) {
  if (offset + 3 > text.size() || byte_at(text, offset) != 0xED) return 0;
  const unsigned second = byte_at(text, offset + 1);
  const unsigned third = byte_at(text, offset + 2);
  if (second < 0xA0 || second > 0xBF || third < 0x80 || third > 0xBF) return 0;
  return 0xD000u | (second & 0x3Fu) << 6 | (third & 0x3Fu);
}

bool is_high(char32_t c) {
  return c >= 0xD800 && c <= 0xDBFF;
}
bool is_low(char32_t c) {
  return c >= 0xDC00 && c <= 0xDFFF;
}

char32_t high_half(char32_t c) {
  return 0xD800 + ((c - 0x10000) >> 10);
}
char32_t low_half(char32_t c) {
  return 0xDC00 + ((c - 0x10000) & 0x3FF);
}

/// Primary order of the printable ASCII characters in the root collation; letters by their lower case.
constexpr std::string_view kCollation =
    "\t\n\v\f\r _-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$0123456789abcdefghijklmnopqrstuvwxyz";

/// 0 for what collation ignores.
char32_t primary_weight(char32_t c) {
  if (c >= 0x80) return 0x100 + c;
  const std::size_t position = kCollation.find(ascii_lower(static_cast<char>(c)));
  return position == std::string_view::npos ? 0 : static_cast<char32_t>(position) + 1;
}

}  // namespace

Symbol symbol_at(std::string_view text, std::size_t offset) noexcept {
  if (byte_at(text, offset) < 0x80) return {byte_at(text, offset), 1};
  if (const char32_t half = surrogate_at(text, offset)) return {half, 3};
  const CodePoint point = decode_utf8(text, offset);
  return {point.value, point.length};
}

bool is_ascii(std::string_view text) noexcept {
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + i, 8);
    if ((word & 0x8080808080808080u) != 0) return false;
  }
  for (; i < text.size(); ++i) {
    if (byte_at(text, i) >= 0x80) return false;
  }
  return true;
}

std::size_t utf16_length(std::string_view text) noexcept {
  if (is_ascii(text)) return text.size();
  std::size_t units = 0;
  for (std::size_t i = 0; i < text.size();) {
    const Symbol symbol = symbol_at(text, i);
    units += symbol.units();
    i += symbol.length;
  }
  return units;
}

std::string unit_at(std::string_view text, std::size_t index) {
  std::size_t unit = 0;
  for (std::size_t i = 0; i < text.size();) {
    const Symbol symbol = symbol_at(text, i);
    if (index < unit + symbol.units()) {
      if (symbol.units() == 1) return std::string(text.substr(i, symbol.length));
      std::string half;
      append_utf8(half, index == unit ? high_half(symbol.value) : low_half(symbol.value));
      return half;
    }
    unit += symbol.units();
    i += symbol.length;
  }
  return {};
}

std::vector<std::string_view> code_points(std::string_view text) {
  std::vector<std::string_view> points;
  points.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = symbol_at(text, i).length;
    points.push_back(text.substr(i, length));
    i += length;
  }
  return points;
}

int compare_units(std::string_view a, std::string_view b) noexcept {
  const auto first_difference = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  auto offset = static_cast<std::size_t>(first_difference.first - a.begin());
  if (offset == a.size() || offset == b.size()) return a.size() < b.size() ? -1 : a.size() > b.size() ? 1 : 0;
  // Back to the first byte of the differing code point.
  while (offset > 0 && (byte_at(a, offset) & 0xC0) == 0x80 && (byte_at(b, offset) & 0xC0) == 0x80) --offset;
  char32_t x = symbol_at(a, offset).value;
  char32_t y = symbol_at(b, offset).value;
  if (x > 0xFFFF && y > 0xFFFF) return x < y ? -1 : x > y ? 1 : 0;
  if (x > 0xFFFF) x = high_half(x);
  if (y > 0xFFFF) y = high_half(y);
  return x < y ? -1 : x > y ? 1 : 0;
}

void append_unit(std::string& text, char32_t unit) {
  if (is_low(unit) && text.size() >= 3) {
    const char32_t before = surrogate_at(text, text.size() - 3);
    if (is_high(before)) {
      text.resize(text.size() - 3);
      append_utf8(text, 0x10000 + ((before - 0xD800) << 10) + (unit - 0xDC00));
      return;
    }
  }
  append_utf8(text, unit);
}

void append_text(std::string& text, std::string_view more) {
  if (const char32_t half = more.empty() ? 0 : surrogate_at(more, 0); is_low(half)) {
    append_unit(text, half);
    more.remove_prefix(3);
  }
  text += more;
}

void join_halves(std::string& text) {
  const std::size_t first = text.find('\xED');
  if (first == std::string::npos) return;
  std::string joined = text.substr(0, first);
  for (std::size_t i = first; i < text.size();) {
    const std::size_t length = std::min(symbol_at(text, i).length, text.size() - i);
    append_text(joined, std::string_view(text).substr(i, length));
    i += length;
  }
  text = std::move(joined);
}

std::string to_valid_utf8(std::string text) {
  for (std::size_t i = text.find('\xED'); i != std::string::npos; i = text.find('\xED', i + 1)) {
    if (surrogate_at(text, i) != 0) text.replace(i, 3, "\xEF\xBF\xBD");
  }
  return text;
}

bool is_space(char32_t c) noexcept {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) ||
         c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000 || c == 0xFEFF;
}

std::string_view trim_start(std::string_view text) noexcept {
  while (!text.empty()) {
    const Symbol symbol = symbol_at(text, 0);
    if (!is_space(symbol.value)) break;
    text.remove_prefix(symbol.length);
  }
  return text;
}

std::string_view trim_end(std::string_view text) noexcept {
  while (!text.empty()) {
    std::size_t begin = text.size() - 1;
    while (begin > 0 && text.size() - begin < 4 && (byte_at(text, begin) & 0xC0) == 0x80) --begin;
    const Symbol symbol = symbol_at(text, begin);
    if (!is_space(symbol.value) || begin + symbol.length != text.size()) break;
    text.remove_suffix(symbol.length);
  }
  return text;
}

std::string_view trim(std::string_view text) noexcept {
  return trim_end(trim_start(text));
}

std::string to_upper(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), ascii_upper);
  return result;
}

std::string to_lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), ascii_lower);
  return result;
}

std::string to_title(std::string_view text) {
  std::string result(text);
  bool inside = false;
  for (char& c : result) {
    if (!inside) c = ascii_upper(c);
    inside = is_word(c);
  }
  return result;
}

std::size_t find_text(std::string_view text, std::string_view part, std::size_t from) noexcept {
  if (from > text.size()) return std::string_view::npos;
  if (part.empty()) return from;
  if (part.size() > text.size() - from) return std::string_view::npos;
  const void* found = memmem(text.data() + from, text.size() - from, part.data(), part.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

double parse_int_prefix(std::string_view text) noexcept {
  text = trim_start(text);
  std::size_t end = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const std::size_t digits = end;
  while (end < text.size() && is_digit(text[end])) ++end;
  if (end == digits) return kNaN;
  return nearest_double(text.substr(text[0] == '+' ? 1 : 0, end - (text[0] == '+' ? 1 : 0)));
}

double parse_float_prefix(std::string_view text) noexcept {
  text = trim_start(text);
  const bool negative = !text.empty() && text[0] == '-';
  if (negative || (!text.empty() && text[0] == '+')) text.remove_prefix(1);
  constexpr std::string_view kInfinity = "Infinity";
  if (text.substr(0, kInfinity.size()) == kInfinity) {
    const double infinity = std::numeric_limits<double>::infinity();
    return negative ? -infinity : infinity;
  }
  std::size_t end = 0;
  const auto digits = [&](std::size_t at) {
    while (at < text.size() && is_digit(text[at])) ++at;
    return at;
  };
  end = digits(0);
  std::size_t count = end;
  if (end < text.size() && text[end] == '.') {
    const std::size_t after = digits(end + 1);
    count += after - end - 1;
    end = after;
  }
  if (count == 0) return kNaN;
  if (end < text.size() && (text[end] == 'e' || text[end] == 'E')) {
    std::size_t exponent = end + 1;
    if (exponent < text.size() && (text[exponent] == '+' || text[exponent] == '-')) ++exponent;
    const std::size_t after = digits(exponent);
    if (after > exponent) end = after;
  }
  const double value = nearest_double(text.substr(0, end));
  return negative ? -value : value;
}

int compare_locale(std::string_view a, std::string_view b) noexcept {
  int case_order = 0;
  std::size_t i = 0;
  std::size_t j = 0;
  const auto next = [](std::string_view text, std::size_t& at) {
    while (at < text.size()) {
      const Symbol symbol = symbol_at(text, at);
      at += symbol.length;
      if (primary_weight(symbol.value) != 0) return symbol.value;
    }
    return char32_t{0};
  };
  while (true) {
    const char32_t x = next(a, i);
    const char32_t y = next(b, j);
    if (x == 0 || y == 0) {
      if (x != y) return x == 0 ? -1 : 1;
      return case_order;
    }
    const char32_t wx = primary_weight(x);
    const char32_t wy = primary_weight(y);
    if (wx != wy) return wx < wy ? -1 : 1;
    // Letters of one primary weight: lower case comes first, decided by the first such difference.
    if (case_order == 0 && x != y) case_order = x > y ? -1 : 1;
  }
}

}  // namespace kernelpack::expr
