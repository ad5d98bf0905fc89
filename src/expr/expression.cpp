#include "expr/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "expr/eval.hpp"
#include "expr/parser.hpp"
#include "expr/scope.hpp"
#include "expr/token.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::expr {
namespace {

class ExpressionFaults final : public Faults {
 public:
  ExpressionFaults(const std::string& text, const Origin& origin) : text_(text), origin_(origin) {}
  ErrorKind kind() const noexcept override { return ErrorKind::expression; }
  Error at(ErrorKind kind, std::string message, SourceSpan span) const override {
    return error_at(kind, std::move(message), origin_, text_, span);
  }

 private:
  const std::string& text_;
  const Origin& origin_;
};

/// Every name that an evaluation looks up.
struct Binding {
  std::uint32_t name = 0;
  const Value* constant = nullptr;
  bool required = false;
};

std::string listed(const std::vector<std::string>& names) {
  return names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

struct Expression::Parsed {
  std::string text;
  Origin origin;
  Ast ast;
  NodeId root = kNoNode;
  std::vector<Binding> bindings;
  std::vector<std::string> required;
  std::vector<std::string> tested;

  void bind_names() {
    const NameUses uses = free_names(ast, root);
    for (const std::uint32_t name : uses.required) {
      required.emplace_back(ast.names[name].text);
      bindings.push_back({name, nullptr, true});
    }
    for (const std::uint32_t name : uses.tested) {
      tested.emplace_back(ast.names[name].text);
      bindings.push_back({name, nullptr, false});
    }
    for (std::uint32_t name = 0; name < ast.names.size(); ++name) {
      if (const Value* value = language_constant(ast.names[name])) bindings.push_back({name, value, false});
    }
  }

  [[noreturn]] void report_unknown(const Scope& scope, const Faults& faults) const {
    std::vector<std::string> unknown;
    SourceSpan place;
    for_each_name(ast, root, [&](NodeId id, bool tested_only) {
      const NameView name = ast.names[ast[id].a];
      if (tested_only || language_constant(name) != nullptr || scope.contains(name)) return;
      if (unknown.empty()) place = ast[id].span();
      if (std::find(unknown.begin(), unknown.end(), name.text) == unknown.end())
        unknown.emplace_back(name.text);
    });
    std::vector<std::string> names;
    std::vector<std::string> callables;
    for (std::string& name : scope.visible_names()) {
      const bool callable = scope.find(name)->kind() == Kind::function;
      (callable ? callables : names).push_back(std::move(name));
    }
    faults.fail(place, fmt::format("The {} {} {} not known here; known are {} and the functions {}",
                                   unknown.size() == 1 ? "name" : "names", listed(unknown),
                                   unknown.size() == 1 ? "is" : "are", listed(names), listed(callables)));
  }

  Value evaluate(const Scope& scope, const Budgets& budgets, bool check, EvaluationSink* sink) const {
    const ExpressionFaults faults(text, origin);
    constexpr std::size_t kInline = 32;
    std::array<const Value*, kInline> few;
    std::vector<const Value*> many;
    const Value** values = few.data();
    if (ast.names.size() > kInline) {
      many.resize(ast.names.size());
      values = many.data();
    }
    for (const Binding& binding : bindings) {
      const Value* value =
          binding.constant != nullptr ? binding.constant : scope.find(ast.names[binding.name]);
      if (check && binding.required && value == nullptr) report_unknown(scope, faults);
      values[binding.name] = value;
    }
    Meter meter(budgets);
    return Evaluator(ast, faults, meter, values, sink).evaluate(root);
  }
};

Expression Expression::parse(std::string text, Origin origin, const Budgets& budgets) {
  auto parsed = std::make_shared<Parsed>();
  parsed->text = std::move(text);
  parsed->origin = std::move(origin);
  const ExpressionFaults faults(parsed->text, parsed->origin);
  std::size_t position = 0;
  const std::vector<Token> tokens = read_tokens(parsed->text, position, faults);
  Parser parser(parsed->ast, tokens, faults, budgets);
  parsed->root = parser.expression();
  parser.expect(TokenKind::end, "the end of the expression");
  parsed->bind_names();
  Expression expression;
  expression.parsed_ = std::move(parsed);
  return expression;
}

Expression Expression::constant(Value value, Origin origin) {
  auto parsed = std::make_shared<Parsed>();
  parsed->text = print(value);
  parsed->origin = std::move(origin);
  parsed->ast.constants.push_back(std::move(value));
  Node node;
  node.op = Op::number;
  node.a = 0;
  node.first = 0;
  node.begin = 0;
  node.end = static_cast<std::uint32_t>(parsed->text.size());
  parsed->ast.nodes.push_back(node);
  parsed->root = 0;
  Expression expression;
  expression.parsed_ = std::move(parsed);
  return expression;
}

const std::string& Expression::text() const noexcept {
  return parsed_->text;
}
const Origin& Expression::origin() const noexcept {
  return parsed_->origin;
}
const std::vector<std::string>& Expression::required_names() const noexcept {
  return parsed_->required;
}
const std::vector<std::string>& Expression::tested_names() const noexcept {
  return parsed_->tested;
}
bool Expression::closed() const noexcept {
  return parsed_->required.empty() && parsed_->tested.empty();
}

Value Expression::evaluate(const Scope& scope, const Budgets& budgets, EvaluationSink* sink) const {
  return parsed_->evaluate(scope, budgets, true, sink);
}

Value Expression::evaluate_unchecked(const Scope& scope, const Budgets& budgets) const {
  return parsed_->evaluate(scope, budgets, false, nullptr);
}

}  // namespace kernelpack::expr
