#include "cpu/thread_pool.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "cpu/executor.hpp"

#if defined(__SANITIZE_THREAD__)
#define KERNELPACK_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KERNELPACK_THREAD_SANITIZER 1
#endif
#endif

namespace kernelpack::cpu {
namespace {

using namespace std::chrono_literals;

/// Runs `count` tasks and returns how often each index came.
std::vector<int> count_indices(const Executor& executor, int count) {
  std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
  executor.parallel(count, [&](int index) { seen[static_cast<std::size_t>(index)].fetch_add(1); });
  return {seen.begin(), seen.end()};
}

TEST(ThreadPool, EachIndexRunsOnce) {
  for (int threads = 1; threads <= 5; ++threads) {
    const Executor executor({.threads = threads});
    for (const int count : {0, 1, 2, 3, 7, 64, 1000, 65535, 70000}) {
      EXPECT_EQ(count_indices(executor, count), std::vector<int>(static_cast<std::size_t>(count), 1))
          << threads;
    }
  }
}

TEST(ThreadPool, SeesWhatTheCallerWroteAndTheOtherWayRound) {
  const Executor executor({.threads = 4});
  std::array<int, 256> values{};
  for (int round = 1; round < 2000; ++round) {
    executor.parallel(static_cast<int>(values.size()), [&](int index) {
      int& value = values[static_cast<std::size_t>(index)];
      value += value == round - 1 ? 1 : 1000000;
    });
    for (const int value : values) ASSERT_EQ(value, round);
  }
}

TEST(ThreadPool, UsesSeveralThreadsButNoMoreThanAskedFor) {
  const Executor four({.threads = 4});
  count_indices(four, 100);
  EXPECT_GE(pool_threads(), 3);
  const Executor two({.threads = 2});
  for (int round = 0; round < 200; ++round) {
    std::array<std::atomic<std::thread::id>, 16> ids{};
    two.parallel(16, [&](int index) {
      ids[static_cast<std::size_t>(index)] = std::this_thread::get_id();
      std::this_thread::sleep_for(20us);
    });
    std::vector<std::thread::id> distinct;
    for (const auto& id : ids) {
      if (std::find(distinct.begin(), distinct.end(), id.load()) == distinct.end()) distinct.push_back(id);
    }
    ASSERT_LE(distinct.size(), 2u);
  }
}

TEST(ThreadPool, TasksOverlapInTime) {
  const Executor executor({.threads = 2});
  std::atomic<int> inside{0};
  std::atomic<bool> met{false};
  const auto limit = std::chrono::steady_clock::now() + 20s;
  executor.parallel(2, [&](int) {
    inside.fetch_add(1);
    while (!met && std::chrono::steady_clock::now() < limit) {
      if (inside.load() == 2) met = true;
    }
  });
  EXPECT_TRUE(met);
}

TEST(ThreadPool, NestedCallsRunInTheCaller) {
  const Executor executor({.threads = 3});
  std::atomic<int> inner{0};
  executor.parallel(10, [&](int) {
    const auto id = std::this_thread::get_id();
    executor.parallel(10, [&](int) {
      EXPECT_EQ(std::this_thread::get_id(), id);
      inner.fetch_add(1);
    });
  });
  EXPECT_EQ(inner.load(), 100);
}

TEST(ThreadPool, ConcurrentCallsEachDoTheirOwnWork) {
  const Executor executor({.threads = 3});
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&, caller] {
      for (int round = 0; round < 500; ++round) {
        std::array<std::atomic<int>, 40> seen{};
        executor.parallel(40, [&](int index) { seen[static_cast<std::size_t>(index)] += caller + 1; });
        for (const auto& value : seen) wrong += value.load() != caller + 1;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(ThreadPool, BlocksAfterItsSpinTime) {
  const auto used = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return std::chrono::seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           std::chrono::microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
  };
  for (const int spin : {0, 1000}) {
    count_indices(Executor({.threads = 4, .spin_microseconds = spin}), 100);
    std::this_thread::sleep_for(10ms);
    const auto before = used();
    std::this_thread::sleep_for(200ms);
    EXPECT_LT(used() - before, 20ms) << spin;
  }
}

TEST(ThreadPool, RunsInAChildAfterFork) {
#if defined(KERNELPACK_THREAD_SANITIZER)
  GTEST_SKIP() << "ThreadSanitizer does not follow threads into a child";
#endif
  const Executor executor({.threads = 3});
  count_indices(executor, 50);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const bool none = pool_threads() == 0;
    const bool right = count_indices(executor, 50) == std::vector<int>(50, 1);
    _exit(none && right && pool_threads() == 2 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(count_indices(executor, 50), std::vector<int>(50, 1));
}

TEST(ThreadPool, OwnRunnerReplacesThePool) {
  struct Counting : TaskRunner {
    int calls = 0;
    void run(int count, void (*task)(void*, int), void* context) override {
      ++calls;
      for (int index = count - 1; index >= 0; --index) task(context, index);
    }
  };
  const auto runner = std::make_shared<Counting>();
  const Executor executor({.threads = 2, .runner = runner});
  EXPECT_EQ(count_indices(executor, 20), std::vector<int>(20, 1));
  EXPECT_EQ(runner->calls, 1);
}

}  // namespace
}  // namespace kernelpack::cpu
