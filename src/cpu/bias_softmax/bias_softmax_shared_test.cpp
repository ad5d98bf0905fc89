// The shared cases of other implementations, where they are present.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>

#include "base/file.hpp"
#include "base/json.hpp"
#include "cpu/bias_softmax/bias_softmax_call_test.hpp"

namespace kernelpack::cpu {
namespace {

json::Document read_shared(const std::string& name) {
  const std::filesystem::path path = std::filesystem::path(KERNELPACK_SHARED_DIR) / "cases" / name;
  return json::parse(read_file(path, std::size_t{8} << 20), name);
}

/// Skips, or fails where CI says that nothing may be absent.
#define KERNELPACK_REQUIRE_SHARED(name)                                                            \
  if (!std::filesystem::exists(std::filesystem::path(KERNELPACK_SHARED_DIR) / "cases" / (name))) { \
    const char* ci = std::getenv("CI");                                                            \
    ASSERT_FALSE(ci != nullptr && std::string(ci) == "true") << (name) << " is absent";            \
    GTEST_SKIP() << "cases/" << (name) << " is absent from " << KERNELPACK_SHARED_DIR;             \
  }

Shape shape_of(const json::Value& value) {
  Shape shape;
  for (const json::Value& item : value.items()) shape.push_back(static_cast<std::int64_t>(item.number()));
  return shape;
}

double number_of(const json::Value& value) {
  if (value.is_number()) return value.number();
  const std::string& text = value.string();
  return text == "nan" ? std::nan("") : text == "inf" ? HUGE_VAL : -HUGE_VAL;
}

/// The numbers of nested lists in order.
void flatten(const json::Value& value, std::vector<double>& numbers) {
  if (!value.is_array()) return numbers.push_back(number_of(value));
  for (const json::Value& item : value.items()) flatten(item, numbers);
}

Tensor tensor_from(const json::Value& values, const json::Value& shape) {
  std::vector<double> numbers;
  flatten(values, numbers);
  return tensor_of(DType::float32, shape_of(shape), [&](std::size_t i) { return numbers.at(i); });
}

/// Runs a case whose values stand in the file and compares the rows that the file expects.
int check_written_values(const json::Value& entry, const json::Value& values) {
  const OpCase op{tensor_from(*values.find("data"), *entry.find("shape_data")),
                  tensor_from(*values.find("bias"), *entry.find("shape_bias")),
                  static_cast<int>(entry.find("axis")->number()),
                  static_cast<int>(entry.find("is_inner_broadcast")->number())};
  const auto got = doubles_of(op.expect_right());
  int rows = 0;
  if (const json::Value* expected = entry.find("expected_rows")) {
    for (const json::Member& member : expected->members()) {
      std::vector<double> row;
      flatten(member.value, row);
      const std::size_t first = std::stoul(member.key) * row.size();
      for (std::size_t i = 0; i < row.size(); ++i) EXPECT_NEAR(got.at(first + i), row[i], 2e-7) << member.key;
      ++rows;
    }
  }
  return rows;
}

TEST(BiasSoftmaxSharedCases, WrittenValues) {
  KERNELPACK_REQUIRE_SHARED("cases.json");
  const json::Document document = read_shared("cases.json");
  int cases = 0, rows = 0;
  for (const json::Value& entry : document.root.items()) {
    const json::Value* values = entry.find("values");
    if (values == nullptr || !values->is_object() || values->find("data") == nullptr) continue;
    SCOPED_TRACE(entry.find("id")->string());
    rows += check_written_values(entry, *values);
    if (const json::Value* second = values->find("second_run")) check_written_values(entry, *second);
    ++cases;
  }
  std::printf("%d cases with written values, %d expected rows\n", cases, rows);
  EXPECT_GE(cases, 3);
  EXPECT_GE(rows, 4);
}

TEST(BiasSoftmaxSharedCases, EveryCaseHasItsTest) {
  KERNELPACK_REQUIRE_SHARED("cases.json");
  // Cases that describe their values in words are written out in bias_softmax_test.cpp.
  const std::map<std::string, std::string> tests = {
      {"fully_masked_bias_row", "MaskedRowsAreZeroAndOthersUnharmed"},
      {"f32_lowest_mask", "LowestIsAnOrdinaryNumber"},
      {"f16_uniform_4096", "UniformHalvesAreExact"},
      {"flatten_suffix_axis1", "ReducesOverAllAxesFromAxisOn"},
      {"outer_broadcast_moe", "InnerAndOuterTakeOtherBiasRows"},
      {"single_column_is_exact_one", "OneColumnIsExactlyOne"},
      {"max_position_sweep_63", "OneHotRowsAreExact"},
      {"width_boundaries_1023_1025", "WidthsAroundPowersOfTwo"},
      {"long_row_65537", "LongRowsSumToOne"},
      {"nonfinite_row_isolation", "NonFiniteRowsStayAlone"},
      {"causal_8x12x71x71", "CausalMaskLeavesExactZeros"},
  };
  const testing::TestSuite* suite = nullptr;
  for (int i = 0; i < testing::UnitTest::GetInstance()->total_test_suite_count(); ++i) {
    const testing::TestSuite* candidate = testing::UnitTest::GetInstance()->GetTestSuite(i);
    if (std::string(candidate->name()) == "BiasSoftmax") suite = candidate;
  }
  ASSERT_NE(suite, nullptr);
  const json::Document document = read_shared("cases.json");
  int cases = 0;
  for (const json::Value& entry : document.root.items()) {
    const std::string& id = entry.find("id")->string();
    // Deriving is_inner_broadcast from shapes is no part of the kernel.
    if (id == "middle_broadcast_rejected") continue;
    ++cases;
    ASSERT_TRUE(tests.contains(id)) << id;
    bool found = false;
    for (int i = 0; i < suite->total_test_count(); ++i)
      found |= tests.at(id) == suite->GetTestInfo(i)->name();
    EXPECT_TRUE(found) << id;
  }
  std::printf("%d cases\n", cases);
  EXPECT_GE(cases, 11);
}

TEST(BiasSoftmaxSharedCases, OnnxRuntimeShapes) {
  KERNELPACK_REQUIRE_SHARED("onnxruntime_shapes.json");
  const json::Document document = read_shared("onnxruntime_shapes.json");
  int cases = 0;
  for (const json::Value& test : document.root.find("tests")->items()) {
    for (const json::Value& dtype_name : test.find("dtypes")->items()) {
      const DType dtype = parse_dtype(dtype_name.string()).value();
      SCOPED_TRACE(test.find("name")->string() + " " + dtype_name.string());
      const auto columns = static_cast<std::size_t>(test.find("cols")->number());
      std::mt19937_64 random(test_seed());
      std::uniform_real_distribution<double> uniform(-5, 5);
      const auto fill = [&](double elsewhere) {
        return [&, elsewhere](std::size_t i) {
          const std::size_t column = i % columns;
          return column < 50 || column + 50 >= columns ? uniform(random) : elsewhere;
        };
      };
      const OpCase op{tensor_of(dtype, shape_of(*test.find("shape_data")), fill(-10000)),
                      tensor_of(dtype, shape_of(*test.find("shape_bias")), fill(0)),
                      static_cast<int>(test.find("axis")->number()),
                      static_cast<int>(test.find("is_inner_broadcast")->number())};
      const BiasSoftmaxShape shape = bias_softmax_shape(op.call());
      EXPECT_EQ(shape.rows, static_cast<std::int64_t>(test.find("rows")->number()));
      EXPECT_EQ(shape.columns, static_cast<std::int64_t>(columns));
      EXPECT_EQ(shape.bias_rows, static_cast<std::int64_t>(test.find("bias_rows")->number()));
      op.expect_right();
      ++cases;
    }
  }
  std::printf("%d cases\n", cases);
  EXPECT_GE(cases, 16);
}

}  // namespace
}  // namespace kernelpack::cpu
