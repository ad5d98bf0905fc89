#include <algorithm>

#include "kernelpack/package.hpp"
#include "package/formula.hpp"
#include "package/model.hpp"

namespace kernelpack {
namespace {

std::string text(const std::optional<package::Formula>& formula) {
  return formula ? package::to_string(*formula) : std::string();
}

std::vector<std::string> texts(const std::vector<package::Formula>& formulas, std::size_t first = 0) {
  std::vector<std::string> lines;
  for (std::size_t i = first; i < formulas.size(); ++i) lines.push_back(package::to_string(formulas[i]));
  return lines;
}

std::vector<PackageSummary::Port> ports(const std::vector<package::Port>& model_ports) {
  std::vector<PackageSummary::Port> ports;
  for (const package::Port& port : model_ports) {
    ports.push_back({.name = port.name,
                     .description = port.description,
                     .dtype = port.dtype,
                     .rank = text(port.rank),
                     .shape = text(port.shape),
                     .optional = port.optional,
                     .inout = port.inout});
  }
  return ports;
}

}  // namespace

PackageSummary Package::describe() const {
  const package::Model& model = *model_;
  PackageSummary summary;
  summary.op_id = model.op_id;
  summary.description = model.description;
  summary.since_version = model.since_version;
  if (model.metadata) summary.license = model.metadata->license;
  summary.inputs = ports(model.inputs);
  summary.outputs = ports(model.outputs);
  for (const package::Argument& argument : model.arguments) {
    summary.arguments.push_back({.name = argument.name,
                                 .description = argument.description,
                                 .kind = std::string(package::to_string(argument.kind)),
                                 .required = argument.required,
                                 .one_of = argument.one_of});
  }
  for (const package::Attribute& attribute : model.attributes) {
    summary.attributes.push_back({.name = attribute.name,
                                  .description = attribute.description,
                                  .default_value = attribute.default_value,
                                  .required = attribute.required,
                                  .values = attribute.values.value_or(std::vector<AttributeValue>{})});
  }
  for (const package::TypeConstraint& type : model.types) summary.types.push_back({type.name, type.dtypes});
  for (const package::Tunable& tunable : model.tunables) {
    summary.tunables.push_back({tunable.name, tunable.description, tunable.value});
  }
  summary.when = texts(model.when);
  for (const package::Variant& variant : model.variants) {
    summary.variants.push_back({.id = variant.id,
                                .description = variant.description,
                                .priority = variant.priority,
                                .when = texts(variant.when, std::min(model.when.size(), variant.when.size())),
                                .templates = variant.templates});
  }
  return summary;
}

}  // namespace kernelpack
