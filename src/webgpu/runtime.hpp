#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "kernelpack/gpu.hpp"
#include "kernelpack/plan.hpp"
#include "kernelpack/tensor.hpp"

// What other rooms see of this one; built without WebGPU, unavailable.cpp gives the same functions.
namespace kernelpack::webgpu {

/// A device with its caches: pipelines, bind groups, buffers, uniforms. Shared and thread-safe.
class Engine;

/// Opens the device that the options describe. Where no library is named and the default one lacks a required
/// feature, the others are tried. Throws device, saying in one sentence what is missing and how to get it.
std::shared_ptr<Engine> open(const GpuOptions& options);

const DeviceFacts& facts(const Engine& engine) noexcept;
/// "NVIDIA H200 (vulkan, Dawn)", with ", software" where it is.
std::string description(const Engine& engine);

/// The host memory of one tensor of a plan: inputs have values, outputs a destination, inout tensors both.
struct HostTensor {
  const TensorView* input = nullptr;
  const MutableTensorView* output = nullptr;
};

/// Runs the plan and waits for the results. `tensors` is parallel to `plan.tensors`; dtypes and shapes must
/// be the plan's. An output without destination is computed and dropped. Throws contract, limit, shader or
/// device.
void run(Engine& engine, const Plan& plan, std::span<const HostTensor> tensors);

/// A run that is under way. Destroying it before the end drops the results.
class PendingRun {
 public:
  struct State;
  explicit PendingRun(std::unique_ptr<State> state);
  PendingRun(PendingRun&&) noexcept;
  PendingRun& operator=(PendingRun&&) noexcept;
  ~PendingRun();

  /// Whether the results have arrived; waits at most `timeout` (forever without one).
  bool wait(std::optional<std::chrono::nanoseconds> timeout = {});
  /// Waits and writes the destinations, which must still be there. Throws as `run`.
  void finish();

 private:
  std::unique_ptr<State> state_;
};
/// Submits the plan and returns; the inputs may go away, the destinations must stay until `finish`.
PendingRun start(std::shared_ptr<Engine> engine, const Plan& plan, std::span<const HostTensor> tensors);

}  // namespace kernelpack::webgpu
