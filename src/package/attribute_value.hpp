#pragma once

#include <optional>

#include "kernelpack/call.hpp"
#include "package/reader.hpp"

namespace kernelpack::package {

/// The JSON value as an attribute value; reports a fault for an object, which no attribute can hold.
std::optional<AttributeValue> read_attribute_value(const Node& node);

/// The equality of `attributeConstraints`: two numbers are equal if they are so after rounding to float,
/// anything else by strict equality.
bool same_value(const AttributeValue& a, const AttributeValue& b) noexcept;

/// The value in the expression language: null is none.
expr::Value to_value(const AttributeValue& value);

}  // namespace kernelpack::package
