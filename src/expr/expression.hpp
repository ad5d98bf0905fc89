#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/budget.hpp"
#include "base/source.hpp"
#include "expr/value.hpp"

namespace kernelpack::expr {

class EvaluationSink;
class Scope;

/// One parsed expression of the package language (format.md 4). Immutable, cheap to copy, safe to share
/// between threads.
class Expression {
 public:
  /// Parses `text`. Throws expression with place and caret, or limit beyond the depth budget.
  static Expression parse(std::string text, Origin origin, const Budgets& budgets = {});
  /// A literal of a JSON file that stands for itself: a number or a bool. Its text is the printed value.
  static Expression constant(Value value, Origin origin);

  const std::string& text() const noexcept;
  const Origin& origin() const noexcept;

  /// Free bare identifiers in order of first use, without those that occur only under `is [not] defined` or
  /// `is [not] undefined`: the names that the pre-check (4.8) demands.
  const std::vector<std::string>& required_names() const noexcept;
  /// The identifiers exempted from `required_names`.
  const std::vector<std::string>& tested_names() const noexcept;
  /// No identifier at all: the value does not depend on a scope.
  bool closed() const noexcept;

  /// Pre-check, then evaluation. The numbers of the result keep their int or float tag: `as_scope_value`
  /// drops it. `sink` receives the sub-values. Throws expression, naming the place and the values, or limit.
  /// Allocates nothing for arithmetic and comparison.
  Value evaluate(const Scope& scope, const Budgets& budgets = {}, EvaluationSink* sink = nullptr) const;
  /// The same without the pre-check: an unknown name is undefined, as it is in templates.
  Value evaluate_unchecked(const Scope& scope, const Budgets& budgets = {}) const;

 private:
  struct Parsed;
  std::shared_ptr<const Parsed> parsed_;
};

}  // namespace kernelpack::expr
