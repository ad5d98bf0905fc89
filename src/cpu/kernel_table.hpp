#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "cpu/executor.hpp"
#include "kernelpack/call.hpp"
#include "kernelpack/tensor.hpp"

namespace kernelpack::cpu {

/// A kernel of the CPU. `check` and `run` may be called from several threads at once.
struct KernelEntry {
  std::string_view op;  ///< "com.microsoft.BiasSoftmax"

  /// Throws contract, with the numbers, for a call that is bound to the op's contract and that the op still
  /// cannot compute. Looks at shapes, dtypes and attributes only.
  void (*check)(const Call& call);

  /// Computes the outputs. The call has passed `check`; the tensors are those of `call.inputs` and
  /// `call.outputs`, in that order, with their dtypes and shapes; an output overlaps an input only where
  /// `output_may_be_input` says so, and then exactly.
  void (*run)(const Call& call, std::span<const TensorView> inputs,
              std::span<const MutableTensorView> outputs, const Executor& executor);

  /// Whether the memory of output number `output` may be exactly that of input number `input` of the call.
  bool (*output_may_be_input)(const Call& call, std::size_t output, std::size_t input);

  /// The definition of the op in double: what each element of each output must be, and the distance that its
  /// tolerance grows with (ReferenceOutput of cases.hpp). The call has passed `check`; the spans have the
  /// elements of `call.outputs`.
  void (*reference)(const Call& call, std::span<const TensorView> inputs,
                    std::span<const std::span<double>> expected,
                    std::span<const std::span<double>> distances);
};

/// Every kernel there is.
std::span<const KernelEntry> kernel_table() noexcept;
/// The kernel of that op id, or null: an op that is not in the table does not run on the CPU.
const KernelEntry* find_kernel(std::string_view op) noexcept;

}  // namespace kernelpack::cpu
