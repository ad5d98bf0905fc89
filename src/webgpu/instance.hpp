#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>

#include "webgpu/handle.hpp"
#include "webgpu/library.hpp"

namespace kernelpack::webgpu {

/// When a wait gives up; nothing: never.
using Deadline = std::optional<std::chrono::steady_clock::time_point>;
Deadline after(std::optional<std::chrono::nanoseconds> timeout) noexcept;

/// What a callback of the library reports: set by the callback, read by the thread that waits.
struct Completion {
  std::atomic<bool> done{false};
};

/// A WebGPU instance of a library, made for timed waits.
class Instance {
 public:
  /// One instance a library, made on first use and kept. Throws device if the library refuses.
  static std::shared_ptr<const Instance> of(const std::shared_ptr<const Library>& library);
  /// The caller's instance, which may be null; it stays the caller's.
  static std::shared_ptr<const Instance> adopt(std::shared_ptr<const Library> library, WGPUInstance instance);

  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  const Library& library() const noexcept { return *library_; }
  const std::shared_ptr<const Library>& shared_library() const noexcept { return library_; }
  const Functions& functions() const noexcept { return library_->functions(); }
  WGPUInstance get() const noexcept { return instance_.get(); }

  /// The callback mode of every asynchronous call of ours, such that nobody else's callbacks run in our
  /// waits.
  WGPUCallbackMode callback_mode() const noexcept;
  /// Waits until the callback of `future` has set `completion`. `device` is null before there is one. False
  /// if the deadline passes or `stop` is requested; the callback may then still come.
  bool wait(WGPUDevice device, WGPUFuture future, const Completion& completion, const Deadline& deadline = {},
            const std::stop_token& stop = {}) const;

 private:
  Instance(std::shared_ptr<const Library> library, WGPUInstance instance);
  bool wait_native(WGPUDevice device, const Completion& completion, const Deadline& deadline,
                   const std::stop_token& stop) const;

  std::shared_ptr<const Library> library_;
  Handle<WGPUInstance> instance_;
  mutable std::atomic<bool> timed_waits_{true};
};

}  // namespace kernelpack::webgpu
