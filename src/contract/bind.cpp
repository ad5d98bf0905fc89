#include "contract/bind.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/shape.hpp"
#include "contract/inference.hpp"
#include "contract/types.hpp"
#include "contract/values.hpp"
#include "expr/scope.hpp"
#include "package/suggest.hpp"

namespace kernelpack::contract {
namespace {

template <class Named>
const Named* find(std::span<const Named> entries, std::string_view name) {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Named& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

std::vector<std::string> names(const std::vector<package::Port>& ports) {
  std::vector<std::string> result;
  for (const package::Port& port : ports) result.push_back(port.name);
  return result;
}

// Refuses a shape whose elements or bytes cannot be counted.
void check_size(std::string_view side, const std::string& name, const TensorSpec& spec) {
  try {
    element_count(spec.shape);
    byte_count(spec);
  } catch (const Error& error) {
    throw Error(ErrorKind::contract,
                fmt::format("The shape of {} {} ({}) is impossible: {}", side, name, to_string(spec.shape),
                            error.message()),
                fmt::format("{} {}", side, name));
  }
}

// 14 (m): an integer or an expression without identifiers is checked, any other rank is informative.
void check_rank(const package::Port& port, std::string_view side, const Shape& shape,
                const Budgets& budgets) {
  if (!port.rank || !package::closed(*port.rank)) return;
  const expr::Scope empty;
  const expr::Value rank = package::evaluate(*port.rank, empty, budgets);
  if (rank.is_number() && rank.number() == static_cast<double>(shape.size())) return;
  throw Error(
      ErrorKind::contract,
      fmt::format("The rank of {} {} ({}, shape {}) differs from the one that the contract states ({})", side,
                  port.name, shape.size(), to_string(shape), expr::describe(rank)),
      fmt::format("{} {}", side, port.name));
}

class Binder {
 public:
  Binder(const package::Model& model, std::span<const NamedSpec> inputs, const BindOptions& options,
         const Budgets& budgets)
      : model_(model), inputs_(inputs), options_(options), budgets_(budgets), types_(model) {}

  Call bind() {
    check_names();
    call_.op = model_.op_id;
    call_.attributes = bind_attributes(model_, options_.attributes);
    call_.arguments = bind_arguments(model_, options_.arguments);
    call_.tunables = bind_tunables(options_.tunables);
    call_.variant = options_.variant;
    bind_inputs();
    bind_destinations();
    call_.types = types_.all();
    infer_outputs();
    call_.types = types_.all();
    return std::move(call_);
  }

 private:
  void check_names() {
    std::set<std::string_view> seen;
    for (const NamedSpec& input : inputs_) {
      const std::string where = fmt::format("input {}", input.name);
      if (!seen.insert(input.name).second)
        throw Error(ErrorKind::contract, fmt::format("The input {} is given twice", input.name), where);
      if (model_.input(input.name) != nullptr) continue;
      if (model_.output(input.name) != nullptr)
        throw Error(ErrorKind::contract,
                    fmt::format("The tensor {} is an output, but it is given as an input", input.name),
                    where);
      if (model_.argument(input.name) != nullptr)
        throw Error(ErrorKind::contract, fmt::format("The scalar {} is given as a tensor", input.name),
                    where);
      throw Error(ErrorKind::contract,
                  fmt::format("The input {} is unknown{}", input.name,
                              package::suggestion(input.name, names(model_.inputs))),
                  where);
    }
    check_output_names("destination", options_.destinations);
    check_output_names("wanted output", options_.wanted);
    if (!options_.variant.empty() && model_.variant(options_.variant) == nullptr) {
      std::vector<std::string> ids;
      for (const package::Variant& variant : model_.variants) ids.push_back(variant.id);
      throw Error(ErrorKind::contract,
                  fmt::format("The variant {} does not exist{}", options_.variant,
                              package::suggestion(options_.variant, ids)),
                  fmt::format("variant {}", options_.variant));
    }
  }

  template <class Named>
  void check_output_names(std::string_view what, const std::vector<Named>& entries) const {
    std::set<std::string_view> seen;
    for (const Named& entry : entries) {
      const std::string where = fmt::format("output {}", entry.name);
      if (!seen.insert(entry.name).second)
        throw Error(ErrorKind::contract, fmt::format("The {} {} is given twice", what, entry.name), where);
      const package::Port* port = model_.output(entry.name);
      if (port == nullptr)
        throw Error(ErrorKind::contract,
                    fmt::format("The {} {} is no output{}", what, entry.name,
                                package::suggestion(entry.name, names(model_.outputs))),
                    where);
      if (port->inout)
        throw Error(
            ErrorKind::contract,
            fmt::format("The {} {} is written in place: it is given once, as an input", what, entry.name),
            where);
    }
  }

  BoundTensor bind_tensor(const package::Port& port, bool is_output, const TensorSpec& spec) {
    const std::string_view side = is_output ? "output" : "input";
    BoundTensor tensor;
    tensor.name = port.name;
    tensor.dtype = spec.dtype;
    tensor.storage = types_.bind(port, spec.dtype, is_output);
    tensor.shape = spec.shape;
    tensor.packed = port.packed;
    tensor.inout = port.inout;
    tensor.saturating = port.narrowing == package::Narrowing::saturating;
    check_size(side, port.name, spec);
    check_rank(port, side, spec.shape, budgets_);
    return tensor;
  }

  void bind_inputs() {
    for (const package::Port& port : model_.inputs) {
      const NamedSpec* given = find(inputs_, port.name);
      if (given != nullptr) {
        call_.inputs.push_back(bind_tensor(port, false, given->spec));
      } else if (!port.optional) {
        std::vector<std::string> present;
        for (const NamedSpec& input : inputs_) present.push_back(input.name);
        throw Error(ErrorKind::contract,
                    fmt::format("The required input {} is missing; given: {}", port.name,
                                package::join_names(present)),
                    fmt::format("input {}", port.name));
      }
    }
  }

  // An output fixed by the request: a destination, or a wanted output that comes with a spec.
  const TensorSpec* fixed_spec(const package::Port& port) const {
    if (const NamedSpec* destination = find(std::span(options_.destinations), port.name))
      return &destination->spec;
    const WantedOutput* wanted = find(std::span(options_.wanted), port.name);
    return wanted != nullptr && wanted->spec ? &*wanted->spec : nullptr;
  }

  bool requested(const package::Port& port) const {
    return !port.optional || find(std::span(options_.destinations), port.name) != nullptr ||
           find(std::span(options_.wanted), port.name) != nullptr;
  }

  // While outputs are inferred, only those with destinations are present.
  void bind_destinations() {
    for (const package::Port& port : model_.outputs) {
      if (port.inout) {
        if (const BoundTensor* input = find(std::span<const BoundTensor>(call_.inputs), port.name))
          call_.outputs.push_back(*input);
      } else if (const TensorSpec* spec = fixed_spec(port)) {
        call_.outputs.push_back(bind_tensor(port, true, *spec));
      }
    }
  }

  void infer_outputs() {
    const Call known = call_;
    ShapeInference inference(model_, known, budgets_);
    std::vector<BoundTensor> outputs;
    for (const package::Port& port : model_.outputs) {
      if (port.inout ? find(std::span<const BoundTensor>(call_.inputs), port.name) == nullptr
                     : !requested(port))
        continue;
      const BoundTensor* fixed = find(std::span<const BoundTensor>(known.outputs), port.name);
      if (fixed != nullptr) {
        if (port.shape && !port.inout) check_destination(port, *fixed, inference.infer(port));
        outputs.push_back(*fixed);
        continue;
      }
      if (!port.shape)
        throw Error(
            ErrorKind::contract,
            fmt::format(
                "The shape of output {} cannot be inferred: the contract states none; give a destination",
                port.name),
            fmt::format("output {}", port.name));
      const DType dtype = infer_dtype(model_, port, types_, call_);
      outputs.push_back(bind_tensor(port, true, {dtype, inference.infer(port)}));
    }
    call_.outputs = std::move(outputs);
  }

  static void check_destination(const package::Port& port, const BoundTensor& fixed, const Shape& inferred) {
    if (fixed.shape == inferred) return;
    throw Error(
        ErrorKind::contract,
        fmt::format("The shape of the destination of output {} ({}) differs from the inferred one ({})",
                    port.name, to_string(fixed.shape), to_string(inferred)),
        fmt::format("output {}", port.name));
  }

  const package::Model& model_;
  const std::span<const NamedSpec> inputs_;
  const BindOptions& options_;
  const Budgets& budgets_;
  TypeBindings types_;
  Call call_;
};

}  // namespace

Call bind(const package::Model& model, std::span<const NamedSpec> inputs, const BindOptions& options,
          const Budgets& budgets) {
  return Binder(model, inputs, options, budgets).bind();
}

}  // namespace kernelpack::contract
