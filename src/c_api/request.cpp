#include "c_api/request.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "c_api/failure.hpp"
#include "kernelpack/batch.hpp"
#include "kernelpack/error.hpp"
#include "kernelpack/json.hpp"
#include "kernelpack/tuning.hpp"
#include "run_request.hpp"
#include "webgpu/runtime.hpp"

using kernelpack::AttributeValue;
using kernelpack::BoundTensor;
using kernelpack::Call;
using kernelpack::Device;
using kernelpack::DeviceFacts;
using kernelpack::DeviceTensor;
using kernelpack::Error;
using kernelpack::ErrorKind;
using kernelpack::TensorSpec;
using kernelpack::c_api::Misuse;
using kernelpack::c_api::TensorBody;

namespace {

template <class Named>
auto find(std::vector<Named>& entries, std::string_view name) {
  return std::find_if(entries.begin(), entries.end(), [&](const Named& entry) { return entry.name == name; });
}

template <class Named>
const Named* find(const std::vector<Named>& entries, std::string_view name) {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Named& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

bool as_json(kernelpack_format format) {
  if (format != KERNELPACK_FORMAT_TEXT && format != KERNELPACK_FORMAT_JSON)
    throw Misuse{fmt::format("The format ({}) is no constant of kernelpack_format", format)};
  return format == KERNELPACK_FORMAT_JSON;
}

/// The facts that a plan is made for where there is no device.
DeviceFacts facts_of(const Device* device, const char* facts) {
  if (device != nullptr && facts != nullptr)
    throw Misuse{"The arguments device and facts are both given, but one of them is expected"};
  if (device != nullptr) return device->facts();
  return facts == nullptr ? DeviceFacts::defaults() : DeviceFacts::from_json(facts, "facts");
}

}  // namespace

void kernelpack_request::set(std::vector<Tensor>& tensors, std::string_view name, TensorSpec spec,
                             Body body) {
  const auto found = find(tensors, name);
  if (found == tensors.end()) {
    tensors.push_back({std::string(name), std::move(spec), std::move(body)});
    call_.reset();
    return;
  }
  if (found->spec != spec) {
    found->spec = std::move(spec);
    call_.reset();
  }
  found->body = std::move(body);
}

void kernelpack_request::unset(std::vector<Tensor>& tensors, std::string_view name) {
  if (const auto found = find(tensors, name); found != tensors.end()) {
    tensors.erase(found);
    call_.reset();
  }
}

void kernelpack_request::want(kernelpack::WantedOutput wanted) {
  call_.reset();
  if (const auto found = find(options_.wanted, wanted.name); found != options_.wanted.end())
    *found = std::move(wanted);
  else
    options_.wanted.push_back(std::move(wanted));
}

void kernelpack_request::set_variant(std::string id) {
  if (options_.variant == id) return;
  options_.variant = std::move(id);
  call_.reset();
}

kernelpack::NamedValues& kernelpack_request::values(kernelpack_value_kind kind) {
  switch (kind) {
    case KERNELPACK_ATTRIBUTE:
      return options_.attributes;
    case KERNELPACK_ARGUMENT:
      return options_.arguments;
    case KERNELPACK_TUNABLE:
      return options_.tunables;
    default:
      throw Misuse{fmt::format("The kind ({}) is no constant of kernelpack_value_kind", kind)};
  }
}

void kernelpack_request::set_value(kernelpack_value_kind kind, std::string_view name, AttributeValue value) {
  kernelpack::NamedValues& list = values(kind);
  const auto found = find(list, name);
  if (found == list.end())
    list.push_back({std::string(name), std::move(value)});
  else if (found->value == value)
    return;
  else
    found->value = std::move(value);
  call_.reset();
}

void kernelpack_request::set_values(kernelpack_value_kind kind, kernelpack::NamedValues given) {
  kernelpack::NamedValues& list = values(kind);
  if (list == given) return;
  list = std::move(given);
  call_.reset();
}

void kernelpack_request::unset_value(kernelpack_value_kind kind, std::string_view name) {
  kernelpack::NamedValues& list = values(kind);
  if (const auto found = find(list, name); found != list.end()) {
    list.erase(found);
    call_.reset();
  }
}

const Call& kernelpack_request::bind() {
  if (!call_) {
    std::vector<kernelpack::NamedSpec> specs;
    for (const Tensor& input : inputs_) specs.push_back({input.name, input.spec});
    kernelpack::BindOptions options = options_;
    for (const Tensor& destination : destinations_)
      options.destinations.push_back({destination.name, destination.spec});
    call_ = kernel_.bind(specs, options);
  }
  return *call_;
}

bool kernelpack_request::require_one_place() const {
  const Tensor* on_gpu = nullptr;
  const Tensor* in_memory = nullptr;
  for (const auto* tensors : {&inputs_, &destinations_}) {
    for (const Tensor& tensor : *tensors) {
      if (tensor.body == nullptr)
        throw Error(ErrorKind::contract,
                    fmt::format("The tensor {} has a dtype and shape but no values", tensor.name),
                    fmt::format("tensor {}", tensor.name));
      (tensor.body->on_gpu() ? on_gpu : in_memory) = &tensor;
    }
  }
  if (on_gpu != nullptr && in_memory != nullptr)
    throw Error(
        ErrorKind::contract,
        fmt::format("The tensors of a call lie all in memory or all on a GPU, but {} lies in memory and {} "
                    "on a GPU",
                    in_memory->name, on_gpu->name),
        fmt::format("tensor {}", in_memory->name));
  return on_gpu != nullptr;
}

void kernelpack_request::run(const Device* device) {
  results_.clear();
  bind();
  const bool on_gpu = require_one_place();
  if (on_gpu && (device == nullptr || !device->is_gpu()))
    throw Error(ErrorKind::contract, "The tensors lie on a GPU, but the call is to run on the CPU");
  if (on_gpu) return run_on_gpu(*device);
  if (device == nullptr && !cpu_) cpu_ = Device::cpu();
  run_in_memory(device == nullptr ? *cpu_ : *device);
}

void kernelpack_request::run_in_memory(const Device& device) {
  kernelpack::Inputs inputs;
  for (const Tensor& input : inputs_) inputs.push_back({input.name, input.body->view()});
  std::vector<kernelpack::NamedDestination> destinations;
  for (const Tensor& destination : destinations_)
    destinations.push_back({destination.name, destination.body->mutable_view()});
  kernelpack::BoundRun bound{.call = *call_, .sources = {}, .results = {}, .targets = {}};
  attach_memory(bound, inputs, destinations);
  kernel_.run(bound.call, bound.sources, bound.targets, device);
  std::vector<Result> results;
  for (kernelpack::Outputs::Entry& entry : bound.results)
    results.push_back({std::move(entry.name), std::make_shared<const TensorBody>(std::move(entry.tensor))});
  results_ = std::move(results);
}

void kernelpack_request::run_on_gpu(const Device& device) {
  std::vector<DeviceTensor> sources;
  for (const BoundTensor& bound : call_->inputs)
    sources.push_back(find(std::as_const(inputs_), bound.name)->body->device());
  std::vector<DeviceTensor> targets;
  std::vector<Result> results;
  for (const BoundTensor& bound : call_->outputs) {
    if (const Tensor* destination = find(std::as_const(destinations_), bound.name)) {
      targets.push_back(destination->body->device());
      continue;
    }
    if (bound.inout) {
      const Tensor* input = find(std::as_const(inputs_), bound.name);
      targets.push_back(input->body->device());
      results.push_back({bound.name, input->body});
      continue;
    }
    targets.push_back(kernelpack::webgpu::allocate(device.shared_engine(), bound));
    results.push_back({bound.name, std::make_shared<const TensorBody>(targets.back())});
  }
  kernelpack::Batch batch(device);
  batch.add(kernel_, *call_, sources, targets);
  batch.submit();
  results_ = std::move(results);
}

std::string kernelpack_request::plan(const Device* device, const char* facts, kernelpack_format format) {
  const bool json = as_json(format);
  const DeviceFacts described = facts_of(device, facts);
  const Call& call = bind();
  const auto plan =
      device != nullptr && !allow_missing_templates_
          ? kernel_.plan(call, *device)
          : kernel_.plan(call, described, {.allow_missing_templates = allow_missing_templates_});
  return json ? kernelpack::to_json(call, *plan) : kernelpack::to_string(*plan);
}

std::string kernelpack_request::explain(const Device* device, const char* facts, kernelpack_format format) {
  const bool json = as_json(format);
  const DeviceFacts described = facts_of(device, facts);
  kernelpack::PlanOptions options{.allow_missing_templates = allow_missing_templates_};
  if (device != nullptr) options.profile = kernelpack::find_tuning(kernel_.package(), *device).tunables;
  const kernelpack::Explanation explanation = kernel_.explain(bind(), described, options);
  return json ? kernelpack::to_json(explanation) : kernelpack::to_string(explanation);
}

const kernelpack_request::Body& kernelpack_request::result(std::string_view name) const {
  if (const Result* found = find(results_, name)) return found->body;
  std::vector<std::string> names;
  for (const Result& each : results_) names.push_back(each.name);
  kernelpack::throw_no_output(name, names);
}
