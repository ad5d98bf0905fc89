#pragma once

#include <span>

#include "base/budget.hpp"
#include "kernelpack/call.hpp"
#include "kernelpack/kernel.hpp"
#include "package/model.hpp"

namespace kernelpack::contract {

/// Binds a request to the contract of a package (format.md 6.1 steps 1 to 3, 11.2, 11.4): names, presence,
/// dtypes, type variables, attributes with defaults and constraints, scalars, and the outputs, whose dtypes
/// and shapes are inferred where the request does not fix them. Throws contract, naming what is wrong and
/// where; expression for a derive or a shape that an output needs and that fails; limit for an exceeded
/// budget.
Call bind(const package::Model& model, std::span<const NamedSpec> inputs, const BindOptions& options,
          const Budgets& budgets = {});

}  // namespace kernelpack::contract
