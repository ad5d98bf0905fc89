#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "package/model.hpp"
#include "package/reader.hpp"

/// Readers for the contract part of a manifest: ports, scalars, attributes, tunables, type constraints,
/// derives. All report faults and leave out what cannot be read.
namespace kernelpack::package {

/// A logical dtype of the format; reports a fault that lists them otherwise.
std::optional<DType> read_logical_dtype(const Node& node);
/// A dtype that scratch or storage can have.
std::optional<DType> read_storage_dtype(const Node& node);
/// The logical dtype of that name, float64 excluded.
std::optional<DType> logical_dtype(std::string_view name) noexcept;

std::vector<TypeConstraint> read_types(const Node& node);

enum class Side { input, output };
/// The keys that describe a tensor in both generations: dtype, rank, shape, optional, storage, narrowing,
/// layout, description. Checks what 2.3 demands of them.
void read_port_keys(ObjectReader& reader, Side side, const Model& model, Port& port);
/// Checks `storage`, `narrowing` and `packed` of a port against its dtype.
void check_storage(const Node& node, Side side, const Model& model, const Port& port);
/// Marks tensors that are listed on both sides and checks that both places agree.
void join_inout(const Node& outputs, Model& model);

/// The 2.x forms.
void read_ports(const Node& node, Side side, Model& model);
void read_arguments(const Node& node, Model& model);
void read_attributes(const std::optional<Node>& attributes, const std::optional<Node>& constraints,
                     Model& model);
std::vector<Tunable> read_tunables(const Node& node);

/// `kind`, `required`, `oneOf` of a scalar; `kind` may be anything but `tensor`.
std::optional<Argument> read_scalar(ObjectReader& reader, std::string_view name);
/// `required` and `values` of one entry of attributeConstraints.
void read_constraint(const Node& node, Attribute& attribute);

/// A derive map. A name may be neither reserved nor a type variable.
FormulaMap read_derive(const Node& node, const Model& model);
/// `when` and `demoteWhen` of 2.x: a list of expressions that is not empty.
std::vector<Formula> read_clauses(const Node& node);

}  // namespace kernelpack::package
