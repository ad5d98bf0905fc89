#include "kernelpack/batch.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "kernelpack/error.hpp"
#include "run_request.hpp"
#include "trusted_files.hpp"
#include "webgpu/runtime.hpp"

namespace kernelpack {
namespace {

const DeviceTensor* find_tensor(const DeviceInputs& tensors, std::string_view name) {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const NamedDeviceTensor& entry) { return entry.name == name; });
  return found == tensors.end() ? nullptr : &found->tensor;
}

}  // namespace

const DeviceTensor& DeviceOutputs::operator[](std::string_view name) const {
  if (const DeviceTensor* tensor = find_tensor(entries_, name)) return *tensor;
  std::vector<std::string> names;
  for (const NamedDeviceTensor& entry : entries_) names.push_back(entry.name);
  throw_no_output(name, names);
}

Batch::Batch(const Device& device) : device_(device) {
  if (!device.is_gpu())
    throw Error(ErrorKind::device, "A batch needs a GPU: calls on the CPU run one by one");
  submission_ = std::make_unique<webgpu::Submission>(device.shared_engine());
}
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;
Batch::~Batch() = default;

DeviceOutputs Batch::add(const Kernel& kernel, const DeviceInputs& inputs, const BatchOptions& options) {
  BindOptions request{.attributes = options.attributes,
                      .arguments = options.arguments,
                      .wanted = options.wanted,
                      .tunables = options.tunables,
                      .variant = options.variant};
  std::vector<NamedSpec> specs;
  for (const NamedDeviceTensor& input : inputs) specs.push_back({input.name, input.tensor.spec()});
  for (const NamedDeviceTensor& destination : options.destinations)
    request.destinations.push_back({destination.name, destination.tensor.spec()});
  const Call call = kernel.bind(specs, request);

  std::vector<DeviceTensor> sources;
  for (const BoundTensor& bound : call.inputs) sources.push_back(*find_tensor(inputs, bound.name));
  std::vector<NamedDeviceTensor> results;
  std::vector<DeviceTensor> targets;
  for (const BoundTensor& bound : call.outputs) {
    if (const DeviceTensor* destination = find_tensor(options.destinations, bound.name)) {
      targets.push_back(*destination);
    } else if (bound.inout) {
      targets.push_back(*find_tensor(inputs, bound.name));
      results.push_back({bound.name, targets.back()});
    } else {
      targets.push_back(webgpu::allocate(device_.shared_engine(), bound));
      results.push_back({bound.name, targets.back()});
    }
  }
  add(kernel, call, sources, targets);
  return DeviceOutputs(std::move(results));
}

void Batch::add(const Kernel& kernel, const Call& call, std::span<const DeviceTensor> inputs,
                std::span<const DeviceTensor> outputs) {
  if (inputs.size() != call.inputs.size() || outputs.size() != call.outputs.size())
    throw Error(ErrorKind::contract,
                fmt::format("The number of tensors ({} and {}) differs from that of the call ({} and {})",
                            inputs.size(), outputs.size(), call.inputs.size(), call.outputs.size()));
  require_trusted_files(kernel.package().model());
  const std::shared_ptr<const Plan> plan = kernel.plan(call, device_);
  std::vector<DeviceTensor> tensors(inputs.begin(), inputs.end());
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (!call.outputs[i].inout) tensors.push_back(outputs[i]);
  add(plan, tensors);
}

void Batch::add(const std::shared_ptr<const Plan>& plan, std::span<const DeviceTensor> tensors) {
  submission_->add(plan, tensors);
}

std::size_t Batch::size() const noexcept {
  return submission_->size();
}

void Batch::submit() {
  submission_->submit();
}

Timing Batch::measure(const MeasureOptions& options) {
  return submission_->measure(options);
}

bool Batch::wait(std::optional<std::chrono::nanoseconds> timeout, const std::stop_token& stop) const {
  return webgpu::wait_until_idle(device_.engine(), timeout, stop);
}

}  // namespace kernelpack
