#include "plan/explain.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "plan/call_scope.hpp"
#include "plan/decision.hpp"
#include "plan/dispatch.hpp"
#include "plan/planner.hpp"
#include "plan/repeat.hpp"
#include "plan/selection.hpp"

namespace kernelpack::plan {
namespace {

constexpr std::array<std::string_view, 3> kAxes{"x", "y", "z"};

std::string_view count_key(package::Dispatch::Form form) {
  using Form = package::Dispatch::Form;
  return form == Form::threads ? "threads" : form == Form::grid_stride ? "gridStride" : "workgroups";
}

class Explainer {
 public:
  Explainer(const package::Model& model, const Call& call, const DeviceFacts& facts,
            const PlanOptions& options, const Budgets& budgets)
      : model_(model),
        call_(call),
        facts_(facts),
        options_(options),
        budgets_(budgets),
        scope_(model, call, facts, options.profile, budgets) {}

  Explanation run() {
    result_.call = call_;
    result_.device = facts_;
    try {
      result_.plan = make_plan(model_, call_, facts_, options_, budgets_);
    } catch (const Error& error) {
      result_.refusal = error;
    }
    if (!derive_manifest()) return std::move(result_);
    explain_variants();
    const package::Variant* variant = chosen();
    if (variant != nullptr) explain_chosen(*variant);
    return std::move(result_);
  }

 private:
  bool derive_manifest() {
    bool complete = true;
    try {
      scope_.derive_manifest();
    } catch (const Error&) {
      complete = false;
    }
    for (const package::NamedFormula& derive : model_.derive) {
      if (const expr::Value* value = scope_.derived().find(derive.name)) {
        result_.derives.push_back(
            {derive.name, package::to_string(derive.value), expr::describe(*value), false});
        continue;
      }
      result_.derives.push_back(explain_value(derive.name, derive.value, scope_.manifest(), budgets_));
      break;
    }
    return complete;
  }

  std::vector<ExplainedClause> clauses(const std::vector<package::Formula>& formulas) const {
    std::vector<ExplainedClause> result;
    for (const package::Formula& formula : formulas) {
      ExplainedClause clause;
      clause.result = explain_value({}, formula, scope_.manifest(), budgets_);
      // Every other value that is shown this way is a string, and that has quotes.
      clause.holds = !clause.result.failed && clause.result.value == "true";
      clause.because = deciding_parts(formula, model_.derive, scope_.manifest(), budgets_);
      result.push_back(std::move(clause));
    }
    return result;
  }

  void explain_variants() {
    Selection selection(model_, facts_, scope_.manifest(), budgets_);
    bool decided = false;
    const bool pinned = !call_.variant.empty();
    for (const std::size_t index : model_.trial_order) {
      const package::Variant& variant = model_.variants[index];
      const Selection::Outcome& outcome = selection.outcome(index);
      ExplainedVariant entry;
      entry.id = variant.id;
      entry.priority = variant.priority;
      entry.rejection = outcome.rejection;
      entry.demoted = outcome.demoted;
      entry.when = clauses(variant.when);
      for (ExplainedClause& clause : clauses(variant.select_above)) entry.when.push_back(std::move(clause));
      entry.demote_when = clauses(variant.demote_when);
      using Outcome = ExplainedVariant::Outcome;
      const bool is_chosen = chosen_id() == variant.id;
      if (is_chosen)
        entry.outcome = Outcome::chosen;
      else if (decided || (pinned && call_.variant != variant.id))
        entry.outcome = Outcome::not_reached;
      else
        entry.outcome = outcome.rejection ? Outcome::refused : Outcome::demoted;
      // Behind a demoted winner every variant was tried.
      decided = decided || (is_chosen && !outcome.demoted);
      result_.variants.push_back(std::move(entry));
    }
  }

  /// The variant that selection takes, also where planning it fails later.
  const std::string& chosen_id() {
    if (chosen_ || refused_) return chosen_id_;
    try {
      Selection selection(model_, facts_, scope_.manifest(), budgets_);
      chosen_ = &model_.variants[selection.choose(call_.variant).variant];
      chosen_id_ = chosen_->id;
    } catch (const Error&) {
      refused_ = true;
    }
    return chosen_id_;
  }
  const package::Variant* chosen() {
    chosen_id();
    return chosen_;
  }

  void explain_chosen(const package::Variant& variant) {
    try {
      scope_.enter(variant);
      const expr::Value* tunables = scope_.variant().find("tunables");
      for (const expr::Dict::Entry& entry : tunables->dict().entries())
        result_.tunables.push_back({entry.key.string(), {}, expr::describe(entry.value), false});
      for (const package::NamedFormula& derive : variant.derive)
        result_.variant_derives.push_back({derive.name, package::to_string(derive.value),
                                           expr::describe(*scope_.derived().find(derive.name)), false});
      const auto expanded =
          expand_passes(variant, [this](const package::RepeatGroup& group, const expr::Value& repeat) {
            expr::Scope scope(&scope_.variant());
            scope.set("repeat", repeat);
            return number_of(group.count, scope, ErrorKind::limit, group.id, budgets_);
          });
      for (const ExpandedPass& pass : expanded) explain_pass(pass);
    } catch (const Error&) {
      // The refusal of the plan says what failed; what came before it is shown.
    }
  }

  void explain_pass(const ExpandedPass& expanded) {
    const package::Pass& source = *expanded.pass;
    const PassScope scope(scope_, expanded);
    ExplainedPass pass;
    pass.id = expanded.id;
    const auto list = [&](const package::FormulaMap& formulas, const expr::Dict& values,
                          std::vector<ExplainedValue>& into) {
      for (const package::NamedFormula& entry : formulas)
        if (const expr::Value* value = values.find(entry.name))
          into.push_back({entry.name, package::to_string(entry.value), expr::describe(*value), false});
    };
    list(source.derive, scope.own(), pass.values);
    list(source.constants, scope.own(), pass.values);
    list(source.source_inputs, scope.source(), pass.source);

    const package::Dispatch& dispatch = source.dispatch;
    const auto state = [&](std::string_view key, const std::optional<package::Formula>& formula) {
      if (formula)
        pass.dispatch.push_back(explain_value(std::string(key), *formula, scope.complete(), budgets_));
    };
    if (dispatch.form != package::Dispatch::Form::axes) state(count_key(dispatch.form), dispatch.count);
    state("workgroupSize", dispatch.workgroup_size);
    for (std::size_t axis = 0; axis < 3; ++axis) state(kAxes[axis], dispatch.axes[axis]);
    try {
      pass.groups =
          fold_dispatch(dispatch, model_.generation, facts_, scope.complete(), expanded.id, budgets_).groups;
    } catch (const Error&) {
      pass.groups.reset();
    }
    result_.passes.push_back(std::move(pass));
  }

  const package::Model& model_;
  const Call& call_;
  const DeviceFacts& facts_;
  const PlanOptions& options_;
  const Budgets budgets_;
  CallScope scope_;
  const package::Variant* chosen_ = nullptr;
  std::string chosen_id_;
  bool refused_ = false;
  Explanation result_;
};

}  // namespace

Explanation explain(const package::Model& model, const Call& call, const DeviceFacts& facts,
                    const PlanOptions& options, const Budgets& budgets) {
  return Explainer(model, call, facts, options, budgets).run();
}

}  // namespace kernelpack::plan
