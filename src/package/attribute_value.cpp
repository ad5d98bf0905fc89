#include "package/attribute_value.hpp"

#include <cmath>
#include <limits>

#include "base/number_text.hpp"
#include "expr/value.hpp"

namespace kernelpack {

std::string to_string(const AttributeValue& value) {
  if (const bool* boolean = value.boolean()) return *boolean ? "true" : "false";
  if (const double* number = value.number())
    return std::isfinite(*number) ? javascript_number_text(*number) : "null";
  if (const std::string* string = value.string()) return json::quote(*string);
  if (const AttributeValue::List* list = value.list()) {
    std::string text = "[";
    for (const AttributeValue& item : *list) {
      if (text.size() > 1) text += ", ";
      text += to_string(item);
    }
    return text + "]";
  }
  return "null";
}

namespace package {
namespace {

float rounded(double value) noexcept {
  // Halfway between the largest float and the next power of two; from here on rounding gives infinity.
  constexpr double kOverflow = 0x1.ffffffp127;
  if (std::fabs(value) >= kOverflow)
    return std::copysign(std::numeric_limits<float>::infinity(), value > 0 ? 1.0F : -1.0F);
  return static_cast<float>(value);
}

}  // namespace

std::optional<AttributeValue> read_attribute_value(const Node& node) {
  const json::Value& value = node.value();
  switch (value.kind()) {
    case json::Kind::null:
      return AttributeValue();
    case json::Kind::boolean:
      return AttributeValue(value.boolean());
    case json::Kind::number:
      return AttributeValue(value.number());
    case json::Kind::string:
      return AttributeValue(value.string());
    case json::Kind::object:
      node.fault("An attribute cannot hold an object");
      return std::nullopt;
    case json::Kind::array:
      break;
  }
  AttributeValue::List items;
  for (const Node& item : items_of(node)) {
    auto read = read_attribute_value(item);
    if (!read) return std::nullopt;
    items.push_back(std::move(*read));
  }
  return AttributeValue(std::move(items));
}

bool same_value(const AttributeValue& a, const AttributeValue& b) noexcept {
  if (a.number() != nullptr && b.number() != nullptr) return rounded(*a.number()) == rounded(*b.number());
  return a == b;
}

expr::Value to_value(const AttributeValue& value) {
  if (const bool* boolean = value.boolean()) return expr::Value::boolean(*boolean);
  if (const double* number = value.number()) return expr::Value::number(*number);
  if (const std::string* string = value.string()) return expr::Value::string(*string);
  if (const AttributeValue::List* list = value.list()) {
    std::vector<expr::Value> items;
    items.reserve(list->size());
    for (const AttributeValue& item : *list) items.push_back(to_value(item));
    return expr::Value::list(std::move(items));
  }
  return expr::Value::none();
}

}  // namespace package
}  // namespace kernelpack
