#include "plan/selection.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/number_text.hpp"

namespace kernelpack::plan {
namespace {

bool matches(const package::MatrixPattern& pattern, const SubgroupMatrixConfig& config) {
  return (pattern.component_type.empty() || pattern.component_type == config.component_type) &&
         (pattern.result_component_type.empty() ||
          pattern.result_component_type == config.result_component_type) &&
         (!pattern.m || *pattern.m == config.m) && (!pattern.n || *pattern.n == config.n) &&
         (!pattern.k || *pattern.k == config.k);
}

bool any_match(const std::vector<package::MatrixPattern>& patterns,
               const std::vector<SubgroupMatrixConfig>& configs) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const package::MatrixPattern& pattern) {
    return std::any_of(configs.begin(), configs.end(),
                       [&](const SubgroupMatrixConfig& config) { return matches(pattern, config); });
  });
}

std::string limit_text(const std::optional<double>& limit) {
  return limit ? javascript_number_text(*limit) : std::string("not reported");
}

std::optional<std::string> exceeded(std::string_view what, std::size_t count, std::string_view limit_name,
                                    const DeviceFacts& facts) {
  const std::optional<double> limit = facts.limit(limit_name);
  if (!limit || static_cast<double>(count) <= *limit) return std::nullopt;
  return fmt::format("The number of {} bindings in one pass ({}) exceeds the device limit {} ({})", what,
                     count, limit_name, javascript_number_text(*limit));
}

}  // namespace

std::optional<std::string> unmet_requirement(const package::Requirements& requirements,
                                             const DeviceFacts& facts) {
  for (const std::string& feature : requirements.features)
    if (!facts.has_feature(feature))
      return fmt::format("The device lacks the required feature ({})", feature);
  for (const std::string& feature : requirements.wgsl_language_features) {
    const auto& known = facts.wgsl_language_features;
    if (std::find(known.begin(), known.end(), feature) == known.end())
      return fmt::format("The device lacks the required WGSL language feature ({})", feature);
  }
  for (const package::LimitRequirement& required : requirements.limits) {
    const std::optional<double> limit = facts.limit(required.name);
    if (!limit || !(*limit >= required.value))
      return fmt::format("The device limit {} ({}) is below the required value ({})", required.name,
                         limit_text(limit), javascript_number_text(required.value));
  }
  if (requirements.subgroup_min_size) {
    if (!facts.subgroup_min_size)
      return fmt::format("The adapter reports no minimum subgroup size (required: at least {})",
                         *requirements.subgroup_min_size);
    if (*facts.subgroup_min_size < *requirements.subgroup_min_size)
      return fmt::format("The minimum subgroup size of the adapter ({}) is below the required value ({})",
                         *facts.subgroup_min_size, *requirements.subgroup_min_size);
  }
  if (!requirements.matrix_configs.empty() && facts.subgroup_matrix_configs &&
      !any_match(requirements.matrix_configs, *facts.subgroup_matrix_configs))
    return fmt::format(
        "None of the subgroup matrix configurations of the adapter ({}) matches one of the required patterns "
        "({})",
        facts.subgroup_matrix_configs->size(), requirements.matrix_configs.size());
  return std::nullopt;
}

std::optional<std::string> exceeded_buffer_budget(const package::Variant& variant, const DeviceFacts& facts) {
  if (auto text = exceeded("storage", variant.max_storage_bindings, "maxStorageBuffersPerShaderStage", facts))
    return text;
  return exceeded("uniform", variant.max_uniform_bindings, "maxUniformBuffersPerShaderStage", facts);
}

std::string name_of_condition(const package::Formula& formula) {
  const expr::Expression* expression = formula.expression();
  if (expression == nullptr) return fmt::format("the condition {}", package::to_string(formula));
  return fmt::format("the condition {} ({})", expression->text(), expression->origin().pointer);
}

std::optional<Rejection> Selection::check_clauses(const package::Variant& variant,
                                                  const std::vector<package::Formula>& clauses,
                                                  Rejection::Kind failed) const {
  for (const package::Formula& clause : clauses) {
    try {
      const expr::Value value = package::evaluate(clause, scope_, budgets_);
      if (value.is_boolean() && value.boolean()) continue;
      std::string sentence = value.is_boolean()
                                 ? fmt::format("{} is false", name_of_condition(clause))
                                 : fmt::format("{} gives {}, which is not the boolean true",
                                               name_of_condition(clause), expr::describe(value));
      sentence.front() = 'T';
      return Rejection{variant.id, failed, std::move(sentence)};
    } catch (const Error& error) {
      std::string sentence = fmt::format("{} fails: {}", name_of_condition(clause), error.message());
      sentence.front() = 'T';
      return Rejection{variant.id, Rejection::Kind::when_error, std::move(sentence)};
    }
  }
  return std::nullopt;
}

const Selection::Outcome& Selection::outcome(std::size_t variant) {
  if (!outcomes_[variant]) {
    Outcome result = check(variant);
    outcomes_[variant] = std::move(result);
  }
  return *outcomes_[variant];
}

Selection::Outcome Selection::check(std::size_t index) {
  const package::Variant& variant = model_.variants[index];
  const auto rejected = [&](Rejection::Kind kind, std::string text) {
    return Outcome{false, Rejection{variant.id, kind, std::move(text)}};
  };
  if (auto text = unmet_requirement(variant.requirements, facts_))
    return rejected(Rejection::Kind::requires_, std::move(*text));
  if (auto text = exceeded_buffer_budget(variant, facts_))
    return rejected(Rejection::Kind::buffer_budget, std::move(*text));
  if (auto rejection = check_clauses(variant, variant.when, Rejection::Kind::when_false))
    return Outcome{false, std::move(rejection)};
  if (auto rejection = check_clauses(variant, variant.select_above, Rejection::Kind::select_above))
    return Outcome{false, std::move(rejection)};
  // A superseding variant always ranks higher, so this recursion ends.
  for (const std::size_t better : variant.superseded_by) {
    const Outcome& other = outcome(better);
    if (!other.rejection && !other.demoted)
      return rejected(
          Rejection::Kind::superseded,
          fmt::format("The variant is superseded by another eligible one ({})", model_.variants[better].id));
  }
  Outcome result;
  for (const package::Formula& clause : variant.demote_when) {
    try {
      const expr::Value value = package::evaluate(clause, scope_, budgets_);
      if (value.is_boolean() && value.boolean()) {
        result.demoted = true;
        break;
      }
    } catch (const Error& error) {
      std::string sentence =
          fmt::format("{} of demoteWhen fails: {}", name_of_condition(clause), error.message());
      sentence.front() = 'T';
      return rejected(Rejection::Kind::demote_error, std::move(sentence));
    }
  }
  return result;
}

Selection::Choice Selection::choose(const std::string& pinned) {
  std::vector<std::size_t> candidates;
  if (pinned.empty()) {
    candidates = model_.trial_order;
  } else {
    const auto named = std::find_if(model_.variants.begin(), model_.variants.end(),
                                    [&](const package::Variant& variant) { return variant.id == pinned; });
    if (named == model_.variants.end()) {
      std::string known;
      for (const package::Variant& variant : model_.variants)
        known += fmt::format("{}{}", known.empty() ? "" : ", ", variant.id);
      throw Error(ErrorKind::contract,
                  fmt::format("The variant ({}) is unknown to {} (known: {})", pinned, model_.op_id,
                              known.empty() ? std::string("none") : known));
    }
    candidates.push_back(static_cast<std::size_t>(std::distance(model_.variants.begin(), named)));
  }

  Choice choice;
  std::optional<std::size_t> fallback;
  for (const std::size_t candidate : candidates) {
    const Outcome& result = outcome(candidate);
    if (result.rejection) {
      choice.rejected.push_back(*result.rejection);
    } else if (!result.demoted) {
      choice.variant = candidate;
      return choice;
    } else if (!fallback) {
      fallback = candidate;
    }
  }
  if (fallback) {
    choice.variant = *fallback;
    return choice;
  }

  std::string message;
  if (model_.variants.empty()) {
    message = fmt::format("No variant of {} can run: the package has no variants", model_.op_id);
  } else {
    message = fmt::format("No variant of {} accepts the call on this device", model_.op_id);
    for (const Rejection& rejection : choice.rejected)
      message += fmt::format("{} {} ({})", &rejection == &choice.rejected.front() ? ":" : ",",
                             rejection.variant, rejection.text);
  }
  throw NoVariantError(std::move(message), std::move(choice.rejected));
}

}  // namespace kernelpack::plan
