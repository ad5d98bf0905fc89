#pragma once

#include "base/budget.hpp"
#include "kernelpack/call.hpp"
#include "kernelpack/plan.hpp"
#include "package/model.hpp"

namespace kernelpack::plan {

/// Plans a call (format.md 6.1, steps 4 to 8): derives, variant selection, passes with their bindings,
/// rendered WGSL, uniform words, scratch and dispatch. Pure: equal arguments give equal plans; thread-safe.
/// Throws NoVariantError; expression and template for what fails in the package; contract for hazards, too
/// small ranges and an unknown pinned variant; limit for dispatches, buffers and budgets; package for what
/// only a call can show to be wrong in a manifest.
Plan make_plan(const package::Model& model, const Call& call, const DeviceFacts& facts,
               const PlanOptions& options = {}, const Budgets& budgets = {});

}  // namespace kernelpack::plan
