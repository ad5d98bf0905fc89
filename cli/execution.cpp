#include "execution.hpp"

#include <unistd.h>

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

}  // namespace

Execution execute(const Kernel& kernel, const Device& device, Call call, const Inputs& inputs, int repeat) {
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
    // A tensor that is read and written starts each round with the values of the file.
    for (std::size_t i = 0; i < execution.outputs.size(); ++i) {
      if (!execution.call.outputs[i].inout) continue;
      for (std::size_t j = 0; j < execution.inputs.size(); ++j) {
        if (execution.call.inputs[j].name != execution.call.outputs[i].name) continue;
        const TensorView& source = input_named(inputs, execution.call.inputs[j].name);
        if (source.byte_size() > 0) std::memcpy(destinations[i].data(), source.data(), source.byte_size());
        execution.inputs[j] = destinations[i];
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
