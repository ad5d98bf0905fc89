#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "cpu/bias_softmax/bias_softmax.hpp"
#include "cpu/bias_softmax/reference.hpp"

namespace kernelpack::cpu {

/// Printed with every failure; set KERNELPACK_TEST_SEED to repeat a run.
inline std::uint64_t test_seed() {
  static const std::uint64_t seed = [] {
    const char* text = std::getenv("KERNELPACK_TEST_SEED");
    return text != nullptr ? std::strtoull(text, nullptr, 10) : 20240917ull;
  }();
  return seed;
}

/// Memory between two pages that cannot be touched. It ends at the second one, or begins `offset` bytes after
/// the first.
class GuardedMemory {
 public:
  enum class Place { at_end, at_begin };

  GuardedMemory(std::size_t bytes, Place place, std::size_t offset = 0) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t inner = (bytes + offset + page - 1) / page * page;
    size_ = inner + 2 * page;
    base_ = static_cast<std::byte*>(mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (base_ == MAP_FAILED || mprotect(base_ + page, inner, PROT_READ | PROT_WRITE) != 0) std::abort();
    data_ = place == Place::at_begin ? base_ + page + offset : base_ + page + inner - bytes;
  }
  ~GuardedMemory() { munmap(base_, size_); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::byte* data() const { return data_; }

 private:
  std::byte* base_;
  std::byte* data_;
  std::size_t size_;
};

/// Data and bias of a problem with the answer.
struct Problem {
  BiasSoftmaxShape shape;
  Tensor data;
  Tensor bias;
  std::vector<double> expected;
  std::vector<double> distances;

  /// Values are rounded to the dtype.
  Problem(const BiasSoftmaxShape& of, const std::vector<float>& data_values,
          const std::vector<float>& bias_values)
      : shape(of),
        data(tensor(data_values, of.rows)),
        bias(tensor(bias_values, of.bias_rows)),
        expected(data_values.size()),
        distances(data_values.size()) {
    reference_bias_softmax(shape, data, bias, expected);
    bias_softmax_distances(shape, data, bias, distances);
  }

  Tensor tensor(const std::vector<float>& values, std::int64_t rows) const {
    if (shape.dtype == DType::float32) return Tensor::from(values, {rows, shape.columns});
    return Tensor::from(std::vector<Float16>(values.begin(), values.end()), {rows, shape.columns});
  }
};

inline double value_at(DType dtype, const std::byte* memory, std::size_t index) {
  if (dtype == DType::float16) {
    Float16 half;
    std::memcpy(&half, memory + index * sizeof(half), sizeof(half));
    return static_cast<double>(static_cast<float>(half));
  }
  float value;
  std::memcpy(&value, memory + index * sizeof(value), sizeof(value));
  return static_cast<double>(value);
}

/// The number of wrong elements of an output; the first is described in `report`.
inline std::size_t count_wrong(const Problem& problem, const std::byte* output, std::string& report) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < problem.expected.size(); ++i) {
    const double got = value_at(problem.shape.dtype, output, i);
    if (bias_softmax_matches(problem.shape.dtype, got, problem.expected[i], problem.distances[i],
                             problem.shape.columns)) {
      continue;
    }
    if (wrong++ == 0) {
      char text[200];
      std::snprintf(
          text, sizeof(text), "row %zu column %zu of %lld: got %.9g, expected %.9g at distance %.9g",
          i / static_cast<std::size_t>(problem.shape.columns),
          i % static_cast<std::size_t>(problem.shape.columns), static_cast<long long>(problem.shape.columns),
          got, problem.expected[i], problem.distances[i]);
      report = text;
    }
  }
  return wrong;
}

/// Plans with `method` that a test forces.
inline BiasSoftmaxPlan forced(BiasSoftmaxMethod method, int tasks = 1, bool prefetch = false,
                              bool around_caches = false) {
  return {method, prefetch, around_caches, tasks};
}

inline constexpr BiasSoftmaxMethod kMethods[] = {BiasSoftmaxMethod::packed, BiasSoftmaxMethod::registers,
                                                 BiasSoftmaxMethod::block, BiasSoftmaxMethod::stream,
                                                 BiasSoftmaxMethod::pieces};
inline constexpr Target kTargets[] = {Target::avx3, Target::avx2, Target::sse4, Target::neon, Target::scalar};

inline bool available(Target target) {
  const auto compiled = compiled_targets();
  return std::find(compiled.begin(), compiled.end(), target) != compiled.end() && supported(target);
}

inline Executor executor_for(Target target, int threads = 1) {
  return Executor({.threads = threads, .target = std::string(to_string(target))});
}

/// Output bytes of a forced run, which every check of bits compares.
inline std::vector<std::byte> run_forced(const Problem& problem, const BiasSoftmaxPlan& plan,
                                         const Executor& executor) {
  std::vector<std::byte> output(problem.data.byte_size(), std::byte{0x7f});
  run_bias_softmax(problem.shape, plan, {problem.data.data(), problem.bias.data(), output.data()}, executor);
  return output;
}

/// Rows that are hard in one way or another; each is filled given its length.
struct RowKind {
  const char* name;
  std::function<void(std::mt19937_64& random, float* data, float* bias, std::int64_t columns)> fill;
};
const std::vector<RowKind>& row_kinds();

/// A problem whose row r is of kind r; the bias has as many rows.
Problem problem_of_kinds(DType dtype, std::int64_t columns, std::uint64_t seed);

}  // namespace kernelpack::cpu
