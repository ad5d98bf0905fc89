#include "plan/request_values.hpp"

#include <fmt/format.h>

namespace kernelpack::plan {

void throw_wrong_kind(const json::Document& document, const json::Value& value, const std::string& at,
                      std::string_view expected) {
  throw error_at(ErrorKind::contract,
                 fmt::format("The kind of a value of the request (expected: {}, given: {}) is wrong",
                             expected, json::to_string(value.kind())),
                 Origin{document.name, at}, document.text, value.span);
}

AttributeValue read_request_value(const json::Document& document, const json::Value& value,
                                  const std::string& at) {
  switch (value.kind()) {
    case json::Kind::null:
      return {};
    case json::Kind::boolean:
      return value.boolean();
    case json::Kind::number:
      return value.number();
    case json::Kind::string:
      return value.string();
    case json::Kind::array: {
      AttributeValue::List items;
      for (const json::Value& item : value.items())
        items.push_back(read_request_value(document, item, json::join_pointer(at, items.size())));
      return items;
    }
    case json::Kind::object:
      break;
  }
  throw_wrong_kind(document, value, at, "null, boolean, number, string or array");
}

NamedValues read_request_values(const json::Document& document, const json::Value& value,
                                const std::string& at) {
  if (!value.is_object()) throw_wrong_kind(document, value, at, "object");
  NamedValues result;
  for (const json::Member& member : value.members())
    result.push_back(
        {member.key, read_request_value(document, member.value, json::join_pointer(at, member.key))});
  return result;
}

}  // namespace kernelpack::plan
