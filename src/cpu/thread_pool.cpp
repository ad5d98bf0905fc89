#include "cpu/thread_pool.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <thread>
#include <vector>

namespace kernelpack::cpu {
namespace {

using Clock = std::chrono::steady_clock;
using Task = void (*)(void*, int);

/// Lets the other thread of the core work while this one polls.
void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// The indices that are left of one thread's range, with the number of the job they belong to. The owner
/// takes from the front, others from the back; an index of another job is never taken.
class alignas(64) Range {
 public:
  void assign(std::uint32_t job, int begin, int end) noexcept {
    word_.store(pack(job, begin, end), std::memory_order_release);
  }

  /// An index, or -1 if the range is empty or of another job.
  int take(std::uint32_t job, bool front) noexcept {
    std::uint64_t word = word_.load(std::memory_order_acquire);
    for (;;) {
      const int begin = static_cast<int>(word >> 16 & 0xffff);
      const int end = static_cast<int>(word & 0xffff);
      if (word >> 32 != job || begin >= end) return -1;
      const std::uint64_t rest = front ? pack(job, begin + 1, end) : pack(job, begin, end - 1);
      if (word_.compare_exchange_weak(word, rest, std::memory_order_acq_rel, std::memory_order_acquire)) {
        return front ? begin : end - 1;
      }
    }
  }

 private:
  static std::uint64_t pack(std::uint32_t job, int begin, int end) noexcept {
    return std::uint64_t{job} << 32 | static_cast<std::uint64_t>(begin) << 16 |
           static_cast<std::uint64_t>(end);
  }
  std::atomic<std::uint64_t> word_{0};
};

class Pool {
 public:
  ~Pool() {
    stopping_.store(true);
    job_.fetch_add(1);
    job_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  /// False if the pool is busy; nothing has run then.
  bool run(int threads, int spin_microseconds, int count, Task task, void* context) noexcept {
    if (busy_.exchange(true, std::memory_order_acquire)) return false;
    start(threads - 1);
    threads = std::min({threads, count, started() + 1});
    spin_microseconds_.store(spin_microseconds, std::memory_order_relaxed);
    task_.store(task, std::memory_order_relaxed);
    context_.store(context, std::memory_order_relaxed);
    ranges_in_use_.store(threads, std::memory_order_relaxed);
    left_.store(count, std::memory_order_relaxed);
    const std::uint32_t job = job_.load(std::memory_order_relaxed) + 1;
    for (int i = 0; i < threads; ++i) {
      const auto share = [&](int thread) { return static_cast<int>(std::int64_t{count} * thread / threads); };
      ranges_[static_cast<std::size_t>(i)].assign(job, share(i), share(i + 1));
    }
    job_.store(job, std::memory_order_seq_cst);
    if (sleepers_.load(std::memory_order_seq_cst) > 0) job_.notify_all();

    work(job, 0);
    wait_for_others();
    busy_.store(false, std::memory_order_release);
    return true;
  }

  int started() const noexcept { return started_.load(std::memory_order_relaxed); }

 private:
  /// Starts threads up to `wanted`; fewer if the system refuses.
  void start(int wanted) noexcept {
    wanted = std::min(wanted, kMaxThreads - 1);
    try {
      while (started() < wanted) {
        const int thread = started() + 1;
        const std::uint32_t seen = job_.load(std::memory_order_relaxed);
        threads_.emplace_back([this, thread, seen] { serve(thread, seen); });
        started_.store(thread, std::memory_order_relaxed);
      }
    } catch (const std::exception&) {
      // The caller does what no thread takes.
    }
  }

  void serve(int thread, std::uint32_t seen) noexcept {
    for (;;) {
      seen = wait_for_job(seen);
      if (stopping_.load()) return;
      work(seen, thread);
    }
  }

  std::uint32_t wait_for_job(std::uint32_t seen) noexcept {
    const auto limit = std::chrono::microseconds(spin_microseconds_.load(std::memory_order_relaxed));
    if (limit.count() > 0) {
      const Clock::time_point end = Clock::now() + limit;
      do {
        for (int i = 0; i < 64; ++i) {
          const std::uint32_t job = job_.load(std::memory_order_acquire);
          if (job != seen) return job;
          relax();
        }
      } while (Clock::now() < end);
    }
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    std::uint32_t job;
    while ((job = job_.load(std::memory_order_seq_cst)) == seen) job_.wait(seen, std::memory_order_seq_cst);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
    return job;
  }

  /// Runs tasks of the job until none is left to take. What describes the job is read before an index is
  /// taken: as long as one can be taken the job is not over, so what was read belongs to it.
  void work(std::uint32_t job, int thread) noexcept {
    const Task task = task_.load(std::memory_order_relaxed);
    void* const context = context_.load(std::memory_order_relaxed);
    const int ranges = ranges_in_use_.load(std::memory_order_relaxed);
    if (thread >= ranges) return;
    int done = 0;
    for (int i = 0; i < ranges; ++i) {
      const int owner = (thread + i) % ranges;
      int index;
      while ((index = ranges_[static_cast<std::size_t>(owner)].take(job, owner == thread)) >= 0) {
        task(context, index);
        ++done;
      }
    }
    if (done > 0 && left_.fetch_sub(done, std::memory_order_acq_rel) == done) left_.notify_one();
  }

  void wait_for_others() noexcept {
    for (int i = 0; i < 4000; ++i) {
      if (left_.load(std::memory_order_acquire) == 0) return;
      relax();
    }
    int left;
    while ((left = left_.load(std::memory_order_acquire)) != 0) left_.wait(left, std::memory_order_acquire);
  }

  std::atomic<bool> busy_{false};
  std::atomic<bool> stopping_{false};
  std::atomic<int> started_{0};
  std::atomic<int> spin_microseconds_{0};
  std::atomic<Task> task_{nullptr};
  std::atomic<void*> context_{nullptr};
  std::atomic<int> ranges_in_use_{0};
  std::vector<std::thread> threads_;  ///< touched by the caller that holds `busy_` only
  std::array<Range, kMaxThreads> ranges_;
  alignas(64) std::atomic<std::uint32_t> job_{0};
  alignas(64) std::atomic<int> sleepers_{0};
  alignas(64) std::atomic<int> left_{0};
};

std::atomic<Pool*> current_pool{nullptr};

/// Owns the pool; the child of a fork gives its copy up, since the threads are not there to be joined.
struct Owner {
  Owner() {
    pthread_atfork(nullptr, nullptr, [] { current_pool.store(new Pool); });
    current_pool.store(new Pool);
  }
  ~Owner() { delete current_pool.exchange(nullptr); }
};

Pool* pool() noexcept {
  static Owner owner;
  return current_pool.load(std::memory_order_acquire);
}

}  // namespace

void run_on_pool(int threads, int spin_microseconds, int count, Task task, void* context) noexcept {
  constexpr int kMaxCount = 0xffff;
  Pool* const shared = threads > 1 && count > 1 && count <= kMaxCount ? pool() : nullptr;
  if (shared != nullptr && shared->run(threads, spin_microseconds, count, task, context)) return;
  for (int index = 0; index < count; ++index) task(context, index);
}

int pool_threads() noexcept {
  const Pool* const shared = pool();
  return shared == nullptr ? 0 : shared->started();
}

}  // namespace kernelpack::cpu
