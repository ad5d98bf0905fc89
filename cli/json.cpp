#include "json.hpp"

#include <cmath>

namespace kernelpack::cli {

Json finite_or_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

Json to_json(const AttributeValue& value) {
  if (const bool* boolean = value.boolean()) return *boolean;
  if (const double* number = value.number()) {
    // Integers print without ".0", as in the manifest.
    if (std::abs(*number) < 9007199254740992.0 && *number == std::trunc(*number)) {
      return static_cast<std::int64_t>(*number);
    }
    return finite_or_text(*number);
  }
  if (const std::string* string = value.string()) return *string;
  if (const AttributeValue::List* list = value.list()) {
    Json items = Json::array();
    for (const AttributeValue& item : *list) items.push_back(to_json(item));
    return items;
  }
  return nullptr;
}

Json to_json(const NamedValues& values) {
  Json object = Json::object();
  for (const NamedValue& value : values) object[value.name] = to_json(value.value);
  return object;
}

Json to_json(const std::string& name, const TensorSpec& spec) {
  return {{"name", name}, {"dtype", std::string(to_string(spec.dtype))}, {"shape", spec.shape}};
}

std::string document(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace kernelpack::cli
