// What the operator means, from every variant of both generations on both libraries.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "gpu_run.hpp"

namespace kernelpack::conformance {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// Row lengths of every sort: few values, odd and even, divisible by 4 and 8, beyond registers, long.
constexpr std::int64_t kColumns[] = {1,     2,     3,     4,     5,     6,     7,    8,    9,    12,   16,
                                     17,    24,    31,    32,    33,    40,    49,   64,   77,   100,  127,
                                     128,   197,   200,   256,   333,   384,   512,  600,  777,  1000, 1024,
                                     1025,  1536,  2048,  2049,  3000,  4096,  4097, 8192, 8200, 9001, 16400,
                                     16401, 20002, 33000, 65536, 65537, 66002, 70004};

enum class Meaning {
  zeros,    ///< every sum is minus infinity
  nans,     ///< a sum is NaN or plus infinity
  uniform,  ///< equal finite sums
  any       ///< held against the reference alone
};

/// A row by the values of its column `i` of `n`.
struct Row {
  const char* name;
  Meaning meaning;
  float (*data)(std::int64_t i, std::int64_t n, DType dtype);
  float (*bias)(std::int64_t i, std::int64_t n, DType dtype);
};

float largest(DType dtype) {
  return dtype == DType::float32 ? std::numeric_limits<float>::max() : 65504.0f;
}
float wave(std::int64_t i, std::int64_t, DType) {
  return static_cast<float>((7 * i + 3) % 19) * 0.37f - 3.0f;
}
float none(std::int64_t, std::int64_t, DType) {
  return 0.0f;
}
float minus_infinity(std::int64_t, std::int64_t, DType) {
  return -kInfinity;
}
float lowest(std::int64_t, std::int64_t, DType dtype) {
  return -largest(dtype);
}
float most(std::int64_t, std::int64_t, DType dtype) {
  return largest(dtype);
}
float nan_with_sign(bool negative) {
  return std::copysign(std::numeric_limits<float>::quiet_NaN(), negative ? -1.0f : 1.0f);
}

/// An odd number of rows, so that two at a time leave one.
const std::vector<Row>& rows_of(DType dtype) {
  // Two of the largest or lowest numbers add up to a finite float32 only if they are float16.
  const Meaning twice_lowest = dtype == DType::float32 ? Meaning::zeros : Meaning::uniform;
  const Meaning twice_most = dtype == DType::float32 ? Meaning::nans : Meaning::uniform;
  static std::map<DType, std::vector<Row>> all;
  const auto [found, first] = all.try_emplace(dtype);
  if (first)
    found->second = {
        {"ordinary", Meaning::any, wave, none},
        {"masked by the bias", Meaning::zeros, wave, minus_infinity},
        {"masked by the data", Meaning::zeros, minus_infinity, wave},
        {"NaN first", Meaning::nans,
         [](std::int64_t i, std::int64_t n, DType t) {
           return i == 0 ? nan_with_sign(false) : wave(i, n, t);
         },
         wave},
        {"negative NaN last", Meaning::nans,
         [](std::int64_t i, std::int64_t n, DType t) {
           return i == n - 1 ? nan_with_sign(true) : wave(i, n, t);
         },
         none},
        {"ordinary between bad rows", Meaning::any, wave, wave},
        {"plus infinity", Meaning::nans, wave,
         [](std::int64_t i, std::int64_t n, DType) { return i == n / 2 ? kInfinity : 0.0f; }},
        {"opposite infinities", Meaning::nans, minus_infinity,
         [](std::int64_t i, std::int64_t n, DType) { return i == n / 3 ? kInfinity : 0.0f; }},
        {"NaN in a masked row", Meaning::nans,
         [](std::int64_t i, std::int64_t n, DType) { return i == n / 2 ? nan_with_sign(true) : -kInfinity; },
         none},
        {"lowest", Meaning::uniform, lowest, none},
        {"lowest as a mask", Meaning::any, wave,
         [](std::int64_t i, std::int64_t n, DType t) { return i == n - 1 ? 0.0f : -largest(t); }},
        {"twice the lowest", twice_lowest, lowest, lowest},
        {"twice the largest", twice_most, most, most},
        {"the largest with small differences", Meaning::any, most, wave},
        {"the lowest with small differences", Meaning::any, lowest, wave},
        {"some minus infinity", Meaning::any,
         [](std::int64_t i, std::int64_t n, DType t) { return i % 3 == 1 ? -kInfinity : wave(i, n, t); },
         none},
        {"ordinary at the end", Meaning::any, none, wave}};
  return found->second;
}

void expect_meaning(Meaning meaning, std::span<const double> row, DType dtype) {
  const auto n = static_cast<double>(row.size());
  // Of float16 one step, which is larger below the normal numbers.
  const double tolerance = dtype == DType::float32 ? 2e-6 : 1e-3 + 6e-8 * n;
  for (std::size_t i = 0; i < row.size(); ++i) {
    switch (meaning) {
      case Meaning::zeros:
        ASSERT_EQ(row[i], 0.0) << "column " << i;
        break;
      case Meaning::nans:
        ASSERT_TRUE(std::isnan(row[i])) << "column " << i << ": " << row[i];
        break;
      case Meaning::uniform:
        ASSERT_NEAR(row[i] * n, 1.0, tolerance) << "column " << i;
        break;
      case Meaning::any:
        break;
    }
  }
}

/// Short rows come often enough for what is done to many rows at once.
std::int64_t repeats(std::int64_t columns) {
  return columns <= 16 ? 5 : 1;
}

/// The data again and again; the bias, of as many rows, goes along with each.
cpu::OpCase repeated(const Tensor& data, Tensor bias, std::int64_t times) {
  const Shape shape{data.shape()[0] * times, data.shape()[1]};
  Tensor all = Tensor::uninitialized({data.dtype(), shape});
  for (std::int64_t t = 0; t < times; ++t)
    std::memcpy(all.data() + static_cast<std::size_t>(t) * data.byte_size(), data.data(), data.byte_size());
  return {std::move(all), std::move(bias), 1, 0};
}

Tensor rows_tensor(DType dtype, std::int64_t columns,
                   float (*Row::*part)(std::int64_t, std::int64_t, DType)) {
  const std::vector<Row>& rows = rows_of(dtype);
  const auto n = static_cast<std::size_t>(columns);
  return cpu::tensor_of(dtype, {static_cast<std::int64_t>(rows.size()), columns}, [&](std::size_t i) {
    return (rows[i / n].*part)(static_cast<std::int64_t>(i % n), columns, dtype);
  });
}

class Semantics : public ConformanceTest {
 protected:
  /// The lengths up to `longest` of which the variant takes rows, so many of each length, there.
  std::vector<std::int64_t> accepted(const Place& place, const std::string& variant, DType dtype,
                                     std::int64_t longest,
                                     const std::function<std::int64_t(std::int64_t)>& rows) const {
    std::vector<std::int64_t> columns;
    for (const std::int64_t n : kColumns) {
      if (n > longest) continue;
      const std::vector<NamedSpec> specs{{"data", {dtype, {rows(n), n}}}, {"bias", {dtype, {rows(n), n}}}};
      const Call call =
          kernel().bind(specs, {.attributes = {{"axis", 1}, {"is_inner_broadcast", 0}}, .variant = variant});
      if (plan_if_any(kernel(), call, place.facts) != nullptr) columns.push_back(n);
    }
    return columns;
  }

  /// The hand-written rows, row by row and against the reference.
  void expect_meanings(const Place& place, const std::string& variant, DType dtype, std::int64_t columns) {
    const Problem problem(kernel(), repeated(rows_tensor(dtype, columns, &Row::data),
                                             rows_tensor(dtype, columns, &Row::bias), repeats(columns)));
    const Result result = expect_right(kernel(), place, problem, {.variant = variant}, columns == 1);
    const std::vector<double> got = cpu::doubles_of(result.output);
    const auto n = static_cast<std::size_t>(columns);
    for (std::size_t r = 0; r < got.size() / n; ++r) {
      const Row& row = rows_of(dtype)[r % rows_of(dtype).size()];
      SCOPED_TRACE(row.name);
      expect_meaning(row.meaning, std::span(got).subspan(r * n, n), dtype);
    }
    expect_independent_rows(place, problem, result);
    ++calls_;
  }

  /// Other rows of NaN in place of every second one leave the bits of the rest as they were.
  void expect_independent_rows(const Place& place, const Problem& problem, const Result& before) {
    cpu::OpCase changed = problem.op();
    const auto rows = static_cast<std::size_t>(changed.data.shape()[0]);
    const std::size_t row_bytes = changed.data.byte_size() / rows;
    for (std::size_t r = 1; r < rows; r += 2)
      std::memset(changed.data.data() + r * row_bytes, 0xFF, row_bytes);
    const Call call = bind(kernel(), changed, {.variant = before.variant});
    const Tensor after = run_guarded(place, kernel().plan(call, place.facts), changed);
    for (std::size_t r = 0; r < rows; r += 2)
      ASSERT_EQ(std::memcmp(before.output.data() + r * row_bytes, after.data() + r * row_bytes, row_bytes), 0)
          << "row " << r << " depends on its neighbours";
    for (const double value : cpu::doubles_of(Tensor(
             TensorView(after.dtype(), {problem.columns()}, std::span(after.data() + row_bytes, row_bytes)))))
      ASSERT_TRUE(std::isnan(value));
  }

  /// Rows that are hard in one way or another, each with its own bias.
  void expect_kinds(const Place& place, const std::string& variant, DType dtype, std::int64_t columns) {
    cpu::Problem kinds = cpu::problem_of_kinds(dtype, columns, cpu::test_seed());
    const Problem problem(kernel(), repeated(kinds.data, std::move(kinds.bias), repeats(columns)));
    expect_right(kernel(), place, problem, {.variant = variant}, columns == 1);
    ++calls_;
    odd_halves_ += dtype == DType::float16 && problem.op().data.element_count() % 2 == 1;
  }

  std::size_t calls_ = 0;
  std::size_t odd_halves_ = 0;
};

TEST_P(Semantics, HoldForEveryVariant) {
  std::map<std::string, std::set<std::string>> reached;
  for (const Place& place : places()) {
    for (const std::string& variant : variants()) {
      for (const DType dtype : {DType::float32, DType::float16}) {
        std::vector<std::int64_t> columns =
            accepted(place, variant, dtype, kColumns[std::size(kColumns) - 1], [](std::int64_t n) {
              return repeats(n) * static_cast<std::int64_t>(rows_of(DType::float32).size());
            });
        if (columns.empty()) continue;
        // Shaders take long to compile, so one dtype and length do for devices that are told less.
        const bool again = !reached[variant].insert(place.name).second;
        if (!long_form()) {
          if (again && &place != &all_features()) continue;
          const std::int64_t middle = columns[columns.size() / 2];
          columns = &place == &all_features() ? std::vector{columns.front(), middle, columns.back()}
                                              : std::vector{middle};
        }
        for (const std::int64_t n : columns) {
          SCOPED_TRACE(fmt::format("{} with {}: {} rows of {}", variant, place.name, to_string(dtype), n));
          expect_meanings(place, variant, dtype, n);
          expect_kinds(place, variant, dtype, n);
        }
      }
    }
  }
  std::printf("%zu calls, %zu of them with an odd number of halves\n", calls_, odd_halves_);
  for (const std::string& variant : variants()) {
    EXPECT_TRUE(reached[variant].contains(all_features().name)) << variant << " was never reached";
  }
  EXPECT_GE(calls_, first_generation() ? 40u : 90u);
  EXPECT_GE(odd_halves_, 3u);
}

TEST_P(Semantics, MoreRowsThanADispatchDimension) {
  constexpr std::int64_t kRows = 65542;
  constexpr std::int64_t kBiasRows = 2;
  std::set<std::string> reached;
  std::size_t turn = 0;
  for (const std::string& variant : variants()) {
    for (const DType dtype : {DType::float16, DType::float32}) {
      // So many workgroups take long on a processor.
      if (reached.contains(variant) && !long_form()) continue;
      // Variants for long rows alone would need tensors that are too large for a test.
      const std::vector<std::int64_t> columns =
          accepted(all_features(), variant, dtype, 16, [](std::int64_t) { return kRows; });
      const auto n = std::find_if(columns.begin(), columns.end(), [](std::int64_t each) { return each > 2; });
      if (n == columns.end()) continue;
      const int inner = static_cast<int>(turn++ % 2);
      SCOPED_TRACE(fmt::format("{}: {} rows of {}, inner {}", variant, to_string(dtype), *n, inner));
      const auto value = [](std::uint64_t step) {
        return [step](std::size_t i) { return static_cast<double>((i * step + i / 97) % 1009) * 0.01; };
      };
      expect_right(kernel(), all_features(),
                   Problem(kernel(), {cpu::tensor_of(dtype, {kRows, *n}, value(7)),
                                      cpu::tensor_of(dtype, {kBiasRows, *n}, value(31)), 1, inner}),
                   {.variant = variant});
      reached.insert(variant);
    }
  }
  std::printf("%zu of %zu variants\n", reached.size(), variants().size());
  EXPECT_GE(reached.size(), first_generation() ? 2u : 4u);
}

TEST_P(Semantics, EmptyTensorsGiveEmptyResults) {
  for (const Place& place : places()) {
    for (const DType dtype : {DType::float32, DType::float16}) {
      if (!has_halves(place)) continue;
      for (const auto& [data, bias, axis] : {std::tuple<Shape, Shape, int>{{0, 5}, {0, 5}, 1},
                                             {{3, 0}, {1, 0}, 1},
                                             {{2, 0, 4}, {0}, 2},
                                             {{0}, {0}, 0}}) {
        const cpu::OpCase op{Tensor(dtype, data), Tensor(dtype, bias), axis, 1};
        const Outputs out =
            kernel().run({{"data", op.data}, {"bias", op.bias}},
                         {.attributes = {{"axis", axis}, {"is_inner_broadcast", 1}}, .device = place.device});
        EXPECT_EQ(out["output"].spec(), op.data.spec());
        run_guarded(place, kernel().plan(bind(kernel(), op), place.facts), op);
      }
      // Rows for which there is no bias, and a bias for which there are no rows.
      for (const auto& [data, bias] :
           {std::pair<Shape, Shape>{{2, 5}, {0, 5}}, {{0, 5}, {1, 5}}, {{3, 0}, {1, 2}}}) {
        const cpu::OpCase op{Tensor(dtype, data), Tensor(dtype, bias), 1, 1};
        EXPECT_THROW(kernel().plan(bind(kernel(), op), place.facts), NoVariantError);
      }
    }
  }
}

TEST_P(Semantics, RequestsThatFitNoVariantSayWhy) {
  const auto kind_of = [&](Shape data, Shape bias, int axis) {
    try {
      const cpu::OpCase op{Tensor(DType::float32, std::move(data)), Tensor(DType::float32, std::move(bias)),
                           axis, 1};
      kernel().plan(bind(kernel(), op), all_features().facts);
    } catch (const NoVariantError& error) {
      EXPECT_EQ(error.reasons().size(), variants().size());
      return to_string(error.kind());
    } catch (const Error& error) {
      return to_string(error.kind());
    }
    return std::string_view("no error");
  };
  EXPECT_EQ(kind_of({4, 8}, {3, 8}, 1), "no_variant") << "bias rows that do not divide those of data";
  EXPECT_EQ(kind_of({4, 8}, {1, 7}, 1), "no_variant") << "no whole rows";
  EXPECT_EQ(kind_of({4, 8}, {8, 8}, 1), "no_variant") << "more bias rows than rows";
  EXPECT_EQ(kind_of({4, 8}, {1, 8}, 2), "no_variant") << "an axis beyond the rank";
  EXPECT_EQ(kind_of({4, 8}, {1, 8}, -3), "no_variant");
  EXPECT_THROW(kernel().bind(std::vector<NamedSpec>{{"data", {DType::float32, {4, 8}}},
                                                    {"bias", {DType::float16, {1, 8}}}},
                             {.attributes = {{"is_inner_broadcast", 1}}}),
               Error);
}

KERNELPACK_FOR_EACH_SETTING(Semantics);

}  // namespace
}  // namespace kernelpack::conformance
