#include "expr/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/number_text.hpp"
#include "expr/text.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::expr {
namespace {

constexpr double kExact = 9007199254740992.0;  // 2^53
/// Deeper than values nest: only a namespace that holds itself gets here.
constexpr std::size_t kPrintDepth = 2 * kValueDepth;

void append_number(std::string& out, double value) {
  if (std::nearbyint(value) == value && std::abs(value) < kExact) {
    std::array<char, 24> buffer;
    const auto end =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), static_cast<long long>(value)).ptr;
    out.append(buffer.data(), end);
    return;
  }
  out += javascript_number_text(value);
}

void append_float(std::string& out, double value) {
  if (value == 0 && std::signbit(value)) {
    out += "-0.0";
  } else if (std::nearbyint(value) == value && std::abs(value) < 1e21) {
    // Every digit, as toFixed gives them, also above 2^53.
    if (std::abs(value) < kExact)
      append_number(out, value);
    else
      out += fmt::format("{:.0f}", value);
    out += ".0";
  } else {
    append_number(out, value);
  }
}

class JsonWriter {
 public:
  JsonWriter(std::string& out, const JsonStyle& style, Meter& meter)
      : out_(out), style_(style), meter_(meter) {
    if (style.indent && *style.indent != 0 && !std::isnan(*style.indent)) indent_ = *style.indent;
    item_separator_ = style.item_separator.value_or(indent_ != 0 ? "," : ", ");
  }

  void write(const Value& value, std::size_t depth) {
    meter_.step();
    if (depth > kPrintDepth) fail("The value holds itself and has no text");
    switch (value.kind()) {
      case Kind::undefined:
        out_ += style_.undefined_as_null ? "null" : "undefined";
        return;
      case Kind::none:
        out_ += "null";
        return;
      case Kind::boolean:
        out_ += value.boolean() ? "true" : "false";
        return;
      case Kind::number:
        if (std::isfinite(value.number()))
          append_number(out_, value.number());
        else
          out_ += "null";
        return;
      case Kind::string:
        meter_.text(value.string().size());
        append_json_string(out_, value.string(), style_.ensure_ascii);
        break;
      case Kind::list:
        write_list(value, depth);
        break;
      case Kind::dict:
        write_dict(value.dict(), depth);
        break;
      case Kind::namespace_:
        write_dict(value.name_space().entries, depth);
        break;
      case Kind::tuple:
      case Kind::function:
      case Kind::object:
        fail(fmt::format("There is no text for {}", name_value(value)));
    }
    meter_.reach(out_.size());
  }

 private:
  void write_list(const Value& value, std::size_t depth) {
    check_indent();
    out_ += '[';
    bool first = true;
    for (const Value& item : value.items()) {
      if (!first) out_ += item_separator_;
      first = false;
      break_line(depth + 1);
      write(item, depth + 1);
    }
    if (!first) break_line(depth);
    out_ += ']';
  }

  void write_dict(const Dict& dict, std::size_t depth) {
    check_indent();
    std::vector<const Dict::Entry*> entries;
    entries.reserve(dict.size());
    for (const Dict::Entry& entry : dict.entries()) entries.push_back(&entry);
    if (style_.sort_keys) {
      meter_.step(entries.size() * 8);
      std::stable_sort(entries.begin(), entries.end(), [](const Dict::Entry* a, const Dict::Entry* b) {
        return compare_locale(a->key.string(), b->key.string()) < 0;
      });
    }
    out_ += '{';
    bool first = true;
    for (const Dict::Entry* entry : entries) {
      if (!first) out_ += item_separator_;
      first = false;
      break_line(depth + 1);
      meter_.text(entry->key.string().size());
      append_json_string(out_, entry->key.string(), style_.ensure_ascii);
      out_ += style_.key_separator;
      write(entry->value, depth + 1);
    }
    if (!first) break_line(depth);
    out_ += '}';
  }

  void check_indent() const {
    if (indent_ < 0 || std::isinf(indent_))
      fail(fmt::format("The indent of tojson ({}) is not a width", indent_));
  }

  void break_line(std::size_t depth) {
    if (indent_ == 0) return;
    const double width = indent_ * static_cast<double>(depth);
    const double most = static_cast<double>(meter_.budgets().rendered_bytes);
    meter_.text(width > most ? meter_.budgets().rendered_bytes + 1 : static_cast<std::size_t>(width));
    out_ += '\n';
    out_.append(static_cast<std::size_t>(width), ' ');
  }

  std::string& out_;
  const JsonStyle& style_;
  Meter& meter_;
  double indent_ = 0;
  std::string item_separator_;
};

JsonStyle printed_style() {
  JsonStyle style;
  style.undefined_as_null = false;
  return style;
}

/// The text that an item of a list has inside the list's joined text.
void append_item(std::string& out, const Value& value, Meter& meter) {
  switch (value.kind()) {
    case Kind::undefined:
    case Kind::none:
      out += "undefined";
      return;
    case Kind::number:
      if (value.is_integer())
        append_number(out, value.number());
      else
        append_float(out, value.number());
      return;
    default:
      append_printed(out, value, meter);
  }
}

}  // namespace

std::string float_text(double value) {
  std::string out;
  append_float(out, value);
  return out;
}

void append_json_string(std::string& out, std::string_view text, bool ensure_ascii) {
  const auto escape = [&out](char32_t unit) {
    out += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(unit));
  };
  out += '"';
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) >= 0x7F) {
      const Symbol symbol = symbol_at(text, i);
      const bool lone = symbol.value >= 0xD800 && symbol.value <= 0xDFFF;
      if (!lone && !ensure_ascii) {
        out += text.substr(i, symbol.length);
      } else if (symbol.units() == 2) {
        escape(0xD800 + ((symbol.value - 0x10000) >> 10));
        escape(0xDC00 + ((symbol.value - 0x10000) & 0x3FF));
      } else {
        escape(symbol.value);
      }
      i += symbol.length;
      continue;
    }
    ++i;
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\b':
        out += "\\b";
        break;
      case '\f':
        out += "\\f";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (c < 0x20)
          escape(static_cast<unsigned char>(c));
        else
          out += c;
    }
  }
  out += '"';
}

void append_json(std::string& out, const Value& value, const JsonStyle& style, Meter& meter) {
  JsonWriter(out, style, meter).write(value, 0);
}

void append_printed(std::string& out, const Value& value, Meter& meter) {
  switch (value.kind()) {
    case Kind::undefined:
    case Kind::none:
      return;
    case Kind::boolean:
      out += value.boolean() ? "true" : "false";
      return;
    case Kind::number:
      if (value.is_integer())
        append_number(out, value.number());
      else
        append_float(out, value.number());
      return;
    case Kind::string:
      meter.text(value.string().size());
      meter.reach(out.size() + value.string().size());
      append_text(out, value.string());
      return;
    default: {
      static const JsonStyle style = printed_style();
      append_json(out, value, style, meter);
    }
  }
}

void append_joined(std::string& out, const Value& value, Meter& meter) {
  switch (value.kind()) {
    case Kind::undefined:
    case Kind::none:
      out += "undefined";
      return;
    case Kind::number:
      append_number(out, value.number());
      return;
    case Kind::boolean:
    case Kind::string:
      append_printed(out, value, meter);
      return;
    case Kind::list:
    case Kind::tuple: {
      bool first = true;
      for (const Value& item : value.items()) {
        if (!first) out += ',';
        first = false;
        meter.step();
        append_item(out, item, meter);
        meter.reach(out.size());
      }
      return;
    }
    case Kind::dict:
    case Kind::namespace_:
      out += "[object Map]";
      return;
    case Kind::function:
    case Kind::object:
      fail(fmt::format("There is no text for {}", name_value(value)));
  }
}

std::string joined_text(const Value& value, Meter& meter) {
  std::string text;
  append_joined(text, value, meter);
  return text;
}

std::string print(const Value& value) {
  Meter meter{Budgets{}};
  std::string text;
  append_printed(text, value, meter);
  return to_valid_utf8(std::move(text));
}

namespace {

constexpr std::size_t kDescribed = 80;

void append_description(std::string& out, const Value& value) {
  if (out.size() > kDescribed) return;
  const auto items = [&out](const auto& range, const auto& one) {
    bool first = true;
    for (const auto& item : range) {
      if (!first) out += ", ";
      first = false;
      if (out.size() > kDescribed) return;
      one(item);
    }
  };
  switch (value.kind()) {
    case Kind::undefined:
      out += "undefined";
      return;
    case Kind::none:
      out += "none";
      return;
    case Kind::boolean:
      out += value.boolean() ? "true" : "false";
      return;
    case Kind::number:
      if (value.is_integer())
        append_number(out, value.number());
      else
        append_float(out, value.number());
      return;
    case Kind::string:
      append_json_string(out, std::string_view(value.string()).substr(0, kDescribed + 4));
      return;
    case Kind::list:
    case Kind::tuple:
      out += value.is_list() ? '[' : '(';
      items(value.items(), [&out](const Value& item) { append_description(out, item); });
      out += value.is_list() ? ']' : ')';
      return;
    case Kind::dict:
      out += '{';
      items(value.dict().entries(), [&out](const Dict::Entry& entry) {
        append_json_string(out, std::string_view(entry.key.string()).substr(0, kDescribed));
        out += ": ";
        append_description(out, entry.value);
      });
      out += '}';
      return;
    case Kind::namespace_:
      out += "a namespace";
      return;
    case Kind::function:
      out += fmt::format("the function {}", value.function().name());
      return;
    case Kind::object:
      out += "an object";
      return;
  }
}

}  // namespace

std::string describe(const Value& value) {
  std::string text;
  append_description(text, value);
  if (text.size() > kDescribed) {
    std::size_t cut = kDescribed;
    while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xC0) == 0x80) --cut;
    text.resize(cut);
    text += "...";
  }
  return to_valid_utf8(std::move(text));
}

std::string name_value(const Value& value) {
  switch (value.kind()) {
    case Kind::undefined:
    case Kind::none:
    case Kind::namespace_:
    case Kind::function:
    case Kind::object:
      return describe(value);
    case Kind::number:
      return fmt::format("{} ({})", value.is_integer() ? "an int" : "a float", describe(value));
    default:
      return fmt::format("a {} ({})", to_string(value.kind()), describe(value));
  }
}

}  // namespace kernelpack::expr
