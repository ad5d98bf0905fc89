#include "webgpu/adapters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace kernelpack::webgpu {
namespace {

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

std::string_view backend_name(WGPUBackendType backend) {
  switch (backend) {
    case WGPUBackendType_Null:
      return "null";
    case WGPUBackendType_WebGPU:
      return "webgpu";
    case WGPUBackendType_D3D11:
      return "d3d11";
    case WGPUBackendType_D3D12:
      return "d3d12";
    case WGPUBackendType_Metal:
      return "metal";
    case WGPUBackendType_Vulkan:
      return "vulkan";
    case WGPUBackendType_OpenGL:
      return "opengl";
    case WGPUBackendType_OpenGLES:
      return "opengles";
    default:
      return "unknown";
  }
}

std::string_view type_name(WGPUAdapterType type) {
  switch (type) {
    case WGPUAdapterType_DiscreteGPU:
      return "discrete GPU";
    case WGPUAdapterType_IntegratedGPU:
      return "integrated GPU";
    case WGPUAdapterType_CPU:
      return "software";
    default:
      return "unknown";
  }
}

// Why an adapter has no float16, as far as one can tell from outside.
std::string missing_float16(const Library& library, std::uint32_t vendor_id) {
  if (library.is_dawn() && vendor_id == 0x10de)
    return "This Dawn hides shader-f16 on NVIDIA adapters; wgpu-native offers it there (--library "
           "wgpu-native)";
  return "The adapter or its driver does not offer shader-f16";
}

Adapter describe_adapter(const Library& library, Handle<WGPUAdapter> handle) {
  const Functions& f = library.functions();
  union {
    WGPUAdapterInfo values;
    unsigned char room[256];
  } info;
  std::memset(&info, 0, sizeof info);
  f.AdapterGetInfo(handle.get(), &info.values);
  Adapter adapter = describe(library, info.values);
  f.AdapterInfoFreeMembers(info.values);
  DeviceFacts& facts = adapter.description.facts;
  for (const FeatureNumber& feature : library.features())
    if (f.AdapterHasFeature(handle.get(), feature.number)) facts.features.emplace_back(feature.name);
  Limits limits;
  f.AdapterGetLimits(handle.get(), &limits.values);
  facts.limits = named_limits(limits.values);
  if (std::find(facts.features.begin(), facts.features.end(), "shader-f16") == facts.features.end())
    adapter.description.float16_missing = missing_float16(library, adapter.vendor_id);
  adapter.handle = std::move(handle);
  return adapter;
}

struct Request : Completion {
  WGPUAdapter adapter = nullptr;
  std::string message;
};

Handle<WGPUAdapter> request(const Instance& instance, const WGPURequestAdapterOptions& options) {
  Request result;
  WGPURequestAdapterCallbackInfo callback{};
  callback.mode = instance.callback_mode();
  callback.userdata1 = &result;
  callback.callback = [](WGPURequestAdapterStatus, WGPUAdapter adapter, WGPUStringView message, void* user,
                         void*) noexcept {
    auto* request = static_cast<Request*>(user);
    request->adapter = adapter;
    request->message = text_of(message);
    request->done.store(true, std::memory_order_release);
  };
  const WGPUFuture future = instance.functions().InstanceRequestAdapter(instance.get(), &options, callback);
  instance.wait(nullptr, future, result);
  return Handle<WGPUAdapter>(result.adapter, instance.functions().AdapterRelease);
}

bool same_adapter(const Adapter& a, const Adapter& b) {
  const auto key = [](const Adapter& x) {
    return std::tie(x.backend, x.vendor_id, x.device_id, x.description.name, x.description.description,
                    x.description.type);
  };
  return key(a) == key(b);
}

void add_adapter(std::vector<Adapter>& list, const Library& library, Handle<WGPUAdapter> handle) {
  if (!handle) return;
  Adapter adapter = describe_adapter(library, std::move(handle));
  // OpenGL lacks what packages need, and a second driver for the same GPU only confuses the choice.
  if (adapter.backend == WGPUBackendType_OpenGL || adapter.backend == WGPUBackendType_OpenGLES ||
      adapter.backend == WGPUBackendType_Null)
    return;
  for (const Adapter& known : list)
    if (same_adapter(known, adapter)) return;
  list.push_back(std::move(adapter));
}

std::string names_of(const std::vector<Adapter>& adapters) {
  std::vector<std::string> names;
  for (const Adapter& adapter : adapters) names.push_back(adapter.description.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string_view vendor_of(std::uint32_t vendor_id) noexcept {
  switch (vendor_id) {
    case 0x10de:
      return "nvidia";
    case 0x1002:
      return "amd";
    case 0x8086:
      return "intel";
    case 0x13b5:
      return "arm";
    case 0x5143:
      return "qualcomm";
    case 0x106b:
      return "apple";
    case 0x10005:
      return "mesa";
    case 0x1ae0:
      return "google";
    case 0x1414:
      return "microsoft";
    default:
      return "";
  }
}

Adapter describe(const Library& library, const WGPUAdapterInfo& info) {
  Adapter adapter;
  adapter.backend = info.backendType;
  adapter.vendor_id = info.vendorID;
  adapter.device_id = info.deviceID;
  GpuAdapter& description = adapter.description;
  description.name = text_of(info.device);
  description.description = text_of(info.description);
  description.backend = backend_name(info.backendType);
  description.type = type_name(info.adapterType);
  description.software = info.adapterType == WGPUAdapterType_CPU;
  DeviceFacts& facts = description.facts;
  facts.vendor = vendor_of(info.vendorID);
  if (library.is_dawn()) {
    if (facts.vendor.empty()) facts.vendor = lower(text_of(info.vendor));
    facts.architecture = lower(text_of(info.architecture));
    if (info.subgroupMinSize > 0 && info.subgroupMaxSize >= info.subgroupMinSize) {
      facts.subgroup_min_size = static_cast<int>(info.subgroupMinSize);
      facts.subgroup_max_size = static_cast<int>(info.subgroupMaxSize);
    }
  }
  facts.is_fallback_adapter = description.software;
  return adapter;
}

std::map<std::string, double> named_limits(const WGPULimits& limits) {
  return {
#define X(name) {#name, static_cast<double>(limits.name)}
      X(maxTextureDimension1D),
      X(maxTextureDimension2D),
      X(maxTextureDimension3D),
      X(maxTextureArrayLayers),
      X(maxBindGroups),
      X(maxBindGroupsPlusVertexBuffers),
      X(maxBindingsPerBindGroup),
      X(maxDynamicUniformBuffersPerPipelineLayout),
      X(maxDynamicStorageBuffersPerPipelineLayout),
      X(maxSampledTexturesPerShaderStage),
      X(maxSamplersPerShaderStage),
      X(maxStorageBuffersPerShaderStage),
      X(maxStorageTexturesPerShaderStage),
      X(maxUniformBuffersPerShaderStage),
      X(maxUniformBufferBindingSize),
      X(maxStorageBufferBindingSize),
      X(minUniformBufferOffsetAlignment),
      X(minStorageBufferOffsetAlignment),
      X(maxVertexBuffers),
      X(maxBufferSize),
      X(maxVertexAttributes),
      X(maxVertexBufferArrayStride),
      X(maxInterStageShaderVariables),
      X(maxColorAttachments),
      X(maxColorAttachmentBytesPerSample),
      X(maxComputeWorkgroupStorageSize),
      X(maxComputeInvocationsPerWorkgroup),
      X(maxComputeWorkgroupSizeX),
      X(maxComputeWorkgroupSizeY),
      X(maxComputeWorkgroupSizeZ),
      X(maxComputeWorkgroupsPerDimension),
      X(maxImmediateSize),
#undef X
  };
}

std::vector<Adapter> list_adapters(const Instance& instance) {
  const Library& library = instance.library();
  const Functions& f = library.functions();
  std::vector<Adapter> list;
  if (!library.is_dawn()) {
    std::vector<WGPUAdapter> raw(f.InstanceEnumerateAdapters(instance.get(), nullptr, nullptr));
    if (!raw.empty()) f.InstanceEnumerateAdapters(instance.get(), nullptr, raw.data());
    for (WGPUAdapter adapter : raw)
      add_adapter(list, library, Handle<WGPUAdapter>(adapter, f.AdapterRelease));
    return list;
  }
#if defined(__APPLE__)
  constexpr std::array backends{WGPUBackendType_Metal};
#elif defined(_WIN32)
  constexpr std::array backends{WGPUBackendType_D3D12, WGPUBackendType_Vulkan};
#else
  constexpr std::array backends{WGPUBackendType_Vulkan};
#endif
  // Dawn of late 2025 and newer offers float16 on NVIDIA to those who ask for it; others have no such switch.
  const char* const float16 = "vulkan_enable_f16_on_nvidia";
  DawnToggles toggles;
  toggles.enabled_count = 1;
  toggles.enabled = &float16;
  for (WGPUBackendType backend : backends) {
    for (const auto& [power, fallback] : {std::pair{WGPUPowerPreference_HighPerformance, WGPUBool{0}},
                                          std::pair{WGPUPowerPreference_LowPower, WGPUBool{0}},
                                          std::pair{WGPUPowerPreference_Undefined, WGPUBool{1}}}) {
      WGPURequestAdapterOptions options{};
      if (library.generation() == Generation::dawn) options.nextInChain = &toggles.chain;
      options.featureLevel = WGPUFeatureLevel_Core;
      options.powerPreference = power;
      options.forceFallbackAdapter = fallback;
      options.backendType = backend;
      add_adapter(list, library, request(instance, options));
    }
  }
  return list;
}

Adapter null_adapter(const Instance& instance) {
  WGPURequestAdapterOptions options{};
  options.featureLevel = WGPUFeatureLevel_Core;
  options.backendType = WGPUBackendType_Null;
  Handle<WGPUAdapter> handle = request(instance, options);
  if (!handle)
    throw Error(ErrorKind::device, fmt::format("{} has no Null backend", instance.library().name()));
  return describe_adapter(instance.library(), std::move(handle));
}

Adapter choose_adapter(std::vector<Adapter> adapters, const GpuOptions& options, const Library& library) {
  if (adapters.empty())
    throw Error(
        ErrorKind::device,
        fmt::format("{} finds no adapter: there is no GPU with a Vulkan, Metal or D3D12 driver, and no "
                    "software driver (tools/webgpu/fetch brings one)",
                    library.name()),
        library.origin());
  const std::string wanted = lower(options.adapter);
  const auto score = [&](const Adapter& adapter) {
    const GpuAdapter& d = adapter.description;
    const bool named = !wanted.empty() && (lower(d.name).find(wanted) != std::string::npos ||
                                           lower(d.description).find(wanted) != std::string::npos);
    if (!wanted.empty() && !named) return -1;
    if (options.software) return d.software ? 1 : -1;
    if (d.software) return 0;
    const bool discrete = d.type == "discrete GPU";
    return discrete == (options.power == Power::high) ? 2 : 1;
  };
  const auto best = std::max_element(adapters.begin(), adapters.end(),
                                     [&](const Adapter& a, const Adapter& b) { return score(a) < score(b); });
  if (score(*best) < 0) {
    const std::string what = options.adapter.empty()
                                 ? "is a software adapter"
                                 : fmt::format("has the asked name ({})", options.adapter);
    throw Error(ErrorKind::device,
                fmt::format("No adapter of {} {}; there are {}", library.name(), what, names_of(adapters)));
  }
  return std::move(*best);
}

}  // namespace kernelpack::webgpu
