#include "json_object.hpp"

#include <cmath>

#include "base/utf8.hpp"

namespace kernelpack {

json::Value json_of(std::string_view text) {
  if (!find_invalid_utf8(text)) return json::Value::make(std::string(text));
  std::string mended;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    append_utf8(mended, point.value);
    at += point.length;
  }
  return json::Value::make(std::move(mended));
}

json::Value json_of(double number) {
  if (std::isnan(number)) return json_of("NaN");
  if (std::isinf(number)) return json_of(number > 0 ? "Infinity" : "-Infinity");
  return json::Value::make(number);
}

json::Value json_of(const AttributeValue& value) {
  if (const bool* boolean = value.boolean()) return json_of(*boolean);
  if (const double* number = value.number()) return json_of(*number);
  if (const std::string* string = value.string()) return json_of(*string);
  if (const AttributeValue::List* list = value.list()) return json_array(*list);
  return json::Value::make_null();
}

json::Value json_of(const NamedValues& values) {
  JsonObject object;
  for (const NamedValue& each : values) object.add(each.name, each.value);
  return object;
}

}  // namespace kernelpack
