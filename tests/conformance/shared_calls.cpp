#include "shared_calls.hpp"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <random>

#include "kernelpack/error.hpp"

namespace kernelpack::conformance {
namespace {

using cpu::OpCase;
using cpu::SharedCase;
using cpu::tensor_of;

using Calls = std::vector<SharedCase>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What an entry states besides its values.
struct Entry {
  DType dtype;
  Shape data;
  Shape bias;
  int axis;
  int inner;

  std::int64_t columns() const { return data.back(); }
  template <class Data, class Bias>
  OpCase call(const Shape& data_shape, const Shape& bias_shape, Data data_value, Bias bias_value) const {
    return {tensor_of(dtype, data_shape, data_value), tensor_of(dtype, bias_shape, bias_value), axis, inner};
  }
  double near_one(double single, double half) const { return dtype == DType::float32 ? single : half; }
};

/// The size that the file's shape has, then those that its words repeat the case for.
std::vector<std::int64_t> sizes(std::int64_t first, std::initializer_list<std::int64_t> others) {
  std::vector<std::int64_t> all{first};
  all.insert(all.end(), others);
  return all;
}

double zero(std::size_t) {
  return 0.0;
}

/// Numbers of a normal distribution, one after another.
auto normal(std::uint64_t seed, double deviation) {
  return [random = std::mt19937_64(seed), distribution = std::normal_distribution<double>(0, deviation)](
             std::size_t) mutable { return distribution(random); };
}

Calls uniform_rows(const Entry& entry) {
  return {{"", entry.call(entry.data, entry.bias, zero, zero), true, 1e-12}};
}

Calls suffix(const Entry& entry) {
  return {{"",
           entry.call(
               entry.data, entry.bias, [](std::size_t i) { return 0.1 * static_cast<double>(i); },
               [](std::size_t j) { return -0.05 * static_cast<double>(j); }),
           false, entry.near_one(1e-6, 2e-3)}};
}

Calls outer_and_inner(const Entry& entry) {
  const auto n = static_cast<std::size_t>(entry.columns());
  const OpCase outer = entry.call(
      entry.data, entry.bias,
      [n](std::size_t i) { return static_cast<double>((7 * (i / n) + 3 * (i % n)) % 11) * 0.25; },
      [n](std::size_t i) { return static_cast<double>((5 * (i / n) + 2 * (i % n)) % 7) * 0.5 - 1; });
  OpCase inner = outer;
  inner.inner = 1;
  return {{", outer", outer}, {", inner", inner}};
}

/// Bias rows of [B, 1, Q, K] for data of [B, H, Q, K] cannot be expressed; those of one batch can.
Calls one_batch(const Entry& entry) {
  Entry outer = entry;
  outer.data[0] = outer.bias[0] = 1;
  outer.inner = 0;
  return {{", one batch", outer.call(outer.data, outer.bias, normal(1, 1), normal(2, 1))}};
}

Calls single_column(const Entry& entry) {
  Calls calls;
  for (const std::int64_t rows : sizes(entry.data[0], {1, 7, 8, 9, 15, 16, 17, 64, 65}))
    calls.push_back({fmt::format(", {} rows", rows),
                     entry.call(
                         {rows, 1}, entry.bias,
                         [](std::size_t r) { return (r % 2 == 0 ? 77.7 : -77.7) * static_cast<double>(r); },
                         [](std::size_t) { return 0.3; }),
                     true});
  return calls;
}

Calls one_hot(const Entry& entry) {
  Calls calls;
  for (const std::int64_t columns :
       sizes(entry.columns(), {3, 5, 6, 7, 9, 10, 11, 12, 13, 14, 15, 17, 31, 33, 47, 100, 255, 257, 1000})) {
    const auto n = static_cast<std::size_t>(columns);
    calls.push_back({fmt::format(", {} columns", columns),
                     entry.call(
                         {columns, columns}, {1, columns},
                         [n](std::size_t i) { return i / n == i % n ? 200.0 : 0.0; }, zero),
                     true});
  }
  return calls;
}

Calls widths(const Entry& entry) {
  Calls calls;
  for (const std::int64_t columns :
       sizes(entry.columns(), {8,   9,   31,  32,  33,  63,   64,   65,   127,  128,  129,  255,  256,
                               257, 511, 512, 513, 781, 1023, 1024, 2047, 2048, 2049, 4095, 4096, 4097})) {
    // The rows of the first one are the file's; an odd number of them is harder for the others.
    const Shape shape{columns == entry.columns() ? entry.data[0] : 35, columns};
    calls.push_back(
        {fmt::format(", {} columns", columns), entry.call(shape, shape, normal(7, 3), normal(8, 3))});
  }
  return calls;
}

Calls long_rows(const Entry& entry) {
  Calls calls;
  for (const std::int64_t columns : sizes(entry.columns(), {65535, 65536, 524288, 1048576})) {
    const auto n = static_cast<std::size_t>(columns);
    calls.push_back({fmt::format(", {} columns", columns),
                     entry.call(
                         {entry.data[0], columns}, {entry.bias[0], columns},
                         [n, value = normal(3, 1)](std::size_t i) mutable {
                           return i == n - 1 || i == n ? 40.0 : value(i);
                         },
                         normal(4, 1)),
                     false, entry.near_one(columns < 1 << 20 ? 1e-6 : 4e-6, 2e-3)});
  }
  return calls;
}

Calls causal(const Entry& entry) {
  Calls calls;
  const auto n = static_cast<std::size_t>(entry.columns());
  for (const double hidden : {-kInfinity, -1e4})
    calls.push_back({fmt::format(", {}", hidden),
                     entry.call(entry.data, entry.bias, normal(11, 2),
                                [n, hidden](std::size_t i) { return i % n <= i / n ? 0.0 : hidden; }),
                     false, entry.near_one(1e-6, 2e-3)});
  return calls;
}

}  // namespace

std::vector<SharedCase> shared_calls(const json::Value& entry, DType dtype) {
  static const std::map<std::string, Calls (*)(const Entry&)> described{
      {"f16_uniform_4096", uniform_rows},
      {"flatten_suffix_axis1", suffix},
      {"outer_broadcast_moe", outer_and_inner},
      {"middle_broadcast_rejected", one_batch},
      {"single_column_is_exact_one", single_column},
      {"max_position_sweep_63", one_hot},
      {"width_boundaries_1023_1025", widths},
      {"long_row_65537", long_rows},
      {"causal_8x12x71x71", causal}};
  Calls calls = cpu::written_cases(entry, dtype);
  if (!calls.empty()) return calls;
  const std::string& id = entry.find("id")->string();
  const auto found = described.find(id);
  if (found == described.end())
    throw Error(ErrorKind::internal, fmt::format("No calls are written for the shared case ({})", id));
  const json::Value& inner = *entry.find("is_inner_broadcast");
  calls =
      found->second({dtype, cpu::shape_of(*entry.find("shape_data")),
                     cpu::shape_of(*entry.find("shape_bias")), static_cast<int>(entry.find("axis")->number()),
                     inner.is_number() ? static_cast<int>(inner.number()) : 0});
  for (SharedCase& shared : calls) shared.label = id + shared.label;
  return calls;
}

}  // namespace kernelpack::conformance
