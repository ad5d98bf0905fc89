#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "kernelpack/call.hpp"

namespace kernelpack::cli {

using Json = nlohmann::ordered_json;

Json to_json(const AttributeValue& value);
Json to_json(const NamedValues& values);
/// {"name": ..., "dtype": "float32", "shape": [2, 3]}
Json to_json(const std::string& name, const TensorSpec& spec);
/// A number, or "NaN", "Infinity", "-Infinity", which JSON numbers cannot express.
Json finite_or_text(double value);
/// Indented by two, invalid UTF-8 replaced, a newline at the end.
std::string document(const Json& json);

}  // namespace kernelpack::cli
