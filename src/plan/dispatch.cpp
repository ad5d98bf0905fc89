#include "plan/dispatch.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/format.h>

#include "base/number_text.hpp"
#include "package/device_limits.hpp"

namespace kernelpack::plan {
namespace {

constexpr std::array<char, 3> kAxisNames{'x', 'y', 'z'};
constexpr std::string_view kAxisLimit = "maxComputeWorkgroupsPerDimension";

std::string_view key_of(package::Dispatch::Form form) {
  switch (form) {
    case package::Dispatch::Form::threads:
      return "threads";
    case package::Dispatch::Form::workgroups:
      return "workgroups";
    case package::Dispatch::Form::grid_stride:
      return "gridStride";
    case package::Dispatch::Form::axes:
      break;
  }
  return "axes";
}

std::uint32_t checked_axis(double value, std::size_t axis, double limit, std::string_view pass) {
  if (!(value >= 0) || std::trunc(value) != value || std::isinf(value))
    throw Error(ErrorKind::limit,
                fmt::format("The dispatch axis {} of pass {} ({}) is not a non-negative integer",
                            kAxisNames[axis], pass, javascript_number_text(value)));
  if (value > limit)
    throw Error(ErrorKind::limit,
                fmt::format("The dispatch axis {} of pass {} ({}) exceeds {} ({})", kAxisNames[axis], pass,
                            javascript_number_text(value), kAxisLimit, javascript_number_text(limit)));
  return static_cast<std::uint32_t>(value);
}

}  // namespace

double number_of(const package::Formula& formula, const expr::Scope& scope, ErrorKind kind,
                 std::string_view what, const Budgets& budgets) {
  if (const double* constant = formula.number()) return *constant;
  const expr::Value value = package::evaluate(formula, scope, budgets);
  if (value.is_number()) return value.number();
  const expr::Expression* expression = formula.expression();
  throw Error(kind, fmt::format("The value of {} ({}) is not a number", what, expr::describe(value)),
              expression == nullptr ? std::string() : to_string(expression->origin()));
}

FoldedDispatch fold_dispatch(const package::Dispatch& dispatch, package::Generation generation,
                             const DeviceFacts& facts, const expr::Scope& scope, std::string_view pass,
                             const Budgets& budgets) {
  using Form = package::Dispatch::Form;
  const double limit = facts.limit(kAxisLimit).value_or(package::kDispatchFoldWidth);
  const auto value_of = [&](const package::Formula& formula, std::string_view key) {
    return number_of(formula, scope, ErrorKind::limit, fmt::format("the dispatch {} of pass {}", key, pass),
                     budgets);
  };

  FoldedDispatch result;
  std::array<double, 3> axes{1, 1, 1};
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (dispatch.axes[axis])
      axes[axis] = value_of(*dispatch.axes[axis], std::string_view(&kAxisNames[axis], 1));

  if (dispatch.form != Form::axes) {
    const double fold = generation == package::Generation::one ? limit : package::kDispatchFoldWidth;
    double groups = value_of(*dispatch.count, key_of(dispatch.form));
    result.count = groups;
    if (dispatch.workgroup_size) {
      const double size = value_of(*dispatch.workgroup_size, "workgroupSize");
      result.workgroup_size = size;
      groups = std::ceil(groups / size);
    }
    result.groups = groups;
    if (dispatch.form == Form::grid_stride) {
      axes[0] = std::min(groups, fold);
    } else {
      std::size_t place = 0;
      for (std::size_t axis = 0; axis < 3; ++axis) {
        if (dispatch.axes[axis]) continue;
        axes[axis] = place == 0 ? std::min(groups, fold) : place == 1 ? std::ceil(groups / fold) : 1;
        ++place;
      }
    }
    // A minimum hides NaN and infinity from the checks below.
    if (std::isnan(groups) || std::isinf(groups))
      throw Error(ErrorKind::limit,
                  fmt::format("The number of workgroups of pass {} ({}) is not a non-negative integer", pass,
                              javascript_number_text(groups)));
  }
  for (std::size_t axis = 0; axis < 3; ++axis)
    result.workgroups[axis] = checked_axis(axes[axis], axis, limit, pass);
  return result;
}

}  // namespace kernelpack::plan
