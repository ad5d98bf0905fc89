#pragma once

#include <memory>
#include <optional>
#include <string>

#include "cpu/bias_softmax/bias_softmax_call_test.hpp"
#include "kernelpack/cases.hpp"
#include "setting.hpp"

namespace kernelpack::conformance {

/// How far a GPU may be from the definition in double.
const TestTolerance& gpu_tolerance();

/// A call with its right result, which does not depend on tunables and variant.
class Problem {
 public:
  /// Throws what binding and the operator's own check throw.
  Problem(const Kernel& kernel, cpu::OpCase op);

  const cpu::OpCase& op() const { return op_; }
  const ReferenceOutput& reference() const { return reference_; }
  /// Rows have so many elements.
  std::int64_t columns() const { return columns_; }

 private:
  cpu::OpCase op_;
  ReferenceOutput reference_;
  std::int64_t columns_;
};

/// What may be asked of a call beside its tensors.
struct Choice {
  std::string variant{};  ///< empty: what planning chooses
  NamedValues tunables{};
};

Call bind(const Kernel& kernel, const cpu::OpCase& op, const Choice& choice = {});
/// The plan, or nothing if no variant accepts the call.
std::shared_ptr<const Plan> plan_if_any(const Kernel& kernel, const Call& call, const DeviceFacts& facts);

/// Runs the plan. Input buffers go on with NaN behind the tensors. Expects that what lies behind the output
/// in its buffer, an odd half's neighbour included, is left alone.
Tensor run_guarded(const Place& place, const std::shared_ptr<const Plan>& plan, const cpu::OpCase& op);

/// What a call gave, and by which variant.
struct Result {
  std::string variant;
  Tensor output;
};
/// Runs the call and expects the right result; `exact`: equal to the rounded reference. Throws as planning
/// and running do.
Result expect_right(const Kernel& kernel, const Place& place, const Problem& problem,
                    const Choice& choice = {}, bool exact = false);

}  // namespace kernelpack::conformance
