#include "package/contract_section.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "expr/scope.hpp"
#include "package/attribute_value.hpp"
#include "package/suggest.hpp"

namespace kernelpack::package {
namespace {

constexpr std::array<DType, 9> kLogical = {DType::float16, DType::float32, DType::int8,
                                           DType::int16,   DType::int32,   DType::int64,
                                           DType::uint8,   DType::uint32,  DType::bool_};
// Dtypes of other systems: refused, lest a misunderstanding pass for an unconstrained type variable.
constexpr std::array<std::string_view, 8> kForeign = {"float64", "uint16", "uint64",    "bfloat16",
                                                      "double",  "string", "complex64", "complex128"};

std::vector<std::string> logical_names() {
  std::vector<std::string> names;
  for (const DType dtype : kLogical) names.emplace_back(kernelpack::to_string(dtype));
  return names;
}

bool is_foreign(std::string_view name) {
  return std::find(kForeign.begin(), kForeign.end(), name) != kForeign.end();
}

void read_dtype(const Node& node, const Model& model, Port& port) {
  const auto text = read_nonempty_string(node);
  if (!text) return;
  if (is_foreign(*text)) {
    node.fault(
        fmt::format("The dtype ({}) is not one of the format{}", *text, suggestion("", logical_names())));
  } else if (!is_name(*text) || is_prototype_name(*text)) {
    node.fault(fmt::format("The dtype ({}) is neither a dtype nor the name of a type variable", *text));
  } else if (!logical_dtype(*text) && model.type(*text) == nullptr && nearest(*text, logical_names())) {
    // A type variable without constraint is allowed, but one that reads like a dtype is a misspelling.
    node.fault(
        fmt::format("The dtype ({}) is unknown; did you mean ({})", *text, *nearest(*text, logical_names())));
  } else {
    port.dtype = *text;
    port.concrete = logical_dtype(*text);
  }
}

void read_shape(const Node& node, Port& port) {
  if (node.value().is_string()) {
    port.shape = read_expression(node);
    return;
  }
  if (!node.value().is_array()) {
    node.fault(fmt::format("The value of shape is {}, but an expression or a list is expected",
                           describe(node.value())));
    return;
  }
  Formula::List dims;
  for (const Node& item : items_of(node)) {
    if (item.value().is_number()) {
      if (!read_integer(item, 0, std::int64_t{1} << 53)) return;
    }
    auto dim = read_expression_or_number(item);
    if (!dim) return;
    dims.push_back(std::move(*dim));
  }
  port.shape = Formula(std::move(dims));
}

// The logical dtypes that a port can have; nothing if it names no dtype or an unconstrained variable.
std::optional<std::vector<DType>> possible_dtypes(const Model& model, const Port& port) {
  if (port.concrete) return std::vector<DType>{*port.concrete};
  if (const TypeConstraint* type = model.type(port.dtype)) return type->dtypes;
  return std::nullopt;
}

}  // namespace

std::optional<DType> logical_dtype(std::string_view name) noexcept {
  const auto dtype = parse_dtype(name);
  if (dtype == DType::float64) return std::nullopt;
  return dtype;
}

std::optional<DType> read_logical_dtype(const Node& node) {
  const auto text = read_string(node);
  if (!text) return std::nullopt;
  const auto dtype = logical_dtype(*text);
  if (!dtype)
    node.fault(fmt::format("The dtype ({}) is unknown{}", *text, suggestion(*text, logical_names())));
  return dtype;
}

std::optional<DType> read_storage_dtype(const Node& node) {
  const auto text = read_string(node);
  if (!text) return std::nullopt;
  const auto dtype = logical_dtype(*text);
  if (!dtype)
    node.fault(fmt::format("The storage dtype ({}) is unknown{}", *text, suggestion(*text, logical_names())));
  return dtype;
}

std::vector<TypeConstraint> read_types(const Node& node) {
  std::vector<TypeConstraint> types;
  for (const NamedNode& member : members_of(node, kMostSearched)) {
    if (!check_name(member, "a type variable")) continue;
    if (logical_dtype(member.name) || is_foreign(member.name)) {
      member.node.fault_at(member.name_span,
                           fmt::format("The name of a type variable ({}) is that of a dtype", member.name));
      continue;
    }
    TypeConstraint type{std::string(member.name), {}, member.node.pointer()};
    const auto items = items_of(member.node, kMostSearched);
    if (is_empty_list(member.node))
      member.node.fault(fmt::format("The type variable ({}) allows no dtype", member.name));
    for (const Node& item : items) {
      const auto dtype = read_logical_dtype(item);
      if (!dtype) continue;
      if (std::find(type.dtypes.begin(), type.dtypes.end(), *dtype) != type.dtypes.end()) {
        item.fault(fmt::format("The dtype ({}) occurs twice for type variable ({})",
                               kernelpack::to_string(*dtype), member.name));
      } else {
        type.dtypes.push_back(*dtype);
      }
    }
    types.push_back(std::move(type));
  }
  return types;
}

void read_port_keys(ObjectReader& reader, Side side, const Model& model, Port& port) {
  port.pointer = reader.node().pointer();
  port.description = reader.string("description");
  if (const auto node = reader.get("dtype")) read_dtype(*node, model, port);
  if (const auto node = reader.get("rank")) {
    if (node->value().is_number()) {
      if (read_integer(*node, 0, 1 << 20)) port.rank = read_formula(*node);
    } else {
      port.rank = read_expression_or_number(*node);
    }
  }
  port.optional = reader.boolean("optional", false);
  if (const auto node = reader.get("shape")) read_shape(*node, port);
  if (const auto node = reader.get("storage")) port.storage = read_storage_dtype(*node);
  if (const auto node = reader.get("narrowing")) {
    const auto text = read_string(*node);
    if (text == "checked") {
      port.narrowing = Narrowing::checked;
    } else if (text == "saturating") {
      port.narrowing = Narrowing::saturating;
    } else if (text) {
      node->fault(fmt::format("The narrowing ({}) is neither checked nor saturating", *text));
    }
  }
  if (const auto node = reader.get("layout")) {
    const auto text = read_string(*node);
    if (text == "packed") {
      port.packed = true;
      if (side == Side::output) node->fault("The key (layout) is allowed for inputs only");
    } else if (text) {
      node->fault(fmt::format("The layout ({}) is not packed, the only one there is", *text));
    }
  }
}

void check_storage(const Node& node, Side side, const Model& model, const Port& port) {
  const auto at = [&](std::string_view key) {
    const json::Value* value = node.value().find(key);
    return value == nullptr ? node : node.child(key, *value);
  };
  const auto dtypes = possible_dtypes(model, port);
  const bool int64_alone = dtypes && dtypes->size() == 1 && dtypes->front() == DType::int64;
  bool projected = false;
  if (port.storage) {
    if (!dtypes) {
      at("storage").fault("The key (storage) needs a dtype that is concrete or a constrained type variable");
    } else if (int64_alone) {
      projected = port.storage == DType::int32 || port.storage == DType::uint32;
      if (!projected && port.storage != DType::int64)
        at("storage").fault(
            fmt::format("The storage ({}) of an int64 tensor is none of int32, uint32 and int64",
                        kernelpack::to_string(*port.storage)));
    } else if (dtypes->size() != 1 || dtypes->front() != *port.storage) {
      at("storage").fault(fmt::format("The storage ({}) is not the single dtype of the tensor ({})",
                                      kernelpack::to_string(*port.storage), port.dtype));
    }
  }
  if (port.narrowing && (side == Side::output || !projected)) {
    at("narrowing")
        .fault("The key (narrowing) is allowed only for an input whose int64 is stored as int32 or uint32");
  }
  // Older manifests do not say how they narrow.
  if (model.generation == Generation::two && projected && side == Side::input && !port.narrowing &&
      node.value().find("narrowing") == nullptr)
    node.fault(fmt::format("The required key (narrowing) is missing in an input whose int64 is stored as {}",
                           kernelpack::to_string(*port.storage)));
  if (port.packed && side == Side::input &&
      !(dtypes && dtypes->size() == 1 && dtypes->front() == DType::uint8))
    at("layout").fault(
        fmt::format("The layout (packed) is allowed for uint8 alone, but the dtype is ({})", port.dtype));
}

void read_ports(const Node& node, Side side, Model& model) {
  auto& ports = side == Side::input ? model.inputs : model.outputs;
  for (const NamedNode& member : members_of(node, kMostSearched)) {
    const bool named = check_name(member, side == Side::input ? "an input" : "an output");
    ObjectReader reader(member.node, side == Side::input ? "an input" : "an output");
    Port port;
    port.name = std::string(member.name);
    port.scope_names = {port.name};
    if (const auto onnx = reader.get("onnx")) port.onnx = read_nonempty_string(*onnx).value_or("");
    read_port_keys(reader, side, model, port);
    if (reader.has("role")) reader.dropped("role", "a tensor is named by its key");
    reader.finish();
    if (!reader.is_object() || !named) continue;
    check_storage(member.node, side, model, port);
    ports.push_back(std::move(port));
  }
}

void join_inout(const Node& outputs, Model& model) {
  for (Port& output : model.outputs) {
    const auto input = std::find_if(model.inputs.begin(), model.inputs.end(),
                                    [&](const Port& port) { return port.name == output.name; });
    if (input == model.inputs.end()) continue;
    input->inout = output.inout = true;
    const json::Value* value = outputs.value().find(output.name);
    const Node node = value == nullptr ? outputs : outputs.child(output.name, *value);
    if (input->dtype != output.dtype) {
      node.fault(fmt::format(
          "The dtype of tensor ({}) as an output ({}) differs from its dtype as an input ({})", output.name,
          output.dtype.empty() ? "none" : output.dtype, input->dtype.empty() ? "none" : input->dtype));
    } else if (input->storage != output.storage) {
      const auto text = [](const std::optional<DType>& dtype) {
        return dtype ? kernelpack::to_string(*dtype) : "none";
      };
      node.fault(fmt::format(
          "The storage of tensor ({}) as an output ({}) differs from its storage as an input ({})",
          output.name, text(output.storage), text(input->storage)));
    }
  }
}

std::optional<Argument> read_scalar(ObjectReader& reader, std::string_view name) {
  Argument argument;
  argument.name = std::string(name);
  argument.pointer = reader.node().pointer();
  argument.description = reader.string("description");
  argument.required = reader.boolean("required", true);
  bool known = false;
  if (const auto node = reader.need("kind")) {
    const std::vector<std::string> kinds = {"u32", "i32", "f32", "bool", "string"};
    const auto text = read_string(*node);
    const auto found = text ? std::find(kinds.begin(), kinds.end(), *text) : kinds.end();
    if (found != kinds.end()) {
      argument.kind = static_cast<ArgumentKind>(found - kinds.begin());
      known = true;
    } else if (text) {
      node->fault(fmt::format("The kind of scalar ({}) is unknown{}", *text, suggestion(*text, kinds)));
    }
  }
  if (const auto node = reader.get("oneOf")) {
    const auto items = items_of(*node);
    if (known && argument.kind != ArgumentKind::string)
      node->fault(fmt::format("The key (oneOf) is allowed for kind string only, but the kind is ({})",
                              to_string(argument.kind)));
    if (is_empty_list(*node)) node->fault("The list oneOf is empty");
    for (const Node& item : items)
      if (auto text = read_string(item)) argument.one_of.push_back(std::move(*text));
  }
  if (!known) return std::nullopt;
  return argument;
}

void read_arguments(const Node& node, Model& model) {
  for (const NamedNode& member : members_of(node, kMostSearched)) {
    if (!check_name(member, "a scalar")) continue;
    ObjectReader reader(member.node, "a scalar of args");
    std::string onnx;
    if (const auto found = reader.get("onnx")) onnx = read_nonempty_string(*found).value_or("");
    auto argument = read_scalar(reader, member.name);
    reader.dropped("semantic", "a tensor is a member of inputs or outputs");
    reader.dropped("role", "a tensor is a member of inputs or outputs");
    reader.finish();
    if (model.input(member.name) != nullptr || model.output(member.name) != nullptr)
      member.node.fault_at(member.name_span,
                           fmt::format("The name of a scalar ({}) is that of a tensor", member.name));
    if (!argument) continue;
    argument->onnx = std::move(onnx);
    model.arguments.push_back(std::move(*argument));
  }
}

void read_constraint(const Node& node, Attribute& attribute) {
  ObjectReader reader(node, "an attribute constraint");
  attribute.required = reader.boolean("required", false);
  if (attribute.required && attribute.default_value)
    node.fault(fmt::format("The attribute ({}) is required although it has a default ({})", attribute.name,
                           to_string(*attribute.default_value)));
  if (const auto list = reader.get("values")) {
    attribute.values.emplace();
    for (const Node& item : items_of(*list, kMostSearched)) {
      if (item.value().is_array() || item.value().is_object()) {
        item.fault(fmt::format("An allowed value of attribute ({}) is {}, but a scalar or null is expected",
                               attribute.name, describe(item.value())));
        continue;
      }
      auto value = read_attribute_value(item);
      if (!value) continue;
      const bool repeated =
          std::any_of(attribute.values->begin(), attribute.values->end(),
                      [&](const AttributeValue& earlier) { return same_value(earlier, *value); });
      if (repeated)
        item.fault(fmt::format("The allowed value ({}) of attribute ({}) occurs twice", to_string(*value),
                               attribute.name));
      else
        attribute.values->push_back(std::move(*value));
    }
    const auto& values = *attribute.values;
    if (is_empty_list(*list))
      list->fault(fmt::format("The attribute ({}) allows no value", attribute.name));
    else if (attribute.default_value &&
             std::none_of(values.begin(), values.end(), [&](const AttributeValue& value) {
               return same_value(value, *attribute.default_value);
             }))
      node.fault(fmt::format("The default of attribute ({}) ({}) is none of its allowed values ({})",
                             attribute.name, to_string(*attribute.default_value),
                             to_string(AttributeValue(values))));
  }
  if (reader.is_object() && !reader.has("required") && !reader.has("values"))
    node.fault(
        fmt::format("The constraint of attribute ({}) has neither required nor values", attribute.name));
  reader.finish();
}

void read_attributes(const std::optional<Node>& attributes, const std::optional<Node>& constraints,
                     Model& model) {
  if (attributes) {
    for (const NamedNode& member : members_of(*attributes, kMostSearched)) {
      if (!check_name(member, "an attribute")) continue;
      if (!member.node.value().is_object()) {
        member.node.fault(fmt::format("The attribute ({}) is {}, but an object with a default is expected",
                                      member.name, describe(member.node.value())));
        continue;
      }
      ObjectReader reader(member.node, "an attribute");
      Attribute attribute;
      attribute.name = std::string(member.name);
      attribute.pointer = member.node.pointer();
      attribute.description = reader.string("description");
      if (const auto node = reader.get("default")) attribute.default_value = read_attribute_value(*node);
      reader.finish();
      model.attributes.push_back(std::move(attribute));
    }
  }
  if (!constraints) return;
  for (const NamedNode& member : members_of(*constraints)) {
    const auto found =
        std::find_if(model.attributes.begin(), model.attributes.end(),
                     [&](const Attribute& attribute) { return attribute.name == member.name; });
    if (found != model.attributes.end()) {
      read_constraint(member.node, *found);
      continue;
    }
    std::vector<std::string> names;
    for (const Attribute& attribute : model.attributes) names.push_back(attribute.name);
    if (!is_prototype_name(member.name))
      member.node.fault_at(member.name_span,
                           fmt::format("The attribute ({}) of a constraint is not declared{}", member.name,
                                       suggestion(member.name, names)));
  }
}

std::vector<Tunable> read_tunables(const Node& node) {
  std::vector<Tunable> tunables;
  for (const NamedNode& member : members_of(node, kMostSearched)) {
    if (!check_name(member, "a tunable")) continue;
    if (!member.node.value().is_object()) {
      member.node.fault(fmt::format("The tunable ({}) is {}, but an object with a default is expected",
                                    member.name, describe(member.node.value())));
      continue;
    }
    ObjectReader reader(member.node, "a tunable");
    Tunable tunable;
    tunable.name = std::string(member.name);
    tunable.pointer = member.node.pointer();
    tunable.description = reader.string("description");
    if (const auto value = reader.need("default")) {
      if (value->value().is_number() || value->value().is_string() || value->value().is_boolean()) {
        tunable.value = read_attribute_value(*value).value_or(AttributeValue());
      } else {
        value->fault(
            fmt::format("The default of tunable ({}) is {}, but a number, string or boolean is expected",
                        member.name, describe(value->value())));
      }
    }
    reader.finish();
    tunables.push_back(std::move(tunable));
  }
  return tunables;
}

FormulaMap read_derive(const Node& node, const Model& model) {
  FormulaMap derive;
  for (const NamedNode& member : members_of(node)) {
    if (!check_name(member, "a derived value")) continue;
    if (expr::is_reserved_name(member.name)) {
      member.node.fault_at(member.name_span,
                           fmt::format("The name of a derived value ({}) is reserved", member.name));
    } else if (model.type(member.name) != nullptr) {
      member.node.fault_at(
          member.name_span,
          fmt::format("The name of a derived value ({}) is that of a type variable", member.name));
    }
    derive.push_back({std::string(member.name), read_formula(member.node)});
  }
  return derive;
}

std::vector<Formula> read_clauses(const Node& node) {
  std::vector<Formula> clauses;
  const auto items = items_of(node);
  if (is_empty_list(node)) node.fault(fmt::format("The list {} is empty", subject(node.pointer())));
  for (const Node& item : items) {
    if (item.value().is_boolean()) {
      clauses.push_back(read_formula(item));
    } else if (auto clause = read_expression(item)) {
      clauses.push_back(std::move(*clause));
    }
  }
  return clauses;
}

}  // namespace kernelpack::package
