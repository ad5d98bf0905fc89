#include "arguments.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "failure.hpp"

namespace kernelpack::cli {
namespace {

constexpr std::size_t kAttributeDepth = 32;
constexpr std::string_view kSafetensors = ".safetensors";

bool is_name_character(char c, bool first) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (!first && c >= '0' && c <= '9');
}

AttributeValue to_attribute(std::string_view option, const Assignment& assignment,
                            const nlohmann::json& value, std::size_t depth) {
  if (depth > kAttributeDepth) {
    throw UsageError(fmt::format("The value of {} {} nests lists deeper than the limit ({})", option,
                                 assignment.name, kAttributeDepth));
  }
  switch (value.type()) {
    case nlohmann::json::value_t::null:
      return {};
    case nlohmann::json::value_t::boolean:
      return value.get<bool>();
    case nlohmann::json::value_t::string:
      return value.get<std::string>();
    case nlohmann::json::value_t::array: {
      AttributeValue::List items;
      for (const nlohmann::json& item : value)
        items.push_back(to_attribute(option, assignment, item, depth + 1));
      return items;
    }
    case nlohmann::json::value_t::object:
      throw UsageError(fmt::format(
          "The value of {} {} ({}) is a JSON object; null, a bool, a number, a string or a list is possible",
          option, assignment.name, assignment.value));
    default:
      return value.get<double>();
  }
}

}  // namespace

bool is_assignment(std::string_view text) noexcept {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  for (std::size_t i = 0; i < equals; ++i) {
    if (!is_name_character(text[i], i == 0)) return false;
  }
  return true;
}

Assignment parse_assignment(std::string_view option, std::string_view text) {
  if (!is_assignment(text)) {
    throw UsageError(fmt::format("The value of {} ({}) does not have the form NAME=VALUE", option, text));
  }
  const std::size_t equals = text.find('=');
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

std::vector<Assignment> parse_assignments(std::string_view option, const std::vector<std::string>& texts) {
  std::vector<Assignment> assignments;
  std::set<std::string> names;
  for (const std::string& text : texts) {
    assignments.push_back(parse_assignment(option, text));
    if (!names.insert(assignments.back().name).second) {
      throw UsageError(fmt::format("The option {} names {} twice", option, assignments.back().name));
    }
  }
  return assignments;
}

AttributeValue parse_attribute(std::string_view option, const Assignment& assignment) {
  const nlohmann::json value = nlohmann::json::parse(assignment.value, nullptr, false);
  if (value.is_discarded()) return assignment.value;
  return to_attribute(option, assignment, value, 0);
}

NamedValues parse_attributes(std::string_view option, const std::vector<std::string>& texts) {
  NamedValues values;
  for (const Assignment& assignment : parse_assignments(option, texts)) {
    values.push_back({assignment.name, parse_attribute(option, assignment)});
  }
  return values;
}

TensorFile parse_tensor_file(std::string_view option, std::string_view text) {
  if (text.empty()) throw UsageError(fmt::format("The option {} names no file", option));
  if (text.ends_with(kSafetensors)) return {text, true, {}};
  const std::size_t at = text.find(std::string(kSafetensors) + ':');
  if (at == std::string_view::npos) return {text, false, {}};
  TensorFile file{text.substr(0, at + kSafetensors.size()), true,
                  std::string(text.substr(at + kSafetensors.size() + 1))};
  if (file.entry.empty()) {
    throw UsageError(fmt::format("The option {} names no tensor after the file ({})", option, text));
  }
  return file;
}

std::vector<std::int64_t> parse_index(std::string_view option, std::string_view text) {
  std::vector<std::int64_t> index;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, comma);
    std::int64_t value = 0;
    const auto [end, fault] = std::from_chars(item.data(), item.data() + item.size(), value);
    const bool trailing_comma = comma + 1 == text.size();
    if (fault != std::errc{} || end != item.data() + item.size() || trailing_comma) {
      throw UsageError(
          fmt::format("The value of {} ({}) is not a list of integers such as 0,3", option, text));
    }
    index.push_back(value);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return index;
}

}  // namespace kernelpack::cli
