#include <fmt/format.h>

#include <cmath>

#include "base/json.hpp"
#include "base/number_text.hpp"

namespace kernelpack::json {
namespace {

void append(std::string& text, const Value& value) {
  switch (value.kind()) {
    case Kind::null:
      text += "null";
      return;
    case Kind::boolean:
      text += value.boolean() ? "true" : "false";
      return;
    case Kind::number:
      text += std::isfinite(value.number()) ? javascript_number_text(value.number()) : "null";
      return;
    case Kind::string:
      text += quote(value.string());
      return;
    case Kind::array: {
      text += '[';
      const char* separator = "";
      for (const Value& item : value.items()) {
        text += separator;
        append(text, item);
        separator = ",";
      }
      text += ']';
      return;
    }
    case Kind::object: {
      text += '{';
      const char* separator = "";
      for (const Member& member : value.members()) {
        text.append(separator).append(quote(member.key)).append(":");
        append(text, member.value);
        separator = ",";
      }
      text += '}';
      return;
    }
  }
}

}  // namespace

std::string write(const Value& value) {
  std::string text;
  append(text, value);
  return text;
}

std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        quoted += "\\\"";
        break;
      case '\\':
        quoted += "\\\\";
        break;
      case '\b':
        quoted += "\\b";
        break;
      case '\f':
        quoted += "\\f";
        break;
      case '\n':
        quoted += "\\n";
        break;
      case '\r':
        quoted += "\\r";
        break;
      case '\t':
        quoted += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20)
          quoted += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
        else
          quoted += c;
    }
  }
  return quoted + '"';
}

}  // namespace kernelpack::json
