#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "webgpu/bind_groups.hpp"
#include "webgpu/program.hpp"

namespace kernelpack::webgpu {

class PassClock;

/// Records programs and copies into command buffers and submits them: one compute pass as long as nothing but
/// dispatches comes. Lives under the device's lock; everything between construction and the end of `submit`
/// is in one error scope.
class Recorder {
 public:
  /// `clock`: reads the time around compute passes; must outlive the recorder.
  Recorder(const GpuDevice& device, BindGroupCache& bind_groups, PassClock* clock = nullptr);
  /// Records into an encoder of the caller and submits nothing.
  Recorder(const GpuDevice& device, BindGroupCache& bind_groups, WGPUCommandEncoder encoder);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder();

  /// Zeroes the range; offset and size are multiples of 4.
  void clear(const BoundRange& range);
  void copy(const BoundRange& from, const BoundRange& to);
  /// Records every pass. `tensors` and `scratch` are parallel to those of the program. Passes whose view
  /// aliases all hold are left out. Throws contract for a hazard (format.md 11.5).
  void record(const Program& program, std::span<const BoundRange> tensors,
              std::span<const BoundRange> scratch);
  /// Throws what `record` would throw, without recording anything, and makes the bind groups.
  void check(const Program& program, std::span<const BoundRange> tensors,
             std::span<const BoundRange> scratch);
  /// Ends the recording into the caller's encoder. Throws device if the library refuses the encoder.
  void leave();
  /// Submits what was recorded; nothing if that is nothing. Throws device, with the library's text.
  void submit();
  /// Records how the clock's times reach the host; after the last pass.
  void resolve_clock();

 private:
  void begin();
  void dispatch(const ProgramPass& pass, std::span<const BoundRange> tensors,
                std::span<const BoundRange> scratch);
  KnownGroup bind_group(const ProgramPass& pass, const PassGroup& group, std::span<const BoundRange> tensors,
                        std::span<const BoundRange> scratch);
  void time_pass(const ProgramPass& pass);
  void end_pass();
  void finish_and_submit();

  // What the open pass has bound, so that chained calls do not say it again.
  struct BoundGroup {
    std::uint64_t id = 0;
    std::span<const std::uint32_t> offsets;
  };
  const GpuDevice& device_;
  BindGroupCache& bind_groups_;
  PassClock* clock_;
  std::optional<ErrorScope> scope_;
  Handle<WGPUCommandEncoder> encoder_;
  Handle<WGPUComputePassEncoder> pass_;
  const Pipeline* pipeline_ = nullptr;
  std::array<BoundGroup, 4> bound_{};  ///< by group index; of others nothing is remembered
};

/// Throws contract if the pass reads and writes one buffer through two bindings, or writes overlapping
/// ranges.
void require_no_hazard(const ProgramPass& pass, std::span<const BoundRange> tensors,
                       std::span<const BoundRange> scratch);

}  // namespace kernelpack::webgpu
