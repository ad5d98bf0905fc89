#include "webgpu/instance.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <thread>

namespace kernelpack::webgpu {
namespace {

using Clock = std::chrono::steady_clock;

WGPUInstance create(const Library& library) {
  const Functions& f = library.functions();
  switch (library.generation()) {
    case Generation::wgpu_native:
      return f.CreateInstance(nullptr);
    case Generation::dawn: {
      const WGPUInstanceFeatureName timed = WGPUInstanceFeatureName_TimedWaitAny;
      WGPUInstanceDescriptor descriptor{};
      descriptor.requiredFeatureCount = 1;
      descriptor.requiredFeatures = &timed;
      return f.CreateInstance(&descriptor);
    }
    case Generation::dawn_2025_06:
      break;
  }
  // The descriptor of that release has the same size and a flag where the list of features is now.
  struct EarlierDescriptor {
    const void* next;
    const void* capabilities_next;
    WGPUBool timed_wait_any;
    std::uint32_t padding;
    std::size_t timed_wait_any_max_count;
  };
  static_assert(sizeof(EarlierDescriptor) == sizeof(WGPUInstanceDescriptor));
  const EarlierDescriptor earlier{nullptr, nullptr, 1, 0, 64};
  WGPUInstanceDescriptor descriptor{};
  std::memcpy(&descriptor, &earlier, sizeof descriptor);
  return f.CreateInstance(&descriptor);
}

bool passed(const Deadline& deadline) {
  return deadline && Clock::now() >= *deadline;
}

// Short waits matter most: spin politely first, then sleep up to 200 us at a time.
void back_off(int& round) {
  if (++round < 64) {
    std::this_thread::yield();
  } else {
    std::this_thread::sleep_for(std::chrono::microseconds(std::min(200, round)));
  }
}

}  // namespace

Deadline after(std::optional<std::chrono::nanoseconds> timeout) noexcept {
  if (!timeout) return {};
  const auto now = Clock::now();
  if (*timeout > Clock::time_point::max() - now) return {};
  return now + std::chrono::duration_cast<Clock::duration>(*timeout);
}

Instance::Instance(std::shared_ptr<const Library> library, WGPUInstance instance)
    : library_(std::move(library)), instance_(instance, library_->functions().InstanceRelease) {}

std::shared_ptr<const Instance> Instance::of(const std::shared_ptr<const Library>& library) {
  // Kept for the life of the process, like the library: making one loads every driver, and drivers that are
  // unloaded and loaded again leave memory behind.
  static std::mutex mutex;
  static auto& instances = *new std::map<const Library*, std::shared_ptr<const Instance>>;
  const std::lock_guard lock(mutex);
  std::shared_ptr<const Instance>& slot = instances[library.get()];
  if (slot == nullptr) {
    WGPUInstance raw = create(*library);
    if (raw == nullptr)
      throw Error(ErrorKind::device, "The WebGPU library makes no instance", library->origin());
    slot.reset(new Instance(library, raw));
  }
  return slot;
}

std::shared_ptr<const Instance> Instance::adopt(std::shared_ptr<const Library> library,
                                                WGPUInstance instance) {
  if (instance != nullptr) library->functions().InstanceAddRef(instance);
  return std::shared_ptr<const Instance>(new Instance(std::move(library), instance));
}

WGPUCallbackMode Instance::callback_mode() const noexcept {
  if (!library_->is_dawn()) return WGPUCallbackMode_AllowProcessEvents;
  return instance_ ? WGPUCallbackMode_WaitAnyOnly : WGPUCallbackMode_AllowSpontaneous;
}

bool Instance::wait_native(WGPUDevice device, const Completion& completion, const Deadline& deadline,
                           const std::stop_token& stop) const {
  const bool blocking = !deadline && !stop.stop_possible();
  for (int round = 0; !completion.done.load(std::memory_order_acquire);) {
    if (device != nullptr) {
      functions().DevicePoll(device, blocking ? 1 : 0, nullptr);
    } else {
      functions().InstanceProcessEvents(instance_.get());
    }
    if (completion.done.load(std::memory_order_acquire)) break;
    if (passed(deadline) || stop.stop_requested()) return false;
    back_off(round);
  }
  return true;
}

bool Instance::wait(WGPUDevice device, WGPUFuture future, const Completion& completion,
                    const Deadline& deadline, const std::stop_token& stop) const {
  if (completion.done.load(std::memory_order_acquire)) return true;
  if (!library_->is_dawn()) return wait_native(device, completion, deadline, stop);
  WGPUFutureWaitInfo info{future, 0};
  for (int round = 0; !completion.done.load(std::memory_order_acquire);) {
    if (passed(deadline) || stop.stop_requested()) return false;
    if (!instance_) {
      if (functions().DeviceTick != nullptr) functions().DeviceTick(device);
      back_off(round);
      continue;
    }
    std::uint64_t timeout = 0;
    if (timed_waits_.load(std::memory_order_relaxed)) {
      auto slice = std::chrono::nanoseconds(stop.stop_possible() ? 5'000'000 : 1'000'000'000);
      if (deadline) slice = std::min(slice, std::chrono::nanoseconds(*deadline - Clock::now()));
      timeout = static_cast<std::uint64_t>(std::max<std::int64_t>(0, slice.count()));
    }
    const WGPUWaitStatus status = functions().InstanceWaitAny(instance_.get(), 1, &info, timeout);
    // An adopted instance may lack timed waits, which shows as an error once.
    if (status == WGPUWaitStatus_Error && timeout > 0) {
      timed_waits_.store(false, std::memory_order_relaxed);
      continue;
    }
    if (status == WGPUWaitStatus_Error)
      throw Error(ErrorKind::device, "The WebGPU library refuses to wait for a future");
    if (timeout == 0) back_off(round);
  }
  return true;
}

}  // namespace kernelpack::webgpu
