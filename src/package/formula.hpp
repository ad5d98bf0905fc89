#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "expr/expression.hpp"

namespace kernelpack::package {

struct NamedFormula;

/// A value as a manifest states it wherever expressions are allowed: a constant (null, bool, number), an
/// expression, or a list or object of such values at any depth. Immutable once loaded; every expression is
/// parsed.
struct Formula {
  using List = std::vector<Formula>;
  using Object = std::vector<NamedFormula>;  ///< in the order of the text

  Formula() = default;
  explicit Formula(bool value);
  explicit Formula(double value);
  explicit Formula(expr::Expression value);
  explicit Formula(List items);
  explicit Formula(Object members);

  bool is_null() const noexcept { return content.index() == 0; }
  const bool* boolean() const noexcept { return std::get_if<bool>(&content); }
  const double* number() const noexcept { return std::get_if<double>(&content); }
  const expr::Expression* expression() const noexcept { return std::get_if<expr::Expression>(&content); }
  const List* list() const noexcept { return std::get_if<List>(&content); }
  const Object* object() const noexcept { return std::get_if<Object>(&content); }

  std::variant<std::monostate, bool, double, expr::Expression, List, Object> content;
};

/// An entry of a `derive` map (or of `constants`, `source.inputs`, `profile`): order matters.
struct NamedFormula {
  std::string name;
  Formula value;
};
using FormulaMap = std::vector<NamedFormula>;

// Defined here because clang wants NamedFormula complete where a Formula can be destroyed.
inline Formula::Formula(bool value) : content(value) {}
inline Formula::Formula(double value) : content(value) {}
inline Formula::Formula(expr::Expression value) : content(std::move(value)) {}
inline Formula::Formula(List items) : content(std::move(items)) {}
inline Formula::Formula(Object members) : content(std::move(members)) {}

/// The value in that scope: constants stand for themselves, lists and objects are evaluated item by item.
/// Throws what Expression::evaluate throws.
expr::Value evaluate(const Formula& formula, const expr::Scope& scope, const Budgets& budgets = {});

/// The free names that evaluation needs or tests, over all expressions of the formula, in order, with
/// repetitions.
std::vector<std::string> names_of(const Formula& formula);
/// No identifier anywhere: the value does not depend on a scope.
bool closed(const Formula& formula);
/// The formula for people: the expression's text, or JSON text of a constant.
std::string to_string(const Formula& formula);

}  // namespace kernelpack::package
