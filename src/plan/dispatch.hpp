#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/budget.hpp"
#include "expr/scope.hpp"
#include "kernelpack/plan.hpp"
#include "package/model.hpp"

namespace kernelpack::plan {

/// A dispatch before and after folding (format.md 8).
struct FoldedDispatch {
  std::array<std::uint32_t, 3> workgroups{0, 0, 0};
  std::optional<double> count;           ///< value of threads, workgroups or gridStride
  std::optional<double> workgroup_size;  ///< value of workgroupSize
  std::optional<double> groups;          ///< workgroups before folding
};

/// Evaluates the dispatch of a pass in its complete scope and folds it: 2.x at 65535, 1.0 at the device's
/// limit. Throws limit, naming `pass`, for an axis that is not an integer from 0 to the device's limit, and
/// what evaluation throws.
FoldedDispatch fold_dispatch(const package::Dispatch& dispatch, package::Generation generation,
                             const DeviceFacts& facts, const expr::Scope& scope, std::string_view pass,
                             const Budgets& budgets = {});

/// The value of a formula that must be a number; throws `kind`, naming `what`, for any other value.
double number_of(const package::Formula& formula, const expr::Scope& scope, ErrorKind kind,
                 std::string_view what, const Budgets& budgets);

}  // namespace kernelpack::plan
