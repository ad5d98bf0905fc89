#include "package/bindings.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/dtype.hpp"
#include "base/shape.hpp"
#include "package/suggest.hpp"

namespace kernelpack::package {
namespace {

std::string read_binding_name(ObjectReader& reader, std::string_view key) {
  const auto node = reader.get(key);
  return node ? read_name(*node).value_or("") : "";
}

BindingEntry read_entry(const Node& node, std::string_view handle) {
  BindingEntry entry;
  entry.handle = std::string(handle);
  entry.pointer = node.pointer();
  ObjectReader reader(node, "a binding");
  if (!reader.is_object()) return entry;
  entry.name = read_binding_name(reader, "name");
  entry.arg = read_binding_name(reader, "arg");
  // The id of an intermediate need not be a name.
  if (const auto scratch = reader.get("scratch")) {
    entry.scratch = read_nonempty_string(*scratch).value_or("");
    if (is_prototype_name(entry.scratch)) read_name(*scratch);
  }
  if (const auto buffer = reader.get("buffer")) entry.buffer = read_buffer_kind(*buffer);
  if (const auto type = reader.get("elementType")) entry.element_type = read_element_type(*type);
  if (const auto length = reader.get("length")) entry.length = read_length(*length);
  if (const auto fields = reader.get("struct")) {
    entry.uniform = true;
    entry.fields = read_fields(*fields, false);
  }
  if (const auto name = reader.get("structName")) entry.struct_name = read_name(*name).value_or("Params");
  reader.dropped("semantic", "a binding is named by its handle, arg or scratch");
  reader.finish();

  const auto refuse = [&](std::string_view key, std::string_view owner) {
    if (const json::Value* value = node.value().find(key))
      node.child(key, *value).fault(fmt::format("The key ({}) is allowed in {} only", key, owner));
  };
  if (entry.uniform) {
    for (const std::string_view key : {"arg", "scratch", "elementType", "length"})
      refuse(key, "a storage binding");
    if (entry.buffer && entry.buffer != BufferKind::uniform)
      node.fault("A binding with a struct has a buffer other than uniform");
  } else {
    refuse("structName", "a uniform binding");
    if (entry.buffer == BufferKind::uniform)
      node.fault("The required key (struct) is missing in a uniform binding");
    if (!entry.arg.empty() && !entry.scratch.empty())
      node.fault(fmt::format("A binding names both a tensor ({}) and an intermediate ({})", entry.arg,
                             entry.scratch));
  }
  return entry;
}

std::vector<std::string> tensor_names(const Model& model) {
  std::vector<std::string> names;
  for (const Port& port : model.inputs) names.push_back(port.name);
  for (const Port& port : model.outputs)
    if (!port.inout) names.push_back(port.name);
  return names;
}

const Intermediate* find_intermediate(const Variant& variant, std::string_view id) {
  for (const Intermediate& entry : variant.intermediates)
    if (entry.id == id) return &entry;
  return nullptr;
}

std::string wgsl_name(const BindingEntry& entry) {
  for (const std::string* candidate : {&entry.name, &entry.handle, &entry.arg, &entry.scratch})
    if (!candidate->empty()) return *candidate;
  return {};
}

// Turns an entry into the binding of one pass. Faults are reported at `node`, the place in the pass.
std::optional<Binding> resolve(const Node& node, const BindingEntry& entry, const Model& model,
                               const Variant& variant) {
  node.spend(1 + entry.fields.size());
  Binding binding;
  binding.pointer = entry.pointer;
  binding.name = wgsl_name(entry);
  if (binding.name.empty()) {
    node.fault("A binding has neither name nor arg nor scratch");
    return std::nullopt;
  }
  if (!is_name(binding.name)) {
    node.fault(fmt::format(
        "The WGSL name of a binding ({}) is not a name: letters, digits and _ only, no digit first",
        binding.name));
    return std::nullopt;
  }
  if (entry.uniform) {
    binding.buffer = BufferKind::uniform;
    binding.resource = PlannedBinding::Resource::uniform;
    binding.struct_name = entry.struct_name;
    binding.fields = entry.fields;
    return binding;
  }
  binding.length = entry.length;

  const Intermediate* scratch =
      find_intermediate(variant, entry.scratch.empty() ? binding.name : entry.scratch);
  if (!entry.scratch.empty() && scratch == nullptr) {
    std::vector<std::string> ids;
    for (const Intermediate& known : variant.intermediates) ids.push_back(known.id);
    node.fault(fmt::format("The intermediate ({}) of a binding does not exist in variant ({}){}",
                           entry.scratch, variant.id, suggestion(entry.scratch, ids)));
    return std::nullopt;
  }
  if (scratch != nullptr) {
    binding.resource = PlannedBinding::Resource::scratch;
    binding.target = scratch->id;
    binding.buffer = entry.buffer.value_or(BufferKind::storage);
    binding.element_type =
        entry.element_type.value_or(TextOrName{std::string(info(scratch->dtype).wgsl), false});
    return binding;
  }

  binding.target = entry.arg.empty() ? binding.name : entry.arg;
  const Port* port = find_tensor(model, binding.target);
  if (port == nullptr) {
    const auto names = tensor_names(model);
    node.fault(fmt::format("The tensor ({}) of a binding does not exist{}", binding.target,
                           suggestion(binding.target, names)));
    return std::nullopt;
  }
  const bool read_only = model.output(port->name) == nullptr;
  binding.buffer = entry.buffer.value_or(read_only ? BufferKind::read_only_storage : BufferKind::storage);
  if (entry.element_type) {
    binding.element_type = *entry.element_type;
  } else if (auto type = default_element_type(*port)) {
    binding.element_type = std::move(*type);
  } else {
    node.fault(fmt::format(
        "The required key (elementType) is missing in a binding of tensor ({}), which has no dtype",
        port->name));
    return std::nullopt;
  }
  return binding;
}

std::optional<Binding> read_binding(const Node& node, const Handles& handles, const Model& model,
                                    const Variant& variant) {
  if (!node.value().is_string()) {
    const BindingEntry entry = read_entry(node, "");
    if (!node.value().is_object()) return std::nullopt;
    return resolve(node, entry, model, variant);
  }
  const std::string& text = node.value().string();
  if (const auto handle = handles.find(text); handle != handles.end())
    return resolve(node, handle->second, model, variant);
  BindingEntry entry;
  entry.pointer = node.pointer();
  if (find_tensor(model, text) != nullptr) {
    entry.arg = text;
  } else if (find_intermediate(variant, text) != nullptr) {
    entry.scratch = text;
  } else {
    std::vector<std::string> names;
    for (const auto& known : handles) names.push_back(known.first);
    for (std::string& name : tensor_names(model)) names.push_back(std::move(name));
    for (const Intermediate& known : variant.intermediates) names.push_back(known.id);
    node.fault(fmt::format("The binding ({}) is neither a handle nor a tensor nor an intermediate{}", text,
                           suggestion(text, names)));
    return std::nullopt;
  }
  return resolve(node, entry, model, variant);
}

std::string without_blanks(std::string_view text) {
  std::string result;
  for (const char c : text)
    if (c != ' ' && c != '\t' && c != '\n' && c != '\r') result += c;
  return result;
}

bool same_fields(const std::vector<Field>& a, const std::vector<Field>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Field& x, const Field& y) { return x.name == y.name && x.type == y.type; });
}

bool opaque_int64(const Model& model, const Port& port) {
  const TypeConstraint* type = model.type(port.dtype);
  const bool int64_alone =
      port.concrete == DType::int64 || (type != nullptr && type->dtypes == std::vector<DType>{DType::int64});
  return int64_alone && port.storage.value_or(DType::int64) == DType::int64;
}

}  // namespace

const Port* find_tensor(const Model& model, std::string_view name) noexcept {
  const Port* port = model.input(name);
  return port != nullptr ? port : model.output(name);
}

std::optional<TextOrName> default_element_type(const Port& port) {
  if (port.storage) return TextOrName{std::string(info(*port.storage).wgsl), false};
  if (port.concrete) return TextOrName{std::string(info(*port.concrete).wgsl), false};
  if (port.dtype.empty()) return std::nullopt;
  return TextOrName{port.dtype, true};
}

std::optional<BufferKind> read_buffer_kind(const Node& node) {
  const std::vector<std::string> kinds = {"read-only-storage", "storage", "uniform"};
  const auto text = read_string(node);
  if (!text) return std::nullopt;
  const auto found = std::find(kinds.begin(), kinds.end(), *text);
  if (found == kinds.end()) {
    node.fault(fmt::format("The buffer ({}) is unknown{}", *text, suggestion(*text, kinds)));
    return std::nullopt;
  }
  return static_cast<BufferKind>(found - kinds.begin());
}

std::optional<TextOrName> read_element_type(const Node& node) {
  const auto text = read_nonempty_string(node);
  if (!text) return std::nullopt;
  if (text->front() != '$') return TextOrName{*text, false};
  std::string name = text->substr(1);
  if (is_name(name)) return TextOrName{std::move(name), true};
  node.fault(fmt::format("The reference ({}) does not consist of $ and a name", *text));
  return std::nullopt;
}

std::optional<std::variant<std::uint64_t, std::string>> read_length(const Node& node) {
  if (node.value().is_string()) {
    const std::string& text = node.value().string();
    if (text.size() > 1 && text.front() == '$' && is_name(std::string_view(text).substr(1)))
      return std::variant<std::uint64_t, std::string>(text.substr(1));
    node.fault(fmt::format("The length ({}) is neither a positive integer nor $ and a name", text));
    return std::nullopt;
  }
  const auto value = read_integer(node, 1, kMaxExactInteger);
  if (!value) return std::nullopt;
  return std::variant<std::uint64_t, std::string>(static_cast<std::uint64_t>(*value));
}

std::vector<Field> read_fields(const Node& node, bool older) {
  std::vector<Field> fields;
  std::set<std::string, std::less<>> taken;
  const auto items = items_of(node, kMostSearched);
  if (is_empty_list(node)) node.fault("The list of fields of a uniform is empty");
  for (const Node& item : items) {
    ObjectReader reader(item, "a field of a uniform");
    Field field;
    bool usable = true;
    if (const auto name = reader.need("name")) {
      field.name = read_name(*name).value_or("");
      usable = !field.name.empty();
      if (usable && !taken.insert(field.name).second) {
        name->fault(fmt::format("The name of a field ({}) occurs twice", field.name));
        usable = false;
      }
    } else {
      usable = false;
    }
    if (const auto type = reader.need("type")) {
      const std::vector<std::string> types = {"u32", "i32", "f32"};
      const auto text = read_string(*type);
      const auto found = text ? std::find(types.begin(), types.end(), *text) : types.end();
      if (found != types.end()) {
        field.type = static_cast<FieldType>(found - types.begin());
      } else if (text) {
        type->fault(fmt::format("The type of a field ({}) is none of u32, i32 and f32", *text));
      }
    }
    if (const auto value = reader.get("value")) field.value = read_expression_or_number(*value);
    if (const auto value = reader.get("default")) field.default_value = read_expression_or_number(*value);
    const bool internal = reader.boolean("internal", false);
    field.required = reader.boolean("required", !internal);
    if (older) {
      reader.string("semantic");
      reader.string("description");
    }
    reader.finish();
    if (usable) fields.push_back(std::move(field));
  }
  return fields;
}

Handles read_handles(const Node& node, Model& model) {
  Handles handles;
  for (const NamedNode& member : members_of(node)) {
    if (is_prototype_name(member.name)) continue;
    if (member.name.empty()) {
      member.node.fault_at(member.name_span, "The handle of a binding is empty");
      continue;
    }
    BindingEntry entry = read_entry(member.node, member.name);
    if (!member.node.value().is_object()) continue;
    const std::string name = wgsl_name(entry);
    if (!is_name(name))
      member.node.fault(fmt::format(
          "The WGSL name of a binding ({}) is not a name: letters, digits and _ only, no digit first", name));
    if (!entry.uniform && !entry.scratch.empty() && !entry.element_type)
      member.node.fault(fmt::format(
          "The required key (elementType) is missing in a binding of intermediate ({}) at the top level",
          entry.scratch));
    if (!entry.uniform && entry.scratch.empty()) {
      const std::string& target = entry.arg.empty() ? name : entry.arg;
      const Port* port = find_tensor(model, target);
      if (port == nullptr && !entry.arg.empty()) {
        const json::Value* value = member.node.value().find("arg");
        (value == nullptr ? member.node : member.node.child("arg", *value))
            .fault(fmt::format("The tensor ({}) of a binding does not exist{}", target,
                               suggestion(target, tensor_names(model))));
      } else if (port == nullptr && (!entry.buffer || !entry.element_type)) {
        member.node.fault(
            fmt::format("The binding ({}) names no tensor, so it must state buffer and elementType", name));
      } else if (port != nullptr && port->dtype.empty() && !port->storage && !entry.element_type) {
        member.node.fault(fmt::format(
            "The required key (elementType) is missing in a binding of tensor ({}), which has no dtype",
            target));
      }
    }
    model.handles.push_back({std::string(member.name), member.node.pointer()});
    handles.emplace(member.name, std::move(entry));
  }
  return handles;
}

std::vector<Binding> read_bindings(const Node& node, const Handles& handles, const Model& model,
                                   const Variant& variant) {
  std::vector<Binding> bindings;
  const auto items = items_of(node, kMostSearched);
  if (is_empty_list(node)) node.fault("The list bindings of a pass is empty");
  std::uint32_t index = 0;
  for (const Node& item : items) {
    if (auto binding = read_binding(item, handles, model, variant)) {
      binding->index = index;
      bindings.push_back(std::move(*binding));
    }
    ++index;
  }
  check_bindings(node, bindings, model);
  return bindings;
}

void check_bindings(const Node& node, const std::vector<Binding>& bindings, const Model& model) {
  const auto at = [&](const Binding& binding) {
    const auto& items = node.value().items();
    return binding.index < items.size() ? node.child(binding.index, items[binding.index]) : node;
  };
  std::set<std::string_view> names;
  std::map<std::string_view, const Binding*> structs;
  for (const Binding& binding : bindings) {
    if (!names.insert(binding.name).second)
      at(binding).fault(fmt::format("The WGSL name of a binding ({}) occurs twice in a pass", binding.name));
    if (binding.buffer == BufferKind::uniform) {
      const auto [earlier, fresh] = structs.emplace(binding.struct_name, &binding);
      if (!fresh && !same_fields(binding.fields, earlier->second->fields))
        at(binding).fault(fmt::format(
            "The uniform struct ({}) has different fields in two bindings of a pass", binding.struct_name));
    }
    if (binding.resource != PlannedBinding::Resource::tensor || binding.element_type.is_reference) continue;
    const Port* port = find_tensor(model, binding.target);
    if (port != nullptr && opaque_int64(model, *port) &&
        without_blanks(binding.element_type.text) != "vec2<u32>")
      at(binding).fault(
          fmt::format("The element type of int64 tensor ({}) is ({}), but it is stored as int64 and must "
                      "bind as vec2<u32>",
                      binding.target, binding.element_type.text));
  }
}

}  // namespace kernelpack::package
