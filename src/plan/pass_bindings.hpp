#pragma once

#include <string_view>
#include <vector>

#include "kernelpack/call.hpp"
#include "kernelpack/plan.hpp"
#include "package/model.hpp"
#include "plan/call_scope.hpp"

namespace kernelpack::plan {

/// The tensor of that name among the inputs and outputs of the call, or null.
const BoundTensor* find_tensor(const Call& call, std::string_view name) noexcept;

/// The bindings of a pass with `$ref`s resolved, uniform words still empty (format.md 10.1, 10.3, 10.4). With
/// `empty_call` a length that is no positive integer is left out instead of refused: nothing will run. Throws
/// expression for a `$ref` that is missing, null or of the wrong kind; package for an element type that
/// cannot be bound; contract for a binding of an absent tensor.
std::vector<PlannedBinding> resolve_bindings(const Call& call, const ExpandedPass& pass,
                                             const PassScope& scope, bool empty_call);

}  // namespace kernelpack::plan
