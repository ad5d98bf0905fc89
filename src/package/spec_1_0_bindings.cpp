#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "package/bindings.hpp"
#include "package/spec_1_0.hpp"
#include "package/suggest.hpp"

namespace kernelpack::package::spec_1_0 {
namespace {

const Intermediate* find_scratch(const Variant& variant, std::string_view id) {
  for (const Intermediate& entry : variant.intermediates)
    if (entry.id == id) return &entry;
  return nullptr;
}

std::optional<BufferKind> read_buffer(ObjectReader& reader) {
  const auto node = reader.need("buffer");
  if (!node) return std::nullopt;
  ObjectReader inner(*node, "the buffer of a binding");
  const auto type = inner.need("type");
  inner.finish();
  return type ? read_buffer_kind(*type) : std::nullopt;
}

// Says what a storage binding binds: scratch by name, then semantic; a tensor by arg, then name.
bool bind_target(const Node& node, const std::string& arg, const std::string& semantic, const Model& model,
                 const Variant& variant, Binding& binding) {
  const Intermediate* scratch = nullptr;
  if (arg.empty() || find_tensor(model, arg) == nullptr) {
    for (const std::string& id : {arg, binding.name, semantic})
      if (scratch == nullptr && !id.empty()) scratch = find_scratch(variant, id);
  }
  if (scratch != nullptr) {
    binding.resource = PlannedBinding::Resource::scratch;
    binding.target = scratch->id;
    return true;
  }
  binding.target = arg.empty() ? binding.name : arg;
  if (find_tensor(model, binding.target) != nullptr) return true;
  std::vector<std::string> names;
  for (const auto* side : {&model.inputs, &model.outputs})
    for (const Port& port : *side) names.push_back(port.name);
  for (const Intermediate& entry : variant.intermediates) names.push_back(entry.id);
  node.fault(fmt::format("The binding ({}) names neither a tensor nor an intermediate{}", binding.target,
                         suggestion(binding.target, names)));
  return false;
}

std::optional<Binding> read_binding(const Node& node, std::uint32_t position, const Model& model,
                                    const Variant& variant) {
  ObjectReader reader(node, "a binding");
  if (!reader.is_object()) return std::nullopt;
  node.spend(1);
  Binding binding;
  binding.pointer = node.pointer();
  binding.index = position;
  if (const auto name = reader.need("name")) binding.name = read_name(*name).value_or("");
  const std::string arg = reader.string("arg");
  const std::string semantic = reader.string("semantic");
  reader.string("role");
  const auto buffer = read_buffer(reader);
  const auto type = reader.get("elementType");
  const auto length = reader.get("length");
  const auto fields = reader.get("struct");
  if (const auto index = reader.get("binding"))
    binding.index = static_cast<std::uint32_t>(read_integer(*index, 0, 999).value_or(0));
  if (const auto group = reader.get("group"))
    binding.group = static_cast<std::uint32_t>(read_integer(*group, 0, 3).value_or(0));
  if (const auto optional = reader.get("optional"))
    if (read_boolean(*optional).value_or(false))
      optional->fault("A binding is optional, which no package can rely on");
  reader.finish();
  if (binding.name.empty() || !buffer) return std::nullopt;
  binding.buffer = *buffer;

  if (*buffer == BufferKind::uniform) {
    binding.resource = PlannedBinding::Resource::uniform;
    if (!fields) {
      node.fault("The required key (struct) is missing in a uniform binding");
      return std::nullopt;
    }
    ObjectReader inner(*fields, "the struct of a uniform");
    binding.struct_name = "Params";
    if (const auto name = inner.get("name")) binding.struct_name = read_name(*name).value_or("Params");
    if (const auto list = inner.need("fields")) binding.fields = read_fields(*list, true);
    inner.finish();
    node.spend(binding.fields.size());
    return binding;
  }
  if (fields) fields->fault("The key (struct) is allowed in a uniform binding only");
  if (type) {
    if (auto read = read_element_type(*type)) binding.element_type = std::move(*read);
  } else {
    node.fault("The required key (elementType) is missing in a storage binding");
  }
  if (length) binding.length = read_length(*length);
  if (!bind_target(node, arg, semantic, model, variant, binding)) return std::nullopt;
  return binding;
}

}  // namespace

std::vector<Binding> read_bindings(const Node& node, const std::optional<Node>& sets, const Model& model,
                                   const Variant& variant) {
  std::vector<Binding> bindings;
  Node list = node;
  if (node.value().is_string()) {
    const std::string& name = node.value().string();
    const json::Value* found = sets ? sets->value().find(name) : nullptr;
    if (found == nullptr) {
      std::vector<std::string> names;
      for (const BindingHandle& handle : model.handles) names.push_back(handle.name);
      node.fault(fmt::format("The binding set ({}) does not exist{}", name, suggestion(name, names)));
      return bindings;
    }
    list = sets->child(name, *found);
  }
  const auto items = items_of(list, kMostSearched);
  if (is_empty_list(list)) list.fault("The list bindings of a pass is empty");
  std::set<std::pair<std::uint32_t, std::uint32_t>> places;
  std::uint32_t position = 0;
  for (const Node& item : items) {
    if (auto binding = read_binding(item, position, model, variant)) {
      if (!places.emplace(binding->group, binding->index).second)
        item.fault(fmt::format("The place of a binding (group {}, index {}) is taken by another one",
                               binding->group, binding->index));
      bindings.push_back(std::move(*binding));
    }
    ++position;
  }
  check_bindings(list, bindings, model);
  return bindings;
}

void read_uniforms(const Node& node, std::vector<Binding>& bindings) {
  for (const NamedNode& member : members_of(node)) {
    const auto binding = std::find_if(bindings.begin(), bindings.end(), [&](const Binding& entry) {
      return entry.name == member.name && entry.buffer == BufferKind::uniform;
    });
    if (binding == bindings.end()) {
      member.node.fault_at(member.name_span,
                           fmt::format("The uniform binding ({}) does not exist in the pass", member.name));
      continue;
    }
    for (const NamedNode& value : members_of(member.node)) {
      const auto field = std::find_if(binding->fields.begin(), binding->fields.end(),
                                      [&](const Field& entry) { return entry.name == value.name; });
      if (field == binding->fields.end()) {
        value.node.fault_at(value.name_span, fmt::format("The uniform binding ({}) has no field ({})",
                                                         member.name, value.name));
      } else {
        field->value = read_expression_or_number(value.node);
      }
    }
  }
}

}  // namespace kernelpack::package::spec_1_0
