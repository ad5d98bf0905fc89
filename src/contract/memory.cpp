#include "contract/memory.hpp"

#include <cstdint>

#include <fmt/format.h>

#include "kernelpack/error.hpp"

namespace kernelpack::contract {
namespace {

void check_spec(std::string_view side, const BoundTensor& bound, const TensorView& given) {
  if (bound.dtype == given.dtype() && bound.shape == given.shape()) return;
  throw Error(ErrorKind::contract,
              fmt::format("The {} {} ({}) differs from what the call is bound to ({})", side, bound.name,
                          to_string(given.spec()), to_string(TensorSpec{bound.dtype, bound.shape})),
              fmt::format("{} {}", side, bound.name));
}

void check_count(std::string_view side, std::size_t given, std::size_t bound) {
  if (given == bound) return;
  throw Error(ErrorKind::contract,
              fmt::format("The number of {} ({}) differs from that of the call ({})", side, given, bound));
}

// Addresses are compared as integers: pointers into different objects have no order.
bool overlap(const TensorView& a, const TensorView& b) noexcept {
  if (a.byte_size() == 0 || b.byte_size() == 0) return false;
  const auto begin_a = reinterpret_cast<std::uintptr_t>(a.data());
  const auto begin_b = reinterpret_cast<std::uintptr_t>(b.data());
  return begin_a < begin_b + b.byte_size() && begin_b < begin_a + a.byte_size();
}

bool same_memory(const TensorView& a, const TensorView& b) noexcept {
  return a.data() == b.data() && a.byte_size() == b.byte_size();
}

}  // namespace

void check_inputs(const Call& call, std::span<const TensorView> inputs) {
  check_count("inputs", inputs.size(), call.inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) check_spec("input", call.inputs[i], inputs[i]);
}

void check_tensors(const Call& call, std::span<const TensorView> inputs,
                   std::span<const MutableTensorView> outputs, MayAlias may_alias) {
  check_inputs(call, inputs);
  check_count("outputs", outputs.size(), call.outputs.size());
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const BoundTensor& output = call.outputs[o];
    check_spec("output", output, outputs[o]);
    for (std::size_t other = 0; other < o; ++other)
      if (overlap(outputs[o], outputs[other]))
        throw Error(ErrorKind::contract,
                    fmt::format("The memory of output {} overlaps that of output {}", output.name,
                                call.outputs[other].name),
                    fmt::format("output {}", output.name));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const BoundTensor& input = call.inputs[i];
      const bool same_tensor = output.inout && input.name == output.name;
      if (same_tensor && !same_memory(outputs[o], inputs[i]) && outputs[o].byte_size() != 0)
        throw Error(
            ErrorKind::contract,
            fmt::format(
                "The tensor {} is written in place, but its input and its output are different memory",
                output.name),
            fmt::format("output {}", output.name));
      if (same_tensor || !overlap(outputs[o], inputs[i])) continue;
      const bool exact = same_memory(outputs[o], inputs[i]);
      const bool allowed = may_alias != nullptr && may_alias(call, o, i);
      if (exact && allowed) continue;
      throw Error(ErrorKind::contract,
                  fmt::format("The memory of output {} {} that of input {}{}", output.name,
                              exact ? "is" : "overlaps", input.name,
                              allowed ? "; only the very same memory is allowed"
                                      : ", which the kernel does not allow"),
                  fmt::format("output {}", output.name));
    }
  }
}

}  // namespace kernelpack::contract
