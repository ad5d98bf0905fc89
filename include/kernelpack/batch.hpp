#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kernelpack/device_tensor.hpp"
#include "kernelpack/kernel.hpp"
#include "kernelpack/prewarm.hpp"
#include "kernelpack/timing.hpp"

namespace kernelpack {

namespace webgpu {
class Submission;
}

struct NamedDeviceTensor {
  std::string name;
  DeviceTensor tensor;
};
using DeviceInputs = std::vector<NamedDeviceTensor>;

/// Results on the device by public output name, in the order of the contract.
class DeviceOutputs {
 public:
  DeviceOutputs() = default;
  explicit DeviceOutputs(std::vector<NamedDeviceTensor> entries) : entries_(std::move(entries)) {}
  /// Throws contract, listing the names, if there is no such output.
  const DeviceTensor& operator[](std::string_view name) const;
  const std::vector<NamedDeviceTensor>& entries() const noexcept { return entries_; }

 private:
  std::vector<NamedDeviceTensor> entries_;
};

/// What a call of a batch says besides its inputs.
struct BatchOptions {
  NamedValues attributes{};
  NamedValues arguments{};
  std::vector<WantedOutput> wanted{};
  std::vector<NamedDeviceTensor> destinations{};
  NamedValues tunables{};
  std::string variant{};
};

/// Calls on one GPU, collected into one command buffer and one submission. Outputs of a call can be inputs of
/// later ones. Nothing runs before `submit`. For one thread at a time.
class Batch {
 public:
  /// Throws device if the device is no GPU.
  explicit Batch(const Device& device);
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;
  ~Batch();

  /// Binds, plans and compiles the call and adds it. Outputs without destination are allocated. An inout
  /// tensor is written in place. Throws as Kernel::run.
  DeviceOutputs add(const Kernel& kernel, const DeviceInputs& inputs, const BatchOptions& options = {});
  /// The hot path: tensors in the order of `call.inputs` and `call.outputs`.
  void add(const Kernel& kernel, const Call& call, std::span<const DeviceTensor> inputs,
           std::span<const DeviceTensor> outputs);
  /// The same for a plan: tensors in the order of `plan->tensors`.
  void add(const std::shared_ptr<const Plan>& plan, std::span<const DeviceTensor> tensors);

  std::size_t size() const noexcept;
  /// Submits the calls, which leaves the batch empty, and does not wait. Throws contract for a hazard, device
  /// for what the library refuses; the batch is empty then, too.
  void submit();
  /// Runs the calls as `submit`, with a clock around them, and waits; leaves the batch empty. A device opened
  /// with `GpuOptions::profiling` has the finest clock. Throws limit for more than 2048 compute passes.
  Timing measure(const MeasureOptions& options = {});
  /// Waits until everything submitted to the device is done. False if `timeout` passes or `stop` is requested
  /// first.
  bool wait(std::optional<std::chrono::nanoseconds> timeout = {}, const std::stop_token& stop = {}) const;

 private:
  friend class Recording;
  Device device_;
  std::unique_ptr<webgpu::Submission> submission_;
};

}  // namespace kernelpack
