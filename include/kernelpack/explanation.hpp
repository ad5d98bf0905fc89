#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernelpack/call.hpp"
#include "kernelpack/error.hpp"
#include "kernelpack/plan.hpp"

namespace kernelpack {

/// An expression of a package with its value, both as text.
struct ExplainedValue {
  std::string name;        ///< of the entry; empty for a part of a condition
  std::string expression;  ///< as the manifest writes it
  std::string value;       ///< as the language shows it: 128, "f32", [2, 64, 4], true; or why it has none
  bool failed = false;     ///< `value` is the message of an error
  bool operator==(const ExplainedValue&) const = default;
};

/// One clause of `when` or `demoteWhen`.
struct ExplainedClause {
  ExplainedValue result;
  bool holds = false;                   ///< exactly the boolean true
  std::vector<ExplainedValue> because;  ///< the parts that decided, outermost first
  bool operator==(const ExplainedClause&) const = default;
};

struct ExplainedVariant {
  enum class Outcome {
    chosen,
    refused,
    demoted,      ///< eligible, but another variant went first
    not_reached,  ///< a variant before it was chosen; `rejection` says whether it could have run
  };
  std::string id;
  double priority = 0;
  Outcome outcome = Outcome::not_reached;
  std::optional<Rejection> rejection;  ///< nothing: it accepts the call
  bool demoted = false;                ///< a clause of demoteWhen holds
  std::vector<ExplainedClause> when;   ///< all clauses, also those behind the first that does not hold
  std::vector<ExplainedClause> demote_when;
  bool operator==(const ExplainedVariant&) const = default;
};
std::string_view to_string(ExplainedVariant::Outcome outcome) noexcept;

/// What only an explanation shows of a pass of the plan; `id` names it there.
struct ExplainedPass {
  std::string id;
  std::vector<ExplainedValue> values;  ///< derives, or constants of manifest 1.0
  std::vector<ExplainedValue> source;  ///< source inputs of manifest 1.0
  std::vector<ExplainedValue>
      dispatch;                  ///< x, y, z, threads, workgroups, gridStride, workgroupSize as stated
  std::optional<double> groups;  ///< workgroups before folding, where the manifest leaves folding to us
  bool operator==(const ExplainedPass&) const = default;
};

/// Why a call is planned as it is: every variant with every clause, every derived value, every pass.
struct Explanation {
  Call call;
  DeviceFacts device;
  std::vector<ExplainedValue> derives;          ///< of the manifest, in order; ends at the first that fails
  std::vector<ExplainedVariant> variants;       ///< in the order of trial
  std::vector<ExplainedValue> tunables;         ///< as the chosen variant sees them
  std::vector<ExplainedValue> variant_derives;  ///< of the chosen variant
  std::vector<ExplainedPass> passes;            ///< of the chosen variant
  std::optional<Plan> plan;                     ///< nothing if the call cannot be planned
  std::optional<Error> refusal;                 ///< why there is no plan
};

struct ExplanationText {
  bool wgsl = false;  ///< append the rendered shaders with line numbers
};
/// The explanation for people, a line at most as long as what it quotes.
std::string to_string(const Explanation& explanation, const ExplanationText& options = {});

}  // namespace kernelpack
