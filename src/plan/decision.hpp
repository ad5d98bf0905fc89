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

/// The parts of a condition that decided its value, each evaluated by itself: of `a and b` only a if a is
/// false, the operands of a comparison, the arguments of a call. A bare name of `derives` is opened up the
/// same way. Made for people, far off the hot path: costs one parse and one evaluation per part, at most
/// `kMostParts` of them.
std::vector<ExplainedValue> deciding_parts(const package::Formula& condition,
                                           const package::FormulaMap& derives, const expr::Scope& scope,
                                           const Budgets& budgets);

inline constexpr std::size_t kMostParts = 40;

}  // namespace kernelpack::plan
