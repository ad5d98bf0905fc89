#include <algorithm>
#include <cmath>

#include "cpu/bias_softmax/bias_softmax_fixture_test.hpp"

namespace kernelpack::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kLowest = std::numeric_limits<float>::lowest();

using Random = std::mt19937_64;

float normal(Random& random, float scale) {
  return std::normal_distribution<float>(0.0f, scale)(random);
}
float uniform(Random& random, float low, float high) {
  return std::uniform_real_distribution<float>(low, high)(random);
}
std::int64_t position(Random& random, std::int64_t columns) {
  return std::uniform_int_distribution<std::int64_t>(0, columns - 1)(random);
}

/// Data by `value(column)`, no bias.
template <class Value>
RowKind plain(const char* name, Value value) {
  return {name, [value](Random& random, float* data, float* bias, std::int64_t columns) {
            for (std::int64_t i = 0; i < columns; ++i) {
              data[i] = value(random, i, columns);
              bias[i] = 0.0f;
            }
          }};
}

/// Normal data; bias by `mask(column)`.
template <class Mask>
RowKind masked(const char* name, Mask mask) {
  return {name, [mask](Random& random, float* data, float* bias, std::int64_t columns) {
            for (std::int64_t i = 0; i < columns; ++i) {
              data[i] = normal(random, 2.0f);
              bias[i] = mask(random, i, columns);
            }
          }};
}

/// Normal data with `value` somewhere.
RowKind with_one(const char* name, float value) {
  return {name, [value](Random& random, float* data, float* bias, std::int64_t columns) {
            for (std::int64_t i = 0; i < columns; ++i) {
              data[i] = normal(random, 1.0f);
              bias[i] = normal(random, 1.0f);
            }
            data[position(random, columns)] = value;
          }};
}

std::vector<RowKind> make_kinds() {
  using I = std::int64_t;
  return {
      plain("normal", [](Random& r, I, I) { return normal(r, 1.0f); }),
      plain("wide", [](Random& r, I, I) { return uniform(r, -84.0f, 84.0f); }),
      plain("zeros", [](Random&, I, I) { return 0.0f; }),
      plain("equal", [](Random&, I, I) { return 3.3f; }),
      plain("tiny", [](Random& r, I, I) { return uniform(r, -1e-38f, 1e-38f); }),
      plain("beyond the guess", [](Random& r, I, I) { return uniform(r, 5000.0f, 5010.0f); }),
      plain("below the guess", [](Random& r, I, I) { return uniform(r, -60000.0f, -59990.0f); }),
      plain("maximum last", [](Random& r, I i, I n) { return i == n - 1 ? 90.0f : normal(r, 1.0f); }),
      plain("maximum far above a guess",
            [](Random& r, I i, I n) { return i == n / 3 ? 800.0f : normal(r, 1.0f); }),
      plain("guess too low by 68",
            [](Random& r, I i, I n) { return i == n / 3 ? 68.0f : uniform(r, -1.0f, 0.0f); }),
      plain("guess too low by 70",
            [](Random& r, I i, I n) { return i == n / 3 ? 70.0f : uniform(r, -1.0f, 0.0f); }),
      plain("alternating", [](Random& r, I i, I) { return i % 2 == 0 ? normal(r, 1.0f) : -500.0f; }),
      plain("alternating, huge", [](Random&, I i, I) { return i % 2 == 0 ? 60000.0f : -60000.0f; }),
      plain("falling to zero",
            [](Random&, I i, I n) { return -110.0f * static_cast<float>(i) / static_cast<float>(n); }),
      plain("one hot", [](Random&, I i, I n) { return i == n / 2 ? 200.0f : 0.0f; }),
      plain("lowest", [](Random&, I, I) { return kLowest; }),
      plain("lowest but one", [](Random&, I i, I n) { return i == n - 1 ? 0.0f : kLowest; }),
      plain("lowest to largest", [](Random&, I i, I) { return i % 3 == 0 ? -kLowest : kLowest; }),
      plain("not above the end of float16", [](Random& r, I, I) { return uniform(r, 65000.0f, 65504.0f); }),
      masked("padded right", [](Random&, I i, I n) { return i > n / 3 ? -1e4f : 0.0f; }),
      masked("padded left", [](Random&, I i, I n) { return i < n - n / 3 - 1 ? -1e4f : 0.0f; }),
      masked("window", [](Random&, I i, I n) { return i == n / 3 || i == n / 3 + 1 ? 0.0f : -1e4f; }),
      masked("window of -inf", [](Random&, I i, I n) { return i == n / 3 ? 0.0f : -kInfinity; }),
      masked("random -inf", [](Random& r, I i, I) { return i > 0 && r() % 3 == 0 ? -kInfinity : 0.0f; }),
      masked("lowest as mask", [](Random&, I i, I n) { return i > n / 2 ? kLowest : 0.0f; }),
      masked("all masked by -inf", [](Random&, I, I) { return -kInfinity; }),
      masked("all masked by lowest", [](Random&, I, I) { return kLowest; }),
      masked("all masked by -1e4", [](Random&, I, I) { return -1e4f; }),
      masked("NaN among -inf", [](Random&, I i, I n) { return i == n / 2 ? kNaN : -kInfinity; }),
      masked("+inf among -inf", [](Random&, I i, I n) { return i == n - 1 ? kInfinity : -kInfinity; }),
      with_one("one NaN", kNaN),
      with_one("one +inf", kInfinity),
      with_one("one -inf", -kInfinity),
      {"sums overflow",
       [](Random&, float* data, float* bias, I n) {
         std::fill_n(data, n, 0.0f);
         std::fill_n(bias, n, 0.0f);
         data[n - 1] = bias[n - 1] = -kLowest;
       }},
      {"sums overflow to -inf",
       [](Random&, float* data, float* bias, I n) {
         std::fill_n(data, n, kLowest);
         std::fill_n(bias, n, kLowest);
       }},
  };
}

}  // namespace

const std::vector<RowKind>& row_kinds() {
  static const std::vector<RowKind> kinds = make_kinds();
  return kinds;
}

Problem problem_of_kinds(DType dtype, std::int64_t columns, std::uint64_t seed) {
  Random random(seed);
  const auto rows = static_cast<std::int64_t>(row_kinds().size());
  std::vector<float> data(static_cast<std::size_t>(rows * columns)), bias(data.size());
  for (std::int64_t row = 0; row < rows; ++row) {
    row_kinds()[static_cast<std::size_t>(row)].fill(random, data.data() + row * columns,
                                                    bias.data() + row * columns, columns);
  }
  return Problem({dtype, rows, columns, rows, 1}, data, bias);
}

}  // namespace kernelpack::cpu
