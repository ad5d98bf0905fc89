#pragma once

#include <string>
#include <string_view>

#include "webgpu/gpu_device.hpp"

namespace kernelpack::webgpu {

/// A shader module, rewritten for naga where that compiles it. Errors land in the caller's scope.
Handle<WGPUShaderModule> create_module(const GpuDevice& device, std::string_view wgsl,
                                       std::string_view label);

/// The error of kind shader for a text that does not compile: the library's first line as the message, line
/// and column as `where`, the source line as the excerpt, the library's whole text as context.
Error shader_error(const GpuDevice& device, const CapturedError& captured, std::string_view wgsl,
                   std::string_view shader, std::string_view pass);

}  // namespace kernelpack::webgpu
