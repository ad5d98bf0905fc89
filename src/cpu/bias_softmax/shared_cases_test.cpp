#include "cpu/bias_softmax/shared_cases_test.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "base/file.hpp"

namespace kernelpack::cpu {
namespace {

constexpr double kLargestHalf = 65504.0;

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

Tensor tensor_from(DType dtype, const json::Value& values, const json::Value& shape) {
  std::vector<double> numbers;
  flatten(values, numbers);
  return tensor_of(dtype, shape_of(shape), [&](std::size_t i) {
    const double number = numbers.at(i);
    if (dtype != DType::float16 || !std::isfinite(number)) return number;
    return std::clamp(number, -kLargestHalf, kLargestHalf);
  });
}

OpCase written_call(const json::Value& entry, const json::Value& values, DType dtype) {
  return {tensor_from(dtype, *values.find("data"), *entry.find("shape_data")),
          tensor_from(dtype, *values.find("bias"), *entry.find("shape_bias")),
          static_cast<int>(entry.find("axis")->number()),
          static_cast<int>(entry.find("is_inner_broadcast")->number())};
}

}  // namespace

json::Document read_shared(const std::string& name) {
  const std::filesystem::path path = std::filesystem::path(KERNELPACK_SHARED_DIR) / "cases" / name;
  return json::parse(read_file(path, std::size_t{8} << 20), name);
}

Shape shape_of(const json::Value& value) {
  Shape shape;
  for (const json::Value& item : value.items()) shape.push_back(static_cast<std::int64_t>(item.number()));
  return shape;
}

std::vector<SharedCase> written_cases(const json::Value& entry, DType dtype) {
  const json::Value* values = entry.find("values");
  if (values == nullptr || !values->is_object() || values->find("data") == nullptr) return {};
  const std::string& id = entry.find("id")->string();
  std::vector<SharedCase> cases{{id, written_call(entry, *values, dtype)}};
  if (const json::Value* expected = entry.find("expected_rows")) {
    for (const json::Member& member : expected->members()) {
      std::vector<double> row;
      flatten(member.value, row);
      cases[0].rows.emplace_back(std::stoul(member.key), std::move(row));
    }
  }
  if (const json::Value* second = values->find("second_run"))
    cases.push_back({id + ", second run", written_call(entry, *second, dtype)});
  return cases;
}

std::vector<SharedCase> onnxruntime_cases(const json::Document& document) {
  std::vector<SharedCase> cases;
  for (const json::Value& test : document.root.find("tests")->items()) {
    for (const json::Value& dtype_name : test.find("dtypes")->items()) {
      const DType dtype = parse_dtype(dtype_name.string()).value();
      const auto columns = static_cast<std::size_t>(test.find("cols")->number());
      std::mt19937_64 random(test_seed());
      std::uniform_real_distribution<double> uniform(-5, 5);
      const auto fill = [&](double elsewhere) {
        return [&, elsewhere](std::size_t i) {
          const std::size_t column = i % columns;
          return column < 50 || column + 50 >= columns ? uniform(random) : elsewhere;
        };
      };
      SharedCase shared{test.find("name")->string() + " " + dtype_name.string(),
                        {tensor_of(dtype, shape_of(*test.find("shape_data")), fill(-10000)),
                         tensor_of(dtype, shape_of(*test.find("shape_bias")), fill(0)),
                         static_cast<int>(test.find("axis")->number()),
                         static_cast<int>(test.find("is_inner_broadcast")->number())}};
      const BiasSoftmaxShape shape = bias_softmax_shape(shared.op.call());
      EXPECT_EQ(shape.rows, static_cast<std::int64_t>(test.find("rows")->number())) << shared.label;
      EXPECT_EQ(shape.columns, static_cast<std::int64_t>(columns)) << shared.label;
      EXPECT_EQ(shape.bias_rows, static_cast<std::int64_t>(test.find("bias_rows")->number())) << shared.label;
      cases.push_back(std::move(shared));
    }
  }
  return cases;
}

void expect_as_written(const SharedCase& shared, const Tensor& output, double tolerance) {
  const std::vector<double> got = doubles_of(output);
  if (output.dtype() == DType::float16) tolerance = 5e-4;  // half a step below 1, and one step of the result
  for (const auto& [number, row] : shared.rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      EXPECT_NEAR(got.at(number * row.size() + i), row[i], tolerance) << "row " << number;
  if (shared.row_sums == 0.0) return;
  const auto columns = static_cast<std::ptrdiff_t>(bias_softmax_shape(shared.op.call()).columns);
  for (auto row = got.begin(); row != got.end(); row += columns)
    ASSERT_NEAR(std::accumulate(row, row + columns, 0.0), 1.0, shared.row_sums)
        << "row " << (row - got.begin()) / columns;
}

}  // namespace kernelpack::cpu
