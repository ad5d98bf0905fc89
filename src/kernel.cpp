// The spine: a package, a request bound to its contract, a kernel that computes it.
#include "kernelpack/kernel.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "contract/bind.hpp"
#include "contract/memory.hpp"
#include "cpu/kernel_table.hpp"
#include "kernelpack/error.hpp"
#include "package/model.hpp"
#include "package/suggest.hpp"
#include "plan/cache.hpp"
#include "plan/explain.hpp"
#include "plan/planner.hpp"
#include "trusted_files.hpp"
#include "webgpu/runtime.hpp"

namespace kernelpack {
namespace {

LoadOptions load_options(const GetOptions& options, std::string expected_op_id) {
  return {.verify = options.verify,
          .expected_op_id = std::move(expected_op_id),
          .allow_missing_templates = options.allow_missing_templates};
}

Package load_shipped(std::string_view op_id, const GetOptions& options) {
  std::vector<std::string> known;
  for (const ShippedPackage& shipped : shipped_packages()) {
    if (shipped.op_id == op_id)
      return Package::load(shipped.folder,
                           load_options(options, options.expected_op_id.empty() ? std::string(op_id)
                                                                                : options.expected_op_id));
    known.push_back(shipped.op_id);
  }
  std::string searched;
  for (const auto& folder : package_search_path())
    searched += fmt::format("{}{}", searched.empty() ? "" : ", ", folder.string());
  throw Error(ErrorKind::package,
              fmt::format("The op id ({}) names no shipped package{}; searched: {}", op_id,
                          package::suggestion(op_id, known), searched),
              std::string(op_id));
}

const cpu::KernelEntry& require_kernel(const std::string& op) {
  if (const cpu::KernelEntry* kernel = cpu::find_kernel(op)) return *kernel;
  throw Error(ErrorKind::unsupported, fmt::format("This build has no CPU kernel for {}", op), op);
}

template <class Named>
const Named* find(const std::vector<Named>& entries, std::string_view name) {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Named& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

// The memory of each tensor of a plan: inputs and outputs of the call, which meet in an inout tensor.
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

}  // namespace

Kernel::Kernel(Package package) : package_(std::move(package)), plans_(std::make_shared<plan::Cache>()) {}

Kernel Kernel::get(std::string_view source, const GetOptions& options) {
  if (is_remote_source(source, options)) {
    FetchedPackage fetched = fetch_package(source, options);
    Kernel kernel(std::move(fetched.package));
    kernel.origin_ = std::move(fetched.origin);
    return kernel;
  }
  std::error_code ignored;
  const bool folder = source.find('/') != std::string_view::npos ||
                      source.find('\\') != std::string_view::npos ||
                      std::filesystem::is_directory(source, ignored);
  Kernel kernel(folder ? Package::load(source, load_options(options, options.expected_op_id))
                       : load_shipped(source, options));
  kernel.origin_.kind = folder ? PackageOrigin::Kind::folder : PackageOrigin::Kind::shipped;
  kernel.origin_.source = source;
  kernel.origin_.folder = kernel.package_.folder();
  return kernel;
}

Call Kernel::bind(std::span<const NamedSpec> inputs, const BindOptions& options) const {
  return contract::bind(package_.model(), inputs, options);
}

std::shared_ptr<const Plan> Kernel::plan(const Call& call, const DeviceFacts& facts,
                                         const PlanOptions& options) const {
  return plans_->get(call, facts, options,
                     [&] { return plan::make_plan(package_.model(), call, facts, options); });
}

Explanation Kernel::explain(const Call& call, const DeviceFacts& facts, const PlanOptions& options) const {
  return plan::explain(package_.model(), call, facts, options);
}

Outputs Kernel::run(const Inputs& inputs, const RunOptions& options) const {
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
  const Call call = bind(specs, request);

  std::vector<TensorView> sources;
  for (const BoundTensor& bound : call.inputs) sources.push_back(find(inputs, bound.name)->tensor);
  std::vector<Outputs::Entry> results;
  results.reserve(call.outputs.size());
  std::vector<MutableTensorView> targets;
  for (const BoundTensor& bound : call.outputs) {
    if (const NamedDestination* destination = find(options.destinations, bound.name)) {
      targets.push_back(destination->tensor);
    } else if (bound.inout) {
      // The caller's input stays as it is: a copy is written in place and becomes the result.
      const auto place = static_cast<std::size_t>(find(call.inputs, bound.name) - call.inputs.data());
      results.push_back({bound.name, Tensor(sources[place])});
      sources[place] = results.back().tensor.view();
      targets.push_back(results.back().tensor.mutable_view());
    } else {
      results.push_back({bound.name, Tensor::uninitialized({bound.dtype, bound.shape})});
      targets.push_back(results.back().tensor.mutable_view());
    }
  }
  run(call, sources, targets, options.device ? *options.device : Device::cpu());
  return Outputs(std::move(results));
}

void Kernel::run(const Call& call, std::span<const TensorView> inputs,
                 std::span<const MutableTensorView> outputs, const Device& device) const {
  require_trusted_files(package_.model());
  if (call.op != package_.op_id())
    throw Error(ErrorKind::contract,
                fmt::format("The call is bound to {}, but the kernel is {}", call.op, package_.op_id()));
  if (device.is_gpu()) {
    contract::check_tensors(call, inputs, outputs, nullptr);
    const std::shared_ptr<const Plan> made = plan(call, device.facts());
    webgpu::run(device.engine(), *made, host_tensors(*made, call, inputs, outputs));
    return;
  }
  const cpu::KernelEntry& kernel = require_kernel(call.op);
  contract::check_tensors(call, inputs, outputs, kernel.output_may_be_input);
  kernel.check(call);
  kernel.run(call, inputs, outputs, device.executor());
}

}  // namespace kernelpack
