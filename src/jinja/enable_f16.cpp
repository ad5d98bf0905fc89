#include "jinja/enable_f16.hpp"

#include "expr/text.hpp"

namespace kernelpack::jinja {
namespace {

using expr::is_digit;
using expr::is_word;

bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// A copy in which each comment is a blank. Block comments nest.
std::string without_comments(std::string_view wgsl) {
  std::string code;
  for (std::size_t i = 0; i < wgsl.size();) {
    const std::string_view two = wgsl.substr(i, 2);
    if (two == "//") {
      i = std::min(wgsl.find('\n', i), wgsl.size());
    } else if (two == "/*") {
      std::size_t depth = 1;
      for (i += 2; i < wgsl.size() && depth > 0;) {
        const std::string_view next = wgsl.substr(i, 2);
        if (next == "/*") ++depth;
        if (next == "*/") --depth;
        i += next == "/*" || next == "*/" ? 2 : 1;
      }
      code += ' ';
    } else {
      code += wgsl[i++];
    }
  }
  return code;
}

/// Whether `word` stands at `offset` as a word of its own.
bool is_word_at(std::string_view code, std::size_t offset, std::string_view word) {
  if (code.substr(offset, word.size()) != word) return false;
  if (offset > 0 && is_word(code[offset - 1])) return false;
  const std::size_t end = offset + word.size();
  return end >= code.size() || !is_word(code[end]);
}

bool has_word(std::string_view code, std::string_view word) {
  for (std::size_t i = code.find(word); i != std::string_view::npos; i = code.find(word, i + 1)) {
    if (is_word_at(code, i, word)) return true;
  }
  return false;
}

/// Whether a number literal with the suffix h starts at `offset`.
bool is_half_literal(std::string_view code, std::size_t offset) {
  std::size_t at = offset;
  const auto peek = [&] { return at < code.size() ? code[at] : '\0'; };
  const auto run = [&](bool (*matches)(char)) {
    const std::size_t begin = at;
    while (at < code.size() && matches(code[at])) ++at;
    return at - begin;
  };
  const auto decimal = [](char c) { return is_digit(c); };
  const auto exponent = [&](char small, char large) {
    if (peek() != small && peek() != large) return false;
    const std::size_t begin = at++;
    if (peek() == '+' || peek() == '-') ++at;
    if (run(decimal) > 0) return true;
    at = begin;
    return false;
  };
  if (code.substr(at, 2) == "0x" || code.substr(at, 2) == "0X") {
    at += 2;
    std::size_t digits = run(is_hex_digit);
    if (peek() == '.') {
      ++at;
      digits += run(is_hex_digit);
    }
    if (digits == 0 || !exponent('p', 'P')) return false;
  } else {
    std::size_t digits = run(decimal);
    if (peek() == '.') {
      ++at;
      digits += run(decimal);
    }
    if (digits == 0) return false;
    exponent('e', 'E');
  }
  return peek() == 'h' && (at + 1 >= code.size() || !is_word(code[at + 1]));
}

bool has_half_literal(std::string_view code) {
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (!is_digit(code[i]) && code[i] != '.') continue;
    if (i > 0 && (is_word(code[i - 1]) || code[i - 1] == '.')) continue;
    if (is_half_literal(code, i)) return true;
  }
  return false;
}

/// Whether a line starts with blanks and a directive `enable` that names f16 before its semicolon.
bool enables_f16(std::string_view code) {
  constexpr std::string_view kEnable = "enable";
  for (std::size_t i = code.find(kEnable); i != std::string_view::npos; i = code.find(kEnable, i + 1)) {
    if (!is_word_at(code, i, kEnable)) continue;
    const std::size_t before = code.find_last_not_of(" \t\r", i == 0 ? 0 : i - 1);
    const bool starts_line = i == 0 || before == std::string_view::npos || code[before] == '\n';
    const std::size_t end = code.find(';', i);
    if (starts_line && end != std::string_view::npos && has_word(code.substr(i, end - i), "f16")) return true;
  }
  return false;
}

}  // namespace

bool needs_enable_f16(std::string_view wgsl) {
  const std::string code = without_comments(wgsl);
  return (has_word(code, "f16") || has_half_literal(code)) && !enables_f16(code);
}

std::string with_f16_enabled(std::string wgsl) {
  if (needs_enable_f16(wgsl)) wgsl.insert(0, "enable f16;\n");
  return wgsl;
}

}  // namespace kernelpack::jinja
