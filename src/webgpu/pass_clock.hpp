#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "kernelpack/timing.hpp"
#include "webgpu/engine.hpp"
#include "webgpu/readback.hpp"

namespace kernelpack::webgpu {

/// Reads the device's clock at the beginning and the end of compute passes, or the host's where the device
/// has no timestamps. Used by one recording, under the device's lock unless said otherwise.
class PassClock {
 public:
  /// Room for `passes` compute passes, at most `kMostPasses`. Throws device.
  PassClock(Engine& engine, std::size_t passes, bool each_pass);
  PassClock(const PassClock&) = delete;
  PassClock& operator=(const PassClock&) = delete;

  static constexpr std::size_t kMostPasses = 2048;

  /// Whether each pass of a program gets a compute pass of its own.
  bool each_pass() const noexcept { return each_pass_; }
  bool on_device() const noexcept { return static_cast<bool>(queries_); }

  /// What the next compute pass writes; null without timestamps. Throws limit when there is no room left.
  const WGPUPassTimestampWrites* next();
  /// A pass of a program was recorded.
  void recorded(const ProgramPass& pass);
  /// The pass recorded last was submitted and waited for.
  void done(std::chrono::steady_clock::duration took);

  /// Records how the timestamps reach the host; nothing without timestamps.
  void resolve(WGPUCommandEncoder encoder);
  /// Asks for the timestamps; after the submission.
  void map();
  /// Without the lock: waits, then gives the times; `wall` is the host's time.
  Timing finish(const std::chrono::duration<double>& wall);

 private:
  Engine& engine_;
  bool each_pass_;
  std::size_t room_;
  std::size_t used_ = 0;
  Handle<WGPUQuerySet> queries_;
  Handle<WGPUBuffer> resolved_;
  Readback readback_;
  WGPUPassTimestampWrites writes_{};
  std::vector<PassTime> passes_;
};

}  // namespace kernelpack::webgpu
