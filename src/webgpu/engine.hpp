#pragma once

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "webgpu/program.hpp"
#include "webgpu/recorder.hpp"
#include "webgpu/runtime.hpp"

namespace kernelpack::webgpu {

class Engine {
 public:
  explicit Engine(std::shared_ptr<GpuDevice> device);

  const GpuDevice& device() const noexcept { return *device_; }
  void close() { device_->close(); }
  BindGroupCache& bind_groups() noexcept { return bind_groups_; }
  BufferPool& buffers() noexcept { return buffers_; }
  PipelineCache& pipelines() noexcept { return pipelines_; }
  UniformStore& uniforms() noexcept { return uniforms_; }

  /// The compiled form of the plan: the same object for equal plans, as long as they are among the last
  /// `kPrograms` used. Throws as `compile`.
  std::shared_ptr<const Program> program(const Plan& plan);
  /// The same for a plan that the caller keeps: found by its address while it lives, without comparing it.
  std::shared_ptr<const Program> program(const std::shared_ptr<const Plan>& plan);
  /// Compiled and not kept, for plans that are not used again; their pipelines are kept.
  std::shared_ptr<const Program> compile_once(const Plan& plan);

 private:
  static constexpr std::size_t kPrograms = 256;
  struct KnownProgram {
    std::uint64_t hash;
    Plan plan;
    std::shared_ptr<const Program> program;
  };

  std::shared_ptr<GpuDevice> device_;
  BindGroupCache bind_groups_;
  BufferPool buffers_;
  PipelineCache pipelines_;
  UniformStore uniforms_;
  std::mutex programs_mutex_;
  std::vector<KnownProgram> programs_;  ///< least recently used first
  struct KnownAddress {
    std::weak_ptr<const Plan> plan;
    std::shared_ptr<const Program> program;
  };
  std::unordered_map<const Plan*, KnownAddress> by_address_;
};

/// Opens a device and wraps it; with `null_backend` on Dawn's backend that computes nothing.
std::shared_ptr<Engine> open_engine(const GpuOptions& options, bool null_backend);

}  // namespace kernelpack::webgpu
