#include "package/device_facts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/number_text.hpp"
#include "base/source.hpp"
#include "package/device_limits.hpp"

namespace kernelpack {
namespace {

constexpr std::array<std::string_view, 6> kComponentTypes{"f32", "f16", "u32", "i32", "u8", "i8"};

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

/// Reads one description; every fault names the pointer and the place of the value.
class FactsReader {
 public:
  FactsReader(const json::Document& document, ErrorKind kind) : document_(document), kind_(kind) {}

  DeviceFacts read(const json::Value& root, const std::string& at) const {
    DeviceFacts facts;
    require_object(root, at);
    for (const json::Member& member : root.members()) {
      const std::string pointer = json::join_pointer(at, member.key);
      if (member.key == "$comment")
        string(member.value, pointer);
      else if (member.key == "features")
        facts.features = names(member.value, pointer);
      else if (member.key == "wgslLanguageFeatures")
        facts.wgsl_language_features = names(member.value, pointer);
      else if (member.key == "limits")
        facts.limits = limits(member.value, pointer);
      else if (member.key == "adapterInfo")
        read_adapter(member.value, pointer, facts);
      else
        unknown_key(member, pointer, "features, wgslLanguageFeatures, limits, adapterInfo");
    }
    return facts;
  }

 private:
  [[noreturn]] void fail(std::string message, SourceSpan span, const std::string& pointer) const {
    throw error_at(kind_, std::move(message), Origin{document_.name, pointer}, document_.text, span);
  }
  [[noreturn]] void unknown_key(const json::Member& member, const std::string& pointer,
                                std::string_view known) const {
    fail(fmt::format("The key {} is unknown here (known keys: {}, $comment)", json::quote(member.key), known),
         member.key_span, pointer);
  }
  [[noreturn]] void wrong_kind(const json::Value& value, const std::string& pointer,
                               std::string_view expected) const {
    fail(fmt::format("The kind of the value (expected: {}, given: {}) is wrong", expected,
                     json::to_string(value.kind())),
         value.span, pointer);
  }

  void require_object(const json::Value& value, const std::string& pointer) const {
    if (!value.is_object()) wrong_kind(value, pointer, "object");
  }
  const std::string& string(const json::Value& value, const std::string& pointer) const {
    if (!value.is_string()) wrong_kind(value, pointer, "string");
    return value.string();
  }
  const std::vector<json::Value>& array(const json::Value& value, const std::string& pointer) const {
    if (!value.is_array()) wrong_kind(value, pointer, "array");
    return value.items();
  }

  std::vector<std::string> names(const json::Value& value, const std::string& pointer) const {
    std::vector<std::string> result;
    for (const json::Value& item : array(value, pointer)) {
      const std::string& name = string(item, json::join_pointer(pointer, result.size()));
      if (std::find(result.begin(), result.end(), name) != result.end())
        fail(fmt::format("The name ({}) occurs twice in the list", name), item.span,
             json::join_pointer(pointer, result.size()));
      result.push_back(name);
    }
    return result;
  }

  std::map<std::string, double> limits(const json::Value& value, const std::string& pointer) const {
    require_object(value, pointer);
    std::map<std::string, double> result;
    for (const json::Member& member : value.members()) {
      const std::string at = json::join_pointer(pointer, member.key);
      if (member.key == "$comment") {
        string(member.value, at);
        continue;
      }
      if (!member.value.is_number()) wrong_kind(member.value, at, "number");
      const double limit = member.value.number();
      if (limit < 0 || std::trunc(limit) != limit)
        fail(fmt::format("The limit {} ({}) is not a non-negative integer", member.key,
                         javascript_number_text(limit)),
             member.value.span, at);
      result.emplace(member.key, limit);
    }
    return result;
  }

  int positive(const json::Value& value, const std::string& pointer) const {
    if (!value.is_number()) wrong_kind(value, pointer, "number");
    const double number = value.number();
    if (!(number >= 1 && number <= 65536) || std::trunc(number) != number)
      fail(fmt::format("The value ({}) is not an integer from 1 to 65536", javascript_number_text(number)),
           value.span, pointer);
    return static_cast<int>(number);
  }

  void read_adapter(const json::Value& value, const std::string& pointer, DeviceFacts& facts) const {
    require_object(value, pointer);
    for (const json::Member& member : value.members()) {
      const std::string at = json::join_pointer(pointer, member.key);
      const json::Value& item = member.value;
      if (member.key == "vendor")
        facts.vendor = lower(string(item, at));
      else if (member.key == "architecture")
        facts.architecture = lower(string(item, at));
      else if (member.key == "device" || member.key == "description" || member.key == "$comment")
        string(item, at);
      else if (member.key == "isFallbackAdapter") {
        if (!item.is_boolean()) wrong_kind(item, at, "boolean");
        facts.is_fallback_adapter = item.boolean();
      } else if (member.key == "subgroupMinSize")
        facts.subgroup_min_size = positive(item, at);
      else if (member.key == "subgroupMaxSize")
        facts.subgroup_max_size = positive(item, at);
      else if (member.key == "subgroupMatrixConfigs")
        facts.subgroup_matrix_configs = matrix_configs(item, at);
      else
        unknown_key(
            member, at,
            "vendor, architecture, device, description, isFallbackAdapter, subgroupMinSize, subgroupMaxSize, "
            "subgroupMatrixConfigs");
    }
  }

  std::vector<SubgroupMatrixConfig> matrix_configs(const json::Value& value,
                                                   const std::string& pointer) const {
    std::vector<SubgroupMatrixConfig> result;
    std::size_t index = 0;
    for (const json::Value& item : array(value, pointer)) {
      const std::string at = json::join_pointer(pointer, index++);
      require_object(item, at);
      SubgroupMatrixConfig config;
      for (const json::Member& member : item.members()) {
        const std::string field = json::join_pointer(at, member.key);
        if (member.key == "componentType")
          config.component_type = component_type(member.value, field);
        else if (member.key == "resultComponentType")
          config.result_component_type = component_type(member.value, field);
        else if (member.key == "M")
          config.m = positive(member.value, field);
        else if (member.key == "N")
          config.n = positive(member.value, field);
        else if (member.key == "K")
          config.k = positive(member.value, field);
        else
          unknown_key(member, field, "componentType, resultComponentType, M, N, K");
      }
      if (config.component_type.empty() || config.result_component_type.empty() || config.m == 0 ||
          config.n == 0 || config.k == 0)
        fail(
            "The subgroup matrix configuration lacks one of its keys (componentType, resultComponentType, M, "
            "N, K)",
            item.span, at);
      result.push_back(std::move(config));
    }
    return result;
  }

  std::string component_type(const json::Value& value, const std::string& pointer) const {
    const std::string& name = string(value, pointer);
    if (std::find(kComponentTypes.begin(), kComponentTypes.end(), name) == kComponentTypes.end())
      fail(fmt::format("The component type ({}) is unknown (known: f32, f16, u32, i32, u8, i8)", name),
           value.span, pointer);
    return name;
  }

  const json::Document& document_;
  ErrorKind kind_;
};

json::Value text_list(const std::vector<std::string>& names) {
  std::vector<json::Value> items;
  for (const std::string& name : names) items.push_back(json::Value::make(name));
  return json::Value::make(std::move(items));
}

json::Member member(std::string key, json::Value value) {
  return json::Member{std::move(key), std::move(value), {}};
}

json::Value integer(int value) {
  return json::Value::make(static_cast<double>(value));
}

}  // namespace

DeviceFacts package::read_device_facts(const json::Document& document, const json::Value& value,
                                       const std::string& pointer, ErrorKind kind) {
  return FactsReader(document, kind).read(value, pointer);
}

DeviceFacts DeviceFacts::defaults() {
  return {};
}

DeviceFacts DeviceFacts::from_json(std::string text, std::string name) {
  const json::Document document = json::parse(std::move(text), std::move(name), {}, ErrorKind::device);
  return package::read_device_facts(document, document.root, {}, ErrorKind::device);
}

std::string DeviceFacts::to_json() const {
  std::vector<json::Member> root;
  root.push_back(member("features", text_list(features)));
  root.push_back(member("wgslLanguageFeatures", text_list(wgsl_language_features)));
  std::vector<json::Member> numbers;
  for (const auto& [key, value] : limits) numbers.push_back(member(key, json::Value::make(value)));
  root.push_back(member("limits", json::Value::make(std::move(numbers))));
  std::vector<json::Member> adapter;
  adapter.push_back(member("vendor", json::Value::make(vendor)));
  adapter.push_back(member("architecture", json::Value::make(architecture)));
  adapter.push_back(member("isFallbackAdapter", json::Value::make(is_fallback_adapter)));
  if (subgroup_min_size) adapter.push_back(member("subgroupMinSize", integer(*subgroup_min_size)));
  if (subgroup_max_size) adapter.push_back(member("subgroupMaxSize", integer(*subgroup_max_size)));
  if (subgroup_matrix_configs) {
    std::vector<json::Value> configs;
    for (const SubgroupMatrixConfig& config : *subgroup_matrix_configs) {
      std::vector<json::Member> fields;
      fields.push_back(member("componentType", json::Value::make(config.component_type)));
      fields.push_back(member("resultComponentType", json::Value::make(config.result_component_type)));
      fields.push_back(member("M", integer(config.m)));
      fields.push_back(member("N", integer(config.n)));
      fields.push_back(member("K", integer(config.k)));
      configs.push_back(json::Value::make(std::move(fields)));
    }
    adapter.push_back(member("subgroupMatrixConfigs", json::Value::make(std::move(configs))));
  }
  root.push_back(member("adapterInfo", json::Value::make(std::move(adapter))));
  return json::write(json::Value::make(std::move(root)));
}

bool DeviceFacts::has_feature(std::string_view feature) const noexcept {
  return std::find(features.begin(), features.end(), feature) != features.end();
}

std::optional<double> DeviceFacts::limit(std::string_view name) const noexcept {
  std::optional<double> value;
  const auto reported =
      std::find_if(limits.begin(), limits.end(), [&](const auto& entry) { return entry.first == name; });
  if (reported != limits.end())
    value = reported->second;
  else if (const package::DeviceLimit* known = package::find_device_limit(name))
    value = known->default_value;
  if (value && name == "maxComputeWorkgroupsPerDimension")
    value = std::min(*value, package::kDispatchFoldWidth);
  return value;
}

}  // namespace kernelpack
