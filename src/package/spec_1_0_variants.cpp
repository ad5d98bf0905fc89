#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/number_text.hpp"
#include "package/families.hpp"
#include "package/manifest.hpp"
#include "package/passes.hpp"
#include "package/requirements.hpp"
#include "package/spec_1_0.hpp"

namespace kernelpack::package::spec_1_0 {
namespace {

// `when` of 1.0: a string, a boolean or a list of both.
std::vector<Formula> read_conditions(const Node& node) {
  std::vector<Formula> clauses;
  const auto add = [&](const Node& item) {
    if (item.value().is_boolean()) {
      clauses.push_back(read_formula(item));
    } else if (auto clause = read_expression(item)) {
      clauses.push_back(std::move(*clause));
    }
  };
  if (node.value().is_array()) {
    for (const Node& item : items_of(node)) add(item);
  } else {
    add(node);
  }
  return clauses;
}

// Names of features; those of this generation are not limited to a known list.
std::vector<std::string> read_names(const Node& node) {
  std::vector<std::string> names;
  for (const Node& item : items_of(node))
    if (auto name = read_nonempty_string(item)) names.push_back(std::move(*name));
  return names;
}

Requirements read_all_requirements(ObjectReader& reader) {
  Requirements requirements;
  if (const auto own = reader.get("requires")) requirements = read_requirements(*own);
  Requirements flat;
  if (const auto features = reader.get("requiredFeatures")) flat.features = read_names(*features);
  if (const auto limits = reader.get("requiredLimits")) flat.limits = read_limits(*limits);
  if (const auto size = reader.get("requiredSubgroupMinSize"))
    flat.subgroup_min_size = read_positive_int(*size);
  if (const auto features = reader.get("requiredWGSLLanguageFeatures"))
    flat.wgsl_language_features = read_names(*features);
  return merge(requirements, flat, reader.node());
}

void read_source(const Node& node, Pass& pass) {
  ObjectReader reader(node, "the source of a pass");
  if (const auto kind = reader.get("kind"))
    if (const auto text = read_string(*kind); text && *text != "template")
      kind->fault(fmt::format("The kind of a source ({}) is not template", *text));
  if (const auto shader = reader.need("shader")) pass.shader = read_shader(*shader);
  if (const auto inputs = reader.get("inputs")) pass.source_inputs = read_formulas(*inputs);
  reader.ignore("version");
  reader.finish();
}

struct Levels {
  const Model& model;
  const Variant& variant;
  const FormulaMap& constants;          ///< top level and variant
  const std::optional<Node>& sets;      ///< bindingSets
  const std::optional<Node>& bindings;  ///< of the variant
};

void read_pass(const Node& node, const Levels& levels, Pass& pass) {
  ObjectReader reader(node, "a pass");
  if (!reader.is_object()) return;
  reader.ignore("id");
  pass.name = reader.string("name", fmt::format("{}.{}.{}", levels.model.op_id, levels.variant.id, pass.id));
  const auto source = reader.get("source");
  const auto shader = reader.get("shader");
  if (source) {
    if (shader) node.fault("A pass has both the key (shader) and the key (source)");
    read_source(*source, pass);
  } else if (shader) {
    pass.shader = read_shader(*shader);
  } else {
    node.fault("A pass has neither the key (shader) nor the key (source)");
  }
  if (const auto entry = reader.get("entryPoint")) pass.entry_point = read_name(*entry).value_or("main");
  const auto own = reader.get("bindings");
  if (own) {
    pass.bindings = read_bindings(*own, levels.sets, levels.model, levels.variant);
  } else if (levels.bindings) {
    pass.bindings = read_bindings(*levels.bindings, levels.sets, levels.model, levels.variant);
  } else {
    node.fault("The required key (bindings) is missing in a pass and in its variant");
  }
  node.spend(levels.constants.size());
  pass.constants = levels.constants;
  if (const auto constants = reader.get("constants"))
    pass.constants = layered(levels.constants, read_formulas(*constants));
  if (const auto uniforms = reader.get("uniforms")) read_uniforms(*uniforms, pass.bindings);
  if (const auto dispatch = reader.need("dispatch")) pass.dispatch = read_dispatch(*dispatch, true);
  if (const auto aliases = reader.get("viewAlias")) pass.view_aliases = read_view_aliases(*aliases, pass);
  read_pass_notes(reader, pass);
  reader.ignore("reads");
  reader.ignore("writes");
  reader.finish();
}

Variant read_variant(const Node& node, std::size_t index, const std::optional<Node>& sets,
                     const Model& model) {
  Variant variant;
  variant.pointer = node.pointer();
  ObjectReader reader(node, "a variant");
  variant.id = read_variant_id(reader, index);
  reader.string("name");
  variant.description = reader.string("description");
  reader.ignore("version");
  variant.is_default = reader.boolean("default", false);
  if (const auto priority = reader.get("priority")) variant.priority = read_number(*priority).value_or(0);
  if (const auto when = reader.get("when")) variant.when = read_conditions(*when);
  if (const auto clauses = reader.get("selectAbove")) variant.select_above = read_conditions(*clauses);
  if (const auto clauses = reader.get("demoteWhen")) variant.demote_when = read_conditions(*clauses);
  reader.ignore("supersededBy");
  variant.requirements = read_all_requirements(reader);
  if (const auto tunables = reader.get("tunables")) variant.tunables = read_tunables(*tunables);
  if (const auto derive = reader.get("derive")) variant.derive = read_formulas(*derive);
  FormulaMap constants = model.constants;
  if (const auto own = reader.get("constants")) constants = layered(model.constants, read_formulas(*own));
  if (const auto list = reader.get("intermediates"))
    variant.intermediates = read_intermediates(*list, model, true);
  const auto bindings = reader.get("bindings");
  const Levels levels{model, variant, constants, sets, bindings};
  if (const auto passes = reader.need("passes"))
    variant.passes = read_pass_items(
        *passes, [&](const Node& pass_node, Pass& pass) { read_pass(pass_node, levels, pass); });
  reader.finish();
  summarize(variant);
  return variant;
}

// Replaces `{name}` textually; names without a value stay.
json::Value replaced(const json::Value& value, const std::map<std::string, std::string>& texts,
                     std::size_t& bytes_left, const Node& family) {
  const auto spend = [&](std::size_t bytes) {
    if (bytes > bytes_left)
      throw error_at(ErrorKind::limit,
                     fmt::format("The expanded families exceed the budget for a manifest ({} bytes)",
                                 family.source().budgets.json_bytes),
                     family.origin(), family.source().document.text, family.value().span);
    bytes_left -= bytes;
  };
  const auto substitute = [&](std::string text) {
    for (const auto& [name, with] : texts) {
      const std::string placeholder = "{" + name + "}";
      for (std::size_t at = text.find(placeholder); at != std::string::npos;
           at = text.find(placeholder, at + with.size())) {
        text.replace(at, placeholder.size(), with);
        spend(with.size());
      }
    }
    spend(text.size() + 16);
    return text;
  };
  json::Value result = value;
  if (value.is_string()) {
    result = json::Value::make(substitute(value.string()));
  } else if (value.is_array()) {
    std::vector<json::Value> items;
    for (const json::Value& item : value.items()) items.push_back(replaced(item, texts, bytes_left, family));
    result = json::Value::make(std::move(items));
  } else if (value.is_object()) {
    std::vector<json::Member> members;
    for (const json::Member& member : value.members())
      members.push_back(
          {substitute(member.key), replaced(member.value, texts, bytes_left, family), member.key_span});
    result = json::Value::make(std::move(members));
  }
  spend(16);
  result.span = value.span;
  return result;
}

struct TextAxis {
  std::string name;
  std::vector<std::string> values;
};

std::vector<TextAxis> read_axes(const Node& node) {
  std::vector<TextAxis> axes;
  for (const NamedNode& member : members_of(node)) {
    TextAxis axis{std::string(member.name), {}};
    for (const Node& item : items_of(member.node)) {
      const json::Value& value = item.value();
      if (value.is_string()) {
        axis.values.push_back(value.string());
      } else if (value.is_number()) {
        axis.values.push_back(javascript_number_text(value.number()));
      } else if (value.is_boolean()) {
        axis.values.emplace_back(value.boolean() ? "true" : "false");
      } else {
        item.fault(fmt::format("A value of axis ({}) is {}, but a scalar is expected", member.name,
                               describe(value)));
      }
    }
    axes.push_back(std::move(axis));
  }
  return axes;
}

void expand_family(const Node& family, std::size_t& bytes_left, std::vector<VariantText>& result) {
  ObjectReader reader(family, "a family of variants");
  reader.string("description");
  const auto axes_node = reader.need("axes");
  const auto templates = reader.need("variants");
  reader.finish();
  if (!axes_node || !templates) return;
  const std::vector<TextAxis> axes = read_axes(*axes_node);
  if (std::any_of(axes.begin(), axes.end(), [](const TextAxis& axis) { return axis.values.empty(); })) return;
  const auto members = items_of(*templates);
  std::vector<std::size_t> cell(axes.size(), 0);
  while (true) {
    std::map<std::string, std::string> texts;
    std::string label;
    for (std::size_t i = 0; i < axes.size(); ++i) {
      texts[axes[i].name] = axes[i].values[cell[i]];
      label += fmt::format("{}{}={}", i == 0 ? "" : ", ", axes[i].name, axes[i].values[cell[i]]);
    }
    for (const Node& member : members)
      result.push_back({nullptr, replaced(member.value(), texts, bytes_left, family), member.pointer(),
                        fmt::format("While expanding {} of {}", label, family.pointer())});
    std::size_t axis = axes.size();
    while (axis > 0 && ++cell[axis - 1] == axes[axis - 1].values.size()) cell[--axis] = 0;
    if (axis == 0 || members.empty()) return;
  }
}

}  // namespace

void read_variants(const std::optional<Node>& variants, const std::optional<Node>& families,
                   const std::optional<Node>& binding_sets, Model& model) {
  std::vector<VariantText> texts;
  if (variants) {
    const auto items = items_of(*variants);
    if (is_empty_list(*variants) && !families) variants->fault("The list variants is empty");
    for (const Node& item : items) texts.push_back({&item.value(), {}, item.pointer(), {}});
  }
  if (families) {
    std::size_t bytes_left = families->source().budgets.json_bytes;
    if (families->value().is_array()) {
      for (const Node& family : items_of(*families)) expand_family(family, bytes_left, texts);
    } else {
      expand_family(*families, bytes_left, texts);
    }
  }
  if (texts.empty()) return;
  Source& source = (variants ? *variants : *families).source();
  append_variants(texts, source, model, [&](const Node& variant, std::size_t index) {
    return read_variant(variant, index, binding_sets, model);
  });
}

}  // namespace kernelpack::package::spec_1_0
