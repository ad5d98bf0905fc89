#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>

#include "expr/ast.hpp"
#include "expr/builtins.hpp"
#include "expr/operators.hpp"
#include "expr/print.hpp"
#include "expr/text.hpp"

namespace kernelpack::expr {
namespace {

using Result = std::optional<Value>;
constexpr std::nullopt_t kNotMine = std::nullopt;

/// The positional argument at `index`, else the keyword argument, else `absent`.
Value option(const FilterCall& filter, std::size_t index, std::string_view keyword, Value absent) {
  if (index < filter.call.arguments.size()) return filter.call.arguments[index];
  const Value* given =
      filter.call.keywords != nullptr && !keyword.empty() ? filter.call.keywords->find(keyword) : nullptr;
  return given != nullptr ? *given : absent;
}

constexpr std::size_t kKeywordOnly = static_cast<std::size_t>(-1);

[[noreturn]] void wrong_option(const FilterCall& filter, std::string_view name, std::string_view expected,
                               const Value& given) {
  fail(fmt::format("The argument {} of the filter {} is {} where {} is expected", name, filter.name,
                   name_value(given), expected));
}

bool flag(const FilterCall& filter, std::size_t index, std::string_view keyword) {
  const Value given = option(filter, index, keyword, Value::boolean(false));
  if (!given.is_boolean()) wrong_option(filter, keyword, "a bool", given);
  return given.boolean();
}

/// Truth as JavaScript sees it: lists and dicts are true even if empty.
bool javascript_truth(const Value& value) {
  return value.kind() > Kind::string || value.truthy();
}

Value count_of(std::size_t count) {
  return Value::integer(static_cast<double>(count));
}

/// The entries of a dict or a namespace, or null.
const Dict* attributes_of(const Value& value) {
  if (value.is_dict()) return &value.dict();
  return value.kind() == Kind::namespace_ ? &value.name_space().entries : nullptr;
}

/// A path such as "details.priority" or "items.0".
Value attribute_at(const Value& item, std::string_view path) {
  Value value = item;
  while (true) {
    const std::size_t dot = path.find('.');
    const std::string_view part = path.substr(0, dot);
    if (const Dict* attributes = attributes_of(value)) {
      const Value* found = attributes->find(part);
      value = Value(found != nullptr ? *found : Value());
    } else if (value.is_list_or_tuple()) {
      const double index = parse_int_prefix(part);
      value = Value(index >= 0 ? element_at(value, index) : Value());
    } else {
      return {};
    }
    if (dot == std::string_view::npos) return value;
    path.remove_prefix(dot + 1);
  }
}

Result safe(const Value& operand, const FilterCall& filter) {
  if (filter.parentheses) return kNotMine;
  return operand;
}

Result to_json(const Value& operand, const FilterCall& filter) {
  JsonStyle style;
  if (filter.parentheses) {
    const Value indent = option(filter, kKeywordOnly, "indent", Value::none());
    if (!indent.is_integer() && !indent.is_none()) wrong_option(filter, "indent", "an int", indent);
    if (indent.is_integer()) style.indent = indent.number();
    style.ensure_ascii = flag(filter, kKeywordOnly, "ensure_ascii");
    style.sort_keys = flag(filter, kKeywordOnly, "sort_keys");
    const Value separators = option(filter, kKeywordOnly, "separators", Value::none());
    if (separators.is_list_or_tuple() && separators.items().size() == 2 &&
        separators.items()[0].is_string() && separators.items()[1].is_string()) {
      style.item_separator = separators.items()[0].string();
      style.key_separator = separators.items()[1].string();
    } else if (!separators.is_none()) {
      wrong_option(filter, "separators", "a pair of strings", separators);
    }
  }
  std::string text;
  append_json(text, operand, style, filter.meter);
  return Value::string(std::move(text));
}

Result default_value(const Value& operand, const FilterCall& filter) {
  if (!filter.parentheses) return kNotMine;
  const bool falsy_too = flag(filter, 1, "boolean");
  if (!operand.is_undefined() && !(falsy_too && !operand.truthy())) return operand;
  return option(filter, 0, "", Value::string(""));
}

Result length(const Value& operand, const FilterCall& filter) {
  if (filter.parentheses) return kNotMine;
  if (operand.is_string()) return count_of(operand.string_length());
  if (operand.is_list_or_tuple()) return count_of(operand.items().size());
  if (operand.is_dict()) return count_of(operand.dict().size());
  return kNotMine;
}

Result end_item(const Value& operand, const FilterCall& filter, bool first) {
  if (filter.parentheses || !operand.is_list_or_tuple()) return kNotMine;
  if (operand.items().empty())
    fail(fmt::format("The filter {} has no item to give: the list is empty", filter.name));
  return first ? operand.items().front() : operand.items().back();
}

Result reverse(const Value& operand, const FilterCall& filter) {
  if (filter.parentheses || !operand.is_list_or_tuple()) return kNotMine;
  filter.meter.list(operand.items().size());
  return Value::list(std::vector<Value>(operand.items().rbegin(), operand.items().rend()));
}

Result sort(const Value& operand, const FilterCall& filter) {
  if (!operand.is_list_or_tuple()) return kNotMine;
  const bool descending = flag(filter, 0, "reverse");
  const bool case_sensitive = flag(filter, 1, "case_sensitive");
  const Value attribute = option(filter, 2, "attribute", Value::none());
  if (!attribute.is_string() && !attribute.is_integer() && !attribute.is_none()) {
    wrong_option(filter, "attribute", "a string, an int or none", attribute);
  }
  filter.meter.list(operand.items().size());
  std::vector<Value> items(operand.items().begin(), operand.items().end());
  const std::string path = attribute.is_none() ? std::string() : joined_text(attribute, filter.meter);
  const auto key = [&](const Value& item) { return attribute.is_none() ? item : attribute_at(item, path); };
  sort_items(
      items,
      [&](const Value& a, const Value& b) {
        if (!attribute.is_none()) filter.meter.step(1 + path.size());
        const int order = compare_for_sort(key(a), key(b), case_sensitive, filter.meter);
        return descending ? -order : order;
      },
      filter.meter);
  return Value::list(std::move(items));
}

/// The text of an item under `join`: nothing for none and undefined.
void append_item_text(std::string& out, const Value& item, Meter& meter) {
  if (!item.is_none() && !item.is_undefined()) append_joined(out, item, meter);
  meter.step();
  meter.reach(out.size());
}

Result join(const Value& operand, const FilterCall& filter) {
  if (operand.is_string() && !filter.parentheses) return operand;
  if (!operand.is_string() && !operand.is_list_or_tuple()) return kNotMine;
  const Value separator = option(filter, 0, "separator", Value::string(""));
  if (!separator.is_string()) wrong_option(filter, "separator", "a string", separator);
  std::string text;
  bool first = true;
  const auto separate = [&] {
    if (!first) {
      filter.meter.text(separator.string().size());
      append_text(text, separator.string());
    }
    first = false;
  };
  if (operand.is_string()) {
    filter.meter.scan(operand.string().size() * 16);
    for (const std::string_view point : code_points(operand.string())) {
      separate();
      filter.meter.step();
      append_text(text, point);
      filter.meter.reach(text.size());
    }
    return Value::string(std::move(text));
  }
  for (const Value& item : operand.items()) {
    separate();
    std::string piece;
    append_item_text(piece, item, filter.meter);
    append_text(text, piece);
    filter.meter.reach(text.size());
  }
  return Value::string(std::move(text));
}

struct ValueHash {
  std::size_t operator()(const Value& value) const noexcept {
    switch (value.kind()) {
      case Kind::boolean:
        return value.boolean() ? 1 : 2;
      case Kind::number:
        return value.number() == 0 ? 3 : std::hash<double>()(value.number());
      case Kind::string:
        return std::hash<std::string_view>()(value.string());
      case Kind::list:
      case Kind::tuple:
        return std::hash<const void*>()(value.items().data());
      case Kind::dict:
        return std::hash<const void*>()(&value.dict());
      default:
        return 4;
    }
  }
};

/// JavaScript's SameValueZero: identical, or both NaN.
struct ValueSame {
  bool operator()(const Value& a, const Value& b) const noexcept {
    if (a.is_number() && b.is_number() && std::isnan(a.number())) return std::isnan(b.number());
    return a.identical(b);
  }
};

Result unique(const Value& operand, const FilterCall& filter) {
  if (filter.parentheses || !operand.is_list_or_tuple()) return kNotMine;
  std::unordered_set<Value, ValueHash, ValueSame> seen;
  std::vector<Value> items;
  filter.meter.list(operand.items().size());
  for (const Value& item : operand.items()) {
    if (item.is_string()) filter.meter.scan(item.string().size());
    if (seen.insert(item).second) items.push_back(item);
  }
  return Value::list(std::move(items));
}

Result list(const Value& operand, const FilterCall& filter) {
  if (filter.parentheses || !operand.is_list_or_tuple()) return kNotMine;
  return operand;
}

Result string(const Value& operand, const FilterCall& filter) {
  if (filter.parentheses) return kNotMine;
  if (operand.is_string()) return operand;
  if (!operand.is_list_or_tuple() && !operand.is_number() && !operand.is_boolean()) return kNotMine;
  std::string text;
  append_printed(text, operand, filter.meter);
  return Value::string(std::move(text));
}

Result map(const Value& operand, const FilterCall& filter) {
  if (!filter.parentheses || !operand.is_list_or_tuple()) return kNotMine;
  const Value* attribute =
      filter.call.keywords != nullptr ? filter.call.keywords->find("attribute") : nullptr;
  if (attribute == nullptr) fail("The filter map needs its argument attribute");
  if (!attribute->is_string()) wrong_option(filter, "attribute", "a string", *attribute);
  const Value absent = option(filter, kKeywordOnly, "default", Value());
  filter.meter.list(operand.items().size());
  std::vector<Value> items;
  items.reserve(operand.items().size());
  for (const Value& item : operand.items()) {
    filter.meter.step(1 + attribute->string().size());
    if (attributes_of(item) == nullptr) {
      fail(fmt::format("The filter map finds {} where a dict is expected", name_value(item)));
    }
    Value value = attribute_at(item, attribute->string());
    if (value.is_undefined()) value = absent;
    items.push_back(std::move(value));
  }
  return Value::list(std::move(items));
}

Result select(const Value& operand, const FilterCall& filter, bool keep) {
  if (!filter.parentheses || !operand.is_list_or_tuple()) return kNotMine;
  for (const Value& item : operand.items()) {
    filter.meter.step();
    if (attributes_of(item) == nullptr) {
      fail(fmt::format("The filter {} finds {} where a dict is expected", filter.name, name_value(item)));
    }
  }
  if (!filter.literals)
    fail(fmt::format("The arguments of the filter {} must be string literals", filter.name));
  const std::span<const Value> arguments = filter.call.arguments;
  const TestEntry* test = nullptr;
  if (arguments.size() > 1) {
    const std::uint16_t found = find_test(arguments[1].string());
    if (found == kNoBuiltin) fail(fmt::format("There is no test named {}", arguments[1].string()));
    test = &tests()[found];
  }
  std::vector<Value> items;
  for (const Value& item : operand.items()) {
    filter.meter.step();
    if (arguments.empty()) fail(fmt::format("The filter {} needs the name of an attribute", filter.name));
    const Value* attribute = attributes_of(item)->find(arguments[0].string());
    bool holds = false;
    if (attribute != nullptr) {
      if (attribute->is_string()) filter.meter.scan(attribute->string().size());
      holds = test != nullptr ? test->holds(*attribute, arguments.size() > 2 ? &arguments[2] : nullptr)
                              : attribute->truthy();
    }
    if (holds == keep) items.push_back(item);
  }
  return Value::list(std::move(items));
}

template <std::string (*kChange)(std::string_view)>
Result changed(const Value& operand, const FilterCall& filter) {
  if (filter.parentheses || !operand.is_string()) return kNotMine;
  filter.meter.text(operand.string().size());
  return Value::string(kChange(operand.string()));
}

std::string capitalized(std::string_view text) {
  std::string result(text);
  if (!result.empty()) result[0] = ascii_upper(result[0]);
  return result;
}

std::string trimmed(std::string_view text) {
  return std::string(trim(text));
}

Result indent(const Value& operand, const FilterCall& filter) {
  if (!operand.is_string()) return kNotMine;
  const Value width = option(filter, 0, "width", Value::integer(4));
  if (!width.is_integer()) wrong_option(filter, "width", "an int", width);
  if (width.number() < 0 || std::isinf(width.number()))
    wrong_option(filter, "width", "a non-negative int", width);
  const bool first = javascript_truth(option(filter, 1, "first", Value::boolean(false)));
  const bool blank = javascript_truth(option(filter, 2, "blank", Value::boolean(false)));
  const double most = static_cast<double>(filter.meter.budgets().rendered_bytes);
  const double spaces = std::isnan(width.number()) ? 0 : width.number();
  filter.meter.reach(spaces > most ? filter.meter.budgets().rendered_bytes + 1
                                   : static_cast<std::size_t>(spaces));
  const std::string margin(static_cast<std::size_t>(spaces), ' ');
  const std::string_view text = operand.string();
  filter.meter.text(text.size());
  std::string result;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    filter.meter.step();
    if ((first || begin > 0) && (blank || end > begin)) {
      filter.meter.text(margin.size());
      result += margin;
    }
    result += text.substr(begin, end - begin);
    if (end < text.size()) result += '\n';
    filter.meter.reach(result.size());
    begin = end + 1;
  }
  return Value::string(std::move(result));
}

Result replace(const Value& operand, const FilterCall& filter) {
  if (!filter.parentheses || !operand.is_string()) return kNotMine;
  return replace_method(operand, filter.call, filter.meter);
}

Result to_int(const Value& operand, const FilterCall& filter) {
  if (operand.is_string()) {
    filter.meter.scan(operand.string().size());
    const double value = parse_int_prefix(operand.string());
    if (std::isnan(value)) return option(filter, 0, "default", Value::integer(0));
    return Value::integer(value);
  }
  if (operand.is_boolean()) return Value::integer(operand.boolean() ? 1 : 0);
  if (!operand.is_number()) return kNotMine;
  // With parentheses the reference hands the number back as it is.
  if (filter.parentheses) return operand;
  return Value::integer(std::floor(operand.number()));
}

Result to_float(const Value& operand, const FilterCall& filter) {
  if (operand.is_string()) {
    filter.meter.scan(operand.string().size());
    const double value = parse_float_prefix(operand.string());
    if (std::isnan(value)) return option(filter, 0, "default", Value::floating(0));
    return Value::floating(value);
  }
  if (operand.is_boolean()) return Value::floating(operand.boolean() ? 1 : 0);
  if (!operand.is_number()) return kNotMine;
  if (filter.parentheses) return operand;
  return Value::floating(operand.number());
}

Result absolute(const Value& operand, const FilterCall& filter) {
  if (filter.parentheses || !operand.is_number()) return kNotMine;
  const double value = std::abs(operand.number());
  return operand.is_integer() ? Value::integer(value) : Value::floating(value);
}

Result boolean(const Value& operand, const FilterCall& filter) {
  if (filter.parentheses || !operand.is_boolean()) return kNotMine;
  return operand;
}

Result dict_method(const Value& operand, const FilterCall& filter) {
  if (!operand.is_dict()) return kNotMine;
  return call_dict_method(operand, filter.name, filter.call, filter.meter);
}

constexpr std::array<FilterEntry, 31> kFilters = {{
    {"safe", "any", "", "the value itself", safe},
    {"tojson", "any", "(indent=none, ensure_ascii=false, sort_keys=false, separators=none)", "JSON text",
     to_json},
    {"default", "any", "(value=\"\", boolean=false)",
     "value if the operand is undefined or, with boolean, falsy; needs its parentheses", default_value},
    {"length", "list string dict", "", "number of items, or of UTF-16 units", length},
    {"first", "list", "", "the first item; fails if there is none",
     [](const Value& v, const FilterCall& f) { return end_item(v, f, true); }},
    {"last", "list", "", "the last item; fails if there is none",
     [](const Value& v, const FilterCall& f) { return end_item(v, f, false); }},
    {"reverse", "list", "", "the items from last to first", reverse},
    {"sort", "list", "(reverse=false, case_sensitive=false, attribute=none)", "the items in order", sort},
    {"join", "list string", "(separator=\"\")", "the items' texts, joined", join},
    {"unique", "list", "", "the items without repetitions", unique},
    {"list", "list", "", "the list itself", list},
    {"string", "list string number bool", "", "the printed text", string},
    {"map", "list", "(attribute=, default=undefined)", "the attribute of each dict", map},
    {"selectattr", "list", "(attribute, test, argument)",
     "the dicts whose attribute is truthy or passes the test",
     [](const Value& v, const FilterCall& f) { return select(v, f, true); }},
    {"rejectattr", "list", "(attribute, test, argument)", "the other dicts",
     [](const Value& v, const FilterCall& f) { return select(v, f, false); }},
    {"upper", "string", "", "ASCII letters in upper case", changed<to_upper>},
    {"lower", "string", "", "ASCII letters in lower case", changed<to_lower>},
    {"title", "string", "", "each word's first letter in upper case", changed<to_title>},
    {"capitalize", "string", "", "the first letter in upper case, the rest unchanged", changed<capitalized>},
    {"trim", "string", "", "without white space at both ends", changed<trimmed>},
    {"indent", "string", "(width=4, first=false, blank=false)", "lines behind the first indented", indent},
    {"replace", "string", "(old, new, count=none)", "with the first count occurrences, or all, replaced",
     replace},
    {"int", "string number bool", "(default=0)",
     "the leading integer of a string, or the number rounded down; with parentheses a number stays as it is",
     to_int},
    {"float", "string number bool", "(default=0.0)",
     "the leading number of a string, or the number as a float", to_float},
    {"abs", "number", "", "the magnitude", absolute},
    {"bool", "bool", "", "the bool itself", boolean},
    {"items", "dict", "()", "list of [key, value]", dict_method},
    {"get", "dict", "(key, default=none)", "the value of a key", dict_method},
    {"keys", "dict", "()", "list of keys", dict_method},
    {"values", "dict", "()", "list of values", dict_method},
    {"dictsort", "dict", "(case_sensitive=false, by=\"key\", reverse=false)", "list of [key, value], sorted",
     dict_method},
}};

}  // namespace

std::span<const FilterEntry> filters() noexcept {
  return kFilters;
}

std::uint16_t find_filter(NameView name) noexcept {
  for (std::size_t i = 0; i < kFilters.size(); ++i) {
    if (kFilters[i].name == name.text) return static_cast<std::uint16_t>(i);
  }
  return kNoBuiltin;
}

}  // namespace kernelpack::expr
