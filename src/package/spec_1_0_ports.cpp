#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "package/contract_section.hpp"
#include "package/spec_1_0.hpp"
#include "package/suggest.hpp"

namespace kernelpack::package::spec_1_0 {
namespace {

// A port of the lists `inputs` and `outputs`: what it says of the tensor that an arg links to it.
struct Declared {
  std::string role;
  Port port;
  std::size_t place = 0;
};

std::vector<Declared> read_declared(const std::optional<Node>& list, Side side, const Model& model) {
  std::vector<Declared> ports;
  if (!list) return ports;
  std::set<std::string, std::less<>> roles;
  for (const Node& node : items_of(*list, kMostSearched)) {
    ObjectReader reader(node, side == Side::input ? "an input" : "an output");
    Declared declared;
    declared.place = ports.size();
    if (const auto role = reader.need("role")) declared.role = read_nonempty_string(*role).value_or("");
    if (!declared.role.empty() && !roles.insert(declared.role).second)
      node.fault(fmt::format("The role of a port ({}) occurs twice", declared.role));
    read_port_keys(reader, side, model, declared.port);
    reader.finish();
    if (reader.is_object()) check_storage(node, side, model, declared.port);
    ports.push_back(std::move(declared));
  }
  return ports;
}

// A tensor of `args`, before it is linked to its ports.
struct TensorArg {
  std::string name;
  std::string semantic;
  std::string role;
  bool required = true;
  std::optional<DType> storage;
  std::string pointer;
};

std::optional<TensorArg> read_tensor(ObjectReader& reader, std::string_view name) {
  TensorArg arg;
  arg.name = std::string(name);
  arg.pointer = reader.node().pointer();
  arg.semantic = reader.string("semantic", arg.name);
  if (const auto role = reader.need("role")) arg.role = read_nonempty_string(*role).value_or("");
  arg.required = reader.boolean("required", true);
  if (const auto dtype = reader.get("dtype")) arg.storage = read_storage_dtype(*dtype);
  reader.string("description");
  reader.ignore("kind");
  if (reader.get("oneOf"))
    reader.node().fault("The key (oneOf) is allowed for kind string only, but the kind is (tensor)");
  if (arg.role.empty()) return std::nullopt;
  return arg;
}

const Declared* find_role(const std::vector<Declared>& ports, std::string_view role) {
  const auto found =
      std::find_if(ports.begin(), ports.end(), [&](const Declared& entry) { return entry.role == role; });
  return found == ports.end() ? nullptr : &*found;
}

// Adds the tensor to one side of the contract, in the order of the linked ports.
void add(const TensorArg& arg, const std::vector<Declared>& declared, bool inout,
         std::vector<std::pair<std::size_t, Port>>& side) {
  const Declared* linked = find_role(declared, arg.semantic);
  Port port = linked != nullptr ? linked->port : Port{};
  port.name = arg.name;
  port.semantic = arg.semantic;
  port.optional = port.optional || !arg.required;
  if (arg.storage) port.storage = arg.storage;
  port.inout = inout;
  port.pointer = arg.pointer;
  side.emplace_back(linked != nullptr ? linked->place : declared.size(), std::move(port));
}

std::vector<Port> in_order(std::vector<std::pair<std::size_t, Port>> side) {
  std::stable_sort(side.begin(), side.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Port> ports;
  for (auto& entry : side) ports.push_back(std::move(entry.second));
  return ports;
}

}  // namespace

void read_ports_and_args(const std::optional<Node>& inputs, const std::optional<Node>& outputs,
                         const std::optional<Node>& args, Model& model) {
  const auto declared_inputs = read_declared(inputs, Side::input, model);
  const auto declared_outputs = read_declared(outputs, Side::output, model);

  std::vector<TensorArg> tensors;
  if (args) {
    for (const NamedNode& member : members_of(*args, kMostSearched)) {
      if (!check_name(member, "an arg")) continue;
      ObjectReader reader(member.node, "an arg");
      if (!reader.is_object()) continue;
      const json::Value* kind = member.node.value().find("kind");
      if (kind != nullptr && kind->is_string() && kind->string() == "tensor") {
        if (auto arg = read_tensor(reader, member.name)) tensors.push_back(std::move(*arg));
      } else {
        reader.string("semantic");
        reader.string("role");
        reader.string("dtype");
        if (auto argument = read_scalar(reader, member.name)) model.arguments.push_back(std::move(*argument));
      }
      reader.finish();
    }
  } else {
    // Without args the roles are all the names there are.
    for (const auto& [declared, role] :
         {std::pair{&declared_inputs, "input"}, std::pair{&declared_outputs, "output"}})
      for (const Declared& entry : *declared)
        if (is_name(entry.role))
          tensors.push_back({entry.role, entry.role, role, true, std::nullopt, entry.port.pointer});
  }

  std::vector<std::pair<std::size_t, Port>> input_side, output_side;
  std::map<std::string, int, std::less<>> uses;
  for (const TensorArg& arg : tensors) {
    for (const std::string& name : std::set<std::string>{arg.name, arg.semantic, arg.role}) ++uses[name];
    const bool inout = arg.role == "inout";
    const bool output = inout || arg.role == "output";
    const bool input = inout || !output;
    if (input) add(arg, declared_inputs, inout, input_side);
    if (output) add(arg, declared_outputs, inout, output_side);
    if (args && find_role(input ? declared_inputs : declared_outputs, arg.semantic) == nullptr) {
      std::vector<std::string> roles;
      for (const Declared& entry : input ? declared_inputs : declared_outputs) roles.push_back(entry.role);
      const json::Value* value = args->value().find(arg.name);
      args->child(arg.name, *value)
          .fault(fmt::format("The semantic of tensor ({}) is the role of no port ({}){}", arg.name,
                             arg.semantic, suggestion(arg.semantic, roles)));
    }
  }
  model.inputs = in_order(std::move(input_side));
  model.outputs = in_order(std::move(output_side));
  for (auto* side : {&model.inputs, &model.outputs})
    for (Port& port : *side) {
      const auto arg = std::find_if(tensors.begin(), tensors.end(),
                                    [&](const TensorArg& entry) { return entry.name == port.name; });
      for (const std::string* name : {&arg->name, &arg->semantic, &arg->role})
        if (uses[*name] == 1 &&
            std::find(port.scope_names.begin(), port.scope_names.end(), *name) == port.scope_names.end())
          port.scope_names.push_back(*name);
    }
}

}  // namespace kernelpack::package::spec_1_0
