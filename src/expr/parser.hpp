#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/budget.hpp"
#include "expr/ast.hpp"
#include "expr/token.hpp"

namespace kernelpack::expr {

/// A depth budget above this one counts as this one: the parser and the evaluator recurse.
inline constexpr std::size_t kMaxDepth = 1000;

struct ArgumentRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// Parses the tokens of one tag, or of one expression, into nodes of `ast` (format.md 4.3). Templates use its
/// parts for their statements. Everything throws through `faults`.
class Parser {
 public:
  /// `tokens` end with a tag end or with TokenKind::end and must outlive the parser.
  Parser(Ast& ast, const std::vector<Token>& tokens, const Faults& faults, const Budgets& budgets);

  NodeId expression();
  /// Expressions separated by commas: a tuple if there is a comma. `primaries`: of operands only.
  NodeId sequence(bool primaries = false);
  NodeId primary();
  /// "(", arguments, ")".
  ArgumentRange arguments();
  /// "(", names with or without default, ")". Names must differ.
  ArgumentRange parameters();
  /// What may follow "|": a name, with or without arguments. The node is a filter without left operand.
  NodeId filter();

  const Token& peek() const noexcept { return tokens_[position_]; }
  const Token& take() noexcept;
  bool at(TokenKind kind) const noexcept { return peek().kind == kind; }
  bool at_name(std::string_view name) const noexcept { return at(TokenKind::name) && peek().text == name; }
  bool accept(TokenKind kind) noexcept;
  bool accept_name(std::string_view name) noexcept;
  /// Takes a token of that kind; `expected` names it in the message.
  const Token& expect(TokenKind kind, std::string_view expected);

 private:
  class Nesting;

  NodeId binary(int level);
  NodeId negation();
  NodeId tested();
  NodeId filtered();
  NodeId signed_operand();
  NodeId postfix(NodeId operand);
  NodeId subscript(NodeId object, std::size_t begin);
  ArgumentRange argument_list(bool parameters);
  Argument keyword_argument(NodeId name);
  NodeId list_display();
  NodeId dict_display();

  NodeId add(Node node);
  NodeId add_spine(Node node);
  NodeId name_node(const Token& token);
  std::size_t end_of_last() const noexcept { return position_ == 0 ? 0 : tokens_[position_ - 1].span.end; }
  [[noreturn]] void unexpected(std::string_view expected) const;

  Ast& ast_;
  const std::vector<Token>& tokens_;
  const Faults& faults_;
  std::size_t position_ = 0;
  std::size_t depth_ = 0;
  std::size_t depth_limit_;
};

}  // namespace kernelpack::expr
