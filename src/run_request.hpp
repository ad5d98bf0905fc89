#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelpack/kernel.hpp"
#include "webgpu/runtime.hpp"

namespace kernelpack {

/// A request with values, bound: the memory of each input and output of the call.
struct BoundRun {
  Call call;
  std::vector<TensorView> sources;
  std::vector<Outputs::Entry> results;  ///< outputs without destination of the caller
  std::vector<MutableTensorView> targets;
};
BoundRun bind_run(const Kernel& kernel, const Inputs& inputs, const RunOptions& options);
/// Gives a run that has its call, and nothing else yet, the memory of the tensors, which the call was bound
/// to; allocates the outputs without destination.
void attach_memory(BoundRun& bound, const Inputs& inputs, const std::vector<NamedDestination>& destinations);

/// Throws contract: no result has that name; `names` are those of the results.
[[noreturn]] void throw_no_output(std::string_view name, const std::vector<std::string>& names);

/// Throws if the package's files are not those that its digests vouch for, or the call is another kernel's.
void require_runnable(const Kernel& kernel, const Call& call);

/// The memory of each tensor of a plan: inputs and outputs of the call, which meet in an inout tensor.
std::vector<webgpu::HostTensor> host_tensors(const Plan& plan, const Call& call,
                                             std::span<const TensorView> inputs,
                                             std::span<const MutableTensorView> outputs);

}  // namespace kernelpack
