#include "plan/call_scope.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/dtype.hpp"
#include "contract/scope.hpp"

namespace kernelpack::plan {
namespace {

bool mentions(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool mentions(const package::Formula& formula, std::string_view name) {
  if (const expr::Expression* expression = formula.expression())
    return mentions(expression->required_names(), name) || mentions(expression->tested_names(), name);
  if (const auto* list = formula.list())
    return std::any_of(list->begin(), list->end(),
                       [&](const package::Formula& item) { return mentions(item, name); });
  if (const auto* object = formula.object())
    return std::any_of(object->begin(), object->end(),
                       [&](const package::NamedFormula& member) { return mentions(member.value, name); });
  return false;
}

/// The value of one entry of a map; an error says which entry it was.
expr::Value evaluate_entry(std::string_view what, const package::NamedFormula& entry,
                           const expr::Scope& scope, const package::Model& model, const Budgets& budgets) {
  try {
    return package::evaluate(entry.value, scope, budgets);
  } catch (Error& error) {
    error.add_context(fmt::format("While evaluating {} {} ({}) of {}", what, entry.name,
                                  package::to_string(entry.value), model.op_id));
    throw;
  }
}

/// Each entry sees the earlier ones, as bare names and under `derive`.
void evaluate_derives(const package::FormulaMap& entries, expr::Scope& scope, expr::Dict& derived,
                      const package::Model& model, const Budgets& budgets) {
  for (const package::NamedFormula& entry : entries) {
    if (mentions(entry.value, "derive")) scope.set("derive", expr::Value::dict(derived));
    expr::Value value = evaluate_entry("derive", entry, scope, model, budgets);
    derived.set(entry.name, value);
    scope.set(entry.name, std::move(value));
  }
}

void copy_names(const expr::Dict& from, expr::Scope& to) {
  for (const expr::Dict::Entry& entry : from.entries()) to.set(entry.key.string(), entry.value);
}

expr::Dict bare_dtypes(const Call& call) {
  expr::Dict dtypes;
  for (const BoundType& type : call.types)
    dtypes.set(type.name, expr::Value::string(std::string(info(type.storage).wgsl)));
  return dtypes;
}

expr::Value text(const std::string& value) {
  return expr::Value::string(value);
}

}  // namespace

CallScope::CallScope(const package::Model& model, const Call& call, const DeviceFacts& facts,
                     const NamedValues& profile, const Budgets& budgets)
    : model_(model),
      call_(call),
      profile_(profile),
      budgets_(budgets),
      dtypes_(bare_dtypes(call)),
      namespaces_(contract::base_scope(model, call, contract::device_value(facts),
                                       facts.has_feature("shader-f16"), profile)),
      manifest_(&namespaces_) {}

void CallScope::derive_manifest() {
  evaluate_derives(model_.derive, manifest_, derived_, model_, budgets_);
  manifest_.set("derive", expr::Value::dict(derived_));
}

void CallScope::enter(const package::Variant& variant) {
  variant_.reset();
  pass_base_.reset();
  const expr::Value tunables = contract::tunables_value(model_, &variant, profile_, call_);
  variant_names_.emplace(&namespaces_, expr::Dict{{"tunables", tunables}});
  variant_.emplace(&*variant_names_);
  copy_names(derived_, *variant_);
  evaluate_derives(variant.derive, *variant_, derived_, model_, budgets_);
  variant_->set("derive", expr::Value::dict(derived_));

  // In passes the dtypes are names as well, weaker than any derive.
  pass_names_.emplace(&namespaces_, expr::Dict{{"tunables", tunables}});
  copy_names(dtypes_, *pass_names_);
  if (model_.generation == package::Generation::one) {
    pass_names_->set(
        "op", expr::Value::dict(expr::Dict{
                  {"id", text(model_.op_id)}, {"domain", text(model_.domain)}, {"name", text(model_.name)}}));
    pass_names_->set("variant", expr::Value::dict(expr::Dict{{"id", text(variant.id)}}));
  }
  pass_base_.emplace(&*pass_names_);
  copy_names(variant_->names(), *pass_base_);
}

PassScope::PassScope(const CallScope& call, const ExpandedPass& pass)
    : call_(call), names_(&*call.pass_base_) {
  names_.set("repeat", pass.repeat);
  const package::Model& model = call.model_;
  const Budgets& budgets = call.budgets_;
  if (model.generation == package::Generation::two) {
    if (pass.pass->derive.empty()) return;
    expr::Dict derived = call.derived_;
    evaluate_derives(pass.pass->derive, names_, derived, model, budgets);
    for (const package::NamedFormula& entry : pass.pass->derive)
      own_.set(entry.name, *derived.find(entry.name));
    names_.set("derive", expr::Value::dict(std::move(derived)));
    return;
  }
  if (call.pass_base_->names().find("pass") == nullptr)
    names_.set("pass", expr::Value::dict(expr::Dict{{"id", text(pass.id)}, {"name", text(pass.pass->name)}}));
  // A constant sees no other constant, but the derive that it may hide.
  for (const package::NamedFormula& entry : pass.pass->constants)
    own_.set(entry.name, evaluate_entry("constant", entry, names_, model, budgets));
  names_.set("constants", expr::Value::dict(own_));
  constants_.emplace(&names_, own_);
  for (const package::NamedFormula& entry : pass.pass->source_inputs)
    source_.set(entry.name, evaluate_entry("source input", entry, *constants_, model, budgets));
  names_.set("source", expr::Value::dict(source_));
}

const expr::Value* PassScope::reference(std::string_view name) const noexcept {
  if (const expr::Value* value = own_.find(name)) return value;
  if (call_.model_.generation == package::Generation::two)
    if (const expr::Value* value = call_.derived_.find(name)) return value;
  return call_.dtypes_.find(name);
}

}  // namespace kernelpack::plan
