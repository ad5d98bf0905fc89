#include "package/formula.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "base/number_text.hpp"
#include "expr/value.hpp"

namespace kernelpack::package {

expr::Value evaluate(const Formula& formula, const expr::Scope& scope, const Budgets& budgets) {
  if (const expr::Expression* expression = formula.expression())
    return expression->evaluate(scope, budgets).as_scope_value();
  if (const double* number = formula.number()) return expr::Value::number(*number);
  if (const bool* boolean = formula.boolean()) return expr::Value::boolean(*boolean);
  if (const Formula::List* list = formula.list()) {
    std::vector<expr::Value> items;
    items.reserve(list->size());
    for (const Formula& item : *list) items.push_back(evaluate(item, scope, budgets));
    return expr::Value::list(std::move(items));
  }
  if (const Formula::Object* object = formula.object()) {
    expr::Dict entries;
    entries.reserve(object->size());
    for (const NamedFormula& member : *object)
      entries.set(member.name, evaluate(member.value, scope, budgets));
    return expr::Value::dict(std::move(entries));
  }
  return expr::Value::none();
}

std::vector<std::string> names_of(const Formula& formula) {
  std::vector<std::string> names;
  const auto append = [&](const std::vector<std::string>& more) {
    names.insert(names.end(), more.begin(), more.end());
  };
  if (const expr::Expression* expression = formula.expression()) {
    append(expression->required_names());
    append(expression->tested_names());
  } else if (const Formula::List* list = formula.list()) {
    for (const Formula& item : *list) append(names_of(item));
  } else if (const Formula::Object* object = formula.object()) {
    for (const NamedFormula& member : *object) append(names_of(member.value));
  }
  return names;
}

bool closed(const Formula& formula) {
  if (const expr::Expression* expression = formula.expression()) return expression->closed();
  if (const Formula::List* list = formula.list()) {
    for (const Formula& item : *list)
      if (!closed(item)) return false;
  } else if (const Formula::Object* object = formula.object()) {
    for (const NamedFormula& member : *object)
      if (!closed(member.value)) return false;
  }
  return true;
}

std::string to_string(const Formula& formula) {
  if (const expr::Expression* expression = formula.expression()) return expression->text();
  if (const double* number = formula.number()) return javascript_number_text(*number);
  if (const bool* boolean = formula.boolean()) return *boolean ? "true" : "false";
  if (const Formula::List* list = formula.list()) {
    std::string text = "[";
    for (const Formula& item : *list) text += (text.size() > 1 ? ", " : "") + to_string(item);
    return text + "]";
  }
  if (const Formula::Object* object = formula.object()) {
    std::string text = "{";
    for (const NamedFormula& member : *object)
      text += (text.size() > 1 ? ", " : "") + json::quote(member.name) + ": " + to_string(member.value);
    return text + "}";
  }
  return "null";
}

}  // namespace kernelpack::package
