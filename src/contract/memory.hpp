#pragma once

#include <cstddef>
#include <span>

#include "kernelpack/call.hpp"
#include "kernelpack/tensor.hpp"

namespace kernelpack::contract {

/// Whether the memory of that output of a call may be exactly that of that input.
using MayAlias = bool (*)(const Call& call, std::size_t output, std::size_t input);

/// Checks tensors given for the inputs of a call: their number, dtypes and shapes, in the order of
/// `call.inputs`. Throws contract, naming the tensor.
void check_inputs(const Call& call, std::span<const TensorView> inputs);

/// Checks tensors given for a call: their number, dtypes and shapes, in the order of `call.inputs` and
/// `call.outputs`, and their memory: an output must not overlap another output; it may be exactly the memory
/// of an input where it is the same inout tensor or `may_alias` (which may be null) says so, and must not
/// overlap it otherwise. Throws contract, naming the tensors; allocates nothing if all is well.
void check_tensors(const Call& call, std::span<const TensorView> inputs,
                   std::span<const MutableTensorView> outputs, MayAlias may_alias);

}  // namespace kernelpack::contract
