#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "kernelpack/tensor.hpp"

namespace kernelpack {

/// The value of an attribute, a scalar argument or a tunable: nothing (JSON null), a bool, a number (always
/// an IEEE double, as in the package format), a string, or a list of such values.
class AttributeValue {
 public:
  using List = std::vector<AttributeValue>;

  AttributeValue() = default;
  AttributeValue(bool value) : value_(value) {}
  AttributeValue(double value) : value_(value) {}
  template <class Integer>
  requires(std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>) AttributeValue(Integer value)
      : value_(static_cast<double>(value)) {}
  AttributeValue(std::string value) : value_(std::move(value)) {}
  AttributeValue(std::string_view value) : value_(std::string(value)) {}
  AttributeValue(const char* value) : value_(std::string(value)) {}
  AttributeValue(List items) : value_(std::move(items)) {}
  template <class Integer>
  requires(std::is_integral_v<Integer> && !std::is_same_v<Integer, bool>)
      AttributeValue(const std::vector<Integer>& items)
      : value_(List(items.begin(), items.end())) {}

  bool is_null() const noexcept { return value_.index() == 0; }
  const bool* boolean() const noexcept { return std::get_if<bool>(&value_); }
  const double* number() const noexcept { return std::get_if<double>(&value_); }
  const std::string* string() const noexcept { return std::get_if<std::string>(&value_); }
  const List* list() const noexcept { return std::get_if<List>(&value_); }

  bool operator==(const AttributeValue&) const = default;

 private:
  std::variant<std::monostate, bool, double, std::string, List> value_;
};

/// JSON text of the value.
std::string to_string(const AttributeValue& value);

struct NamedValue {
  std::string name;
  AttributeValue value;
  bool operator==(const NamedValue&) const = default;
};
using NamedValues = std::vector<NamedValue>;

struct NamedSpec {
  std::string name;
  TensorSpec spec;
  bool operator==(const NamedSpec&) const = default;
};

/// A tensor of a Call. Names are the public names of the package's contract.
struct BoundTensor {
  std::string name;
  DType dtype = DType::float32;    ///< logical dtype, that of the host tensor
  DType storage = DType::float32;  ///< dtype of the GPU buffer's elements; differs for projected int64 only
  Shape shape;
  bool packed = false;      ///< uint8 packed four to a word on the GPU
  bool inout = false;       ///< the same tensor is read and written; listed in both `inputs` and `outputs`
  bool saturating = false;  ///< projected int64 values outside the storage's range are clamped, not an error
  bool operator==(const BoundTensor&) const = default;
};

/// A type variable (or concrete dtype string) of the contract and what it is bound to.
struct BoundType {
  std::string name;  ///< "T"
  DType dtype = DType::float32;
  DType storage = DType::float32;
  bool operator==(const BoundType&) const = default;
};

/// One request bound to the contract of a package: presence, dtypes, shapes, attributes with defaults,
/// outputs. Plain data that holds no tensors; made by Kernel::bind, can be kept, printed, compared and used
/// any number of times, from several threads.
struct Call {
  std::string op;                    ///< "com.microsoft.BiasSoftmax"
  std::vector<BoundTensor> inputs;   ///< present ones, in the order of the contract
  std::vector<BoundTensor> outputs;  ///< produced ones, in the order of the contract
  std::vector<BoundType> types;
  NamedValues
      attributes;  ///< declared order; declared attributes without default that were not given are absent
  NamedValues arguments;  ///< scalars, declared order
  NamedValues tunables;   ///< overrides given with the request only
  std::string variant;    ///< pinned variant id, or empty

  /// The attribute's value, or null if it is absent.
  const AttributeValue* attribute(std::string_view name) const noexcept;
  bool operator==(const Call&) const = default;
};

/// Several lines of text: op, inputs, attributes, outputs.
std::string to_string(const Call& call);

}  // namespace kernelpack
