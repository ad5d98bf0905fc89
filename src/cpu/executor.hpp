#pragma once

#include <memory>

#include "cpu/target.hpp"
#include "kernelpack/device.hpp"

namespace kernelpack::cpu {

/// Where and with which instructions kernels run. Immutable; safe to use from several threads at once.
class Executor {
 public:
  /// Throws device for an unknown target or an impossible number, unsupported for a target that the machine
  /// lacks.
  explicit Executor(const CpuOptions& options = {});

  int threads() const noexcept { return threads_; }
  Target target() const noexcept { return target_; }

  /// Calls `task(index)` once for each index in [0, count), on up to `threads()` threads, the caller
  /// included, and returns after the last. Neighbouring indices tend to run on the same thread. `task` must
  /// not throw. Calls may be nested and concurrent: one that finds the threads busy runs all of its tasks
  /// itself. Allocates nothing after the threads have been started by the first call.
  template <class Task>
  void parallel(int count, const Task& task) const {
    if (threads_ == 1 || count <= 1) {
      for (int index = 0; index < count; ++index) task(index);
      return;
    }
    run([](void* context, int index) { (*static_cast<const Task*>(context))(index); },
        const_cast<void*>(static_cast<const void*>(&task)), count);
  }

 private:
  void run(void (*task)(void*, int), void* context, int count) const;

  int threads_;
  Target target_;
  int spin_microseconds_;
  std::shared_ptr<TaskRunner> runner_;
};

}  // namespace kernelpack::cpu
