// Speed of BiasSoftmax. Without options: Google Benchmark over row lengths, places of the data, targets and
// threads.
//   --floor   ns per element in L2 with one thread, for each target, against the floors of the AVX-512 target
//   --memory  tensors of 192 MiB, by windows of 1 MiB that take turns with plain copies of the same bytes
//   --scan    what a row of each length from 9 to 600 costs against the next multiple of 16
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "cpu/bias_softmax/bias_softmax.hpp"

namespace kernelpack::cpu {
namespace {

using Clock = std::chrono::steady_clock;

/// Tensors of one benchmark: rows that share a bias row.
struct Case {
  BiasSoftmaxShape shape;
  Tensor data, bias, output;

  Case(DType dtype, std::int64_t columns, std::int64_t data_bytes)
      : shape{dtype, rows_for(dtype, columns, data_bytes), columns, 1, 1},
        data(TensorSpec{dtype, {shape.rows, columns}}),
        bias(TensorSpec{dtype, {1, columns}}),
        output(TensorSpec{dtype, {shape.rows, columns}}) {
    shape.repeat = shape.rows;
    std::mt19937_64 random(1);
    std::normal_distribution<float> normal(0.0f, 2.0f);
    // A pool of a prime number of values, so that rows differ.
    std::vector<float> pool(65537);
    for (float& value : pool) value = normal(random);
    fill(data, pool);
    fill(bias, pool);
  }

  static std::int64_t rows_for(DType dtype, std::int64_t columns, std::int64_t data_bytes) {
    const auto size = static_cast<std::int64_t>(element_size(dtype));
    const std::int64_t rows = std::max<std::int64_t>(1, data_bytes / size / columns);
    return rows >= 4 ? rows / 4 * 4 : rows;
  }

  static void fill(Tensor& tensor, const std::vector<float>& pool) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(tensor.element_count()); ++i) {
      const float value = pool[i % pool.size()];
      if (tensor.dtype() == DType::float16) {
        tensor.values<Float16>()[i] = Float16(value);
      } else {
        tensor.values<float>()[i] = value;
      }
    }
  }

  void run(const Executor& executor) {
    run_bias_softmax(shape, plan_bias_softmax(shape, executor.threads(), executor.target()),
                     {data.data(), bias.data(), output.data()}, executor);
  }
  double elements() const { return static_cast<double>(data.element_count()); }
};

constexpr std::int64_t kInL2 = 256 * 1024;
constexpr std::int64_t kInL3 = 4 * 1024 * 1024;
constexpr std::int64_t kInMemory = 256 * 1024 * 1024;

struct Timing {
  double least = HUGE_VAL;
  double median = HUGE_VAL;
};

/// ns per element over rounds of about half a millisecond.
Timing time_case(Case& test, const Executor& executor, int rounds) {
  test.run(executor);
  const int repeats = std::max(1, static_cast<int>(5e5 / (test.elements() * 0.2)));
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    const auto start = Clock::now();
    for (int i = 0; i < repeats; ++i) test.run(executor);
    const std::chrono::duration<double, std::nano> taken = Clock::now() - start;
    times.push_back(taken.count() / repeats / test.elements());
  }
  std::sort(times.begin(), times.end());
  return {times.front(), times[times.size() / 2]};
}

/// Upper bounds of the AVX-512 target on the machine that they were set for.
std::optional<double> floor_of(DType dtype, std::int64_t columns) {
  if (dtype == DType::float32) return columns >= 384 ? 0.32 : columns >= 64 ? 0.34 : 0.72;
  return columns >= 512 ? 0.48 : columns >= 64 ? 0.58 : 0.94;
}

int print_floors() {
  int failed = 0;
  std::printf("BiasSoftmax, one thread, 256 KiB of data: ns per element, median of 41 rounds (least)\n");
  for (const DType dtype : {DType::float32, DType::float16}) {
    for (const std::int64_t columns : {8, 64, 77, 128, 384, 512, 1024, 4096}) {
      std::printf("%-8s D %-5lld", std::string(to_string(dtype)).c_str(), static_cast<long long>(columns));
      for (const Target target : compiled_targets()) {
        if (!supported(target)) continue;
        Case test(dtype, columns, kInL2);
        const Executor executor({.threads = 1, .target = std::string(to_string(target))});
        const Timing timing = time_case(test, executor, 41);
        std::printf("  %s %.3f (%.3f)", std::string(to_string(target)).c_str(), timing.median, timing.least);
        if (target != Target::avx3 || columns == 77) continue;
        const double most = *floor_of(dtype, columns);
        std::printf(" <= %.2f %s", most, timing.median <= most ? "pass" : "FAIL");
        failed += timing.median <= most ? 0 : 1;
      }
      std::printf("\n");
    }
  }
  std::printf("%d of the floors missed\n", failed);
  return failed == 0 ? 0 : 1;
}

double quantile(std::vector<double> values, double part) {
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(part * static_cast<double>(values.size() - 1))];
}

/// Copies in steps that are too short for a copy routine that goes around the caches.
void copy_plainly(std::byte* to, const std::byte* from, std::size_t bytes) {
  constexpr std::size_t kStep = 1024;
  for (std::size_t at = 0; at < bytes; at += kStep)
    std::memcpy(to + at, from + at, std::min(kStep, bytes - at));
}

/// One window after the other, each computed or copied in turn, so that other load of the machine hits both
/// alike; times are those that 30 of 100 windows do not exceed.
void print_memory(DType dtype, std::int64_t columns, int threads) {
  Case test(dtype, columns, std::int64_t{192} << 20);
  const Executor executor({.threads = threads});
  const BiasSoftmaxPlan plan = plan_bias_softmax(test.shape, threads, executor.target());
  const auto row_bytes = static_cast<std::int64_t>(element_size(dtype)) * columns;
  BiasSoftmaxShape window = test.shape;
  window.rows = window.repeat = std::max<std::int64_t>(1, (std::int64_t{1} << 20) / row_bytes / 16 * 16);
  const std::int64_t windows = test.shape.rows / window.rows;
  const auto bytes = static_cast<std::size_t>(window.rows * row_bytes);
  std::vector<double> copied, computed;
  for (std::int64_t turn = 0; turn < std::max<std::int64_t>(4 * windows, 200); ++turn) {
    const std::size_t at = static_cast<std::size_t>(turn % windows) * bytes;
    const bool copy = (turn + turn / windows) % 2 == 0;
    const auto start = Clock::now();
    if (copy) {
      executor.parallel(threads, [&](int task) {
        const std::size_t share = bytes / static_cast<std::size_t>(threads);
        const std::size_t from = at + share * static_cast<std::size_t>(task);
        copy_plainly(test.output.data() + from, test.data.data() + from, share);
      });
    } else {
      run_bias_softmax(window, plan, {test.data.data() + at, test.bias.data(), test.output.data() + at},
                       executor);
    }
    const std::chrono::duration<double, std::nano> taken = Clock::now() - start;
    (copy ? copied : computed).push_back(taken.count());
  }
  const double copy_time = quantile(copied, 0.3);
  const double time = quantile(computed, 0.3);
  const double moved = 2.0 * static_cast<double>(bytes);
  std::printf("%-8s D %-8lld %d thread%s %-9s %6.1f GB/s, copy %6.1f: %.2f of copy\n",
              std::string(to_string(dtype)).c_str(), static_cast<long long>(columns), threads,
              threads == 1 ? " " : "s", std::string(to_string(plan.method)).c_str(), moved / time,
              moved / copy_time, copy_time / time);
  std::fflush(stdout);
}

int print_memory_table() {
  for (const DType dtype : {DType::float32, DType::float16}) {
    for (const int threads : {1, 2}) {
      for (const std::int64_t columns : {8, 64, 77, 128, 256, 384, 512, 1024, 4096, 8192, 65536, 1048576}) {
        print_memory(dtype, columns, threads);
      }
    }
  }
  return 0;
}

int print_scan() {
  const Executor executor({.threads = 1});
  const auto row_cost = [&](DType dtype, std::int64_t columns) {
    Case test(dtype, columns, kInL2);
    return time_case(test, executor, 15).least * static_cast<double>(columns);
  };
  for (const DType dtype : {DType::float32, DType::float16}) {
    double whole = 0;
    double worst = 0;
    int above = 0;
    for (std::int64_t block = 16; block <= 608; block += 16) {
      whole = row_cost(dtype, block);
      std::printf(
          "%s D %lld: %.2f ns a row, %.4f an element; before it:", std::string(to_string(dtype)).c_str(),
          static_cast<long long>(block), whole, whole / static_cast<double>(block));
      for (std::int64_t columns = std::max<std::int64_t>(9, block - 15); columns < block; ++columns) {
        double cost = row_cost(dtype, columns);
        // Other load only adds: what misses the goal is measured again.
        for (int again = 0; again < 3 && cost > 1.15 * whole; ++again) {
          whole = std::min(whole, row_cost(dtype, block));
          cost = std::min(cost, row_cost(dtype, columns));
        }
        const double ratio = cost / whole;
        worst = std::max(worst, ratio);
        above += ratio > 1.15;
        std::printf(" %.2f", ratio);
      }
      std::printf("\n");
    }
    std::printf(
        "%s: the worst length costs %.2f of the next multiple of 16; %d lengths cost more than 1.15\n",
        std::string(to_string(dtype)).c_str(), worst, above);
  }
  return 0;
}

void run_benchmark(benchmark::State& state, DType dtype, std::int64_t columns, std::int64_t bytes,
                   Target target, int threads) {
  Case test(dtype, columns, bytes);
  const Executor executor({.threads = threads, .target = std::string(to_string(target))});
  for (auto _ : state) test.run(executor);
  const double elements = test.elements() * static_cast<double>(state.iterations());
  state.counters["ns_per_element"] =
      benchmark::Counter(elements * 1e-9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.SetBytesProcessed(static_cast<std::int64_t>(elements) * 2 *
                          static_cast<std::int64_t>(element_size(dtype)));
}

void register_benchmarks() {
  struct Place {
    const char* name;
    std::int64_t bytes;
  };
  for (const Place& place : {Place{"L2", kInL2}, Place{"L3", kInL3}, Place{"memory", kInMemory}}) {
    for (const DType dtype : {DType::float32, DType::float16}) {
      for (const std::int64_t columns :
           {8, 16, 32, 64, 77, 128, 256, 384, 512, 1024, 4096, 8192, 65536, 1048576}) {
        if (columns * static_cast<std::int64_t>(element_size(dtype)) > place.bytes) continue;
        for (const Target target : compiled_targets()) {
          if (!supported(target)) continue;
          for (const int threads : {1, 2}) {
            const std::string name = std::string(to_string(dtype)) + "/" + place.name +
                                     "/D:" + std::to_string(columns) + "/" + std::string(to_string(target)) +
                                     "/threads:" + std::to_string(threads);
            benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) {
              run_benchmark(state, dtype, columns, place.bytes, target, threads);
            })->UseRealTime();
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace kernelpack::cpu

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--floor") == 0) return kernelpack::cpu::print_floors();
  if (argc == 2 && std::strcmp(argv[1], "--memory") == 0) return kernelpack::cpu::print_memory_table();
  if (argc == 2 && std::strcmp(argv[1], "--scan") == 0) return kernelpack::cpu::print_scan();
  kernelpack::cpu::register_benchmarks();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
