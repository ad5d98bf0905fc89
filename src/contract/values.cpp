#include "contract/values.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "package/attribute_value.hpp"
#include "package/suggest.hpp"

namespace kernelpack::contract {
namespace {

const NamedValue* find(const NamedValues& values, std::string_view name) {
  const auto found =
      std::find_if(values.begin(), values.end(), [&](const NamedValue& entry) { return entry.name == name; });
  return found == values.end() ? nullptr : &*found;
}

// Refuses names that the contract does not know and names given twice.
template <class Declared>
void check_names(std::string_view what, const NamedValues& given, const std::vector<Declared>& declared) {
  std::set<std::string_view> seen;
  for (const NamedValue& entry : given) {
    const std::string where = fmt::format("{} {}", what, entry.name);
    if (!seen.insert(entry.name).second)
      throw Error(ErrorKind::contract, fmt::format("The {} {} is given twice", what, entry.name), where);
    const bool known = std::any_of(declared.begin(), declared.end(),
                                   [&](const Declared& other) { return other.name == entry.name; });
    if (known) continue;
    std::vector<std::string> names;
    for (const Declared& other : declared) names.push_back(other.name);
    throw Error(
        ErrorKind::contract,
        fmt::format("The {} {} is unknown{}", what, entry.name, package::suggestion(entry.name, names)),
        where);
  }
}

bool has_non_finite(const AttributeValue& value) {
  if (const double* number = value.number()) return !std::isfinite(*number);
  if (const AttributeValue::List* list = value.list())
    return std::any_of(list->begin(), list->end(), has_non_finite);
  return false;
}

void check_argument(const package::Argument& argument, const AttributeValue& value) {
  const auto refuse = [&](std::string_view expected) {
    throw Error(ErrorKind::contract,
                fmt::format("The scalar {} ({}) is not {}", argument.name, to_string(value), expected),
                fmt::format("scalar {}", argument.name));
  };
  const double* number = value.number();
  const bool integral = number != nullptr && std::isfinite(*number) && std::floor(*number) == *number;
  switch (argument.kind) {
    case package::ArgumentKind::u32:
      if (!integral || *number < 0 || *number > 4294967295.0) refuse("an integer from 0 to 4294967295");
      return;
    case package::ArgumentKind::i32:
      if (!integral || *number < -2147483648.0 || *number > 2147483647.0)
        refuse("an integer from -2147483648 to 2147483647");
      return;
    case package::ArgumentKind::f32:
      if (number == nullptr || !std::isfinite(*number)) refuse("a finite number");
      return;
    case package::ArgumentKind::boolean:
      if (value.boolean() == nullptr) refuse("true or false");
      return;
    case package::ArgumentKind::string:
      if (value.string() == nullptr) refuse("a string");
      if (!argument.one_of.empty() &&
          std::find(argument.one_of.begin(), argument.one_of.end(), *value.string()) == argument.one_of.end())
        refuse(fmt::format("one of {}", package::join_names(argument.one_of)));
      return;
  }
}

}  // namespace

NamedValues bind_attributes(const package::Model& model, const NamedValues& given) {
  check_names("attribute", given, model.attributes);
  NamedValues bound;
  for (const package::Attribute& attribute : model.attributes) {
    const NamedValue* entry = find(given, attribute.name);
    const std::string where = fmt::format("attribute {}", attribute.name);
    if (entry == nullptr) {
      if (attribute.default_value) {
        bound.push_back({attribute.name, *attribute.default_value});
      } else if (attribute.required) {
        throw Error(ErrorKind::contract, fmt::format("The required attribute {} is missing", attribute.name),
                    where);
      }
      continue;
    }
    if (has_non_finite(entry->value))
      throw Error(ErrorKind::contract,
                  fmt::format("The attribute {} holds a number that is not finite", attribute.name), where);
    if (attribute.values) {
      const bool listed =
          std::any_of(attribute.values->begin(), attribute.values->end(),
                      [&](const AttributeValue& value) { return package::same_value(value, entry->value); });
      if (!listed)
        throw Error(ErrorKind::contract,
                    fmt::format("The attribute {} ({}) is none of the values that the contract allows ({})",
                                attribute.name, to_string(entry->value),
                                to_string(AttributeValue(*attribute.values))),
                    where);
    }
    bound.push_back(*entry);
  }
  return bound;
}

NamedValues bind_arguments(const package::Model& model, const NamedValues& given) {
  check_names("scalar", given, model.arguments);
  NamedValues bound;
  for (const package::Argument& argument : model.arguments) {
    const NamedValue* entry = find(given, argument.name);
    if (entry == nullptr) {
      if (argument.required)
        throw Error(ErrorKind::contract, fmt::format("The required scalar {} is missing", argument.name),
                    fmt::format("scalar {}", argument.name));
      continue;
    }
    check_argument(argument, entry->value);
    bound.push_back(*entry);
  }
  return bound;
}

NamedValues bind_tunables(const NamedValues& given) {
  std::set<std::string_view> seen;
  for (const NamedValue& entry : given) {
    const std::string where = fmt::format("tunable {}", entry.name);
    if (!package::is_name(entry.name))
      throw Error(
          ErrorKind::contract,
          fmt::format("The name of tunable {} is not a name: letters, digits and _ only, no digit first",
                      entry.name),
          where);
    if (!seen.insert(entry.name).second)
      throw Error(ErrorKind::contract, fmt::format("The tunable {} is given twice", entry.name), where);
    if (entry.value.list() != nullptr || has_non_finite(entry.value))
      throw Error(ErrorKind::contract,
                  fmt::format("The tunable {} ({}) is not a finite number, a string, a boolean or null",
                              entry.name, to_string(entry.value)),
                  where);
  }
  return given;
}

}  // namespace kernelpack::contract
