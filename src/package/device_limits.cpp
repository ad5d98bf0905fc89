#include "package/device_limits.hpp"

#include <array>

namespace kernelpack::package {
namespace {

constexpr std::array<DeviceLimit, 36> kLimits = {{
    {"maxTextureDimension1D", 8192.0},
    {"maxTextureDimension2D", 8192.0},
    {"maxTextureDimension3D", 2048.0},
    {"maxTextureArrayLayers", 256.0},
    {"maxBindGroups", 4.0},
    {"maxBindGroupsPlusVertexBuffers", 24.0},
    {"maxBindingsPerBindGroup", 1000.0},
    {"maxDynamicUniformBuffersPerPipelineLayout", 8.0},
    {"maxDynamicStorageBuffersPerPipelineLayout", 4.0},
    {"maxSampledTexturesPerShaderStage", 16.0},
    {"maxSamplersPerShaderStage", 16.0},
    {"maxStorageBuffersPerShaderStage", 10.0},
    {"maxStorageTexturesPerShaderStage", 4.0},
    {"maxUniformBuffersPerShaderStage", 12.0},
    {"maxUniformBufferBindingSize", 65536.0},
    {"maxStorageBufferBindingSize", 134217728.0},
    {"minUniformBufferOffsetAlignment", 256.0},
    {"minStorageBufferOffsetAlignment", 256.0},
    {"maxVertexBuffers", 8.0},
    {"maxBufferSize", 268435456.0},
    {"maxVertexAttributes", 16.0},
    {"maxVertexBufferArrayStride", 2048.0},
    {"maxInterStageShaderVariables", 16.0},
    {"maxColorAttachments", 8.0},
    {"maxColorAttachmentBytesPerSample", 32.0},
    {"maxComputeWorkgroupStorageSize", 16384.0},
    {"maxComputeInvocationsPerWorkgroup", 256.0},
    {"maxComputeWorkgroupSizeX", 256.0},
    {"maxComputeWorkgroupSizeY", 256.0},
    {"maxComputeWorkgroupSizeZ", 64.0},
    {"maxComputeWorkgroupsPerDimension", kDispatchFoldWidth},
    {"maxImmediateSize", 0.0},
    {"maxStorageBuffersInVertexStage", std::nullopt},
    {"maxStorageBuffersInFragmentStage", std::nullopt},
    {"maxStorageTexturesInVertexStage", std::nullopt},
    {"maxStorageTexturesInFragmentStage", std::nullopt},
}};

constexpr std::array<std::string_view, 7> kFeatures = {"shader-f16",
                                                       "subgroups",
                                                       "subgroup-size-control",
                                                       "chromium-experimental-subgroup-matrix",
                                                       "timestamp-query",
                                                       "texture-formats-tier1",
                                                       "texture-formats-tier2"};

}  // namespace

std::span<const DeviceLimit> device_limits() noexcept {
  return kLimits;
}

const DeviceLimit* find_device_limit(std::string_view name) noexcept {
  for (const DeviceLimit& limit : kLimits)
    if (limit.name == name) return &limit;
  return nullptr;
}

std::span<const std::string_view> device_features() noexcept {
  return kFeatures;
}

}  // namespace kernelpack::package
