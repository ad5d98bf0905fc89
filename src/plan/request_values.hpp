#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"
#include "kernelpack/call.hpp"

namespace kernelpack::plan {

/// Throws contract: a value of a request, at the JSON pointer `at`, is of another kind than `expected`.
[[noreturn]] void throw_wrong_kind(const json::Document& document, const json::Value& value,
                                   const std::string& at, std::string_view expected);

/// The value of an attribute, a scalar argument or a tunable. Throws contract for an object.
AttributeValue read_request_value(const json::Document& document, const json::Value& value,
                                  const std::string& at);
/// The members of an object as such values. Throws contract for anything else.
NamedValues read_request_values(const json::Document& document, const json::Value& value,
                                const std::string& at);

}  // namespace kernelpack::plan
