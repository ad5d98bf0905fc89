#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "kernelpack/call.hpp"

namespace kernelpack {

/// The text as a JSON string; bytes that are no UTF-8 become U+FFFD.
json::Value json_of(std::string_view text);
inline json::Value json_of(const std::string& text) {
  return json_of(std::string_view(text));
}
inline json::Value json_of(const char* text) {
  return json_of(std::string_view(text));
}
/// A number, or the text "NaN", "Infinity" or "-Infinity".
json::Value json_of(double number);
template <std::same_as<bool> Bool>
json::Value json_of(Bool boolean) {
  return json::Value::make(boolean);
}
template <std::integral Integer>
requires(!std::same_as<Integer, bool>) json::Value json_of(Integer number) {
  return json_of(static_cast<double>(number));
}
json::Value json_of(const AttributeValue& value);
json::Value json_of(const NamedValues& values);
inline json::Value json_of(DType dtype) {
  return json_of(to_string(dtype));
}
inline json::Value json_of(json::Value value) {
  return value;
}
/// Null for nothing.
template <class T>
json::Value json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : json::Value::make_null();
}

/// An array of what `element` makes of each item, by default of the items themselves.
template <class Range, class Element>
json::Value json_array(const Range& items, Element&& element) {
  std::vector<json::Value> values;
  for (const auto& item : items) values.push_back(element(item));
  return json::Value::make(std::move(values));
}
template <class Range>
json::Value json_array(const Range& items) {
  return json_array(items, [](const auto& item) { return json_of(item); });
}

/// An object that is built member by member; taking the value leaves it empty.
class JsonObject {
 public:
  template <class T>
  JsonObject& add(std::string_view key, T&& value) {
    json::Member& member = members_.emplace_back();
    member.key = key;
    member.value = json_of(std::forward<T>(value));
    return *this;
  }
  json::Value value() { return json::Value::make(std::exchange(members_, {})); }
  operator json::Value() { return value(); }

 private:
  std::vector<json::Member> members_;
};

}  // namespace kernelpack
