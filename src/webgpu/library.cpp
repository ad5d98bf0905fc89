#include "webgpu/library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <fstream>
#include <map>
#include <mutex>
#include <system_error>

#include "base/digest.hpp"

namespace kernelpack::webgpu {
namespace {

// A driver needs the Vulkan loader by its plain name; where the system has none, the copy beside the library
// serves: later requests for that name find the copy that is loaded already.
void provide_vulkan_loader(const std::filesystem::path& library) {
#if defined(__linux__)
  static std::once_flag once;
  std::call_once(once, [&] {
    if (dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL) != nullptr) return;
    const auto beside = library.parent_path() / "libvulkan.so.1";
    std::error_code ignored;
    if (!library.parent_path().empty() && std::filesystem::exists(beside, ignored))
      dlopen(beside.c_str(), RTLD_NOW | RTLD_LOCAL);
  });
#else
  static_cast<void>(library);
#endif
}

// The generation shows in exported names alone; version functions end the process in some libraries.
Generation identify(const Library::Symbols& symbols, const std::string& origin) {
  if (symbols("wgpuDevicePoll") != nullptr) return Generation::wgpu_native;
  if (symbols("wgpuInstanceRequestAdapter2") != nullptr)
    throw Error(ErrorKind::device,
                "The WebGPU library is a Dawn older than June 2025, which kernelpack does not support",
                origin);
  if (symbols("wgpuHasInstanceFeature") != nullptr) return Generation::dawn;
  if (symbols("wgpuGetInstanceCapabilities") != nullptr) return Generation::dawn_2025_06;
  throw Error(ErrorKind::device, "The file is not a WebGPU library that kernelpack knows", origin);
}

template <class Function>
void bind_function(Function& function, const Library::Symbols& symbols, const char* name) {
  static_assert(sizeof(Function) == sizeof(void*));
  void* address = symbols(name);
  std::memcpy(&function, &address, sizeof address);
}

}  // namespace

std::shared_ptr<const Library> Library::from_symbols(const Symbols& symbols, std::string origin) {
  std::shared_ptr<Library> library(new Library);
  library->generation_ = identify(symbols, origin);
  library->origin_ = std::move(origin);
  Functions& f = library->functions_;
  const char* missing = nullptr;
#define X(name)                                 \
  bind_function(f.name, symbols, "wgpu" #name); \
  if (f.name == nullptr && missing == nullptr) missing = "wgpu" #name;
  KERNELPACK_WEBGPU_FUNCTIONS(X)
  if (library->is_dawn()) {
    KERNELPACK_WEBGPU_DAWN_FUNCTIONS(X)
  }
#undef X
  if (library->is_dawn()) {
    bind_function(f.DeviceGetAdapter, symbols, "wgpuDeviceGetAdapter");
    bind_function(f.AdapterGetInstance, symbols, "wgpuAdapterGetInstance");
    bind_function(f.DeviceTick, symbols, "wgpuDeviceTick");
    bind_function(f.DeviceForceLoss, symbols, "wgpuDeviceForceLoss");
  } else {
    bind_function(f.DevicePoll, symbols, "wgpuDevicePoll");
    bind_function(f.InstanceEnumerateAdapters, symbols, "wgpuInstanceEnumerateAdapters");
    bind_function(f.QueueGetTimestampPeriod, symbols, "wgpuQueueGetTimestampPeriod");
    if (f.InstanceEnumerateAdapters == nullptr) missing = "wgpuInstanceEnumerateAdapters";
  }
  if (missing != nullptr)
    throw Error(ErrorKind::device, fmt::format("The WebGPU library lacks a function ({})", missing),
                library->origin_);
  return library;
}

std::shared_ptr<const Library> Library::load(const std::filesystem::path& path) {
  static std::mutex mutex;
  static std::map<std::filesystem::path, std::shared_ptr<const Library>> loaded_libraries;
  const std::lock_guard lock(mutex);
  if (auto found = loaded_libraries.find(path); found != loaded_libraries.end()) return found->second;
  provide_vulkan_loader(path);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* reason = dlerror();
    throw Error(
        ErrorKind::device,
        fmt::format("The WebGPU library does not load ({})", reason != nullptr ? reason : "no reason given"),
        path.string());
  }
  auto library = from_symbols([handle](const char* name) { return dlsym(handle, name); }, path.string());
  loaded_libraries.emplace(path, library);
  return library;
}

std::shared_ptr<const Library> Library::behind(void* get_proc_address) {
  static std::mutex mutex;
  static std::map<void*, std::shared_ptr<const Library>> known;
  const std::lock_guard lock(mutex);
  std::shared_ptr<const Library>& library = known[get_proc_address];
  if (library == nullptr) {
    WGPUProcGetProcAddress find = nullptr;
    std::memcpy(&find, &get_proc_address, sizeof find);
    library = from_symbols(
        [find](const char* name) {
          const WGPUProc found = find(view(name));
          void* address = nullptr;
          std::memcpy(&address, &found, sizeof address);
          return address;
        },
        "wgpuGetProcAddress of the caller");
  }
  return library;
}

std::shared_ptr<const Library> Library::loaded(const std::filesystem::path& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (handle == nullptr)
    throw Error(ErrorKind::device, "The process has not loaded the WebGPU library that the device belongs to",
                path.string());
  return from_symbols([handle](const char* name) { return dlsym(handle, name); }, path.string());
}

std::string Library::build() const {
  // The ends of the file hold its build identifier and its tables; all of it would take longer than what is
  // won.
  constexpr std::streamoff kEnd = std::streamoff{64} << 10;
  std::ifstream file(origin_, std::ios::binary);
  file.seekg(0, std::ios::end);
  const std::streamoff size = file.tellg();
  if (!file || size < 2 * kEnd) return {};
  std::string ends(2 * kEnd, '\0');
  file.seekg(0);
  file.read(ends.data(), kEnd);
  file.seekg(size - kEnd);
  file.read(ends.data() + kEnd, kEnd);
  if (!file) return {};
  return fmt::format("{} {}", size, hex(sha256(ends)));
}

const std::vector<FeatureNumber>& Library::features() const noexcept {
  const auto number = [](std::uint32_t value) { return static_cast<WGPUFeatureName>(value); };
  // A wrong number would be ignored silently by wgpu-native or name another feature in an older Dawn, so a
  // feature whose number in a generation is not known for certain is absent there.
  static const std::vector<FeatureNumber> kDawn2025June{
      {"shader-f16", number(10)}, {"subgroups", number(17)}, {"timestamp-query", number(3)}};
  static const std::vector<FeatureNumber> kStandard{
      {"shader-f16", WGPUFeatureName_ShaderF16},
      {"subgroups", WGPUFeatureName_Subgroups},
      {"timestamp-query", WGPUFeatureName_TimestampQuery},
      {"texture-formats-tier1", WGPUFeatureName_TextureFormatsTier1},
      {"texture-formats-tier2", WGPUFeatureName_TextureFormatsTier2}};
  static const std::vector<FeatureNumber> kNative{{"shader-f16", WGPUFeatureName_ShaderF16},
                                                  {"subgroups", number(0x30021)},
                                                  {"timestamp-query", WGPUFeatureName_TimestampQuery}};
  switch (generation_) {
    case Generation::dawn_2025_06:
      return kDawn2025June;
    case Generation::dawn:
      return kStandard;
    case Generation::wgpu_native:
      break;
  }
  return kNative;
}

}  // namespace kernelpack::webgpu
