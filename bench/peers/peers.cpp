// C functions for peers.py.
#include <cstdint>
#include <map>
#include <memory>

#include "cpu/bias_softmax/bias_softmax.hpp"
#include "plain.hpp"

namespace {

using namespace kernelpack;

/// One executor for each number of threads, kept as an application would keep its device.
const cpu::Executor& executor_of(int threads) {
  static std::map<int, std::unique_ptr<cpu::Executor>> executors;
  auto& executor = executors[threads];
  if (!executor) executor = std::make_unique<cpu::Executor>(CpuOptions{.threads = threads});
  return *executor;
}

}  // namespace

#define KERNELPACK_PEERS_EXPORT extern "C" __attribute__((visibility("default")))

KERNELPACK_PEERS_EXPORT void kernelpack_peers_ours(int half, std::int64_t rows, std::int64_t columns,
                                                   std::int64_t bias_rows, std::int64_t repeat,
                                                   const void* data, const void* bias, void* output,
                                                   int threads, int times) {
  const cpu::Executor& executor = executor_of(threads);
  const cpu::BiasSoftmaxShape shape{half != 0 ? DType::float16 : DType::float32, rows, columns, bias_rows,
                                    repeat};
  for (int i = 0; i < times; ++i) {
    cpu::run_bias_softmax(shape, cpu::plan_bias_softmax(shape, threads, executor.target()),
                          {data, bias, output}, executor);
  }
}

KERNELPACK_PEERS_EXPORT void kernelpack_peers_plain(std::int64_t rows, std::int64_t columns,
                                                    std::int64_t bias_rows, std::int64_t repeat,
                                                    const float* data, const float* bias, float* output,
                                                    int threads, int times) {
  for (int i = 0; i < times; ++i) {
    executor_of(threads).parallel(threads, [&](int task) {
      for (std::int64_t row = rows * task / threads; row < rows * (task + 1) / threads; ++row) {
        plain_row(data + row * columns, bias + row / repeat % bias_rows * columns, output + row * columns,
                  columns);
      }
    });
  }
}

KERNELPACK_PEERS_EXPORT void kernelpack_peers_copy(std::int64_t bytes, const char* data, char* output,
                                                   int threads, int times) {
  for (int i = 0; i < times; ++i) {
    executor_of(threads).parallel(threads, [&](int task) {
      const std::int64_t first = bytes / 64 * task / threads * 64;
      const std::int64_t last = task + 1 == threads ? bytes : bytes / 64 * (task + 1) / threads * 64;
      plain_copy(data + first, output + first, last - first);
    });
  }
}
