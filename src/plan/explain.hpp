#pragma once

#include "base/budget.hpp"
#include "kernelpack/call.hpp"
#include "kernelpack/explanation.hpp"
#include "kernelpack/plan.hpp"
#include "package/model.hpp"

namespace kernelpack::plan {

/// Plans the call and evaluates everything that a person needs to see why: all variants with all clauses,
/// also those that planning never reaches. A call that cannot be planned is explained as far as it gets.
/// Thread-safe.
Explanation explain(const package::Model& model, const Call& call, const DeviceFacts& facts,
                    const PlanOptions& options = {}, const Budgets& budgets = {});

}  // namespace kernelpack::plan
