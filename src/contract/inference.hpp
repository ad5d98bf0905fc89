#pragma once

#include <memory>

#include "base/budget.hpp"
#include "kernelpack/call.hpp"
#include "package/model.hpp"

namespace kernelpack::contract {

/// Evaluates the shapes of outputs (format.md 6.2): without device and only with the derives that a shape can
/// reach. A derive that fails is not in scope; its failure surfaces if a shape needs it. Borrows its
/// arguments; `call` holds the inputs and the outputs that have destinations.
class ShapeInference {
 public:
  ShapeInference(const package::Model& model, const Call& call, const Budgets& budgets)
      : model_(model), call_(call), budgets_(budgets) {}

  /// The shape of an output whose port states one.
  Shape infer(const package::Port& port);

 private:
  struct State;
  State& state();

  const package::Model& model_;
  const Call& call_;
  const Budgets& budgets_;
  std::shared_ptr<State> state_;
};

}  // namespace kernelpack::contract
