#pragma once

#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "webgpu/adapters.hpp"
#include "webgpu/blob_cache.hpp"

namespace kernelpack::webgpu {

/// An error that the library reported.
struct CapturedError {
  WGPUErrorType type = WGPUErrorType_Unknown;
  std::string message;
};

/// A WebGPU device of ours or of the caller with its queue, limits and facts. Every use of the device's
/// encoders, error scopes and submissions happens under `lock()`; waits do not need it unless
/// `waits_need_lock()`.
class GpuDevice {
 public:
  /// Opens a device on the adapter: the browser's policy (format.md 13.1) for features and limits. Throws
  /// device.
  static std::shared_ptr<GpuDevice> open(std::shared_ptr<const Instance> instance, Adapter adapter,
                                         const GpuOptions& options);
  /// The caller's device; one reference is held and nothing of it is ever destroyed.
  static std::shared_ptr<GpuDevice> adopt(std::shared_ptr<const Instance> instance, WGPUDevice device);

  GpuDevice(const GpuDevice&) = delete;
  GpuDevice& operator=(const GpuDevice&) = delete;
  ~GpuDevice();

  const Instance& instance() const noexcept { return *instance_; }
  const Library& library() const noexcept { return instance_->library(); }
  const Functions& functions() const noexcept { return instance_->functions(); }
  WGPUDevice get() const noexcept { return device_.get(); }
  WGPUQueue queue() const noexcept { return queue_.get(); }
  const WGPULimits& limits() const noexcept { return limits_; }
  const DeviceFacts& facts() const noexcept { return facts_; }
  const GpuAdapter& adapter() const noexcept { return adapter_; }
  bool adopted() const noexcept { return adopted_; }
  /// Null where the library has no such cache or none is wanted.
  const BlobCache* shader_cache() const noexcept { return shader_cache_.get(); }

  std::unique_lock<std::mutex> lock() const { return std::unique_lock(mutex_); }
  /// Whether the library is not safe to use from a second thread while one waits.
  bool waits_need_lock() const noexcept { return waits_need_lock_; }

  /// Throws device if the device is lost or closed.
  void require_alive() const;
  /// Waits for what was submitted and refuses everything from then on. Destroys a device of ours. Takes the
  /// lock.
  void close();
  /// Whether the library said that the device is lost; wgpu-native never says so.
  bool lost() const;
  /// Errors outside our scopes, oldest first; clears the list.
  std::vector<CapturedError> take_uncaptured() const;

  /// The first uncaught error of type internal, taken off the list.
  std::optional<CapturedError> take_internal_error() const;

  /// Waits for a callback of this device. False as for Instance::wait. Throws device if the device is lost
  /// meanwhile.
  bool wait(WGPUFuture future, const Completion& completion, const Deadline& deadline = {},
            const std::stop_token& stop = {}) const;
  WGPUCallbackMode callback_mode() const noexcept { return instance_->callback_mode(); }

 private:
  struct Events;
  explicit GpuDevice(std::shared_ptr<const Instance> instance);
  void read_facts();

  std::shared_ptr<const Instance> instance_;
  std::unique_ptr<Events> events_;
  Handle<WGPUDevice> device_;
  Handle<WGPUQueue> queue_;
  WGPULimits limits_{};
  DeviceFacts facts_;
  GpuAdapter adapter_;
  std::shared_ptr<BlobCache> shader_cache_;
  bool adopted_ = false;
  bool waits_need_lock_ = false;
  mutable std::mutex mutex_;
};

/// Waits until everything submitted so far is done, with or without the lock. False if the deadline passes or
/// `stop` is requested first. Throws device.
bool wait_for_queue(const GpuDevice& device, const Deadline& deadline = {}, const std::stop_token& stop = {});

/// Collects the errors that the library raises while it lives, so that they become ours to throw. Used under
/// the device's lock, by one thread.
class ErrorScope {
 public:
  explicit ErrorScope(const GpuDevice& device,
                      std::initializer_list<WGPUErrorFilter> filters = {WGPUErrorFilter_Validation});
  ErrorScope(const ErrorScope&) = delete;
  ErrorScope& operator=(const ErrorScope&) = delete;
  ~ErrorScope();

  /// Closes the scope: the first error that it caught.
  std::optional<CapturedError> close();

 private:
  const GpuDevice& device_;
  int open_ = 0;
  bool internal_ = false;  ///< internal errors come from the uncaught ones instead of a scope
};

/// An error of kind device (or limit, when memory ran out) from what the library said. `what` is a clause
/// such as "The library refuses to create buffer output (16 bytes)".
Error library_error(const CapturedError& captured, std::string what);
/// The text on one line.
std::string one_line(std::string text);

}  // namespace kernelpack::webgpu
