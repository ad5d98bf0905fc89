#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>

#include "kernelpack/kernel.hpp"

namespace kernelpack {

/// The results of a call that may still run. Destroying it early drops the results and waits for nothing. For
/// one thread at a time.
class PendingOutputs {
 public:
  PendingOutputs(PendingOutputs&&) noexcept;
  PendingOutputs& operator=(PendingOutputs&&) noexcept;
  ~PendingOutputs();

  /// Whether the results are there. Waits at most `timeout`, forever without one, or until another thread
  /// requests `stop`; zero asks without waiting.
  bool wait(std::optional<std::chrono::nanoseconds> timeout = {}, const std::stop_token& stop = {});
  /// Waits and gives the results; destinations of the caller are written now. Once only. Throws device if the
  /// device is lost or closed, and as Kernel::run.
  Outputs get();

 private:
  friend PendingOutputs run_async(const Kernel& kernel, const Inputs& inputs, const RunOptions& options);
  struct State;
  explicit PendingOutputs(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Binds, plans, compiles, uploads and submits the call as Kernel::run does, and returns without waiting for
/// the GPU. The inputs may go away then; destinations must stay until `get`. On the CPU the call is done when
/// this returns.
PendingOutputs run_async(const Kernel& kernel, const Inputs& inputs, const RunOptions& options = {});

}  // namespace kernelpack
