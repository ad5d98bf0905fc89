#include "contract/types.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/dtype.hpp"

namespace kernelpack::contract {
namespace {

std::string where(const package::Port& port, bool is_output) {
  return fmt::format("{} {}", is_output ? "output" : "input", port.name);
}

bool int64_alone(const std::vector<DType>& dtypes) {
  return dtypes.size() == 1 && dtypes.front() == DType::int64;
}

// The logical dtype that the attribute `to` names, where ONNX's Cast-like operators take it from (rule 3
// of 6.2).
std::optional<DType> dtype_of_attribute_to(const package::Model& model, const package::Port& port,
                                           const Call& call) {
  const package::Attribute* declared = model.attribute("to");
  if (model.domain != "ai.onnx" || declared == nullptr || !declared->required) return std::nullopt;
  const AttributeValue* value = call.attribute("to");
  const double* code = value == nullptr ? nullptr : value->number();
  std::optional<DType> dtype;
  if (code != nullptr && *code >= 0 && *code <= 100 && *code == static_cast<int>(*code))
    dtype = dtype_of_onnx_code(static_cast<int>(*code));
  const auto allowed = allowed_dtypes(model, port);
  const bool fits = dtype && *dtype != DType::float64 &&
                    (!allowed || std::find(allowed->begin(), allowed->end(), *dtype) != allowed->end());
  if (!fits)
    throw Error(ErrorKind::contract,
                fmt::format("The attribute to ({}) names no dtype that output {} allows ({})",
                            value == nullptr ? "null" : to_string(*value), port.name,
                            allowed ? join_dtypes(*allowed) : "any"),
                "attribute to");
  return dtype;
}

}  // namespace

std::string join_dtypes(const std::vector<DType>& dtypes) {
  std::string text;
  for (const DType dtype : dtypes) text += fmt::format("{}{}", text.empty() ? "" : ", ", to_string(dtype));
  return text;
}

std::optional<std::vector<DType>> allowed_dtypes(const package::Model& model, const package::Port& port) {
  if (port.concrete) return std::vector<DType>{*port.concrete};
  if (const package::TypeConstraint* type = model.type(port.dtype)) return type->dtypes;
  return std::nullopt;
}

DType TypeBindings::bind(const package::Port& port, DType logical, bool is_output) {
  const std::string_view side = is_output ? "output" : "input";
  const auto refuse = [&](std::string message) -> Error {
    return Error(ErrorKind::contract, std::move(message), where(port, is_output));
  };
  if (logical == DType::float64)
    throw refuse(fmt::format("The dtype of {} {} is float64, which no package accepts", side, port.name));
  const auto allowed = allowed_dtypes(model_, port);
  if (allowed && std::find(allowed->begin(), allowed->end(), logical) == allowed->end()) {
    if (port.concrete)
      throw refuse(fmt::format("The dtype of {} {} ({}) differs from the one that the contract states ({})",
                               side, port.name, to_string(logical), to_string(*port.concrete)));
    throw refuse(fmt::format("The dtype of {} {} ({}) is none that type variable {} allows ({})", side,
                             port.name, to_string(logical), port.dtype, join_dtypes(*allowed)));
  }
  DType storage = logical;
  if (port.storage) {
    const bool projected = allowed && int64_alone(*allowed);
    if (!projected && *port.storage != logical)
      throw refuse(
          fmt::format("The dtype of {} {} ({}) differs from the storage that the contract states ({})", side,
                      port.name, to_string(logical), to_string(*port.storage)));
    storage = *port.storage;
  }
  if (port.dtype.empty()) return storage;

  const auto found = std::find_if(types_.begin(), types_.end(),
                                  [&](const BoundType& type) { return type.name == port.dtype; });
  if (found == types_.end()) {
    types_.push_back({port.dtype, logical, storage});
    holders_.push_back({port.name, is_output});
    return storage;
  }
  if (!allowed) {
    // A variable without constraint is no promise: the last tensor wins.
    found->dtype = logical;
    found->storage = storage;
    return storage;
  }
  const Holder& holder = holders_[static_cast<std::size_t>(found - types_.begin())];
  if (found->dtype != logical)
    throw refuse(fmt::format(
        "The dtype of {} {} ({}) differs from the dtype that type variable {} is bound to ({}, by {} {})",
        side, port.name, to_string(logical), port.dtype, to_string(found->dtype),
        holder.is_output ? "output" : "input", holder.tensor));
  if (found->storage != storage)
    throw refuse(fmt::format(
        "The storage of {} {} ({}) differs from the storage that dtype {} is bound to ({}, by {} {})", side,
        port.name, to_string(storage), port.dtype, to_string(found->storage),
        holder.is_output ? "output" : "input", holder.tensor));
  return storage;
}

const BoundType* TypeBindings::find(std::string_view name) const noexcept {
  for (const BoundType& type : types_)
    if (type.name == name) return &type;
  return nullptr;
}

DType infer_dtype(const package::Model& model, const package::Port& port, const TypeBindings& types,
                  const Call& call) {
  if (port.concrete) return *port.concrete;
  if (port.dtype.empty()) return DType::float32;
  if (const BoundType* bound = types.find(port.dtype)) return bound->dtype;
  if (const auto dtype = dtype_of_attribute_to(model, port, call)) return *dtype;
  const auto allowed = allowed_dtypes(model, port);
  if (allowed && allowed->size() == 1) return allowed->front();
  if (allowed) {
    for (const BoundTensor& input : call.inputs)
      if (std::find(allowed->begin(), allowed->end(), input.storage) != allowed->end()) return input.storage;
  } else if (!call.inputs.empty()) {
    return call.inputs.front().storage;
  }
  throw Error(
      ErrorKind::contract,
      fmt::format(
          "The dtype of output {} cannot be inferred: no input binds type variable {}; give a destination",
          port.name, port.dtype),
      where(port, true));
}

}  // namespace kernelpack::contract
