#include "package/requirements.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "package/device_limits.hpp"
#include "package/suggest.hpp"

namespace kernelpack::package {
namespace {

std::string read_component_type(ObjectReader& reader, std::string_view key) {
  const auto node = reader.get(key);
  if (!node) return {};
  const std::vector<std::string> types = {"f32", "f16", "u32", "i32", "u8", "i8"};
  const auto text = read_string(*node);
  if (!text) return {};
  if (std::find(types.begin(), types.end(), *text) != types.end()) return *text;
  node->fault(fmt::format("The component type ({}) is unknown; known: {}", *text, join_names(types)));
  return {};
}

std::vector<MatrixPattern> read_patterns(const Node& node) {
  std::vector<MatrixPattern> patterns;
  const auto items = items_of(node);
  if (is_empty_list(node)) node.fault("The list subgroupMatrixConfigs is empty");
  for (const Node& item : items) {
    ObjectReader reader(item, "a pattern of subgroupMatrixConfigs");
    MatrixPattern pattern;
    pattern.component_type = read_component_type(reader, "componentType");
    pattern.result_component_type = read_component_type(reader, "resultComponentType");
    if (const auto m = reader.get("M")) pattern.m = read_positive_int(*m);
    if (const auto n = reader.get("N")) pattern.n = read_positive_int(*n);
    if (const auto k = reader.get("K")) pattern.k = read_positive_int(*k);
    reader.finish();
    const auto& members = item.value();
    if (reader.is_object() && !members.find("componentType") && !members.find("resultComponentType") &&
        !members.find("M") && !members.find("N") && !members.find("K"))
      item.fault("The pattern of subgroupMatrixConfigs has no field");
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

}  // namespace

std::optional<int> read_positive_int(const Node& node) {
  const auto value = read_integer(node, 1, std::numeric_limits<int>::max());
  if (!value) return std::nullopt;
  return static_cast<int>(*value);
}

std::vector<std::string> read_features(const Node& node) {
  const auto known_views = device_features();
  const std::vector<std::string> known(known_views.begin(), known_views.end());
  std::vector<std::string> features;
  for (const Node& item : items_of(node)) {
    auto text = read_string(item);
    if (!text) continue;
    if (std::find(known.begin(), known.end(), *text) == known.end()) {
      item.fault(fmt::format("The feature ({}) is unknown{}", *text, suggestion(*text, known)));
    } else if (std::find(features.begin(), features.end(), *text) == features.end()) {
      features.push_back(std::move(*text));
    }
  }
  return features;
}

std::vector<LimitRequirement> read_limits(const Node& node) {
  std::vector<LimitRequirement> limits;
  for (const NamedNode& member : members_of(node)) {
    if (find_device_limit(member.name) == nullptr) {
      std::vector<std::string> known;
      for (const DeviceLimit& limit : device_limits()) known.emplace_back(limit.name);
      member.node.fault_at(member.name_span, fmt::format("The limit ({}) is unknown{}", member.name,
                                                         suggestion(member.name, known)));
    } else if (const auto value = read_number(member.node)) {
      limits.push_back({std::string(member.name), *value});
    }
  }
  return limits;
}

Requirements read_requirements(const Node& node) {
  Requirements requirements;
  ObjectReader reader(node, "the object requires");
  if (const auto features = reader.get("features")) requirements.features = read_features(*features);
  if (const auto limits = reader.get("limits")) requirements.limits = read_limits(*limits);
  if (const auto size = reader.get("subgroupMinSize"))
    requirements.subgroup_min_size = read_positive_int(*size);
  if (const auto patterns = reader.get("subgroupMatrixConfigs"))
    requirements.matrix_configs = read_patterns(*patterns);
  reader.finish();
  return requirements;
}

Requirements merge(const Requirements& top, const Requirements& variant, const Node& variant_node) {
  Requirements merged = top;
  const auto unite = [](std::vector<std::string>& into, const std::vector<std::string>& more) {
    for (const std::string& name : more)
      if (std::find(into.begin(), into.end(), name) == into.end()) into.push_back(name);
  };
  unite(merged.features, variant.features);
  unite(merged.wgsl_language_features, variant.wgsl_language_features);
  for (const LimitRequirement& limit : variant.limits) {
    const auto found = std::find_if(merged.limits.begin(), merged.limits.end(),
                                    [&](const LimitRequirement& other) { return other.name == limit.name; });
    if (found == merged.limits.end()) {
      merged.limits.push_back(limit);
    } else {
      found->value = std::max(found->value, limit.value);
    }
  }
  if (variant.subgroup_min_size)
    merged.subgroup_min_size = std::max(merged.subgroup_min_size.value_or(1), *variant.subgroup_min_size);
  if (!variant.matrix_configs.empty()) {
    if (!top.matrix_configs.empty())
      variant_node.fault("The key (subgroupMatrixConfigs) is given both at the top level and in a variant");
    merged.matrix_configs = variant.matrix_configs;
  }
  return merged;
}

}  // namespace kernelpack::package
