#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/shape.hpp"
#include "cpu/bias_softmax/bias_softmax.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::cpu {
namespace {

/// `where` names the input or attribute at fault: "input bias".
template <class... Values>
[[noreturn]] void refuse(std::string where, fmt::format_string<Values...> text, Values&&... values) {
  throw Error(ErrorKind::contract, fmt::format(text, std::forward<Values>(values)...), std::move(where));
}

std::string spec_of(const BoundTensor& tensor) {
  return to_string(TensorSpec{tensor.dtype, tensor.shape});
}

const BoundTensor& input(const Call& call, std::string_view name) {
  for (const BoundTensor& tensor : call.inputs) {
    if (tensor.name == name) return tensor;
  }
  refuse(fmt::format("input {}", name), "The input {} is missing", name);
}

std::string_view kind_of(const AttributeValue& value) {
  if (value.is_null()) return "null";
  if (value.boolean() != nullptr) return "a bool";
  if (value.string() != nullptr) return "a string";
  return value.list() != nullptr ? "a list" : "a number";
}

/// The attribute as an integer; `missing` if it is absent and may be.
double integer_attribute(const Call& call, std::string_view name, std::optional<double> missing) {
  // Made only for a refusal: this runs with every call and must not allocate.
  const auto where = [&] { return fmt::format("attribute {}", name); };
  for (const NamedValue& attribute : call.attributes) {
    if (attribute.name != name) continue;
    const double* number = attribute.value.number();
    if (number == nullptr)
      refuse(where(), "The attribute {} ({}) is not a number", name, kind_of(attribute.value));
    if (*number != std::floor(*number) || std::isinf(*number)) {
      refuse(where(), "The attribute {} ({}) is not an integer", name, *number);
    }
    return *number;
  }
  if (!missing) refuse(where(), "The attribute {} is missing", name);
  return *missing;
}

std::size_t axis_of(const Call& call, const Shape& shape) {
  const auto rank = static_cast<double>(shape.size());
  const double axis = integer_attribute(call, "axis", 1.0);
  if (axis < -rank || axis >= rank) {
    refuse("attribute axis", "The attribute axis ({}) is outside [{}, {}], the axes of input data of rank {}",
           axis, -rank, rank - 1, rank);
  }
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

std::int64_t product(const BoundTensor& tensor, std::size_t first, std::size_t last) {
  const auto count = checked_product(tensor.shape, first, last);
  if (!count)
    refuse(fmt::format("input {}", tensor.name),
           "The number of elements of input {} ({}) is not between 0 and 2^53 - 1", tensor.name,
           spec_of(tensor));
  return *count;
}

/// "1, 2, 3, 6 or 12": the divisors of a number, abridged if there are many.
std::string divisors(std::int64_t number) {
  constexpr std::int64_t kMostTrials = 4096;
  constexpr std::size_t kMostShown = 12;
  std::vector<std::int64_t> low, high;
  for (std::int64_t i = 1; i <= kMostTrials && i <= number / i; ++i) {
    if (number % i != 0) continue;
    low.push_back(i);
    if (i != number / i) high.insert(high.begin(), number / i);
  }
  low.insert(low.end(), high.begin(), high.end());
  if (low.size() > kMostShown) {
    const auto middle = low.begin() + kMostShown / 2;
    return fmt::format("{}, ..., {} or {}", fmt::join(low.begin(), middle, ", "), low[low.size() - 2],
                       low.back());
  }
  if (low.size() == 1) return "1";
  return fmt::format("{} or {}", fmt::join(low.begin(), low.end() - 1, ", "), low.back());
}

}  // namespace

BiasSoftmaxShape bias_softmax_shape(const Call& call) {
  const BoundTensor& data = input(call, "data");
  const BoundTensor& bias = input(call, "bias");
  if (data.dtype != DType::float32 && data.dtype != DType::float16) {
    refuse("input data", "The dtype of input data ({}) is neither float32 nor float16",
           to_string(data.dtype));
  }
  if (bias.dtype != data.dtype) {
    refuse("input bias", "The dtype of input bias ({}) differs from that of input data ({})",
           to_string(bias.dtype), to_string(data.dtype));
  }
  if (data.shape.empty())
    refuse("input data", "The rank of input data (0) leaves no axis; at least 1 is needed");

  const std::size_t axis = axis_of(call, data.shape);
  const bool inner = integer_attribute(call, "is_inner_broadcast", std::nullopt) != 0;
  const std::int64_t elements = product(data, 0, data.shape.size());
  const std::int64_t bias_elements = product(bias, 0, bias.shape.size());

  if ((elements == 0) != (bias_elements == 0)) {
    refuse(elements == 0 ? "input data" : "input bias",
           "The input {} ({}) is empty, but the input {} ({}) is not", elements == 0 ? "data" : "bias",
           spec_of(elements == 0 ? data : bias), elements == 0 ? "bias" : "data",
           spec_of(elements == 0 ? bias : data));
  }
  BiasSoftmaxShape shape;
  shape.dtype = data.dtype;
  if (elements == 0) return shape;

  shape.columns = product(data, axis, data.shape.size());
  shape.rows = elements / shape.columns;
  if (bias_elements % shape.columns != 0) {
    refuse(
        "input bias",
        "The number of elements of input bias ({}, {} elements) is not a multiple of the row length of input "
        "data ({} elements from axis {} of {}); {} such rows would do",
        spec_of(bias), bias_elements, shape.columns, axis, spec_of(data), divisors(shape.rows));
  }
  shape.bias_rows = bias_elements / shape.columns;
  if (shape.rows % shape.bias_rows != 0) {
    refuse("input bias",
           "The number of rows of input bias ({} in {}, of {} elements) does not divide that of input data "
           "({} in {}); {} would do",
           shape.bias_rows, spec_of(bias), shape.columns, shape.rows, spec_of(data), divisors(shape.rows));
  }
  shape.repeat = inner ? shape.rows / shape.bias_rows : 1;
  return shape;
}

void check_bias_softmax(const Call& call) {
  bias_softmax_shape(call);
}

}  // namespace kernelpack::cpu
