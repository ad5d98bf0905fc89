#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/budget.hpp"
#include "expr/scope.hpp"
#include "kernelpack/plan.hpp"
#include "package/model.hpp"

namespace kernelpack::plan {

/// Variant selection (format.md 7) for one call on one device. `scope` is the manifest scope: namespaces and
/// all manifest derives. Every variant is checked at most once, on demand. Borrows its arguments.
class Selection {
 public:
  Selection(const package::Model& model, const DeviceFacts& facts, const expr::Scope& scope,
            const Budgets& budgets = {})
      : model_(model), facts_(facts), scope_(scope), budgets_(budgets), outcomes_(model.variants.size()) {}

  struct Outcome {
    bool demoted = false;                ///< eligible, but only if nothing else is
    std::optional<Rejection> rejection;  ///< nothing: eligible
  };
  /// Checks the variant of that index of Model::variants.
  const Outcome& outcome(std::size_t variant);

  struct Choice {
    std::size_t variant = 0;
    std::vector<Rejection> rejected;  ///< refused before the chosen one, in the order of trial
  };
  /// The variant that runs. `pinned`, if not empty, is the only candidate. Throws NoVariantError with the
  /// reason of every candidate, or contract for an unknown pinned id.
  Choice choose(const std::string& pinned);

 private:
  Outcome check(std::size_t variant);
  std::optional<Rejection> check_clauses(const package::Variant& variant,
                                         const std::vector<package::Formula>& clauses,
                                         Rejection::Kind failed) const;

  const package::Model& model_;
  const DeviceFacts& facts_;
  const expr::Scope& scope_;
  const Budgets budgets_;
  std::vector<std::optional<Outcome>> outcomes_;
};

/// The first demand that the device does not meet, as one sentence; nothing if it meets all.
std::optional<std::string> unmet_requirement(const package::Requirements& requirements,
                                             const DeviceFacts& facts);
/// Why the bindings of a variant exceed the buffers of one shader stage, as one sentence; nothing if they
/// fit.
std::optional<std::string> exceeded_buffer_budget(const package::Variant& variant, const DeviceFacts& facts);
/// "the condition T > 0 (/variants/1/when/0)", for sentences.
std::string name_of_condition(const package::Formula& formula);

}  // namespace kernelpack::plan
