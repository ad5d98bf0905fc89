#pragma once

namespace kernelpack::cpu {

/// The most threads that share one call, the caller included.
inline constexpr int kMaxThreads = 256;

/// Runs `task(context, index)` once for each index in [0, count) on the caller and up to `threads` - 1
/// threads of the process-wide pool, and returns after the last. Each thread starts with its own range of
/// neighbouring indices and takes from the ranges of others when it is done, so a thread that wakes up late
/// delays nobody. A nested or concurrent call finds the pool busy and runs its tasks itself. `task` must not
/// throw.
///
/// The threads start with the first call, poll for at most `spin_microseconds` after the latest call and then
/// block. They are joined when the process ends normally. A child after fork() has none and starts its own.
void run_on_pool(int threads, int spin_microseconds, int count, void (*task)(void* context, int index),
                 void* context) noexcept;

/// Threads that the pool has started in this process so far.
int pool_threads() noexcept;

}  // namespace kernelpack::cpu
