#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.hpp"
#include "expr/faults.hpp"

namespace kernelpack::expr {

enum class TokenKind : std::uint8_t {
  number,  ///< text is the literal; a sign may be part of it
  string,  ///< quotes and escapes included
  name,
  sign,            ///< + or - where only an operand can stand
  additive,        ///< + - ~
  multiplicative,  ///< * / // %
  power,           ///< **
  comparison,      ///< == != < <= > >=
  equals,
  open_parenthesis,
  close_parenthesis,
  open_bracket,
  close_bracket,
  open_brace,
  close_brace,
  comma,
  dot,
  colon,
  pipe,
  open_statement,    ///< {%
  open_expression,   ///< {{
  close_statement,   ///< %} or -%}
  close_expression,  ///< }} or -}}
  end,               ///< the end of the text
};

struct Token {
  TokenKind kind = TokenKind::end;
  SourceSpan span;
  std::string_view text;  ///< borrowed from the source
};

/// What a token is called in messages: "name x", "%}", "the end of the text".
std::string describe(const Token& token);

/// The decoded text of a string token.
std::string string_value(const Token& token);

/// Reads the tokens from `position` up to and with the first tag end (`%}` or `}}`), or up to the end of the
/// text, and leaves `position` behind them. The last token is a tag end or `end`. Inside braces `}}` is two
/// braces.
std::vector<Token> read_tokens(std::string_view text, std::size_t& position, const Faults& faults);

}  // namespace kernelpack::expr
