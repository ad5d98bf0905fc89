// Every method on every target that the machine has, forced in turn.
#include <algorithm>
#include <cstdio>
#include <thread>

#include "cpu/bias_softmax/bias_softmax_fixture_test.hpp"

namespace kernelpack::cpu {
namespace {

class BiasSoftmaxTargets : public testing::TestWithParam<Target> {
 protected:
  void SetUp() override {
    std::printf("seed %llu\n", static_cast<unsigned long long>(test_seed()));
    if (!available(GetParam())) GTEST_SKIP() << "the machine lacks " << to_string(GetParam());
  }
};

/// Each length with its method, dtype and place checked once; returns the number of runs.
int check_kinds(Target target, DType dtype, std::int64_t columns) {
  const Problem problem = problem_of_kinds(dtype, columns, test_seed() + static_cast<std::uint64_t>(columns));
  const Executor executor = executor_for(target);
  const std::size_t bytes = problem.data.byte_size();
  const std::size_t step = element_size(dtype);
  using Place = GuardedMemory::Place;
  int runs = 0;
  for (const BiasSoftmaxMethod method : kMethods) {
    if (!bias_softmax_can(method, problem.shape, target)) continue;
    const std::vector<std::byte> plain = run_forced(problem, forced(method), executor);
    for (int variant = 0; variant < 3; ++variant) {
      const Place place = variant == 0 ? Place::at_end : Place::at_begin;
      const std::size_t offset = variant == 2 ? step * static_cast<std::size_t>(1 + columns % 15) : 0;
      const GuardedMemory data(bytes, place, offset), bias(bytes, place, offset),
          output(bytes, place, offset);
      std::memcpy(data.data(), problem.data.data(), bytes);
      std::memcpy(bias.data(), problem.bias.data(), bytes);
      const BiasSoftmaxPlan plan = forced(method, 1, variant == 1, variant == 1);
      run_bias_softmax(problem.shape, plan, {data.data(), bias.data(), output.data()}, executor);
      std::string report;
      EXPECT_EQ(count_wrong(problem, output.data(), report), 0u)
          << to_string(target) << " " << to_string(method) << " " << to_string(dtype) << ": " << report;
      EXPECT_EQ(std::memcmp(output.data(), plain.data(), bytes), 0)
          << "placement changes bits: " << to_string(target) << " " << to_string(method) << " " << columns;
      run_bias_softmax(problem.shape, plan, {data.data(), bias.data(), data.data()}, executor);
      EXPECT_EQ(count_wrong(problem, data.data(), report), 0u)
          << "in place: " << to_string(target) << " " << to_string(method) << " " << to_string(dtype) << ": "
          << report;
      ++runs;
    }
  }
  return runs;
}

TEST_P(BiasSoftmaxTargets, EveryRowKindAtEveryLengthTo600) {
  int runs = 0;
  for (std::int64_t columns = 1; columns <= 600 && !HasFailure(); ++columns) {
    runs += check_kinds(GetParam(), DType::float32, columns);
    runs += check_kinds(GetParam(), DType::float16, columns);
  }
  std::printf("%d runs\n", runs);
  EXPECT_GT(runs, 600 * 2 * 3 * 2);
}

TEST_P(BiasSoftmaxTargets, EveryRowKindInLongRows) {
  int runs = 0;
  for (const std::int64_t columns : {769, 1023, 1024, 1025, 2047, 2049, 4095, 4097, 8191, 16383, 16384, 16385,
                                     16399, 16400, 16401, 32768, 32800, 65535, 65537}) {
    runs += check_kinds(GetParam(), DType::float32, columns);
    runs += check_kinds(GetParam(), DType::float16, columns);
    if (HasFailure()) break;
  }
  std::printf("%d runs\n", runs);
  EXPECT_GE(runs, 19 * 2 * 2 * 3);
}

TEST_P(BiasSoftmaxTargets, RowsDoNotDependOnOtherRows) {
  for (const std::int64_t columns :
       {1, 3, 7, 8, 15, 16, 17, 31, 33, 64, 77, 80, 100, 255, 333, 1000, 2000, 20000}) {
    for (const DType dtype : {DType::float32, DType::float16}) {
      const Problem all = problem_of_kinds(dtype, columns, test_seed());
      const Executor executor = executor_for(GetParam());
      for (const BiasSoftmaxMethod method : kMethods) {
        if (!bias_softmax_can(method, all.shape, GetParam())) continue;
        const std::vector<std::byte> together = run_forced(all, forced(method), executor);
        const std::size_t row_bytes = static_cast<std::size_t>(columns) * element_size(dtype);
        BiasSoftmaxShape one = all.shape;
        one.rows = one.bias_rows = 1;
        std::vector<std::byte> alone(row_bytes);
        for (std::size_t row = 0; row < row_kinds().size(); ++row) {
          run_bias_softmax(
              one, forced(method),
              {all.data.data() + row * row_bytes, all.bias.data() + row * row_bytes, alone.data()}, executor);
          EXPECT_EQ(std::memcmp(alone.data(), together.data() + row * row_bytes, row_bytes), 0)
              << to_string(GetParam()) << " " << to_string(method) << " " << to_string(dtype) << " "
              << columns << " " << row_kinds()[row].name;
        }
      }
    }
  }
}

TEST_P(BiasSoftmaxTargets, EveryBroadcastAndRowCount) {
  int runs = 0;
  std::mt19937_64 random(test_seed());
  std::normal_distribution<float> normal(0.0f, 3.0f);
  for (const std::int64_t columns : {1, 2, 3, 4, 5, 7, 8, 9, 16, 20, 40, 80, 90}) {
    for (const std::int64_t rows : {1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 24, 33, 60}) {
      std::vector<float> data(static_cast<std::size_t>(rows * columns));
      for (float& value : data) value = normal(random);
      for (std::int64_t bias_rows = 1; bias_rows <= rows; ++bias_rows) {
        if (rows % bias_rows != 0) continue;
        std::vector<float> bias(static_cast<std::size_t>(bias_rows * columns));
        for (float& value : bias) value = normal(random);
        for (const std::int64_t repeat : {std::int64_t{1}, rows / bias_rows}) {
          for (const DType dtype : {DType::float32, DType::float16}) {
            const Problem problem({dtype, rows, columns, bias_rows, repeat}, data, bias);
            for (const BiasSoftmaxMethod method : kMethods) {
              if (!bias_softmax_can(method, problem.shape, GetParam())) continue;
              const auto output = run_forced(problem, forced(method), executor_for(GetParam()));
              std::string report;
              ASSERT_EQ(count_wrong(problem, output.data(), report), 0u)
                  << to_string(GetParam()) << " " << to_string(method) << " " << to_string(dtype) << " rows "
                  << rows << " bias rows " << bias_rows << " repeat " << repeat << ": " << report;
              ++runs;
            }
          }
        }
      }
    }
  }
  std::printf("%d runs\n", runs);
  EXPECT_GT(runs, 2000);
}

/// Runs `use` with `depth` more lines of stack below the caller.
template <class Use>
__attribute__((noinline)) void at_depth(int depth, const Use& use) {
  char line[64];
  __asm__ volatile("" : : "r"(line) : "memory");
  if (depth == 0) return use();
  at_depth(depth - 1, use);
  __asm__ volatile("" : : "r"(line) : "memory");
}

TEST_P(BiasSoftmaxTargets, SharedBiasRowsGiveTheSameBitsAtEveryStackAddress) {
  // Copies of bias rows on the stack keep out of the first line of a page, wherever the stack is.
  const Executor executor = executor_for(GetParam());
  std::mt19937_64 random(test_seed());
  std::normal_distribution<float> normal(0.0f, 3.0f);
  for (const std::int64_t columns : {17, 77, 200}) {
    for (const DType dtype : {DType::float32, DType::float16}) {
      std::vector<float> data(static_cast<std::size_t>(60 * columns));
      std::vector<float> bias(static_cast<std::size_t>(3 * columns));
      for (float& value : data) value = normal(random);
      for (float& value : bias) value = normal(random);
      const Problem problem({dtype, 60, columns, 3, 20}, data, bias);
      if (!bias_softmax_can(BiasSoftmaxMethod::registers, problem.shape, GetParam())) continue;
      const auto first = run_forced(problem, forced(BiasSoftmaxMethod::registers), executor);
      std::string report;
      EXPECT_EQ(count_wrong(problem, first.data(), report), 0u) << to_string(GetParam()) << ": " << report;
      for (int depth = 1; depth < 64; ++depth) {
        at_depth(depth, [&] {
          EXPECT_EQ(run_forced(problem, forced(BiasSoftmaxMethod::registers), executor), first)
              << to_string(GetParam()) << " " << to_string(dtype) << " " << columns << " depth " << depth;
        });
      }
    }
  }
}

TEST_P(BiasSoftmaxTargets, ThreadsDoNotChangeBits) {
  for (const std::int64_t columns : {5, 64, 77, 500, 5000, 70000}) {
    const Problem problem = problem_of_kinds(DType::float32, columns, test_seed());
    for (const BiasSoftmaxMethod method : kMethods) {
      if (!bias_softmax_can(method, problem.shape, GetParam())) continue;
      const auto one = run_forced(problem, forced(method), executor_for(GetParam()));
      for (int threads = 2; threads <= 4; ++threads) {
        for (const int tasks : {threads, 4 * threads, 100}) {
          EXPECT_EQ(run_forced(problem, forced(method, tasks), executor_for(GetParam(), threads)), one)
              << to_string(method) << " " << columns << " threads " << threads;
        }
      }
    }
  }
}

TEST_P(BiasSoftmaxTargets, PiecesAndStreamGiveTheSameBits) {
  for (const std::int64_t columns : {100, 16384, 16400, 33000, 262144, 300001}) {
    for (const DType dtype : {DType::float32, DType::float16}) {
      const Problem problem = problem_of_kinds(dtype, columns, test_seed());
      if (!bias_softmax_can(BiasSoftmaxMethod::stream, problem.shape, GetParam())) continue;
      const auto stream = run_forced(problem, forced(BiasSoftmaxMethod::stream), executor_for(GetParam()));
      const auto pieces =
          run_forced(problem, forced(BiasSoftmaxMethod::pieces, 5), executor_for(GetParam(), 2));
      EXPECT_EQ(stream, pieces) << to_string(dtype) << " " << columns;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, BiasSoftmaxTargets, testing::ValuesIn(kTargets),
                         [](const auto& param) { return std::string(to_string(param.param)); });

}  // namespace
}  // namespace kernelpack::cpu
