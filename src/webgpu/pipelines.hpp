#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "webgpu/gpu_device.hpp"

namespace kernelpack::webgpu {

/// A compute pipeline with the layouts that bind groups need.
struct Pipeline {
  std::vector<Handle<WGPUBindGroupLayout>>
      groups;  ///< by group index; a group without bindings has a layout too
  Handle<WGPUPipelineLayout> layout;
  Handle<WGPUComputePipeline> pipeline;
  /// Uniforms are bound with dynamic offsets, in the order of their binding numbers.
  bool dynamic_uniforms = false;
};

/// Compiled pipelines by rendered text, entry point and binding types; shared by all kernels of a device.
class PipelineCache {
 public:
  explicit PipelineCache(const GpuDevice& device) : device_(device) {}

  /// The pipeline of a pass, compiled on first use; callers of the same pass wait for one compilation. Takes
  /// the device's lock. Throws shader, naming the compiler, its text and the place, or limit for too many
  /// bindings.
  std::shared_ptr<const Pipeline> get(const PlannedPass& pass);
  std::uint64_t compiled() const;

 private:
  struct Entry {
    std::mutex mutex;
    std::shared_ptr<const Pipeline> pipeline;
  };
  std::shared_ptr<const Pipeline> compile(const PlannedPass& pass, bool dynamic_uniforms) const;
  void require_limits(const PlannedPass& pass) const;

  const GpuDevice& device_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Entry>, std::less<>> entries_;
  std::uint64_t compiled_ = 0;
};

}  // namespace kernelpack::webgpu
