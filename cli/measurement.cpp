#include "measurement.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <fmt/format.h>

#include "figures.hpp"
#include "kernelpack/timing.hpp"

namespace kernelpack::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWarmCalls = 9;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// The time of `calls` calls.
double time_of(const Device& device, const Contender& contender, int calls, bool& device_clock) {
  Batch batch(device);
  batch.add(contender.plan, contender.tensors);
  const Timing timing = batch.measure({.rounds = calls});
  device_clock = device_clock && timing.device_clock;
  return timing.seconds;
}

int most_calls(const Contender& contender, const Method& method) {
  return std::max(1, method.most_dispatches / std::max(1, dispatches_of(*contender.plan)));
}

// As many calls as last long enough. A device that comes out of its sleep is slow at first, so the number is
// checked against a measurement of that length.
void calibrate(const Device& device, Contender& contender, const Method& method) {
  const int most = most_calls(contender, method);
  contender.calls = std::min(3, most);
  bool clock = true;
  for (int attempt = 0; attempt < 4; ++attempt) {
    const double taken = time_of(device, contender, contender.calls, clock);
    if (taken >= method.seconds || contender.calls == most) return;
    const double one = std::max(taken / contender.calls, 1e-7);
    const double wanted = std::ceil(1.05 * method.seconds / one);
    contender.calls =
        static_cast<int>(std::clamp(wanted, static_cast<double>(contender.calls), static_cast<double>(most)));
  }
}

// Values that differ from word to word, so that no copy is flattered by equal ones.
Plan scramble_plan(const BoundTensor& target) {
  Plan plan = copy_plan(static_cast<std::uint64_t>(target.shape.front()) * 8);
  plan.op = "kernelpack.Scramble";
  plan.tensors = {target};
  PlannedPass& pass = plan.passes.front();
  pass.wgsl =
      "@group(0) @binding(0) var<storage, read_write> words: array<vec4<u32>>;\n"
      "@compute @workgroup_size(256)\n"
      "fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {\n"
      "  let i = id.y * groups.x * 256u + id.x;\n"
      "  if (i < arrayLength(&words)) {\n"
      "    let x = (vec4<u32>(4u * i) + vec4<u32>(0u, 1u, 2u, 3u)) * 2654435761u;\n"
      "    words[i] = ((x ^ (x >> vec4<u32>(15u))) & vec4<u32>(0x007fffffu)) | vec4<u32>(0x3f800000u);\n"
      "  }\n"
      "}\n";
  pass.bindings.erase(pass.bindings.begin() + 1);
  pass.bindings.front().name = "words";
  pass.bindings.front().target = target.name;
  pass.bindings.front().buffer = BufferKind::storage;
  return plan;
}

}  // namespace

void run_once(const Device& device, const Contender& contender) {
  Batch batch(device);
  batch.add(contender.plan, contender.tensors);
  batch.submit();
  batch.wait();
}

double Contender::median() const {
  return cli::median(seconds);
}
double Contender::fastest() const {
  return *std::min_element(seconds.begin(), seconds.end());
}
double Contender::slowest() const {
  return *std::max_element(seconds.begin(), seconds.end());
}

int dispatches_of(const Plan& plan) {
  return static_cast<int>(std::count_if(plan.passes.begin(), plan.passes.end(), [](const PlannedPass& pass) {
    return pass.skip == PlannedPass::Skip::none;
  }));
}

bool measure(const Device& device, std::span<Contender* const> contenders, const Method& method,
             const std::function<void(int round)>& progress) {
  bool device_clock = true;
  for (Contender* contender : contenders) {
    for (int i = 0; i < method.warm_ups; ++i) run_once(device, *contender);
    calibrate(device, *contender, method);
  }
  if (!contenders.empty()) {
    const auto end = Clock::now() + std::chrono::duration<double>(method.load_seconds);
    bool clock = true;
    while (Clock::now() < end) time_of(device, *contenders.front(), contenders.front()->calls, clock);
    // What was calibrated with slow clocks is too short now.
    for (Contender* contender : contenders) calibrate(device, *contender, method);
  }
  for (int round = 0; round < method.rounds; ++round) {
    if (progress) progress(round);
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      Contender& contender = *contenders[(i + static_cast<std::size_t>(round)) % contenders.size()];
      contender.seconds.push_back(time_of(device, contender, contender.calls, device_clock) /
                                  contender.calls);
    }
  }
  return device_clock;
}

CaseTensors::CaseTensors(const Device& device, const Kernel& kernel, const BenchmarkCase& from)
    : device_(device), case_(from) {
  for (const CaseInput& input : from.inputs) inputs_.push_back({input.name, input.spec});
  const Call call = bind(kernel);
  for (const BoundTensor& bound : call.inputs) {
    const auto input = std::find_if(from.inputs.begin(), from.inputs.end(),
                                    [&](const CaseInput& each) { return each.name == bound.name; });
    tensors_.push_back({bound.name, DeviceTensor::upload(device, make_tensor(*input),
                                                         {.storage = bound.storage,
                                                          .packed = bound.packed,
                                                          .saturating = bound.saturating})});
  }
  for (const BoundTensor& bound : call.outputs)
    if (!bound.inout)
      tensors_.push_back({bound.name, DeviceTensor::zeros(device, {bound.dtype, bound.shape},
                                                          {.storage = bound.storage,
                                                           .packed = bound.packed,
                                                           .saturating = bound.saturating})});
  for (const BoundTensor& bound : call.inputs)
    bytes_ += static_cast<std::uint64_t>(element_count(bound.shape)) * element_size(bound.storage);
  for (const BoundTensor& bound : call.outputs)
    bytes_ += static_cast<std::uint64_t>(element_count(bound.shape)) * element_size(bound.storage);
}

Call CaseTensors::bind(const Kernel& kernel, const NamedValues& tunables) const {
  BindOptions options{.attributes = case_.attributes, .tunables = case_.tunables};
  for (const NamedValue& tunable : tunables) {
    std::erase_if(options.tunables, [&](const NamedValue& other) { return other.name == tunable.name; });
    options.tunables.push_back(tunable);
  }
  return kernel.bind(inputs_, options);
}

std::vector<DeviceTensor> CaseTensors::tensors_of(const Plan& plan) const {
  std::vector<DeviceTensor> tensors;
  for (const BoundTensor& bound : plan.tensors) {
    const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                    [&](const NamedDeviceTensor& each) { return each.name == bound.name; });
    if (found == tensors_.end())
      throw Error(ErrorKind::contract, "The package that is compared has a tensor of another name",
                  "tensor " + bound.name);
    tensors.push_back(found->tensor);
  }
  return tensors;
}

std::int64_t CaseTensors::columns() const {
  const Shape& shape = inputs_.front().spec.shape;
  std::int64_t axis = static_cast<std::int64_t>(shape.size()) - 1;
  for (const NamedValue& attribute : case_.attributes) {
    const double* number = attribute.value.number();
    if (attribute.name != "axis" || number == nullptr) continue;
    const double rank = static_cast<double>(shape.size());
    const double from = *number < 0 ? *number + rank : *number;
    if (from >= 0 && from < rank) axis = static_cast<std::int64_t>(from);
  }
  std::int64_t columns = 1;
  for (std::size_t i = static_cast<std::size_t>(std::max<std::int64_t>(axis, 0)); i < shape.size(); ++i)
    columns *= shape[i];
  return columns;
}

Contender CaseTensors::run_first(Contender contender, double planning) const {
  auto start = Clock::now();
  run_once(device_, contender);
  contender.cold = planning + since(start);
  std::vector<double> warm;
  for (int i = 0; i < kWarmCalls; ++i) {
    start = Clock::now();
    run_once(device_, contender);
    warm.push_back(since(start));
  }
  contender.warm = cli::median(warm);
  return contender;
}

Contender CaseTensors::contender(const std::string& name, const Kernel& kernel, const Call& call,
                                 const PlanOptions* options) const {
  Contender contender;
  contender.name = name;
  const auto start = Clock::now();
  contender.plan =
      options != nullptr ? kernel.plan(call, device_.facts(), *options) : kernel.plan(call, device_);
  contender.tensors = tensors_of(*contender.plan);
  return run_first(std::move(contender), since(start));
}

Contender CaseTensors::copy() const {
  Contender contender;
  contender.name = "copy";
  contender.plan = std::make_shared<const Plan>(copy_plan(bytes_));
  for (const BoundTensor& bound : contender.plan->tensors)
    contender.tensors.push_back(DeviceTensor::zeros(device_, {bound.dtype, bound.shape}));
  Batch batch(device_);
  const auto scramble = std::make_shared<const Plan>(scramble_plan(contender.plan->tensors.front()));
  batch.add(scramble, std::span(contender.tensors).first(1));
  batch.submit();
  return run_first(std::move(contender), 0);
}

}  // namespace kernelpack::cli
