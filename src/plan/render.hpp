#pragma once

#include <optional>
#include <string>

#include "base/budget.hpp"
#include "kernelpack/plan.hpp"
#include "package/model.hpp"
#include "plan/call_scope.hpp"
#include "plan/repeat.hpp"

namespace kernelpack::plan {

/// The WGSL of a pass: its template rendered in the complete pass scope with `env` on top (format.md 9).
/// Nothing if the template is absent and `allow_missing` is set. Throws template, naming file and pass.
std::optional<std::string> render_pass(const package::Model& model, const ExpandedPass& pass,
                                       const PassScope& scope, const std::string& declarations,
                                       const DeviceFacts& facts, bool allow_missing, const Budgets& budgets);

}  // namespace kernelpack::plan
