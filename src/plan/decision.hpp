#pragma once

#include <vector>

#include "base/budget.hpp"
#include "expr/scope.hpp"
#include "kernelpack/explanation.hpp"
#include "package/formula.hpp"

namespace kernelpack::plan {

/// The value of a formula, or the message of the error that evaluation throws.
ExplainedValue explain_value(const std::string& name, const package::Formula& formula,
                             const expr::Scope& scope, const Budgets& budgets);

/// The parts of a condition that decided its value: of `a and b` only a if a is false, the operands of a
/// comparison, the arguments of a call. A bare name of `derives` is opened up the same way. For people, far
/// off the hot path: parses and evaluates the condition once more, with a sink for the values of its parts.
/// At most `kMostParts` parts.
std::vector<ExplainedValue> deciding_parts(const package::Formula& condition,
                                           const package::FormulaMap& derives, const expr::Scope& scope,
                                           const Budgets& budgets);

inline constexpr std::size_t kMostParts = 40;

}  // namespace kernelpack::plan
