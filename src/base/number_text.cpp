#include "base/number_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>

#include "base/utf8.hpp"

namespace kernelpack {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// White space and line terminators of JavaScript.
bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) ||
         c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000 || c == 0xFEFF;
}

std::string_view trim(std::string_view text) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const CodePoint point = decode_utf8(text, begin);
    if (!is_space(point.value)) break;
    begin += point.length;
  }
  std::size_t end = begin;
  for (std::size_t i = begin; i < text.size();) {
    const CodePoint point = decode_utf8(text, i);
    i += point.length;
    if (!is_space(point.value)) end = i;
  }
  return text.substr(begin, end - begin);
}

/// digits [. digits] [e [sign] digits] with a digit on at least one side of the point.
bool is_decimal(std::string_view text) {
  std::size_t i = 0;
  const auto digits = [&] {
    const std::size_t start = i;
    while (i < text.size() && is_digit(text[i])) ++i;
    return i - start;
  };
  std::size_t count = digits();
  if (i < text.size() && text[i] == '.') {
    ++i;
    count += digits();
  }
  if (count == 0) return false;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '+' || text[i] == '-')) ++i;
    if (digits() == 0) return false;
  }
  return i == text.size();
}

/// Whether the value of a decimal literal that no double holds is too large (rather than too small).
bool is_too_large(std::string_view decimal) {
  std::int64_t point = 0;  // decimal exponent of the first significant digit
  bool seen_point = false;
  bool seen_digit = false;
  std::size_t i = 0;
  for (; i < decimal.size() && decimal[i] != 'e' && decimal[i] != 'E'; ++i) {
    if (decimal[i] == '.') {
      seen_point = true;
    } else if (is_digit(decimal[i])) {
      if (decimal[i] != '0') seen_digit = true;
      if (seen_digit && !seen_point) ++point;
      if (!seen_digit && seen_point) --point;
    }
  }
  constexpr std::int64_t kEnough = 1'000'000'000'000;
  std::int64_t exponent = 0;
  bool negative = false;
  for (++i; i < decimal.size(); ++i) {
    if (decimal[i] == '-') negative = true;
    if (is_digit(decimal[i])) exponent = std::min(kEnough, exponent * 10 + (decimal[i] - '0'));
  }
  return point + (negative ? -exponent : exponent) > 0;
}

/// Digits of a radix that is a power of two, rounded to nearest even; NaN if there is a foreign character or
/// none.
double parse_power_of_two(std::string_view digits, unsigned bits_per_digit) {
  if (digits.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::uint64_t head = 0;
  bool rest = false;
  int dropped = 0;
  for (const char c : digits) {
    unsigned value = 0;
    if (is_digit(c))
      value = static_cast<unsigned>(c - '0');
    else if (c >= 'a' && c <= 'f')
      value = static_cast<unsigned>(c - 'a') + 10;
    else if (c >= 'A' && c <= 'F')
      value = static_cast<unsigned>(c - 'A') + 10;
    else
      return std::numeric_limits<double>::quiet_NaN();
    if (value >= (1u << bits_per_digit)) return std::numeric_limits<double>::quiet_NaN();
    if (head >> (64 - bits_per_digit) == 0) {
      head = (head << bits_per_digit) | value;
    } else {
      rest = rest || value != 0;
      dropped = std::min(dropped + static_cast<int>(bits_per_digit), 4096);
    }
  }
  // At least 61 bits are kept, so the lowest one is far below the rounding position and can stand for the
  // rest.
  return std::ldexp(static_cast<double>(head | (rest ? 1 : 0)), dropped);
}

}  // namespace

std::string javascript_number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  if (value == 0) return "0";

  std::array<char, 32> buffer;
  const auto printed = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(value),
                                     std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(printed.ptr - buffer.data()));
  const std::size_t e = text.find('e');
  std::string digits(text.substr(0, e));
  digits.erase(std::remove(digits.begin(), digits.end(), '.'), digits.end());
  int exponent = 0;
  const char* const exponent_begin = text.data() + e + (text[e + 1] == '+' ? 2 : 1);
  std::from_chars(exponent_begin, text.data() + text.size(), exponent);

  // The value is 0.digits x 10^n.
  const int n = exponent + 1;
  const int k = static_cast<int>(digits.size());
  std::string result = value < 0 ? "-" : "";
  if (k <= n && n <= 21) {
    result.append(digits).append(static_cast<std::size_t>(n - k), '0');
  } else if (0 < n && n <= 21) {
    digits.insert(static_cast<std::size_t>(n), 1, '.');
    result.append(digits);
  } else if (-6 < n && n <= 0) {
    result.append("0.").append(static_cast<std::size_t>(-n), '0').append(digits);
  } else {
    if (k > 1) digits.insert(1, 1, '.');
    result.append(digits).append(n > 0 ? "e+" : "e-").append(std::to_string(std::abs(n - 1)));
  }
  return result;
}

double nearest_double(std::string_view decimal) noexcept {
  double value = 0;
  const auto read = std::from_chars(decimal.data(), decimal.data() + decimal.size(), value);
  if (read.ec != std::errc::result_out_of_range) return value;
  const bool negative = decimal.front() == '-';
  const double magnitude = is_too_large(decimal) ? std::numeric_limits<double>::infinity() : 0.0;
  return negative ? -magnitude : magnitude;
}

double javascript_to_number(std::string_view text) {
  text = trim(text);
  if (text.empty()) return 0;
  if (text.size() > 2 && text[0] == '0') {
    switch (text[1]) {
      case 'x':
      case 'X':
        return parse_power_of_two(text.substr(2), 4);
      case 'o':
      case 'O':
        return parse_power_of_two(text.substr(2), 3);
      case 'b':
      case 'B':
        return parse_power_of_two(text.substr(2), 1);
      default:
        break;
    }
  }
  const bool negative = text.front() == '-';
  if (negative || text.front() == '+') text.remove_prefix(1);
  double magnitude = std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity")
    magnitude = std::numeric_limits<double>::infinity();
  else if (is_decimal(text))
    magnitude = nearest_double(text);
  return negative ? -magnitude : magnitude;
}

}  // namespace kernelpack
