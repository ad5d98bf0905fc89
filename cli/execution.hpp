#pragma once

#include <span>
#include <vector>

#include "kernelpack/kernel.hpp"
#include "kernelpack/plan.hpp"

namespace kernelpack::cli {

/// One bound call with its memory.
struct Execution {
  Call call;
  std::vector<TensorView> inputs;
  std::vector<Tensor> outputs;
  std::vector<double> seconds;
};

/// Runs `call` as often as `repeat` says. Shows progress on a terminal (stderr) where it takes longer than a
/// second. An output that `buffers` puts into the buffer of an input is written in place, on a copy of the
/// input. The input tensors must outlive the result. Throws Error.
Execution execute(const Kernel& kernel, const Device& device, Call call, const Inputs& inputs,
                  std::span<const TensorBuffer> buffers, int repeat);

}  // namespace kernelpack::cli
