#pragma once

// The C interface of WebGPU as data types only: every function is found at run time (library.hpp). This is
// the one place that includes the header.
#define WGPU_SKIP_DECLARATIONS
#include <webgpu/webgpu.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace kernelpack::webgpu {

/// The functions that every supported library has.
#define KERNELPACK_WEBGPU_FUNCTIONS(X)    \
  X(CreateInstance)                       \
  X(InstanceRequestAdapter)               \
  X(InstanceProcessEvents)                \
  X(InstanceAddRef)                       \
  X(InstanceRelease)                      \
  X(AdapterGetInfo)                       \
  X(AdapterInfoFreeMembers)               \
  X(AdapterGetLimits)                     \
  X(AdapterHasFeature)                    \
  X(AdapterRequestDevice)                 \
  X(AdapterRelease)                       \
  X(DeviceAddRef)                         \
  X(DeviceRelease)                        \
  X(DeviceDestroy)                        \
  X(DeviceHasFeature)                     \
  X(DeviceGetLimits)                      \
  X(DeviceGetQueue)                       \
  X(DeviceCreateBuffer)                   \
  X(DeviceCreateShaderModule)             \
  X(DeviceCreateBindGroupLayout)          \
  X(DeviceCreateBindGroup)                \
  X(DeviceCreatePipelineLayout)           \
  X(DeviceCreateComputePipeline)          \
  X(DeviceCreateCommandEncoder)           \
  X(DeviceCreateQuerySet)                 \
  X(DevicePushErrorScope)                 \
  X(DevicePopErrorScope)                  \
  X(CommandEncoderBeginComputePass)       \
  X(CommandEncoderCopyBufferToBuffer)     \
  X(CommandEncoderClearBuffer)            \
  X(CommandEncoderResolveQuerySet)        \
  X(CommandEncoderFinish)                 \
  X(CommandEncoderRelease)                \
  X(CommandBufferRelease)                 \
  X(ComputePassEncoderSetPipeline)        \
  X(ComputePassEncoderSetBindGroup)       \
  X(ComputePassEncoderDispatchWorkgroups) \
  X(ComputePassEncoderEnd)                \
  X(ComputePassEncoderRelease)            \
  X(QueueSubmit)                          \
  X(QueueWriteBuffer)                     \
  X(QueueOnSubmittedWorkDone)             \
  X(QueueRelease)                         \
  X(BufferMapAsync)                       \
  X(BufferGetMappedRange)                 \
  X(BufferGetConstMappedRange)            \
  X(BufferGetSize)                        \
  X(BufferGetUsage)                       \
  X(BufferUnmap)                          \
  X(BufferDestroy)                        \
  X(BufferAddRef)                         \
  X(BufferRelease)                        \
  X(ShaderModuleRelease)                  \
  X(ComputePipelineRelease)               \
  X(BindGroupRelease)                     \
  X(BindGroupLayoutRelease)               \
  X(PipelineLayoutRelease)                \
  X(QuerySetRelease)

/// Functions that exist in Dawn alone, or that end the process in wgpu-native.
#define KERNELPACK_WEBGPU_DAWN_FUNCTIONS(X) \
  X(InstanceWaitAny)                        \
  X(DeviceCreateComputePipelineAsync)       \
  X(DeviceGetAdapterInfo)

struct Functions {
#define X(name) WGPUProc##name name = nullptr;
  KERNELPACK_WEBGPU_FUNCTIONS(X)
  KERNELPACK_WEBGPU_DAWN_FUNCTIONS(X)
#undef X

  // Extensions of wgpu-native, declared here because its own header is not used. The poll's result is a Rust
  // bool: only its low byte has a meaning.
  std::uint8_t (*DevicePoll)(WGPUDevice, WGPUBool wait, const std::uint64_t* submission) = nullptr;
  std::size_t (*InstanceEnumerateAdapters)(WGPUInstance, const void* options,
                                           WGPUAdapter* adapters) = nullptr;
  float (*QueueGetTimestampPeriod)(WGPUQueue) = nullptr;
  // Dawn, where no instance is known.
  WGPUAdapter (*DeviceGetAdapter)(WGPUDevice) = nullptr;
  WGPUInstance (*AdapterGetInstance)(WGPUAdapter) = nullptr;
  void (*DeviceTick)(WGPUDevice) = nullptr;
  void (*DeviceForceLoss)(WGPUDevice, std::uint32_t reason,
                          WGPUStringView message) = nullptr;  // Dawn, for tests
};

/// Dawn's switches, chained to an adapter request or a device descriptor. The layout is the same in all of
/// its releases.
struct DawnToggles {
  WGPUChainedStruct chain{nullptr, static_cast<WGPUSType>(0x5000A)};
  std::size_t enabled_count = 0;
  const char* const* enabled = nullptr;
  std::size_t disabled_count = 0;
  const char* const* disabled = nullptr;
};

/// Dawn's callbacks for compiled shaders, chained to a device descriptor. This is the layout of June 2025;
/// later ones have another one.
struct DawnCache {
  WGPUChainedStruct chain{nullptr, static_cast<WGPUSType>(0x50007)};
  WGPUStringView isolation_key{nullptr, 0};
  std::size_t (*load)(const void* key, std::size_t key_size, void* value, std::size_t value_size,
                      void* user) = nullptr;
  void (*store)(const void* key, std::size_t key_size, const void* value, std::size_t value_size,
                void* user) = nullptr;
  void* user = nullptr;
};
static_assert(sizeof(DawnCache) == 56);

inline WGPUStringView view(std::string_view text) noexcept {
  return {text.data(), text.size()};
}
inline std::string text_of(WGPUStringView text) {
  if (text.data == nullptr) return {};
  return text.length == WGPU_STRLEN ? std::string(text.data) : std::string(text.data, text.length);
}

/// Room for the WGPULimits of any release, zeroed: some write more bytes than the header knows.
union Limits {
  WGPULimits values;
  unsigned char bytes[512];
  Limits() noexcept { std::memset(bytes, 0, sizeof bytes); }
};

}  // namespace kernelpack::webgpu
