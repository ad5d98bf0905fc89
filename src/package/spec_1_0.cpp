#include "package/spec_1_0.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "package/attribute_value.hpp"
#include "package/contract_section.hpp"
#include "package/manifest.hpp"

namespace kernelpack::package {
namespace spec_1_0 {

FormulaMap read_formulas(const Node& node) {
  FormulaMap formulas;
  for (const NamedNode& member : members_of(node, kMostSearched))
    if (check_name(member, "a value"))
      formulas.push_back({std::string(member.name), read_formula(member.node)});
  return formulas;
}

FormulaMap layered(const FormulaMap& weaker, const FormulaMap& stronger) {
  FormulaMap result = weaker;
  for (const NamedFormula& entry : stronger) {
    const auto found = std::find_if(result.begin(), result.end(),
                                    [&](const NamedFormula& other) { return other.name == entry.name; });
    if (found == result.end()) {
      result.push_back(entry);
    } else {
      found->value = entry.value;
    }
  }
  return result;
}

void read_attributes(const std::optional<Node>& defaults, const std::optional<Node>& constraints,
                     const std::optional<Node>& descriptions, Model& model) {
  const auto find_or_add = [&](const NamedNode& member) -> Attribute& {
    for (Attribute& attribute : model.attributes)
      if (attribute.name == member.name) return attribute;
    Attribute attribute;
    attribute.name = std::string(member.name);
    attribute.pointer = member.node.pointer();
    model.attributes.push_back(std::move(attribute));
    return model.attributes.back();
  };
  if (defaults) {
    for (const NamedNode& member : members_of(*defaults, kMostSearched))
      if (check_name(member, "an attribute"))
        find_or_add(member).default_value = read_attribute_value(member.node);
  }
  if (constraints) {
    for (const NamedNode& member : members_of(*constraints, kMostSearched))
      if (check_name(member, "an attribute")) {
        Attribute& attribute = find_or_add(member);
        // A default makes `required` void here, except null, which stands for no default.
        const json::Value* required = member.node.value().find("required");
        const bool is_required = required != nullptr && required->is_boolean() && required->boolean();
        std::optional<AttributeValue> kept;
        if (is_required) kept.swap(attribute.default_value);
        read_constraint(member.node, attribute);
        if (kept && !kept->is_null()) {
          attribute.default_value = std::move(kept);
          attribute.required = false;
        }
      }
  }
  if (descriptions) {
    for (const NamedNode& member : members_of(*descriptions, kMostSearched))
      if (check_name(member, "an attribute"))
        find_or_add(member).description = read_string(member.node).value_or("");
  }
}

std::vector<Tunable> read_tunables(const Node& node) {
  std::vector<Tunable> tunables;
  for (const NamedNode& member : members_of(node, kMostSearched)) {
    if (!check_name(member, "a tunable")) continue;
    auto value = read_attribute_value(member.node);
    if (value && value->list() != nullptr)
      member.node.fault(
          fmt::format("The value of tunable ({}) is an array, but a scalar is expected", member.name));
    tunables.push_back(
        {std::string(member.name), std::move(value).value_or(AttributeValue()), {}, member.node.pointer()});
  }
  return tunables;
}

}  // namespace spec_1_0

void read_manifest_1(const Node& root, Model& model) {
  ObjectReader reader(root, "the manifest");
  if (!reader.is_object()) return;
  reader.string("$schema");
  reader.ignore("conformance");
  reader.ignore("staticShapes");
  if (const auto version = reader.get("schemaVersion")) read_integer(*version, 1, 1);
  read_identity(reader, model);

  if (const auto types = reader.get("typeConstraints")) model.types = read_types(*types);
  const auto inputs = reader.need("inputs");
  const auto outputs = reader.need("outputs");
  spec_1_0::read_ports_and_args(inputs, outputs, reader.get("args"), model);
  const auto attributes = reader.get("attributes");
  const auto constraints = reader.get("attributeConstraints");
  spec_1_0::read_attributes(attributes, constraints, reader.get("attributeDescriptions"), model);
  if (const auto tunables = reader.get("tunables")) model.tunables = spec_1_0::read_tunables(*tunables);
  if (const auto descriptions = reader.get("tunableDescriptions")) {
    for (const NamedNode& member : members_of(*descriptions, kMostSearched)) {
      const auto text = read_string(member.node);
      for (Tunable& tunable : model.tunables)
        if (tunable.name == member.name) tunable.description = text.value_or("");
    }
  }
  if (const auto constants = reader.get("constants")) model.constants = spec_1_0::read_formulas(*constants);
  if (const auto derive = reader.get("derive")) model.derive = spec_1_0::read_formulas(*derive);
  const auto sets = reader.get("bindingSets");
  if (sets)
    for (const NamedNode& member : members_of(*sets)) {
      items_of(member.node);
      model.handles.push_back({std::string(member.name), member.node.pointer()});
    }
  const auto variants = reader.get("variants");
  const auto families = reader.get("variantFamilies");
  if (!variants && !families) root.fault("The required key (variants) is missing in the manifest");
  spec_1_0::read_variants(variants, families, sets, model);
  reader.finish();
  order_variants(model);
}

}  // namespace kernelpack::package
