#include "gpu_run.hpp"

#include <algorithm>
#include <cstring>

#include "kernelpack/batch.hpp"
#include "kernelpack/webgpu_interop.hpp"

namespace kernelpack::conformance {
namespace {

// NaN in both dtypes, for what kernels may read and not use.
constexpr int kPoison = 0xFF;
// Neither NaN nor a probability in any dtype, for what they must not write.
constexpr int kSentinel = 0xA5;
constexpr std::int64_t kGuardWords = 16;

/// A tensor in a longer buffer, which `words` keeps alive.
struct Guarded {
  DeviceTensor words;
  DeviceTensor tensor;
};

Guarded guarded(const Device& device, const TensorSpec& spec, int byte) {
  const auto bytes = static_cast<std::int64_t>(element_size(spec.dtype)) * element_count(spec.shape);
  Tensor words = Tensor::uninitialized({DType::uint32, {(bytes + 3) / 4 + kGuardWords}});
  std::memset(words.data(), byte, words.byte_size());
  Guarded made{DeviceTensor::upload(device, words), {}};
  made.tensor = wrap_buffer(device, webgpu_buffer(made.words), 0, spec);
  return made;
}

Guarded poisoned(const Device& device, const Tensor& values) {
  Guarded made = guarded(device, values.spec(), kPoison);
  made.tensor.write(values);
  return made;
}

}  // namespace

const TestTolerance& gpu_tolerance() {
  static const TestTolerance tolerance{
      .float32 = Float32Tolerance{.relative = 2e-6, .relative_per_distance = 3e-7, .floor = 1.2e-38},
      .float16 = Float16Tolerance{.steps = 1, .limit = 0x1p-14, .absolute = 6.1e-5}};
  return tolerance;
}

Call bind(const Kernel& kernel, const cpu::OpCase& op, const Choice& choice) {
  return kernel.bind(std::vector<NamedSpec>{{"data", op.data.spec()}, {"bias", op.bias.spec()}},
                     {.attributes = {{"axis", op.axis}, {"is_inner_broadcast", op.inner}},
                      .tunables = choice.tunables,
                      .variant = choice.variant});
}

Problem::Problem(const Kernel& kernel, cpu::OpCase op) : op_(std::move(op)) {
  const std::vector<TensorView> inputs{op_.data, op_.bias};
  const Call call = bind(kernel, op_);
  reference_ = std::move(reference_outputs(call, inputs).at(0));
  columns_ = cpu::bias_softmax_shape(call).columns;
}

std::shared_ptr<const Plan> plan_if_any(const Kernel& kernel, const Call& call, const DeviceFacts& facts) {
  try {
    return kernel.plan(call, facts);
  } catch (const NoVariantError&) {
    return nullptr;
  }
}

Tensor run_guarded(const Place& place, const std::shared_ptr<const Plan>& plan, const cpu::OpCase& op) {
  const Guarded data = poisoned(place.device, op.data);
  const Guarded bias = poisoned(place.device, op.bias);
  const Guarded output = guarded(place.device, op.data.spec(), kSentinel);
  std::vector<DeviceTensor> tensors;
  for (const BoundTensor& bound : plan->tensors)
    tensors.push_back((bound.name == "data" ? data : bound.name == "bias" ? bias : output).tensor);
  Batch batch(place.device);
  batch.add(plan, tensors);
  batch.submit();
  const Tensor words = output.words.read();
  const auto bytes = std::as_bytes(words.values<std::uint32_t>());
  const auto behind = bytes.begin() + static_cast<std::ptrdiff_t>(op.data.byte_size());
  EXPECT_TRUE(std::all_of(behind, bytes.end(), [](std::byte byte) { return byte == std::byte{kSentinel}; }))
      << "what lies behind the output was overwritten";
  return Tensor(TensorView(op.data.dtype(), op.data.shape(), std::span(bytes.begin(), behind)));
}

Result expect_right(const Kernel& kernel, const Place& place, const Problem& problem, const Choice& choice,
                    bool exact) {
  const std::shared_ptr<const Plan> plan = kernel.plan(bind(kernel, problem.op(), choice), place.facts);
  Result result{plan->variant, run_guarded(place, plan, problem.op())};
  const Judgement judged = judge(result.output, problem.reference(), gpu_tolerance(), exact);
  EXPECT_EQ(judged.wrong, 0) << result.variant << " with " << place.name << " for "
                             << to_string(problem.op().data.spec()) << ": of " << judged.elements
                             << " elements; the worst, element " << judged.worst << ", is " << judged.got
                             << " where " << judged.expected << " is expected (" << judged.multiple
                             << " of its tolerance)";
  return result;
}

}  // namespace kernelpack::conformance
