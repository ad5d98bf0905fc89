#pragma once

#include <vector>

#include "kernelpack/kernel.hpp"

namespace kernelpack::cli {

/// One bound call with its memory.
struct Execution {
  Call call;
  std::vector<TensorView> inputs;
  std::vector<Tensor> outputs;
  std::vector<double> seconds;
};

/// Runs `call` as often as `repeat` says. Shows progress on a terminal (stderr) where it takes longer than a
/// second. The input tensors must outlive the result. Throws Error.
Execution execute(const Kernel& kernel, const Device& device, Call call, const Inputs& inputs, int repeat);

}  // namespace kernelpack::cli
