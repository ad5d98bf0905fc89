#include "run_request.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "kernelpack/error.hpp"
#include "trusted_files.hpp"

namespace kernelpack {
namespace {

template <class Named>
const Named* find(const std::vector<Named>& entries, std::string_view name) {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Named& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

}  // namespace

std::vector<webgpu::HostTensor> host_tensors(const Plan& plan, const Call& call,
                                             std::span<const TensorView> inputs,
                                             std::span<const MutableTensorView> outputs) {
  std::vector<webgpu::HostTensor> tensors;
  for (const BoundTensor& bound : plan.tensors) {
    const BoundTensor* input = find(call.inputs, bound.name);
    const BoundTensor* output = find(call.outputs, bound.name);
    tensors.push_back(
        {input != nullptr ? &inputs[static_cast<std::size_t>(input - call.inputs.data())] : nullptr,
         output != nullptr ? &outputs[static_cast<std::size_t>(output - call.outputs.data())] : nullptr});
  }
  return tensors;
}

void require_runnable(const Kernel& kernel, const Call& call) {
  require_trusted_files(kernel.package().model());
  if (call.op != kernel.package().op_id())
    throw Error(ErrorKind::contract, fmt::format("The call is bound to {}, but the kernel is {}", call.op,
                                                 kernel.package().op_id()));
}

BoundRun bind_run(const Kernel& kernel, const Inputs& inputs, const RunOptions& options) {
  BindOptions request{.attributes = options.attributes,
                      .arguments = options.arguments,
                      .wanted = options.wanted,
                      .tunables = options.tunables,
                      .variant = options.variant};
  std::vector<NamedSpec> specs;
  specs.reserve(inputs.size());
  for (const NamedInput& input : inputs) specs.push_back({input.name, input.tensor.spec()});
  for (const NamedDestination& destination : options.destinations)
    request.destinations.push_back({destination.name, destination.tensor.spec()});
  BoundRun bound;
  bound.call = kernel.bind(specs, request);
  attach_memory(bound, inputs, options.destinations);
  return bound;
}

void attach_memory(BoundRun& bound, const Inputs& inputs, const std::vector<NamedDestination>& destinations) {
  for (const BoundTensor& tensor : bound.call.inputs)
    bound.sources.push_back(find(inputs, tensor.name)->tensor);
  bound.results.reserve(bound.call.outputs.size());
  for (const BoundTensor& tensor : bound.call.outputs) {
    if (const NamedDestination* destination = find(destinations, tensor.name)) {
      bound.targets.push_back(destination->tensor);
    } else if (tensor.inout) {
      // The caller's input stays as it is: a copy is written in place and becomes the result.
      const auto place =
          static_cast<std::size_t>(find(bound.call.inputs, tensor.name) - bound.call.inputs.data());
      bound.results.push_back({tensor.name, Tensor(bound.sources[place])});
      bound.sources[place] = bound.results.back().tensor.view();
      bound.targets.push_back(bound.results.back().tensor.mutable_view());
    } else {
      bound.results.push_back({tensor.name, Tensor::uninitialized({tensor.dtype, tensor.shape})});
      bound.targets.push_back(bound.results.back().tensor.mutable_view());
    }
  }
}

}  // namespace kernelpack
