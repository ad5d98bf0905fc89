#include "plan/decision.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "expr/ast.hpp"
#include "expr/parser.hpp"
#include "expr/token.hpp"

namespace kernelpack::plan {
namespace {

using expr::NodeId;
using expr::Op;

/// Recursion stops here; what lies deeper is left out.
constexpr int kDepth = 100;

class PlainFaults final : public expr::Faults {
 public:
  ErrorKind kind() const noexcept override { return ErrorKind::expression; }
  Error at(ErrorKind kind, std::string message, SourceSpan) const override {
    return Error(kind, std::move(message));
  }
};

/// One condition, taken apart.
struct Text {
  explicit Text(const expr::Expression& expression, const Budgets& budgets) : source(expression.text()) {
    std::size_t position = 0;
    tokens = expr::read_tokens(source, position, faults);
    expr::Parser parser(ast, tokens, faults, budgets);
    root = parser.expression();
  }

  /// The text of a node. Spans leave out parentheses around operands; they are taken back in where they are
  /// open.
  std::string of(NodeId id) const {
    const expr::Node& node = ast[id];
    std::size_t first = 0;
    while (first < tokens.size() && tokens[first].span.begin < node.begin) ++first;
    int open = 0;
    std::size_t last = first;
    for (; last < tokens.size() && tokens[last].span.end <= node.end &&
           tokens[last].kind != expr::TokenKind::end;
         ++last) {
      if (tokens[last].kind == expr::TokenKind::open_parenthesis) ++open;
      if (tokens[last].kind == expr::TokenKind::close_parenthesis) --open;
      while (open < 0 && first > 0 && tokens[first - 1].kind == expr::TokenKind::open_parenthesis) {
        --first;
        ++open;
      }
    }
    if (first >= last) return {};
    return source.substr(tokens[first].span.begin, tokens[last - 1].span.end - tokens[first].span.begin);
  }

  PlainFaults faults;
  std::string source;
  std::vector<expr::Token> tokens;
  expr::Ast ast;
  NodeId root = expr::kNoNode;
};

class Decision {
 public:
  Decision(const package::FormulaMap& derives, const expr::Scope& scope, const Budgets& budgets)
      : derives_(derives), scope_(scope), budgets_(budgets) {}

  void open(const package::Formula& formula, int depth) {
    const expr::Expression* expression = formula.expression();
    if (expression == nullptr || depth > kDepth) return;
    try {
      const Text text(*expression, budgets_);
      visit(text, text.root, depth);
    } catch (const Error&) {
      // A part that cannot stand alone says nothing; the clause itself shows its value or its error.
    }
  }

  std::vector<ExplainedValue> take() { return std::move(parts_); }

 private:
  static bool literal(Op op) { return op == Op::number || op == Op::string; }

  std::optional<expr::Value> evaluate(const std::string& text) const {
    try {
      return expr::Expression::parse(text, {}, budgets_).evaluate(scope_, budgets_);
    } catch (const Error&) {
      return std::nullopt;
    }
  }
  bool truthy(const Text& text, NodeId node) const {
    const std::optional<expr::Value> value = evaluate(text.of(node));
    return value && value->truthy();
  }

  void visit(const Text& text, NodeId id, int depth) {
    if (id == expr::kNoNode || depth > kDepth || parts_.size() >= kMostParts) return;
    const expr::Node& node = text.ast[id];
    switch (node.op) {
      case Op::and_:
        if (!truthy(text, node.a)) return visit(text, node.a, depth + 1);
        if (truthy(text, node.b)) visit(text, node.a, depth + 1);
        return visit(text, node.b, depth + 1);
      case Op::or_:
        if (truthy(text, node.a)) return visit(text, node.a, depth + 1);
        if (!truthy(text, node.b)) visit(text, node.a, depth + 1);
        return visit(text, node.b, depth + 1);
      case Op::not_:
        return visit(text, node.a, depth + 1);
      case Op::ternary:
        visit(text, node.a, depth + 1);
        return visit(text, truthy(text, node.a) ? node.b : node.c, depth + 1);
      case Op::equal:
      case Op::not_equal:
      case Op::less:
      case Op::less_equal:
      case Op::greater:
      case Op::greater_equal:
      case Op::in:
      case Op::not_in:
        show(text, node.a, depth);
        show(text, node.b, depth);
        return;
      case Op::test:
        return show(text, node.a, depth);
      default:
        return show(text, id, depth);
    }
  }

  /// Lists a part with its value and what it is made of.
  void show(const Text& text, NodeId id, int depth) {
    if (id == expr::kNoNode || depth > kDepth || parts_.size() >= kMostParts) return;
    const expr::Node& node = text.ast[id];
    if (literal(node.op)) return;
    const std::string part = text.of(id);
    if (part.empty() || part == "true" || part == "false" || part == "none") return;
    const bool known = std::any_of(parts_.begin(), parts_.end(),
                                   [&](const ExplainedValue& earlier) { return earlier.expression == part; });
    if (known) return;
    const std::optional<expr::Value> value = evaluate(part);
    if (!value) return;
    if (value->kind() < expr::Kind::function) parts_.push_back({{}, part, expr::describe(*value), false});

    if (node.op == Op::name) {
      for (const package::NamedFormula& derive : derives_)
        if (derive.name == part && value->is_boolean()) open(derive.value, depth + 10);
    } else if (node.op == Op::call) {
      for (std::uint32_t i = 0; i < node.c; ++i) show(text, text.ast.arguments[node.b + i].value, depth + 1);
    } else if (node.op >= Op::add && node.op <= Op::power) {
      show(text, node.a, depth + 1);
      show(text, node.b, depth + 1);
    } else if (node.op == Op::minus || node.op == Op::plus || node.op == Op::filter) {
      show(text, node.a, depth + 1);
    }
  }

  const package::FormulaMap& derives_;
  const expr::Scope& scope_;
  const Budgets& budgets_;
  std::vector<ExplainedValue> parts_;
};

}  // namespace

ExplainedValue explain_value(const std::string& name, const package::Formula& formula,
                             const expr::Scope& scope, const Budgets& budgets) {
  ExplainedValue result{name, package::to_string(formula), {}, false};
  try {
    result.value = expr::describe(package::evaluate(formula, scope, budgets));
  } catch (const Error& error) {
    result.value = error.message();
    result.failed = true;
  }
  return result;
}

std::vector<ExplainedValue> deciding_parts(const package::Formula& condition,
                                           const package::FormulaMap& derives, const expr::Scope& scope,
                                           const Budgets& budgets) {
  Decision decision(derives, scope, budgets);
  decision.open(condition, 0);
  return decision.take();
}

}  // namespace kernelpack::plan
