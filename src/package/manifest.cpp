#include "package/manifest.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "package/bindings.hpp"
#include "package/contract_section.hpp"
#include "package/requirements.hpp"
#include "package/suggest.hpp"
#include "package/variants.hpp"

namespace kernelpack::package {
namespace {

bool is_lower_word(std::string_view part) {
  return is_name(part) && part.front() >= 'a' && part.front() <= 'z' &&
         std::all_of(part.begin(), part.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
}

// First part [a-z][a-z0-9]*, further parts [A-Za-z][A-Za-z0-9_]*.
bool is_domain(std::string_view text) {
  bool first = true;
  while (true) {
    const std::size_t dot = text.find('.');
    const std::string_view part = text.substr(0, dot);
    if (first ? !is_lower_word(part) : !is_name(part) || part.front() == '_') return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
    first = false;
  }
}

}  // namespace

void check_all_keys(const Node& node) {
  const json::Value& value = node.value();
  if (value.is_array()) {
    for (std::size_t i = 0; i < value.items().size(); ++i)
      if (value.items()[i].is_object() || value.items()[i].is_array())
        check_all_keys(node.child(i, value.items()[i]));
  }
  if (!value.is_object()) return;
  for (const json::Member& member : value.members()) {
    if (is_prototype_name(member.key))
      node.child(member.key, member.value)
          .fault_at(
              member.key_span,
              fmt::format("The key ({}) is the name of a member of every JavaScript object", member.key));
    if (member.key == "$comment" && !member.value.is_string())
      node.child(member.key, member.value)
          .fault(
              fmt::format("The value of $comment is {}, but a string is expected", describe(member.value)));
    if (member.value.is_object() || member.value.is_array())
      check_all_keys(node.child(member.key, member.value));
  }
}

void read_identity(ObjectReader& reader, Model& model) {
  model.domain = "ai.onnx";
  if (const auto node = reader.get("domain")) {
    if (const auto text = read_string(*node)) {
      model.domain = *text;
      if (!is_domain(*text))
        node->fault(fmt::format(
            "The domain ({}) does not consist of names joined by dots, the first in lower case", *text));
    }
  }
  if (const auto node = reader.need("name")) model.name = read_nonempty_string(*node).value_or("");
  model.op_id = model.domain + "." + model.name;
  if (const auto node = reader.get("sinceVersion")) model.since_version = read_number(*node);
  model.description = reader.string("description");
}

std::string read_variant_id(ObjectReader& reader, std::size_t index) {
  std::string id = fmt::format("variant_{}", index);
  const auto node = reader.get("id");
  if (!node) return id;
  const auto text = read_string(*node);
  if (!text) return id;
  if (is_id(*text)) return *text;
  node->fault(
      fmt::format("The id of a variant ({}) is not an id: letters, digits and _ only, no _ first", *text));
  return id;
}

namespace {

/// Reports variants that share an id.
void check_variant_ids(const std::vector<Node>& nodes, const std::vector<Variant>& variants, Source& source) {
  std::map<std::string_view, std::size_t> seen;
  for (std::size_t i = 0; i < variants.size() && !source.faults.full(); ++i) {
    const auto [earlier, fresh] = seen.emplace(variants[i].id, i);
    if (fresh) continue;
    const json::Value* id = nodes[i].value().find("id");
    (id == nullptr ? nodes[i] : nodes[i].child("id", *id))
        .fault(fmt::format("The id of a variant ({}) occurs twice, first at {}", variants[i].id,
                           nodes[earlier->second].pointer()));
  }
}

/// Resolves `supersededBy` of each variant.
void resolve_superseded(const std::vector<Node>& nodes, const std::vector<VariantText>& texts, Model& model) {
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < model.variants.size(); ++i) places.emplace(model.variants[i].id, i);
  for (std::size_t index = 0; index < nodes.size(); ++index) {
    const json::Value* list = nodes[index].value().find("supersededBy");
    if (list == nullptr) continue;
    const Node node = nodes[index].child("supersededBy", *list);
    node.source().note = texts[index].note;
    Variant& variant = model.variants[index];
    const auto items = items_of(node);
    if (is_empty_list(node)) node.fault("The list supersededBy is empty");
    for (const Node& item : items) {
      const auto id = read_string(item);
      if (!id) continue;
      const auto found = places.find(*id);
      if (found == places.end()) {
        std::vector<std::string> ids;
        for (const Variant& known : model.variants) ids.push_back(known.id);
        item.fault(fmt::format("The variant ({}) named in supersededBy does not exist{}", *id,
                               suggestion(*id, ids)));
        continue;
      }
      const std::size_t other = found->second;
      const double priority = model.variants[other].priority;
      if (other == index) {
        item.fault(fmt::format("The variant ({}) names itself in supersededBy", *id));
      } else if (priority < variant.priority || (priority == variant.priority && other > index)) {
        item.fault(fmt::format("The variant ({}) named in supersededBy does not rank above variant ({})", *id,
                               variant.id));
      } else {
        variant.superseded_by.push_back(other);
      }
    }
    node.source().note.clear();
  }
}

}  // namespace

void append_variants(const std::vector<VariantText>& texts, Source& source, Model& model,
                     const std::function<Variant(const Node&, std::size_t index)>& read) {
  std::vector<Node> nodes;
  nodes.reserve(texts.size());
  for (const VariantText& text : texts) {
    if (source.faults.full()) return;
    nodes.emplace_back(source, text.value(), text.pointer);
    source.note = text.note;
    model.variants.push_back(read(nodes.back(), model.variants.size()));
    source.note.clear();
  }
  check_variant_ids(nodes, model.variants, source);
  resolve_superseded(nodes, texts, model);
}

void order_variants(Model& model) {
  model.trial_order.resize(model.variants.size());
  std::iota(model.trial_order.begin(), model.trial_order.end(), std::size_t{0});
  std::stable_sort(model.trial_order.begin(), model.trial_order.end(), [&](std::size_t a, std::size_t b) {
    const Variant& left = model.variants[a];
    const Variant& right = model.variants[b];
    if (left.is_default != right.is_default) return left.is_default;
    return left.priority > right.priority;
  });
}

void read_manifest_2(const Node& root, Model& model) {
  check_all_keys(root);
  ObjectReader reader(root, "the manifest");
  if (!reader.is_object()) return;
  reader.string("$schema");
  reader.ignore("onnx");
  reader.ignore("conformance");
  read_identity(reader, model);

  const auto inputs = reader.need("inputs");
  const auto outputs = reader.need("outputs");
  if (const auto types = reader.get("typeConstraints")) model.types = read_types(*types);
  if (inputs) read_ports(*inputs, Side::input, model);
  if (outputs) {
    read_ports(*outputs, Side::output, model);
    join_inout(*outputs, model);
  }
  if (const auto args = reader.get("args")) read_arguments(*args, model);
  const auto attributes = reader.get("attributes");
  read_attributes(attributes, reader.get("attributeConstraints"), model);
  if (const auto tunables = reader.get("tunables")) model.tunables = read_tunables(*tunables);
  if (const auto derive = reader.get("derive")) model.derive = read_derive(*derive, model);
  if (const auto when = reader.get("when")) model.when = read_clauses(*when);
  if (const auto own = reader.get("requires")) model.requirements = read_requirements(*own);
  Handles handles;
  if (const auto bindings = reader.get("bindings")) handles = read_handles(*bindings, model);
  if (const auto variants = reader.get("variants")) {
    read_variants(*variants, handles, model);
  } else {
    model.contract_only = true;
  }

  reader.dropped("schemaVersion", "the version stands in metadata.json");
  reader.dropped("constants", "use derive");
  reader.dropped("bindingSets", "use bindings");
  reader.dropped("bindingEntries", "use bindings");
  reader.dropped("variantFamilies", "a family is a member of variants");
  reader.dropped("attributeNames", "an attribute is a member of attributes");
  reader.dropped("attributeDescriptions", "use the description of the attribute");
  reader.dropped("tunableDescriptions", "use the description of the tunable");
  reader.finish();
  order_variants(model);
}

}  // namespace kernelpack::package
