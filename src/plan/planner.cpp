#include "plan/planner.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/number_text.hpp"
#include "base/shape.hpp"
#include "plan/call_scope.hpp"
#include "plan/declarations.hpp"
#include "plan/dispatch.hpp"
#include "plan/pass_bindings.hpp"
#include "plan/placement.hpp"
#include "plan/render.hpp"
#include "plan/repeat.hpp"
#include "plan/selection.hpp"
#include "plan/uniforms.hpp"

namespace kernelpack::plan {
namespace {

/// The most text that the passes of one plan may hold together, in units of the budget of one template.
constexpr std::size_t kRenderedTemplates = 16;
/// Scopes of passes that are kept from rendering to dispatch; those of a longer list are made twice, as there
/// can be too many to hold.
constexpr std::size_t kKeptScopes = 64;

bool all_outputs_empty(const Call& call) {
  return !call.outputs.empty() &&
         std::all_of(call.outputs.begin(), call.outputs.end(),
                     [](const BoundTensor& tensor) { return element_count(tensor.shape) == 0; });
}

Shape scratch_shape(const package::Intermediate& intermediate, const expr::Scope& scope,
                    const Budgets& budgets) {
  const expr::Value value = package::evaluate(intermediate.shape, scope, budgets);
  const auto refuse = [&](std::string_view fault) {
    throw Error(ErrorKind::expression,
                fmt::format("The shape of scratch {} ({}) {}", intermediate.id, expr::describe(value), fault),
                to_string(Origin{"manifest.json", json::join_pointer(intermediate.pointer, "shape")}));
  };
  std::vector<expr::Value> dims;
  if (value.is_number())
    dims.push_back(value);
  else if (value.is_list_or_tuple())
    dims.assign(value.items().begin(), value.items().end());
  else
    refuse("is neither a list nor a number");
  if (dims.empty()) refuse("is an empty list");
  Shape shape;
  for (const expr::Value& dim : dims) {
    const double number = dim.is_number() ? dim.number() : -1;
    if (!(number >= 0 && number <= static_cast<double>(kMaxExactInteger)) || std::trunc(number) != number)
      refuse("has a dimension that is not a non-negative integer");
    shape.push_back(static_cast<std::int64_t>(number));
  }
  return shape;
}

class Planner {
 public:
  Planner(const package::Model& model, const Call& call, const DeviceFacts& facts, const PlanOptions& options,
          const Budgets& budgets)
      : model_(model),
        call_(call),
        facts_(facts),
        options_(options),
        budgets_(budgets),
        scope_(model, call, facts, options.profile, budgets),
        empty_(all_outputs_empty(call)) {}

  Plan run() {
    Placement placement(call_, options_.buffers);
    scope_.derive_manifest();
    Selection selection(model_, facts_, scope_.manifest(), budgets_);
    Selection::Choice choice = selection.choose(call_.variant);
    const package::Variant& variant = model_.variants[choice.variant];

    plan_.op = model_.op_id;
    plan_.variant = variant.id;
    plan_.rejected = std::move(choice.rejected);
    plan_.tensors = call_.inputs;
    for (const BoundTensor& output : call_.outputs)
      if (!output.inout) plan_.tensors.push_back(output);

    try {
      plan_variant(variant, placement);
    } catch (Error& error) {
      error.add_context(fmt::format("While planning variant {} of {}", variant.id, model_.op_id));
      throw;
    }
    return std::move(plan_);
  }

 private:
  void plan_variant(const package::Variant& variant, Placement& placement) {
    scope_.enter(variant);
    expanded_ = expand_passes(variant, [this](const package::RepeatGroup& group, const expr::Value& repeat) {
      expr::Scope scope(&scope_.variant());
      scope.set("repeat", repeat);
      return number_of(group.count, scope, ErrorKind::limit,
                       fmt::format("the count of repeat group {}", group.id), budgets_);
    });
    for (const ExpandedPass& pass : expanded_) start_pass(pass);
    for (const package::Intermediate& intermediate : variant.intermediates)
      plan_scratch(intermediate, placement);
    for (std::size_t index = 0; index < expanded_.size(); ++index) finish_pass(index, placement);
    mark_used_scratch();
    if (!empty_) check_buffer_sizes(call_, plan_.scratch, facts_);
  }

  /// Scope, declarations and text of a pass.
  void start_pass(const ExpandedPass& expanded) {
    const package::Pass& source = *expanded.pass;
    auto made = std::make_unique<PassScope>(scope_, expanded);
    const PassScope& scope = *made;
    PlannedPass pass;
    pass.id = expanded.id;
    pass.name = source.name;
    pass.shader = source.shader;
    pass.entry_point = source.entry_point;
    pass.submit_after = source.submit_after;
    pass.bindings = resolve_bindings(call_, expanded, scope, empty_);
    try {
      pass.wgsl = render_pass(model_, expanded, scope, resource_declarations(source, pass.bindings), facts_,
                              options_.allow_missing_templates, budgets_);
    } catch (const Error&) {
      // Nothing of an empty call runs, so what its shader would be is no reason to refuse it.
      if (!empty_) throw;
    }
    if (pass.wgsl) {
      rendered_bytes_ += pass.wgsl->size();
      const std::size_t most = budgets_.rendered_bytes * kRenderedTemplates;
      if (rendered_bytes_ > most)
        throw Error(ErrorKind::limit,
                    fmt::format("The text rendered for all passes ({} bytes) exceeds the budget ({} bytes)",
                                rendered_bytes_, most));
    }
    plan_.passes.push_back(std::move(pass));
    if (scopes_.size() < kKeptScopes) scopes_.push_back(std::move(made));
  }

  void plan_scratch(const package::Intermediate& intermediate, Placement& placement) {
    PlannedScratch scratch;
    scratch.id = intermediate.id;
    scratch.dtype = intermediate.dtype;
    scratch.zero_init = intermediate.zero_init;
    scratch.shape = empty_ ? Shape{0} : scratch_shape(intermediate, scope_.variant(), budgets_);
    scratch.bytes = bound_bytes(storage_bytes(scratch.dtype, scratch.shape));
    placement.add_scratch(scratch);
    plan_.scratch.push_back(std::move(scratch));
  }

  /// Uniforms, dispatch, and what they decide.
  void finish_pass(std::size_t index, const Placement& placement) {
    PlannedPass& pass = plan_.passes[index];
    const package::Pass& source = *expanded_[index].pass;
    std::unique_ptr<PassScope> again;
    if (index >= scopes_.size()) again = std::make_unique<PassScope>(scope_, expanded_[index]);
    const expr::Scope& scope = (again ? again : scopes_[index])->complete();
    for (std::size_t place = 0; place < source.bindings.size(); ++place) {
      const package::Binding& binding = source.bindings[place];
      if (binding.resource != PlannedBinding::Resource::uniform) continue;
      pass.bindings[place].words =
          empty_ ? std::vector<std::uint32_t>(uniform_word_count(binding.fields.size()), 0)
                 : uniform_words(binding, scope, scope_.arguments(), pass.id, pass.uniforms, budgets_);
    }
    for (const package::ViewAlias& alias : source.view_aliases)
      pass.view_aliases.emplace_back(target_of(pass, alias.input), target_of(pass, alias.output));
    if (!empty_)
      pass.workgroups =
          fold_dispatch(source.dispatch, model_.generation, facts_, scope, pass.id, budgets_).workgroups;
    settle_pass(pass, source, call_, placement, facts_);
  }

  static std::string target_of(const PlannedPass& pass, const std::string& binding) {
    const auto found = std::find_if(pass.bindings.begin(), pass.bindings.end(),
                                    [&](const PlannedBinding& item) { return item.name == binding; });
    return found == pass.bindings.end() ? binding : found->target;
  }

  void mark_used_scratch() {
    for (PlannedScratch& scratch : plan_.scratch)
      for (const PlannedPass& pass : plan_.passes)
        for (const PlannedBinding& binding : pass.bindings)
          if (pass.skip == PlannedPass::Skip::none && binding.resource == PlannedBinding::Resource::scratch &&
              binding.target == scratch.id)
            scratch.used = true;
  }

  const package::Model& model_;
  const Call& call_;
  const DeviceFacts& facts_;
  const PlanOptions& options_;
  const Budgets budgets_;
  CallScope scope_;
  const bool empty_;
  std::vector<ExpandedPass> expanded_;
  std::vector<std::unique_ptr<PassScope>> scopes_;
  std::size_t rendered_bytes_ = 0;
  Plan plan_;
};

}  // namespace

Plan make_plan(const package::Model& model, const Call& call, const DeviceFacts& facts,
               const PlanOptions& options, const Budgets& budgets) {
  return Planner(model, call, facts, options, budgets).run();
}

}  // namespace kernelpack::plan
