#include "package/variants.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "package/contract_section.hpp"
#include "package/families.hpp"
#include "package/manifest.hpp"
#include "package/passes.hpp"
#include "package/requirements.hpp"

namespace kernelpack::package {
namespace {

void read_pass(const Node& node, const Handles& handles, const Model& model, const Variant& variant,
               Pass& pass) {
  ObjectReader reader(node, "a pass");
  if (!reader.is_object()) return;
  reader.ignore("id");
  pass.name = reader.string("name", fmt::format("{}.{}.{}", model.op_id, variant.id, pass.id));
  if (const auto shader = reader.need("shader")) pass.shader = read_shader(*shader);
  if (const auto derive = reader.get("derive")) pass.derive = read_derive(*derive, model);
  if (const auto bindings = reader.need("bindings"))
    pass.bindings = read_bindings(*bindings, handles, model, variant);
  if (const auto dispatch = reader.need("dispatch")) pass.dispatch = read_dispatch(*dispatch, false);
  if (const auto aliases = reader.get("viewAlias")) pass.view_aliases = read_view_aliases(*aliases, pass);
  read_pass_notes(reader, pass);
  reader.dropped("source", "use shader and derive");
  reader.dropped("constants", "use derive");
  reader.finish();
}

Variant read_variant(const Node& node, std::size_t index, const Handles& handles, const Model& model) {
  Variant variant;
  variant.pointer = node.pointer();
  node.spend(model.when.size() + model.requirements.matrix_configs.size());
  variant.when = model.when;
  ObjectReader reader(node, "a variant");
  variant.id = read_variant_id(reader, index);
  variant.description = reader.string("description");
  if (const auto priority = reader.get("priority")) variant.priority = read_number(*priority).value_or(0);
  if (const auto when = reader.get("when"))
    for (Formula& clause : read_clauses(*when)) variant.when.push_back(std::move(clause));
  if (const auto clauses = reader.get("demoteWhen")) variant.demote_when = read_clauses(*clauses);
  reader.ignore("supersededBy");
  variant.requirements = model.requirements;
  if (const auto own = reader.get("requires"))
    variant.requirements = merge(model.requirements, read_requirements(*own), *own);
  if (const auto tunables = reader.get("tunables")) variant.tunables = read_tunables(*tunables);
  if (const auto derive = reader.get("derive")) variant.derive = read_derive(*derive, model);
  if (const auto list = reader.get("intermediates"))
    variant.intermediates = read_intermediates(*list, model, false);
  if (const auto passes = reader.need("passes")) {
    variant.passes = read_pass_items(*passes, [&](const Node& pass_node, Pass& pass) {
      read_pass(pass_node, handles, model, variant, pass);
    });
  }
  reader.dropped("bindings", "bindings belong to the top level or to a pass");
  reader.dropped("constants", "use derive");
  reader.finish();
  summarize(variant);
  return variant;
}

}  // namespace

void read_variants(const Node& node, const Handles& handles, Model& model) {
  if (is_empty_list(node)) node.fault("The list variants is empty");
  const std::vector<VariantText> texts = expand_variants(node);
  append_variants(texts, node.source(), model, [&](const Node& variant, std::size_t index) {
    return read_variant(variant, index, handles, model);
  });
}

}  // namespace kernelpack::package
