#include "cpu/executor.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <string>
#include <thread>

#include "cpu/thread_pool.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::cpu {
namespace {

constexpr int kMaxSpinMicroseconds = 1000;

int processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int count = sched_getaffinity(0, sizeof(set), &set) == 0
                        ? CPU_COUNT(&set)
                        : static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(count, 1, kMaxThreads);
}

std::string names(bool supported_only) {
  std::string text;
  for (const Target target : compiled_targets()) {
    if (supported_only && !supported(target)) continue;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", to_string(target));
  }
  return text;
}

Target choose_target(const std::string& name) {
  if (name.empty()) return best_target();
  const std::optional<Target> target = parse_target(name);
  const auto compiled = compiled_targets();
  if (!target || std::find(compiled.begin(), compiled.end(), *target) == compiled.end()) {
    throw Error(ErrorKind::device,
                fmt::format("The CPU target ({}) is not one of those that kernelpack was built for ({})",
                            name, names(false)));
  }
  if (!supported(*target)) {
    throw Error(
        ErrorKind::unsupported,
        fmt::format("The CPU target ({}) is not supported by this machine, which has {}", name, names(true)));
  }
  return *target;
}

int checked(std::string_view what, int value, int most) {
  if (value < 0 || value > most) {
    throw Error(ErrorKind::device, fmt::format("The {} ({}) is outside [0, {}]", what, value, most));
  }
  return value;
}

}  // namespace

Executor::Executor(const CpuOptions& options)
    : threads_(checked("number of threads", options.threads, kMaxThreads)),
      target_(choose_target(options.target)),
      spin_microseconds_(
          checked("spin time in microseconds", options.spin_microseconds, kMaxSpinMicroseconds)),
      runner_(options.runner) {
  if (threads_ == 0) threads_ = processors();
}

void Executor::run(void (*task)(void*, int), void* context, int count) const {
  if (runner_) {
    runner_->run(count, task, context);
  } else {
    run_on_pool(threads_, spin_microseconds_, count, task, context);
  }
}

}  // namespace kernelpack::cpu
