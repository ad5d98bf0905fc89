#include "case_run.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <span>

#include <fmt/format.h>

#include "comparison.hpp"
#include "kernelpack/batch.hpp"
#include "kernelpack/webgpu_interop.hpp"

namespace kernelpack::cli {
namespace {

using Clock = std::chrono::steady_clock;

// What lies in and behind an output before the call: no NaN in any dtype, and no result of any reference.
constexpr std::uint8_t kSentinel = 0xA5;
constexpr std::size_t kGuardBytes = 64;
// A file of a stranger must not fill the memory; the reference takes 16 bytes an element.
constexpr std::int64_t kMostElements = std::int64_t{1} << 28;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

TestRow row_of(const TestCase& test, std::string device) {
  TestRow row;
  row.id = test.id;
  row.device = std::move(device);
  return row;
}

void fail(TestRow& row, const std::string& reason) {
  row.outcome = TestOutcome::failed;
  row.reason += (row.reason.empty() ? "" : "; ") + reason;
}

void reach(TestRow& row, const std::string& variant) {
  if (std::find(row.variants.begin(), row.variants.end(), variant) == row.variants.end())
    row.variants.push_back(variant);
}

bool lacks_a_feature(const NoVariantError& error) {
  return std::any_of(error.reasons().begin(), error.reasons().end(),
                     [](const Rejection& each) { return each.kind == Rejection::Kind::requires_; });
}

/// Whether a device has all that another is described to have.
bool covers(const DeviceFacts& device, const DeviceFacts& described) {
  return std::all_of(described.features.begin(), described.features.end(),
                     [&](const std::string& feature) { return device.has_feature(feature); }) &&
         std::all_of(described.limits.begin(), described.limits.end(),
                     [&](const auto& limit) { return device.limit(limit.first) >= limit.second; });
}

void require_size(const Call& call) {
  std::int64_t elements = 0;
  for (const std::vector<BoundTensor>* side : {&call.inputs, &call.outputs})
    for (const BoundTensor& bound : *side)
      elements += std::min(element_count(bound.shape), kMostElements + 1);
  if (elements > kMostElements)
    throw Error(
        ErrorKind::limit,
        fmt::format("The tensors of the case have more elements than a test may have ({})", kMostElements));
}

/// Memory for an output on the host, with a guard behind it.
class GuardedMemory {
 public:
  explicit GuardedMemory(const BoundTensor& bound)
      : spec_{bound.dtype, bound.shape},
        bytes_(static_cast<std::size_t>(element_count(bound.shape)) * element_size(bound.dtype)),
        memory_(Tensor::uninitialized({DType::uint8, {static_cast<std::int64_t>(bytes_ + kGuardBytes)}})) {
    std::memset(memory_.data(), kSentinel, memory_.byte_size());
  }
  MutableTensorView view() {
    return MutableTensorView(spec_.dtype, spec_.shape, std::span(memory_.data(), bytes_));
  }
  bool intact() const {
    const auto all = memory_.values<std::uint8_t>();
    return std::all_of(all.begin() + static_cast<std::ptrdiff_t>(bytes_), all.end(),
                       [](std::uint8_t byte) { return byte == kSentinel; });
  }

 private:
  TensorSpec spec_;
  std::size_t bytes_;
  Tensor memory_;
};

StorageOptions storage_of(const BoundTensor& bound) {
  return {.storage = bound.storage, .packed = bound.packed, .saturating = bound.saturating};
}

/// The same in a buffer of a GPU. A shader sees the tensor's bytes rounded up to 4.
class GuardedBuffer {
 public:
  GuardedBuffer(const Device& device, const BoundTensor& bound)
      : bytes_(static_cast<std::size_t>(element_count(bound.shape)) *
               (bound.packed ? 1 : element_size(bound.storage))) {
    Tensor words = Tensor::uninitialized(
        {DType::uint32, {static_cast<std::int64_t>((bytes_ + 3) / 4 + kGuardBytes / 4)}});
    std::memset(words.data(), kSentinel, words.byte_size());
    whole_ = DeviceTensor::upload(device, words);
    tensor_ = wrap_buffer(device, webgpu_buffer(whole_), 0, {bound.dtype, bound.shape}, storage_of(bound));
  }
  const DeviceTensor& tensor() const { return tensor_; }
  bool intact() const {
    const Tensor words = whole_.read();
    const std::span<const std::byte> all(words.data(), words.byte_size());
    return std::all_of(all.begin() + static_cast<std::ptrdiff_t>(bytes_), all.end(),
                       [](std::byte byte) { return byte == std::byte{kSentinel}; });
  }

 private:
  std::size_t bytes_;
  DeviceTensor whole_;
  DeviceTensor tensor_;
};

void fail_behind(TestRow& row, const BoundTensor& output) {
  fail(row, fmt::format("What lies behind the last element of {} is overwritten", output.name));
}

}  // namespace

/// What all devices share.
struct CaseRunner::Prepared {
  Call call;
  std::vector<Tensor> inputs;               ///< of call.inputs
  std::vector<ReferenceOutput> references;  ///< of call.outputs; none without a reference
  std::string failure;                      ///< why there is nothing to run

  const Tensor& input(const std::string& name) const {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (call.inputs[i].name == name) return inputs[i];
    throw Error(ErrorKind::internal, "A planned tensor is not among the inputs of the call",
                "tensor " + name);
  }
};

CaseRunner::CaseRunner(const Kernel& kernel, const TestCases& cases, std::optional<Device> cpu,
                       std::optional<Device> gpu)
    : kernel_(kernel), cases_(cases), cpu_(std::move(cpu)), gpu_(std::move(gpu)) {}

Call CaseRunner::bind(const TestCase& test, const std::string& pin) const {
  std::vector<NamedSpec> specs;
  for (const CaseInput& input : test.inputs) specs.push_back({input.name, input.spec});
  return kernel_.bind(specs, {.attributes = test.attributes, .tunables = test.tunables, .variant = pin});
}

void CaseRunner::refuse_binding(const TestCase& test, TestRow& row) const {
  try {
    bind(test);
    fail(row, "The request is bound, but the case expects an error of kind contract");
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::contract)
      fail(row, "The case expects an error of kind contract: " + error.line());
  }
}

void CaseRunner::refuse_planning(const TestCase& test, const DeviceFacts& facts, const std::string& device,
                                 TestRow& row) const {
  try {
    const auto planned = kernel_.plan(bind(test), facts);
    reach(row, planned->variant);
    fail(row, fmt::format("The variant {} accepts the call on {}, but the case expects an error of kind "
                          "no_variant",
                          planned->variant, device));
  } catch (const NoVariantError&) {
  } catch (const Error& error) {
    fail(row, "The case expects an error of kind no_variant: " + error.line());
  }
}

void CaseRunner::plan(const TestCase& test, TestRow& row) const {
  std::vector<TestDevice> devices = cases_.devices;
  if (devices.empty()) devices.push_back({"a device of WebGPU's defaults", DeviceFacts::defaults()});
  if (test.error) {
    for (const TestDevice& device : devices) refuse_planning(test, device.facts, device.name, row);
    return;
  }
  const Call call = bind(test);
  for (const ExpectedVariant& expected : test.variants) {
    const auto device = std::find_if(devices.begin(), devices.end(),
                                     [&](const TestDevice& each) { return each.name == expected.device; });
    try {
      const auto planned = kernel_.plan(call, device->facts);
      reach(row, planned->variant);
      if (planned->variant != expected.variant)
        fail(row, fmt::format("On {} the variant {} is chosen, but the case expects {}", device->name,
                              planned->variant, expected.variant));
    } catch (const Error& error) {
      fail(row, fmt::format("On {}: {}", device->name, error.line()));
    }
  }
  for (const std::string& pin : test.pins) {
    const Call pinned = bind(test, pin);
    bool accepted = false;
    for (const TestDevice& device : devices) {
      try {
        reach(row, kernel_.plan(pinned, device.facts)->variant);
        accepted = true;
      } catch (const NoVariantError& error) {
        if (!lacks_a_feature(error)) fail(row, fmt::format("On {}: {}", device.name, error.line()));
      } catch (const Error& error) {
        fail(row, fmt::format("On {}: {}", device.name, error.line()));
      }
    }
    if (!accepted && row.outcome == TestOutcome::ok)
      fail(row, fmt::format("No device of the file has what the pinned variant {} requires", pin));
  }
}

/// Whether the GPU must run a case that no variant of the package accepts there.
bool CaseRunner::must_accept(const TestCase& test, const NoVariantError& error, bool pinned) const {
  const DeviceFacts& facts = gpu_->facts();
  if (pinned && lacks_a_feature(error)) return false;
  if (!cases_.devices.empty())
    return std::any_of(cases_.devices.begin(), cases_.devices.end(),
                       [&](const TestDevice& device) { return covers(facts, device.facts); });
  const bool halves = std::any_of(test.inputs.begin(), test.inputs.end(),
                                  [](const CaseInput& input) { return input.spec.dtype == DType::float16; });
  return !lacks_a_feature(error) && !(halves && !facts.has_feature("shader-f16"));
}

CaseRunner::Prepared CaseRunner::prepare(const TestCase& test) const {
  Prepared prepared;
  try {
    prepared.call = bind(test);
    require_size(prepared.call);
    std::vector<TensorView> views;
    for (const BoundTensor& bound : prepared.call.inputs)
      for (const CaseInput& input : test.inputs)
        if (input.name == bound.name) prepared.inputs.push_back(make_tensor(input));
    for (const Tensor& input : prepared.inputs) views.push_back(input.view());
    if (has_reference(prepared.call.op)) prepared.references = reference_outputs(prepared.call, views);
  } catch (const Error& error) {
    prepared.failure = error.line();
  }
  return prepared;
}

void CaseRunner::judge_outputs(const TestCase& test, const Prepared& prepared,
                               const std::vector<Tensor>& outputs, TestRow& row) const {
  if (prepared.references.empty()) {
    if (row.outcome == TestOutcome::ok) row.outcome = TestOutcome::unchecked;
    return;
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Judgement judged = judge(outputs[i], prepared.references[i], cases_.tolerance, test.exact);
    row.multiple = std::max(row.multiple, judged.multiple);
    if (judged.wrong > 0)
      fail(row, fmt::format("{} of {} elements of {} are wrong, the worst at {}: {} where {} is expected",
                            judged.wrong, judged.elements, prepared.references[i].name,
                            index_text(judged.worst, outputs[i].shape()), judged.got, judged.expected));
  }
}

void CaseRunner::run_on_cpu(const TestCase& test, const Prepared& prepared, std::vector<TestRow>& rows) {
  TestRow row = row_of(test, "cpu");
  try {
    const Call& call = prepared.call;
    std::vector<GuardedMemory> memory;
    std::vector<MutableTensorView> targets;
    std::vector<TensorView> inputs;
    for (const BoundTensor& output : call.outputs) memory.emplace_back(output);
    for (GuardedMemory& each : memory) targets.push_back(each.view());
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      inputs.push_back(prepared.inputs[i].view());
      for (std::size_t o = 0; o < call.outputs.size(); ++o) {
        if (!call.outputs[o].inout || call.outputs[o].name != call.inputs[i].name) continue;
        std::copy(inputs[i].bytes().begin(), inputs[i].bytes().end(), targets[o].bytes().begin());
        inputs[i] = targets[o];
      }
    }
    const auto start = Clock::now();
    kernel_.run(call, inputs, targets, *cpu_);
    row.seconds = since(start);
    std::vector<Tensor> outputs;
    for (const MutableTensorView& target : targets) outputs.emplace_back(target);
    judge_outputs(test, prepared, outputs, row);
    for (std::size_t o = 0; o < memory.size(); ++o)
      if (!memory[o].intact()) fail_behind(row, call.outputs[o]);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::unsupported) {
      cpu_missing_ = error.message();
      return;
    }
    fail(row, error.line());
  }
  rows.push_back(std::move(row));
}

void CaseRunner::run_on_gpu(const TestCase& test, const Prepared& prepared, const std::string& pin,
                            TestRow& row) const {
  row.pinned = !pin.empty();
  try {
    const Call call = pin.empty() ? prepared.call : bind(test, pin);
    const auto start = Clock::now();
    const std::shared_ptr<const Plan> planned = kernel_.plan(call, gpu_->facts());
    reach(row, planned->variant);
    std::vector<GuardedBuffer> buffers;
    for (const BoundTensor& output : call.outputs) buffers.emplace_back(*gpu_, output);
    std::vector<DeviceTensor> tensors;
    for (const BoundTensor& bound : planned->tensors) {
      const auto output = std::find_if(call.outputs.begin(), call.outputs.end(),
                                       [&](const BoundTensor& each) { return each.name == bound.name; });
      if (output == call.outputs.end()) {
        tensors.push_back(DeviceTensor::upload(*gpu_, prepared.input(bound.name), storage_of(bound)));
        continue;
      }
      tensors.push_back(buffers[static_cast<std::size_t>(output - call.outputs.begin())].tensor());
      if (output->inout) tensors.back().write(prepared.input(bound.name));
    }
    Batch batch(*gpu_);
    batch.add(planned, tensors);
    batch.submit();
    batch.wait();
    row.seconds = since(start);
    std::vector<Tensor> outputs;
    for (const GuardedBuffer& buffer : buffers) outputs.push_back(buffer.tensor().read());
    judge_outputs(test, prepared, outputs, row);
    for (std::size_t o = 0; o < buffers.size(); ++o)
      if (!buffers[o].intact()) fail_behind(row, call.outputs[o]);
  } catch (const NoVariantError& error) {
    fail(row, error.line());
    if (!must_accept(test, error, row.pinned)) row.outcome = TestOutcome::skipped;
  } catch (const Error& error) {
    fail(row, error.line());
  }
}

void CaseRunner::run(const TestCase& test, std::vector<TestRow>& rows) {
  if (test.error == ErrorKind::contract) {
    refuse_binding(test, rows.emplace_back(row_of(test, "plan")));
    return;
  }
  const Prepared prepared = test.error ? Prepared{} : prepare(test);
  if (!prepared.failure.empty()) {
    fail(rows.emplace_back(row_of(test, "plan")), prepared.failure);
    return;
  }
  if (test.error || !test.variants.empty() || !test.pins.empty()) {
    TestRow& row = rows.emplace_back(row_of(test, "plan"));
    row.pinned = !test.pins.empty();
    try {
      plan(test, row);
    } catch (const Error& error) {
      fail(row, error.line());
    }
  }
  if (test.error) {
    if (gpu_) {
      TestRow& row = rows.emplace_back(row_of(test, "gpu"));
      refuse_planning(test, gpu_->facts(), "this GPU", row);
    }
    return;
  }
  if (cpu_ && cpu_missing_.empty()) run_on_cpu(test, prepared, rows);
  if (!gpu_) return;
  const std::vector<std::string> pins = test.pins.empty() ? std::vector<std::string>{""} : test.pins;
  for (const std::string& pin : pins) run_on_gpu(test, prepared, pin, rows.emplace_back(row_of(test, "gpu")));
}

}  // namespace kernelpack::cli
