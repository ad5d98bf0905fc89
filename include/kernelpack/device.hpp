#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernelpack/gpu.hpp"

namespace kernelpack {

struct AdoptedDevice;
class Device;
Device adopt_device(const AdoptedDevice& adopted);

namespace cpu {
class Executor;
}
namespace webgpu {
class Engine;
}

/// Threads of the caller that share the work of calls instead of those of the process-wide pool.
class TaskRunner {
 public:
  virtual ~TaskRunner() = default;
  /// Calls `task(context, index)` exactly once for each index in [0, count), in any order and on any threads,
  /// and returns after the last has returned. Tasks neither throw nor wait for each other. Called from
  /// several threads at once when calls are concurrent.
  virtual void run(int count, void (*task)(void* context, int index), void* context) = 0;
};

struct CpuOptions {
  /// Threads that share the work of one call, the caller included; 0: one per processor the process may run
  /// on.
  int threads = 0;
  /// Instruction set to use: "" for the best that the machine has, or one of `cpu_targets()`. An unknown name
  /// is an error of kind device, one that the machine lacks is an error of kind unsupported.
  std::string target{};
  /// How long the threads of the pool poll for the next call before they block, at most 1000. The pool is
  /// shared by the process; the latest call decides. After a fork the child starts threads of its own with
  /// its first call.
  int spin_microseconds = 1000;
  /// Set to run on the caller's threads; `threads` is then the number of tasks that run at once.
  std::shared_ptr<TaskRunner> runner{};
};

/// Where calls run. Cheap to copy: copies share the device. Safe to use from several threads.
class Device {
 public:
  static Device cpu(const CpuOptions& options = {});
  /// Opens a GPU. Throws device, saying in one sentence what is missing and how to get it.
  static Device open(const GpuOptions& options = {});

  bool is_gpu() const noexcept { return engine_ != nullptr; }
  /// "cpu (avx3, 2 threads)", "NVIDIA H200 (vulkan, Dawn)".
  const std::string& description() const noexcept { return description_; }
  /// What planning may know of a GPU. Throws device for the CPU, which needs no plans.
  const DeviceFacts& facts() const;
  /// The GPU's adapter, as its library names it. Throws device for the CPU.
  const GpuAdapter& adapter() const;

  /// Waits for what was submitted to a GPU and ends its use: every later call on this device, its copies and
  /// its tensors throws device. A device of kernelpack's own is destroyed, which frees its memory at once;
  /// one of the caller stays as it is. Without this, a device ends with its last copy and tensor. The CPU
  /// ignores it.
  void close() const;

  /// Of a CPU device.
  const cpu::Executor& executor() const noexcept { return *executor_; }
  /// Of a GPU device.
  webgpu::Engine& engine() const noexcept { return *engine_; }
  const std::shared_ptr<webgpu::Engine>& shared_engine() const noexcept { return engine_; }

 private:
  friend Device adopt_device(const AdoptedDevice& adopted);
  Device(std::shared_ptr<const cpu::Executor> executor, std::string description)
      : executor_(std::move(executor)), description_(std::move(description)) {}
  Device(std::shared_ptr<webgpu::Engine> engine, std::string description)
      : engine_(std::move(engine)), description_(std::move(description)) {}

  std::shared_ptr<const cpu::Executor> executor_;
  std::shared_ptr<webgpu::Engine> engine_;
  std::string description_;
};

struct CpuTarget {
  std::string_view name;  ///< "avx3", "avx2", "sse4", "scalar" (x86-64); "neon", "scalar" (AArch64)
  bool supported;         ///< by the machine at hand
};
/// The instruction sets that kernels were compiled for, best first.
std::vector<CpuTarget> cpu_targets();

}  // namespace kernelpack
