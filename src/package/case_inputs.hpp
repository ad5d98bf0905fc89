#pragma once

#include <optional>
#include <vector>

#include "kernelpack/cases.hpp"
#include "package/reader.hpp"

// What test.json and bench.json share: docs/package-schema.md.
namespace kernelpack::package {

inline constexpr std::string_view kCaseSchema = "kernelpack/1";

/// Throws unsupported unless the document says that it is of the schema kernelpack/1.
void require_case_schema(const json::Document& document);

/// The member `inputs` of a case. Faults are reported.
std::vector<CaseInput> read_case_inputs(const Node& node);
/// Names with values: `attributes`, `tunables`.
NamedValues read_case_values(const Node& node);
/// An id: lower case letters, digits and underscores.
std::optional<std::string> read_case_id(const Node& node);

}  // namespace kernelpack::package
