#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>

#include "kernelpack/device_tensor.hpp"
#include "kernelpack/gpu.hpp"
#include "kernelpack/plan.hpp"
#include "kernelpack/prewarm.hpp"
#include "kernelpack/tensor.hpp"
#include "kernelpack/timing.hpp"

struct WGPUBufferImpl;
struct WGPUCommandEncoderImpl;
struct WGPUDeviceImpl;

namespace kernelpack {
struct AdoptedDevice;
}

// What other rooms see of this one; built without WebGPU, unavailable.cpp gives the same functions.
namespace kernelpack::webgpu {

/// A device with its caches: pipelines, bind groups, buffers, uniforms. Shared and thread-safe.
class Engine;

/// Opens the device that the options describe. Where no library is named and the default one lacks a required
/// feature, the others are tried. Throws device, saying in one sentence what is missing and how to get it.
std::shared_ptr<Engine> open(const GpuOptions& options);

/// The caller's device, of which nothing is ever destroyed.
std::shared_ptr<Engine> adopt(const AdoptedDevice& adopted);
WGPUDeviceImpl* raw_device(const Engine& engine) noexcept;
/// A tensor in the caller's buffer. Throws contract for a wrong usage, offset or size.
DeviceTensor wrap(std::shared_ptr<Engine> engine, WGPUBufferImpl* buffer, std::uint64_t byte_offset,
                  const BoundTensor& bound);
WGPUBufferImpl* raw_buffer(const DeviceMemory& memory) noexcept;

const DeviceFacts& facts(const Engine& engine) noexcept;
const GpuAdapter& adapter(const Engine& engine) noexcept;
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

/// The storage of a tensor outside any call. Throws contract for a storage that the dtype does not have.
BoundTensor stored_as(const TensorSpec& spec, const StorageOptions& options);
/// A new tensor of zeros.
DeviceTensor allocate(std::shared_ptr<Engine> engine, const BoundTensor& bound);
void write(const DeviceTensor& tensor, const TensorView& values);
void read(const DeviceTensor& tensor, const MutableTensorView& destination);

/// Plans with their tensors, collected for one submission. For one thread at a time.
class Submission {
 public:
  explicit Submission(std::shared_ptr<Engine> engine);
  Submission(const Submission&) = delete;
  Submission& operator=(const Submission&) = delete;
  ~Submission();

  /// Compiles the plan unless that was done and adds it. `tensors` is parallel to `plan->tensors`. Throws
  /// contract if a tensor is of another device, dtype, storage or shape, and as `run`.
  void add(const std::shared_ptr<const Plan>& plan, std::span<const DeviceTensor> tensors);
  std::size_t size() const noexcept;
  /// Submits and forgets the calls, also if it throws.
  void submit();
  /// Submits the calls with a clock around them, waits, and forgets them, also if it throws. Throws limit if
  /// there are more compute passes than can be timed.
  Timing measure(const MeasureOptions& options);

 private:
  friend class RecordedWork;
  struct State;
  std::unique_ptr<State> state_;
};
/// What calls that were recorded into an encoder of the caller need until that is submitted.
class RecordedWork {
 public:
  RecordedWork();
  RecordedWork(const RecordedWork&) = delete;
  RecordedWork& operator=(const RecordedWork&) = delete;
  ~RecordedWork();

  /// Records the calls of the submission and forgets them there, also if it throws. Throws contract (another
  /// device than before, submitAfter, hazards) or device; nothing is recorded unless every call is sound.
  void add(Submission& submission, WGPUCommandEncoderImpl* encoder);
  std::size_t size() const noexcept;
  void clear() noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Waits until everything submitted is done; false if the timeout passes or `stop` is requested first.
bool wait_until_idle(const Engine& engine, std::optional<std::chrono::nanoseconds> timeout,
                     const std::stop_token& stop = {});
/// Waits for what was submitted; every later call throws device. Destroys a device of ours.
void close(Engine& engine);
/// Compiles what the plans need, several pipelines at a time. `progress` counts distinct pipelines.
void prewarm(Engine& engine, std::span<const std::shared_ptr<const Plan>> plans,
             const PrewarmProgress& progress);
std::optional<ShaderCacheState> shader_cache(const Engine& engine);

/// A run that is under way. Destroying it before the end drops the results.
class PendingRun {
 public:
  struct State;
  explicit PendingRun(std::unique_ptr<State> state);
  PendingRun(PendingRun&&) noexcept;
  PendingRun& operator=(PendingRun&&) noexcept;
  ~PendingRun();

  /// Whether the results have arrived; waits at most `timeout` (forever without one), or until `stop` is
  /// requested.
  bool wait(std::optional<std::chrono::nanoseconds> timeout = {}, const std::stop_token& stop = {});
  /// Waits and writes the destinations, which must still be there. Throws as `run`.
  void finish();

 private:
  std::unique_ptr<State> state_;
};
/// Submits the plan and returns; the inputs may go away, the destinations must stay until `finish`.
PendingRun start(std::shared_ptr<Engine> engine, const Plan& plan, std::span<const HostTensor> tensors);

}  // namespace kernelpack::webgpu
