#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernelpack/plan.hpp"

namespace kernelpack {

/// The time of one pass of a plan.
struct PassTime {
  std::string id;  ///< PlannedPass::id
  double seconds = 0;
};

/// How long calls took.
struct Timing {
  /// True: the device's own timestamps. False: it has none, and the host's clock was read from the submission
  /// until the work was done, which adds the way to the device and back.
  bool device_clock = false;
  double seconds = 0;            ///< all calls together
  std::vector<PassTime> passes;  ///< in the order of execution; empty unless asked for
};

/// How Batch::measure runs the calls.
struct MeasureOptions {
  int rounds = 1;  ///< all calls of the batch so many times over, back to back
  /// A compute pass for each pass of the calls, so that each has a time of its own; otherwise all share one
  /// compute pass unless something else than dispatches (a cleared scratch buffer, submitAfter) comes
  /// between.
  bool each_pass = false;
};

/// What every kernel is compared with: a copy from the tensor "from" to the tensor "to" that moves `bytes`
/// bytes, half of them read and half written (rounded up to 16 bytes each); one vec4<f32> an invocation, 256
/// invocations a workgroup. Both tensors are float32 of one dimension.
Plan copy_plan(std::uint64_t bytes);

}  // namespace kernelpack
