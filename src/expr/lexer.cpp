#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "expr/text.hpp"
#include "expr/token.hpp"

namespace kernelpack::expr {
namespace {

struct Symbolic {
  std::string_view text;
  TokenKind kind;
};

/// Longer spellings before their own beginnings.
constexpr std::array<Symbolic, 29> kSymbols = {{
    {"{%", TokenKind::open_statement},
    {"%}", TokenKind::close_statement},
    {"{{", TokenKind::open_expression},
    {"}}", TokenKind::close_expression},
    {"(", TokenKind::open_parenthesis},
    {")", TokenKind::close_parenthesis},
    {"{", TokenKind::open_brace},
    {"}", TokenKind::close_brace},
    {"[", TokenKind::open_bracket},
    {"]", TokenKind::close_bracket},
    {",", TokenKind::comma},
    {".", TokenKind::dot},
    {":", TokenKind::colon},
    {"|", TokenKind::pipe},
    {"<=", TokenKind::comparison},
    {">=", TokenKind::comparison},
    {"==", TokenKind::comparison},
    {"!=", TokenKind::comparison},
    {"<", TokenKind::comparison},
    {">", TokenKind::comparison},
    {"+", TokenKind::additive},
    {"-", TokenKind::additive},
    {"~", TokenKind::additive},
    {"**", TokenKind::power},
    {"*", TokenKind::multiplicative},
    {"//", TokenKind::multiplicative},
    {"/", TokenKind::multiplicative},
    {"%", TokenKind::multiplicative},
    {"=", TokenKind::equals},
}};

/// Whether an operand ends with this token, so that a sign behind it is a binary operator. A brace is not
/// among them in the reference either.
bool ends_operand(TokenKind kind) {
  return kind == TokenKind::name || kind == TokenKind::number || kind == TokenKind::string ||
         kind == TokenKind::close_parenthesis || kind == TokenKind::close_bracket;
}

struct Escape {
  std::size_t length = 2;
  char32_t unit = 0;
  bool valid = false;
};

/// The escape that starts with the backslash at `begin`.
Escape escape_at(std::string_view text, std::size_t begin) {
  constexpr std::string_view kLetters = "ntrbfv'\"\\";
  constexpr std::string_view kMeanings = "\n\t\r\b\f\v'\"\\";
  Escape escape;
  if (begin + 1 >= text.size()) return escape;
  const char c = text[begin + 1];
  if (const std::size_t known = kLetters.find(c); known != std::string_view::npos) {
    escape.unit = static_cast<unsigned char>(kMeanings[known]);
    escape.valid = true;
    return escape;
  }
  if (c != 'x' && c != 'u') return escape;
  const std::string_view digits = text.substr(begin + 2, c == 'x' ? 2 : 4);
  escape.length += digits.size();
  escape.valid = digits.size() == (c == 'x' ? 2 : 4);
  for (const char d : digits) {
    const char digit = ascii_lower(d);
    if (is_digit(digit))
      escape.unit = escape.unit * 16 + static_cast<char32_t>(digit - '0');
    else if (digit >= 'a' && digit <= 'f')
      escape.unit = escape.unit * 16 + static_cast<char32_t>(digit - 'a') + 10;
    else
      escape.valid = false;
  }
  return escape;
}

class Lexer {
 public:
  Lexer(std::string_view text, std::size_t position, const Faults& faults)
      : text_(text), position_(position), faults_(faults) {}

  std::vector<Token> read() {
    while (true) {
      skip_spaces();
      const std::size_t begin = position_;
      if (begin == text_.size()) {
        add(TokenKind::end, begin);
        return std::move(tokens_);
      }
      if (starts_with("-%}") || starts_with("-}}")) {
        const TokenKind kind =
            text_[begin + 1] == '%' ? TokenKind::close_statement : TokenKind::close_expression;
        position_ += 3;
        add(kind, begin);
        return std::move(tokens_);
      }
      const char c = text_[begin];
      if ((c == '-' || c == '+') && !ends_operand(last_)) {
        ++position_;
        const std::size_t digits = position_;
        skip_number(true);
        add(position_ == digits ? TokenKind::sign : TokenKind::number, begin);
      } else if (read_symbol()) {
        if (tokens_.back().kind == TokenKind::close_statement ||
            tokens_.back().kind == TokenKind::close_expression) {
          return std::move(tokens_);
        }
      } else if (c == '\'' || c == '"') {
        read_string(c);
      } else if (is_digit(c)) {
        skip_number(last_ != TokenKind::dot);
        add(TokenKind::number, begin);
      } else if (is_word(c)) {
        while (position_ < text_.size() && is_word(text_[position_])) ++position_;
        add(TokenKind::name, begin);
      } else {
        const Symbol symbol = symbol_at(text_, begin);
        faults_.fail(
            {begin, begin + symbol.length},
            fmt::format("The character {} is not part of the expression language", printable(symbol, begin)));
      }
    }
  }

  std::size_t position() const { return position_; }

 private:
  bool starts_with(std::string_view part) const { return text_.substr(position_, part.size()) == part; }

  std::string printable(const Symbol& symbol, std::size_t begin) const {
    if (symbol.value > 0x20 && symbol.value != 0x7F) return std::string(text_.substr(begin, symbol.length));
    return fmt::format("U+{:04X}", static_cast<std::uint32_t>(symbol.value));
  }

  void skip_spaces() {
    while (position_ < text_.size()) {
      const Symbol symbol = symbol_at(text_, position_);
      if (!is_space(symbol.value)) return;
      position_ += symbol.length;
    }
  }

  /// Digits, and a fraction where one is allowed and follows.
  void skip_number(bool fraction) {
    const auto digits = [&] {
      const std::size_t begin = position_;
      while (position_ < text_.size() && is_digit(text_[position_])) ++position_;
      return position_ > begin;
    };
    if (!digits() || !fraction) return;
    if (position_ + 1 < text_.size() && text_[position_] == '.' && is_digit(text_[position_ + 1])) {
      ++position_;
      digits();
    }
  }

  bool read_symbol() {
    for (const Symbolic& symbol : kSymbols) {
      if (symbol.text.front() != text_[position_] || !starts_with(symbol.text)) continue;
      if (symbol.kind == TokenKind::close_expression && brace_depth_ > 0) continue;
      if (symbol.kind == TokenKind::open_brace) ++brace_depth_;
      if (symbol.kind == TokenKind::close_brace) --brace_depth_;
      const std::size_t begin = position_;
      position_ += symbol.text.size();
      add(symbol.kind, begin);
      return true;
    }
    return false;
  }

  void read_string(char quote) {
    const std::size_t begin = position_++;
    while (true) {
      const std::size_t stop = text_.find_first_of(quote == '"' ? "\"\\" : "'\\", position_);
      if (stop == std::string_view::npos) {
        faults_.fail({begin, begin + 1}, "The string that starts here has no closing quote");
      }
      if (text_[stop] == quote) {
        position_ = stop + 1;
        break;
      }
      const Escape escape = escape_at(text_, stop);
      position_ = std::min(stop + escape.length, text_.size());
      if (!escape.valid) {
        faults_.fail({stop, position_}, fmt::format("The string holds an unknown escape ({})",
                                                    text_.substr(stop, position_ - stop)));
      }
    }
    add(TokenKind::string, begin);
  }

  void add(TokenKind kind, std::size_t begin) {
    Token token;
    token.kind = kind;
    token.span = {begin, position_};
    token.text = text_.substr(begin, position_ - begin);
    tokens_.push_back(token);
    last_ = kind;
  }

  std::string_view text_;
  std::size_t position_;
  const Faults& faults_;
  std::vector<Token> tokens_;
  TokenKind last_ = TokenKind::end;  ///< of the token before
  int brace_depth_ = 0;
};

}  // namespace

std::string describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::end:
      return "the end of the text";
    case TokenKind::string:
      return "a string";
    case TokenKind::name:
      return fmt::format("the name {}", token.text);
    case TokenKind::number:
      return fmt::format("the number {}", token.text);
    default:
      return std::string(token.text);
  }
}

std::string string_value(const Token& token) {
  const std::string_view inside = token.text.substr(1, token.text.size() - 2);
  std::string value;
  for (std::size_t i = 0; i < inside.size();) {
    const std::size_t stop = std::min(inside.find('\\', i), inside.size());
    append_text(value, inside.substr(i, stop - i));
    if (stop == inside.size()) break;
    const Escape escape = escape_at(inside, stop);
    append_unit(value, escape.unit);
    i = stop + escape.length;
  }
  return value;
}

std::vector<Token> read_tokens(std::string_view text, std::size_t& position, const Faults& faults) {
  Lexer lexer(text, position, faults);
  std::vector<Token> tokens = lexer.read();
  position = lexer.position();
  return tokens;
}

}  // namespace kernelpack::expr
