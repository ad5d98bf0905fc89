#include "execution.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "kernelpack/error.hpp"

namespace kernelpack::cli {
namespace {

/// "12/100 runs" on a terminal, for work that takes longer than a moment.
class Progress {
 public:
  explicit Progress(int total) : total_(total), visible_(isatty(STDERR_FILENO) != 0) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() {
    if (shown_) fmt::print(stderr, "\r\033[K");
  }
  void update(int done) {
    const auto now = std::chrono::steady_clock::now();
    if (!visible_ || now < next_) return;
    fmt::print(stderr, "\r{}/{} runs\033[K", done, total_);
    shown_ = true;
    next_ = now + std::chrono::milliseconds(100);
  }

 private:
  int total_;
  bool visible_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
};

const TensorView& input_named(const Inputs& inputs, std::string_view name) {
  for (const NamedInput& input : inputs) {
    if (input.name == name) return input.tensor;
  }
  throw Error(ErrorKind::internal, "A bound input is not among those of the request",
              fmt::format("input {}", name));
}

/// Whether the request puts both tensors into one buffer. Throws contract if they do not fit into it alike.
bool one_memory(const BoundTensor& input, const BoundTensor& output, std::span<const TensorBuffer> buffers) {
  if (input.name == output.name) return output.inout;
  const auto label_of = [&](const BoundTensor& tensor) -> const std::string* {
    for (const TensorBuffer& buffer : buffers)
      if (buffer.tensor == tensor.name) return &buffer.buffer;
    return nullptr;
  };
  const std::string* a = label_of(input);
  const std::string* b = label_of(output);
  if (a == nullptr || b == nullptr || *a != *b) return false;
  if (input.dtype != output.dtype || input.shape != output.shape) {
    throw Error(ErrorKind::contract,
                fmt::format("The input {} ({}) and the output {} ({}) of one buffer differ", input.name,
                            to_string(TensorSpec{input.dtype, input.shape}), output.name,
                            to_string(TensorSpec{output.dtype, output.shape})));
  }
  return true;
}

/// Every tensor that is put into a buffer must be one of the call, and be put into one buffer only.
void require_known(std::span<const TensorBuffer> buffers, const Call& call) {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const std::string& name = buffers[i].tensor;
    const auto is_named = [&](const BoundTensor& tensor) { return tensor.name == name; };
    if (std::none_of(call.inputs.begin(), call.inputs.end(), is_named) &&
        std::none_of(call.outputs.begin(), call.outputs.end(), is_named)) {
      throw Error(ErrorKind::contract,
                  fmt::format("The buffer {} is given for a tensor that the call lacks ({})",
                              buffers[i].buffer, name));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (buffers[j].tensor == name) {
        throw Error(ErrorKind::contract, fmt::format("The buffer of tensor {} is given twice", name));
      }
    }
  }
}

}  // namespace

Execution execute(const Kernel& kernel, const Device& device, Call call, const Inputs& inputs,
                  std::span<const TensorBuffer> buffers, int repeat) {
  require_known(buffers, call);
  Execution execution;
  execution.call = std::move(call);
  std::vector<MutableTensorView> destinations;
  for (const BoundTensor& output : execution.call.outputs) {
    execution.outputs.push_back(Tensor::uninitialized({output.dtype, output.shape}));
  }
  for (Tensor& output : execution.outputs) destinations.push_back(output.mutable_view());
  for (const BoundTensor& input : execution.call.inputs) {
    execution.inputs.push_back(input_named(inputs, input.name));
  }
  Progress progress(repeat);
  for (int round = 0; round < repeat; ++round) {
    // Memory that is read and written starts each round with the values of the file.
    for (std::size_t i = 0; i < execution.outputs.size(); ++i) {
      for (std::size_t j = 0; j < execution.inputs.size(); ++j) {
        const BoundTensor& input = execution.call.inputs[j];
        if (!one_memory(input, execution.call.outputs[i], buffers)) continue;
        const TensorView& source = input_named(inputs, input.name);
        if (source.byte_size() > 0) std::memcpy(destinations[i].data(), source.data(), source.byte_size());
        execution.inputs[j] = TensorView(input.dtype, input.shape, destinations[i].bytes());
      }
    }
    const auto start = std::chrono::steady_clock::now();
    kernel.run(execution.call, execution.inputs, destinations, device);
    execution.seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    progress.update(round + 1);
  }
  return execution;
}

}  // namespace kernelpack::cli
