#include "plan/decision.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "expr/ast.hpp"
#include "expr/eval.hpp"
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

/// The values of the parts that an evaluation reached.
class Record final : public expr::EvaluationSink {
 public:
  void evaluated(SourceSpan part, const expr::Value& value) override { values_.emplace_back(part, value); }
  /// The value of a node, or null if evaluation went past it.
  const expr::Value* find(const expr::Node& node) const {
    for (const auto& [span, value] : values_)
      if (span == node.span()) return &value;
    return nullptr;
  }

 private:
  std::vector<std::pair<SourceSpan, expr::Value>> values_;
};

class Decision {
 public:
  Decision(const package::FormulaMap& derives, const expr::Scope& scope, const Budgets& budgets)
      : derives_(derives), scope_(scope), budgets_(budgets) {}

  void open(const package::Formula& formula, int depth) {
    const expr::Expression* expression = formula.expression();
    if (expression == nullptr || depth > kDepth) return;
    Record record;
    try {
      expression->evaluate(scope_, budgets_, &record);
    } catch (const Error&) {
      // The parts before the failure are worth showing; the clause itself shows the error.
    }
    const Text text(*expression, budgets_);
    visit(text, record, text.root, depth);
  }

  std::vector<ExplainedValue> take() { return std::move(parts_); }

 private:
  static bool literal(Op op) { return op == Op::number || op == Op::string; }

  /// Whether a part is true; nothing if evaluation went past it. The sink hears of no `not`, ternary or
  /// literal.
  static std::optional<bool> truth(const Text& text, const Record& record, NodeId id, int depth) {
    if (id == expr::kNoNode || depth > kDepth) return std::nullopt;
    const expr::Node& node = text.ast[id];
    if (const expr::Value* value = record.find(node)) return value->truthy();
    if (literal(node.op)) return text.ast.constants[node.a].truthy();
    if (node.op == Op::name) {
      const expr::Value* constant = expr::language_constant(text.ast.names[node.a]);
      return constant == nullptr ? std::nullopt : std::optional(constant->truthy());
    }
    if (node.op == Op::not_) {
      const std::optional<bool> operand = truth(text, record, node.a, depth + 1);
      return operand ? std::optional(!*operand) : std::nullopt;
    }
    if (node.op == Op::ternary) {
      const std::optional<bool> condition = truth(text, record, node.a, depth + 1);
      if (condition) return truth(text, record, *condition ? node.b : node.c, depth + 1);
    }
    return std::nullopt;
  }

  void visit(const Text& text, const Record& record, NodeId id, int depth) {
    if (id == expr::kNoNode || depth > kDepth || parts_.size() >= kMostParts) return;
    const expr::Node& node = text.ast[id];
    const auto go = [&](NodeId next) { visit(text, record, next, depth + 1); };
    switch (node.op) {
      case Op::and_:
      case Op::or_: {
        // One side decides if it is the one that ends the evaluation; else both do.
        const bool ending = node.op == Op::or_;
        for (const NodeId side : {node.a, node.b})
          if (truth(text, record, side, depth) == ending) return go(side);
        go(node.a);
        return go(node.b);
      }
      case Op::not_:
        return go(node.a);
      case Op::ternary:
        go(node.a);
        return go(truth(text, record, node.a, depth).value_or(false) ? node.b : node.c);
      case Op::equal:
      case Op::not_equal:
      case Op::less:
      case Op::less_equal:
      case Op::greater:
      case Op::greater_equal:
      case Op::in:
      case Op::not_in:
        show(text, record, node.a, depth);
        return show(text, record, node.b, depth);
      case Op::test:
        return show(text, record, node.a, depth);
      default:
        return show(text, record, id, depth);
    }
  }

  /// Lists a part with its value and what it is made of.
  void show(const Text& text, const Record& record, NodeId id, int depth) {
    if (id == expr::kNoNode || depth > kDepth || parts_.size() >= kMostParts) return;
    const expr::Node& node = text.ast[id];
    if (literal(node.op)) return;
    const expr::Value* value = record.find(node);
    const std::string part = text.of(id);
    const bool known = std::any_of(parts_.begin(), parts_.end(),
                                   [&](const ExplainedValue& earlier) { return earlier.expression == part; });
    if (known || part.empty()) return;
    if (value != nullptr && value->kind() < expr::Kind::function)
      parts_.push_back({{}, part, expr::describe(*value), false});

    const auto go = [&](NodeId next) { show(text, record, next, depth + 1); };
    if (node.op == Op::name) {
      for (const package::NamedFormula& derive : derives_)
        if (derive.name == part && value != nullptr && value->is_boolean()) open(derive.value, depth + 10);
    } else if (node.op == Op::call) {
      for (std::uint32_t i = 0; i < node.c; ++i) go(text.ast.arguments[node.b + i].value);
    } else if (node.op >= Op::add && node.op <= Op::power) {
      go(node.a);
      go(node.b);
    } else if (node.op == Op::minus || node.op == Op::plus || node.op == Op::filter) {
      go(node.a);
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
