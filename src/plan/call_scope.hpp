#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/budget.hpp"
#include "expr/scope.hpp"
#include "kernelpack/call.hpp"
#include "kernelpack/plan.hpp"
#include "package/model.hpp"
#include "plan/repeat.hpp"

namespace kernelpack::plan {

/// The names that the places of a manifest see for one call on one device (format.md 5): namespaces and
/// manifest derives at once, tunables and derives of a variant after `enter`. Borrows its arguments.
class CallScope {
 public:
  /// Does not evaluate anything yet.
  CallScope(const package::Model& model, const Call& call, const DeviceFacts& facts,
            const NamedValues& profile, const Budgets& budgets);
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;

  /// Evaluates the manifest's derives in order. Throws what a derive throws, naming it.
  void derive_manifest();
  /// Evaluates the derives of the variant, whose tunables are visible from here on.
  void enter(const package::Variant& variant);

  /// Namespaces and manifest derives.
  const expr::Scope& manifest() const noexcept { return manifest_; }
  /// What variant derives, intermediate shapes and repeat counts see. Requires `enter`.
  const expr::Scope& variant() const noexcept { return *variant_; }
  /// Manifest and variant derives.
  const expr::Dict& derived() const noexcept { return derived_; }
  /// Bare names of dtypes in pass scopes: "T" -> "f32".
  const expr::Dict& dtypes() const noexcept { return dtypes_; }
  /// The value of the name `args`.
  const expr::Value& arguments() const noexcept { return *namespaces_.find("args"); }
  const package::Model& model() const noexcept { return model_; }
  const Budgets& budgets() const noexcept { return budgets_; }

 private:
  friend class PassScope;
  const package::Model& model_;
  const Call& call_;
  const NamedValues& profile_;
  const Budgets budgets_;
  expr::Dict dtypes_;
  expr::Dict derived_;
  expr::Scope namespaces_;
  expr::Scope manifest_;
  std::optional<expr::Scope> variant_names_;  ///< tunables of the variant, below its derives
  std::optional<expr::Scope> variant_;
  std::optional<expr::Scope> pass_names_;  ///< the same and the dtypes' bare names
  std::optional<expr::Scope> pass_base_;   ///< derives of manifest and variant on pass_names_
};

/// The complete scope of one expanded pass. Borrows the call's scope, in which the pass's variant was
/// entered.
class PassScope {
 public:
  /// Evaluates the pass's derives (1.0: constants and source inputs). Throws what they throw, naming them.
  PassScope(const CallScope& call, const ExpandedPass& pass);
  PassScope(const PassScope&) = delete;
  PassScope& operator=(const PassScope&) = delete;

  const expr::Scope& complete() const noexcept { return constants_ ? *constants_ : names_; }
  /// What a `$ref` finds: derived and dtype names, (1.0) constants and dtype names; null if there is none.
  const expr::Value* reference(std::string_view name) const noexcept;
  /// Names of this pass alone: its derives or (1.0) its constants; and (1.0) its source inputs.
  const expr::Dict& own() const noexcept { return own_; }
  const expr::Dict& source() const noexcept { return source_; }

 private:
  const CallScope& call_;
  expr::Dict own_;
  expr::Dict source_;
  expr::Scope names_;
  std::optional<expr::Scope> constants_;
};

}  // namespace kernelpack::plan
