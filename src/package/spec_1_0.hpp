#pragma once

#include <optional>
#include <string>
#include <vector>

#include "package/model.hpp"
#include "package/reader.hpp"

/// Readers for manifest 1.0 (format.md 3): each maps a part of it into the model.
namespace kernelpack::package::spec_1_0 {

/// An ordered map of formulas: derives, constants, `source.inputs`. Any name is allowed.
FormulaMap read_formulas(const Node& node);
/// The entries of all levels, weakest first; the strongest of each name wins, its place is that of the first.
FormulaMap layered(const FormulaMap& weaker, const FormulaMap& stronger);

/// Lists of ports and the `args` that name them, as tensors and scalars of the model.
void read_ports_and_args(const std::optional<Node>& inputs, const std::optional<Node>& outputs,
                         const std::optional<Node>& args, Model& model);
/// `attributes`, `attributeConstraints` and `attributeDescriptions`.
void read_attributes(const std::optional<Node>& defaults, const std::optional<Node>& constraints,
                     const std::optional<Node>& descriptions, Model& model);
/// `{NAME: value}`.
std::vector<Tunable> read_tunables(const Node& node);

/// The bindings of a pass: `node` is a list, or the name of one of `sets`.
std::vector<Binding> read_bindings(const Node& node, const std::optional<Node>& sets, const Model& model,
                                   const Variant& variant);
/// Replaces the values of uniform fields by those that the pass states: `{binding: {field: value}}`.
void read_uniforms(const Node& node, std::vector<Binding>& bindings);

/// `variants` and `variantFamilies` into the model.
void read_variants(const std::optional<Node>& variants, const std::optional<Node>& families,
                   const std::optional<Node>& binding_sets, Model& model);

}  // namespace kernelpack::package::spec_1_0
