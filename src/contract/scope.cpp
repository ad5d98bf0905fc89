#include "contract/scope.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "base/dtype.hpp"
#include "package/attribute_value.hpp"
#include "package/device_limits.hpp"

namespace kernelpack::contract {
namespace {

using expr::Dict;
using expr::Value;

// A set of names as WebGPU's GPUSupportedFeatures shows it.
class NameSet : public expr::NativeObject {
 public:
  explicit NameSet(std::vector<std::string> names)
      : names_(std::make_shared<std::vector<std::string>>(std::move(names))) {
    has_ = Value::function("has", [set = names_](expr::Call& call) {
      const Value& name = call[0];
      return Value::boolean(name.is_string() &&
                            std::find(set->begin(), set->end(), name.string()) != set->end());
    });
  }
  std::optional<Value> member(expr::NameView name) const override {
    if (name.text == "has") return has_;
    if (name.text == "size") return Value::number(static_cast<double>(names_->size()));
    return std::nullopt;
  }

 private:
  std::shared_ptr<std::vector<std::string>> names_;
  Value has_;
};

Value text(std::string_view value) {
  return Value::string(std::string(value));
}

Value limits_value(const DeviceFacts& facts) {
  Dict limits;
  limits.reserve(package::device_limits().size() + facts.limits.size());
  for (const package::DeviceLimit& limit : package::device_limits())
    if (limit.default_value) limits.set(limit.name, Value::number(*limit.default_value));
  for (const auto& [name, value] : facts.limits) limits.set(name, Value::number(value));
  constexpr std::string_view kWorkgroups = "maxComputeWorkgroupsPerDimension";
  if (limits.find(kWorkgroups)->number() > package::kDispatchFoldWidth)
    limits.set(kWorkgroups, Value::number(package::kDispatchFoldWidth));
  return Value::dict(std::move(limits));
}

Value matrix_configs_value(std::vector<SubgroupMatrixConfig> configs) {
  std::erase_if(configs, [](const SubgroupMatrixConfig& config) {
    return config.component_type.empty() || config.result_component_type.empty() || config.m <= 0 ||
           config.n <= 0 || config.k <= 0;
  });
  const auto key = [](const SubgroupMatrixConfig& config) {
    return fmt::format("{}-{}-{}x{}x{}", config.component_type, config.result_component_type, config.m,
                       config.n, config.k);
  };
  std::stable_sort(configs.begin(), configs.end(),
                   [&](const auto& a, const auto& b) { return key(a) < key(b); });
  std::vector<Value> items;
  for (const SubgroupMatrixConfig& config : configs)
    items.push_back(Value::dict(Dict{{"componentType", text(config.component_type)},
                                     {"resultComponentType", text(config.result_component_type)},
                                     {"M", Value::number(config.m)},
                                     {"N", Value::number(config.n)},
                                     {"K", Value::number(config.k)}}));
  return Value::list(std::move(items));
}

Value adapter_value(const DeviceFacts& facts) {
  Dict info{{"vendor", text(facts.vendor)},
            {"architecture", text(facts.architecture)},
            {"isFallbackAdapter", Value::boolean(facts.is_fallback_adapter)}};
  if (facts.subgroup_min_size) info.set("subgroupMinSize", Value::number(*facts.subgroup_min_size));
  if (facts.subgroup_max_size) info.set("subgroupMaxSize", Value::number(*facts.subgroup_max_size));
  if (facts.subgroup_matrix_configs)
    info.set("subgroupMatrixConfigs", matrix_configs_value(*facts.subgroup_matrix_configs));
  return Value::dict(std::move(info));
}

Value named_values(const NamedValues& values) {
  Dict entries;
  entries.reserve(values.size());
  for (const NamedValue& entry : values) entries.set(entry.name, package::to_value(entry.value));
  return Value::dict(std::move(entries));
}

// The tensor namespaces; a tensor is known by its scope names.
struct Tensors {
  Dict shapes, ranks, dtypes;

  void add(const package::Port& port, const BoundTensor& tensor) {
    const Value shape = Value::list(std::span<const std::int64_t>(tensor.shape));
    const Value rank = Value::number(static_cast<double>(tensor.shape.size()));
    const Value dtype = text(to_string(tensor.storage));
    for (const std::string& name : port.scope_names) {
      shapes.set(name, shape);
      ranks.set(name, rank);
      dtypes.set(name, dtype);
    }
  }
};

Value present_value(const package::Model& model, const Call& call) {
  Dict present;
  const auto bound = [](const std::vector<BoundTensor>& tensors, const std::string& name) {
    return std::any_of(tensors.begin(), tensors.end(),
                       [&](const BoundTensor& tensor) { return tensor.name == name; });
  };
  for (const package::Port& port : model.inputs)
    present.set(port.name, Value::boolean(bound(call.inputs, port.name)));
  for (const package::Port& port : model.outputs)
    if (!port.inout) present.set(port.name, Value::boolean(bound(call.outputs, port.name)));
  // Scalars come through `args` only, never among the tensors.
  for (const package::Argument& argument : model.arguments) present.set(argument.name, Value::boolean(false));
  return Value::dict(std::move(present));
}

Value call_function(const expr::Scope& scope, std::string_view name, expr::Call& call) {
  return scope.find(name)->function().call(call);
}

// The functions that only manifest 1.0 has, standing on those of 4.9.
expr::Scope make_older_functions(bool shader_f16) {
  const expr::Scope& base = expr::functions(shader_f16);
  expr::Scope scope(&base);
  scope.set("rank", Value::function("rank", [](expr::Call& call) {
              if (!call[0].is_list_or_tuple())
                throw Error(ErrorKind::expression,
                            fmt::format("The argument of rank ({}) is not a list", expr::describe(call[0])));
              return Value::number(static_cast<double>(call[0].items().size()));
            }));
  scope.set("cols",
            Value::function("cols", [&base](expr::Call& call) { return call_function(base, "dim", call); }));
  scope.set("f16Allowed", Value::function("f16Allowed", [shader_f16](expr::Call& call) {
              const Value& type = call[0];
              if (!type.is_string()) return Value::boolean(false);
              const bool half = type.string() == "f16" || type.string() == "float16";
              const bool single = type.string() == "f32" || type.string() == "float32";
              return Value::boolean(single || (half && shader_f16));
            }));
  return scope;
}

}  // namespace

Value device_value(const DeviceFacts& facts) {
  return Value::dict(
      Dict{{"features", Value::object(std::make_shared<NameSet>(facts.features))},
           {"wgslLanguageFeatures", Value::object(std::make_shared<NameSet>(facts.wgsl_language_features))},
           {"limits", limits_value(facts)},
           {"adapterInfo", adapter_value(facts)}});
}

Value tunables_value(const package::Model& model, const package::Variant* variant, const NamedValues& profile,
                     const Call& call) {
  Dict tunables;
  for (const package::Tunable& tunable : model.tunables)
    tunables.set(tunable.name, package::to_value(tunable.value));
  if (variant != nullptr)
    for (const package::Tunable& tunable : variant->tunables)
      tunables.set(tunable.name, package::to_value(tunable.value));
  for (const NamedValues* overrides : {&profile, &call.tunables})
    for (const NamedValue& entry : *overrides) tunables.set(entry.name, package::to_value(entry.value));
  return Value::dict(std::move(tunables));
}

const expr::Scope& package_functions(package::Generation generation, bool shader_f16) {
  if (generation == package::Generation::two) return expr::functions(shader_f16);
  static const expr::Scope with = make_older_functions(true);
  static const expr::Scope without = make_older_functions(false);
  return shader_f16 ? with : without;
}

expr::Scope base_scope(const package::Model& model, const Call& call, const Value& device, bool shader_f16,
                       const NamedValues& profile) {
  Tensors tensors;
  for (const BoundTensor& tensor : call.inputs)
    if (const package::Port* port = model.input(tensor.name)) tensors.add(*port, tensor);
  for (const BoundTensor& tensor : call.outputs)
    if (const package::Port* port = model.output(tensor.name); port != nullptr && !tensor.inout)
      tensors.add(*port, tensor);
  Dict dtypes, logical;
  for (const BoundType& type : call.types) {
    dtypes.set(type.name, text(info(type.storage).wgsl));
    logical.set(type.name, text(to_string(type.dtype)));
  }

  expr::Scope scope(&package_functions(model.generation, shader_f16));
  scope.set("attrs", named_values(call.attributes));
  scope.set("args", named_values(call.arguments));
  scope.set("shapes", Value::dict(std::move(tensors.shapes)));
  scope.set("ranks", Value::dict(std::move(tensors.ranks)));
  scope.set("tensorDtypes", Value::dict(std::move(tensors.dtypes)));
  scope.set("dtypes", Value::dict(std::move(dtypes)));
  scope.set("logicalDtypes", Value::dict(std::move(logical)));
  scope.set("present", present_value(model, call));
  scope.set("tunables", tunables_value(model, nullptr, profile, call));
  scope.set("repeat", Value::dict(Dict()));
  scope.set("derive", Value::dict(Dict()));
  scope.set("device", device);
  scope.set("DISPATCH_FOLD_WIDTH", Value::number(package::kDispatchFoldWidth));
  return scope;
}

}  // namespace kernelpack::contract
