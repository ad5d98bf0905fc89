#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "expr/ast.hpp"
#include "expr/parser.hpp"

namespace kernelpack::jinja {

using expr::ArgumentRange;
using expr::kNoNode;
using expr::NodeId;

/// Statements that follow each other: a range of Program::order.
struct Block {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

enum class StatementKind : std::uint8_t {
  text,    ///< span: of the text itself
  print,   ///< node
  if_,     ///< node: condition; body; otherwise
  for_,    ///< target, node: what is iterated; body; otherwise
  set,     ///< target, node; or body when node is kNoNode
  macro,   ///< name; parameters; body
  call,    ///< node: callee; arguments; parameters of the body; body
  filter,  ///< node: the filter; body
  break_,
  continue_,
};

struct Statement {
  StatementKind kind = StatementKind::text;
  bool uses_kwargs = false;  ///< of a macro or call body
  bool uses_varargs = false;
  std::uint32_t name = kNoNode;
  NodeId node = kNoNode;
  NodeId target = kNoNode;
  Block body;
  Block otherwise;
  ArgumentRange arguments;
  ArgumentRange parameters;
  SourceSpan span;
};

/// A template in parsed form. `if` with `elif` is nested in `otherwise`.
struct Program {
  expr::Ast ast;
  std::vector<Statement> statements;
  std::vector<std::uint32_t> order;
  Block main;
  /// Names with a meaning of their own.
  std::uint32_t loop = kNoNode;
  std::uint32_t caller = kNoNode;
  std::uint32_t kwargs = kNoNode;
  std::uint32_t varargs = kNoNode;
  std::uint32_t name_space = kNoNode;
  bool reads_loop = false;

  /// The `if` that alone makes up `otherwise`, as elif does: such chains are long and walked by loops.
  const Statement* next_branch(const Statement& branch) const noexcept {
    if (branch.otherwise.count != 1) return nullptr;
    const Statement& next = statements[order[branch.otherwise.first]];
    return next.kind == StatementKind::if_ ? &next : nullptr;
  }
};

/// Parses pre-processed text (format.md 9.2). Throws through `faults`.
Program parse_program(std::string_view text, const expr::Faults& faults, const Budgets& budgets);

/// The names that the expressions of a program evaluate, in order of first use.
std::vector<std::uint32_t> names_read(const Program& program);

}  // namespace kernelpack::jinja
