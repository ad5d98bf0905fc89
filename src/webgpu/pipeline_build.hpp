#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <variant>
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

struct PipelineRequest {
  const PlannedPass* pass = nullptr;
  bool dynamic_uniforms = false;
};
/// The error is of kind shader, naming the compiler, its text and the place, or device.
using PipelineResult = std::variant<std::shared_ptr<const Pipeline>, Error>;

/// Compiles pipelines, several at a time: asynchronously with Dawn, on threads of ours with wgpu-native,
/// whose asynchronous call ends the process. `done` is called by this thread once a request, in any order,
/// without the device's lock, which is taken only for as long as a library needs it. Throws device if the
/// device is lost.
void build_pipelines(const GpuDevice& device, std::span<const PipelineRequest> requests,
                     const std::function<void(std::size_t index, PipelineResult result)>& done);

}  // namespace kernelpack::webgpu
