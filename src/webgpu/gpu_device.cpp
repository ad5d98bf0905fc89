#include "webgpu/gpu_device.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "webgpu/language_features.hpp"

namespace kernelpack::webgpu {
namespace {

// Dawn's name for "this device may be used from several threads".
constexpr auto kImplicitDeviceSynchronization = static_cast<WGPUFeatureName>(0x50004);

struct DeviceRequest : Completion {
  WGPUDevice device = nullptr;
  std::string message;
};

// The limits that a browser raises to the adapter's values; the others stay at WebGPU's defaults, which a
// request says by "undefined".
Limits requested_limits(const WGPULimits& adapter, bool all) {
  Limits request;
  if (all) {
    request.values = adapter;
    request.values.nextInChain = nullptr;
    return request;
  }
  std::memset(&request.values, 0xFF, sizeof request.values);
  request.values.nextInChain = nullptr;
  request.values.maxBufferSize = adapter.maxBufferSize;
  request.values.maxStorageBufferBindingSize = adapter.maxStorageBufferBindingSize;
  request.values.maxStorageBuffersPerShaderStage = adapter.maxStorageBuffersPerShaderStage;
  request.values.maxComputeWorkgroupStorageSize = adapter.maxComputeWorkgroupStorageSize;
  return request;
}

// Entries belong to one build of the library and one adapter with its driver. Null: no cache.
std::shared_ptr<BlobCache> shader_cache_for(const Library& library, const Adapter& adapter,
                                            const GpuOptions& options) {
  // Later releases have another struct, whose layout is not known; wgpu-native has no such callbacks.
  if (library.generation() != Generation::dawn_2025_06) return nullptr;
  const auto folder = BlobCache::folder_of(options.shader_cache);
  const std::string build = folder ? library.build() : std::string();
  if (build.empty()) return nullptr;
  const GpuAdapter& description = adapter.description;
  return BlobCache::of(*folder,
                       fmt::format("{}\n{:x} {:x} {}\n{}\n{}", build, adapter.vendor_id, adapter.device_id,
                                   description.backend, description.name, description.description),
                       options.shader_cache_limit);
}

DawnCache callbacks_of(BlobCache& cache) {
  DawnCache callbacks;
  callbacks.isolation_key = view(cache.owner());
  callbacks.user = &cache;
  callbacks.load = [](const void* key, std::size_t key_size, void* value, std::size_t value_size,
                      void* user) noexcept {
    return static_cast<BlobCache*>(user)->load(
        {static_cast<const std::byte*>(key), key_size},
        {static_cast<std::byte*>(value), value != nullptr ? value_size : 0});
  };
  callbacks.store = [](const void* key, std::size_t key_size, const void* value, std::size_t value_size,
                       void* user) noexcept {
    static_cast<BlobCache*>(user)->store({static_cast<const std::byte*>(key), key_size},
                                         {static_cast<const std::byte*>(value), value_size});
  };
  return callbacks;
}

}  // namespace

struct GpuDevice::Events {
  std::mutex mutex;
  bool lost = false;
  bool closed = false;
  std::string lost_message;
  std::vector<CapturedError> uncaptured;
};

GpuDevice::GpuDevice(std::shared_ptr<const Instance> instance)
    : instance_(std::move(instance)), events_(std::make_unique<Events>()) {}

std::shared_ptr<GpuDevice> GpuDevice::open(std::shared_ptr<const Instance> instance, Adapter adapter,
                                           const GpuOptions& options) {
  const Library& library = instance->library();
  const Functions& f = library.functions();
  const DeviceFacts& offered = adapter.description.facts;
  for (const std::string& name : options.required_features) {
    if (std::find(offered.features.begin(), offered.features.end(), name) != offered.features.end()) continue;
    const std::string& why = adapter.description.float16_missing;
    throw Error(ErrorKind::device,
                fmt::format("The adapter ({}, through {}) lacks a required feature ({}){}{}",
                            adapter.description.name, library.name(), name,
                            name == "shader-f16" && !why.empty() ? "; " : "",
                            name == "shader-f16" ? why : std::string()));
  }

  std::shared_ptr<GpuDevice> device(new GpuDevice(instance));
  std::vector<WGPUFeatureName> features;
  for (const FeatureNumber& feature : library.features())
    if (f.AdapterHasFeature(adapter.handle.get(), feature.number)) features.push_back(feature.number);
  const bool threads =
      library.is_dawn() && f.AdapterHasFeature(adapter.handle.get(), kImplicitDeviceSynchronization);
  if (threads) features.push_back(kImplicitDeviceSynchronization);
  device->waits_need_lock_ = library.is_dawn() && !threads;

  Limits adapter_limits;
  f.AdapterGetLimits(adapter.handle.get(), &adapter_limits.values);
  const Limits request = requested_limits(adapter_limits.values, options.raise_all_limits);

  const char* const quantization = "timestamp_quantization";
  DawnToggles toggles;
  toggles.disabled_count = 1;
  toggles.disabled = &quantization;

  WGPUDeviceDescriptor descriptor{};
  descriptor.label = view("kernelpack");
  if (options.profiling && library.is_dawn()) descriptor.nextInChain = &toggles.chain;
  DawnCache cache;
  device->shader_cache_ = shader_cache_for(library, adapter, options);
  if (device->shader_cache_ != nullptr) {
    cache = callbacks_of(*device->shader_cache_);
    cache.chain.next = descriptor.nextInChain;
    descriptor.nextInChain = &cache.chain;
  }
  descriptor.requiredFeatureCount = features.size();
  descriptor.requiredFeatures = features.data();
  descriptor.requiredLimits = &request.values;
  descriptor.deviceLostCallbackInfo.mode = WGPUCallbackMode_AllowSpontaneous;
  descriptor.deviceLostCallbackInfo.userdata1 = device->events_.get();
  descriptor.deviceLostCallbackInfo.callback = [](WGPUDevice const*, WGPUDeviceLostReason,
                                                  WGPUStringView message, void* user, void*) noexcept {
    auto* events = static_cast<Events*>(user);
    const std::lock_guard lock(events->mutex);
    events->lost = true;
    events->lost_message = text_of(message);
  };
  // wgpu-native ends the process on an error that nobody catches.
  descriptor.uncapturedErrorCallbackInfo.userdata1 = device->events_.get();
  descriptor.uncapturedErrorCallbackInfo.callback = [](WGPUDevice const*, WGPUErrorType type,
                                                       WGPUStringView message, void* user, void*) noexcept {
    auto* events = static_cast<Events*>(user);
    const std::lock_guard lock(events->mutex);
    if (events->uncaptured.size() < 64) events->uncaptured.push_back({type, text_of(message)});
  };

  DeviceRequest result;
  WGPURequestDeviceCallbackInfo callback{};
  callback.mode = instance->callback_mode();
  callback.userdata1 = &result;
  callback.callback = [](WGPURequestDeviceStatus, WGPUDevice made, WGPUStringView message, void* user,
                         void*) noexcept {
    auto* answer = static_cast<DeviceRequest*>(user);
    answer->device = made;
    answer->message = text_of(message);
    answer->done.store(true, std::memory_order_release);
  };
  const WGPUFuture future = f.AdapterRequestDevice(adapter.handle.get(), &descriptor, callback);
  instance->wait(nullptr, future, result);
  if (result.device == nullptr)
    throw Error(ErrorKind::device, fmt::format("{} makes no device on the adapter ({}): {}", library.name(),
                                               adapter.description.name, one_line(result.message)));
  device->device_ = Handle<WGPUDevice>(result.device, f.DeviceRelease);
  device->adapter_ = std::move(adapter.description);
  device->read_facts();
  return device;
}

std::shared_ptr<GpuDevice> GpuDevice::adopt(std::shared_ptr<const Instance> instance, WGPUDevice raw) {
  const Library& library = instance->library();
  const Functions& f = library.functions();
  std::shared_ptr<GpuDevice> device(new GpuDevice(std::move(instance)));
  f.DeviceAddRef(raw);
  device->device_ = Handle<WGPUDevice>(raw, f.DeviceRelease);
  device->adopted_ = true;
  device->waits_need_lock_ = library.is_dawn() && !f.DeviceHasFeature(raw, kImplicitDeviceSynchronization);
  // wgpu-native ends the process when asked for the adapter of a device.
  if (library.is_dawn()) {
    union {
      WGPUAdapterInfo values;
      unsigned char room[256];
    } info;
    std::memset(&info, 0, sizeof info);
    f.DeviceGetAdapterInfo(raw, &info.values);
    device->adapter_ = describe(library, info.values).description;
    f.AdapterInfoFreeMembers(info.values);
  }
  device->read_facts();
  return device;
}

void GpuDevice::read_facts() {
  const Functions& f = functions();
  queue_ = Handle<WGPUQueue>(f.DeviceGetQueue(device_.get()), f.QueueRelease);
  Limits limits;
  f.DeviceGetLimits(device_.get(), &limits.values);
  limits_ = limits.values;
  limits_.nextInChain = nullptr;
  facts_ = adapter_.facts;
  facts_.features.clear();
  for (const FeatureNumber& feature : library().features())
    if (f.DeviceHasFeature(device_.get(), feature.number)) facts_.features.emplace_back(feature.name);
  facts_.limits = named_limits(limits_);
  facts_.wgsl_language_features = accepted_language_features(*this);
}

GpuDevice::~GpuDevice() {
  queue_.reset();
  // The lost callback of our own device runs inside this call, while its data is still there.
  if (!adopted_ && device_) functions().DeviceDestroy(device_.get());
  device_.reset();
}

void GpuDevice::close() {
  const auto locked = lock();
  try {
    require_alive();
    wait_for_queue(*this);
  } catch (const Error&) {
    // A lost device has nothing to wait for, and a closed one was waited for.
  }
  {
    const std::lock_guard guard(events_->mutex);
    if (std::exchange(events_->closed, true)) return;
  }
  if (!adopted_) functions().DeviceDestroy(device_.get());
}

bool wait_for_queue(const GpuDevice& device, const Deadline& deadline, const std::stop_token& stop) {
  struct Done : Completion {
    WGPUQueueWorkDoneStatus status = WGPUQueueWorkDoneStatus_Error;
  };
  // The callback may come after this function gave up, so both sides own the state.
  auto state = std::make_shared<Done>();
  WGPUQueueWorkDoneCallbackInfo callback{};
  callback.mode = device.callback_mode();
  callback.userdata1 = new std::shared_ptr<Done>(state);
  callback.callback = [](WGPUQueueWorkDoneStatus status, WGPUStringView, void* user, void*) noexcept {
    const std::unique_ptr<std::shared_ptr<Done>> owned(static_cast<std::shared_ptr<Done>*>(user));
    (*owned)->status = status;
    (*owned)->done.store(true, std::memory_order_release);
  };
  const WGPUFuture future = device.functions().QueueOnSubmittedWorkDone(device.queue(), callback);
  if (!device.wait(future, *state, deadline, stop)) return false;
  if (state->status != WGPUQueueWorkDoneStatus_Success) {
    device.require_alive();
    throw Error(ErrorKind::device, "The device stopped before the submitted work was done");
  }
  return true;
}

bool GpuDevice::lost() const {
  const std::lock_guard lock(events_->mutex);
  return events_->lost;
}

void GpuDevice::require_alive() const {
  const std::lock_guard lock(events_->mutex);
  if (events_->closed)
    throw Error(ErrorKind::device, fmt::format("The device ({}) is closed", adapter_.name));
  if (events_->lost)
    throw Error(ErrorKind::device,
                fmt::format("The device ({}) is lost: {}", adapter_.name,
                            events_->lost_message.empty() ? "the library gives no reason"
                                                          : one_line(events_->lost_message)));
}

std::vector<CapturedError> GpuDevice::take_uncaptured() const {
  const std::lock_guard lock(events_->mutex);
  return std::exchange(events_->uncaptured, {});
}

std::optional<CapturedError> GpuDevice::take_internal_error() const {
  const std::lock_guard lock(events_->mutex);
  auto& errors = events_->uncaptured;
  const auto found = std::find_if(errors.begin(), errors.end(), [](const CapturedError& error) {
    return error.type == WGPUErrorType_Internal;
  });
  if (found == errors.end()) return std::nullopt;
  CapturedError error = std::move(*found);
  errors.erase(found);
  return error;
}

bool GpuDevice::wait(WGPUFuture future, const Completion& completion, const Deadline& deadline,
                     const std::stop_token& stop) const {
  return instance_->wait(device_.get(), future, completion, deadline, stop);
}

ErrorScope::ErrorScope(const GpuDevice& device, std::initializer_list<WGPUErrorFilter> filters)
    : device_(device) {
  for (WGPUErrorFilter filter : filters) {
    // wgpu-native ends the process on this filter; such errors reach the callback for uncaught ones there.
    if (filter == WGPUErrorFilter_Internal && !device.library().is_dawn()) {
      internal_ = true;
      continue;
    }
    device.functions().DevicePushErrorScope(device.get(), filter);
    ++open_;
  }
}

ErrorScope::~ErrorScope() {
  try {
    close();
  } catch (const Error&) {
    // A lost device has no scopes left; the fault that unwinds here says more.
  }
}

std::optional<CapturedError> ErrorScope::close() {
  struct Popped : Completion {
    CapturedError error{WGPUErrorType_NoError, {}};
  };
  std::optional<CapturedError> first;
  while (open_ > 0) {
    --open_;
    Popped popped;
    WGPUPopErrorScopeCallbackInfo callback{};
    // Both libraries have the answer at once, so that the callback runs inside the call.
    callback.mode = device_.library().is_dawn() ? WGPUCallbackMode_AllowSpontaneous : device_.callback_mode();
    callback.userdata1 = &popped;
    callback.callback = [](WGPUPopErrorScopeStatus status, WGPUErrorType type, WGPUStringView message,
                           void* user, void*) noexcept {
      auto* answer = static_cast<Popped*>(user);
      if (status == WGPUPopErrorScopeStatus_Success && type != WGPUErrorType_NoError)
        answer->error = {type, text_of(message)};
      answer->done.store(true, std::memory_order_release);
    };
    const WGPUFuture future = device_.functions().DevicePopErrorScope(device_.get(), callback);
    device_.wait(future, popped);
    if (popped.error.type != WGPUErrorType_NoError && !first) first = std::move(popped.error);
  }
  if (std::exchange(internal_, false) && !first) first = device_.take_internal_error();
  return first;
}

std::string one_line(std::string text) {
  std::string line;
  for (char c : text) {
    const bool blank = c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (!blank) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  while (!line.empty() && (line.back() == ' ' || line.back() == '.')) line.pop_back();
  return line;
}

Error library_error(const CapturedError& captured, std::string what) {
  const bool memory = captured.type == WGPUErrorType_OutOfMemory;
  return Error(
      memory ? ErrorKind::limit : ErrorKind::device,
      fmt::format("{}{}: {}", what, memory ? " because memory ran out" : "", one_line(captured.message)));
}

}  // namespace kernelpack::webgpu
