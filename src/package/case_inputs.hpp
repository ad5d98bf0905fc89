#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "kernelpack/cases.hpp"
#include "package/reader.hpp"

// What test.json and bench.json share: docs/package-schema.md.
namespace kernelpack::package {

inline constexpr std::string_view kCaseSchema = "kernelpack/1";

/// The file of that name in the folder of the package. Throws io, naming `what` it would hold, if there is
/// none.
std::filesystem::path require_case_file(const Package& package, std::string_view name, std::string_view what);

/// Reads a file of cases whose `kind` must be the one given; `read` takes the members of its own. Throws
/// unsupported unless the file is of the schema kernelpack/1, else the first fault that is found.
void read_case_file(const std::filesystem::path& file, std::string_view kind,
                    const std::function<void(ObjectReader& file)>& read);

/// The member `inputs` of a case. Faults are reported.
std::vector<CaseInput> read_case_inputs(const Node& node);
/// Names with values: `attributes`, `tunables`.
NamedValues read_case_values(const Node& node);
/// An id: lower case letters, digits and underscores.
std::optional<std::string> read_case_id(const Node& node);

/// The member `cases` of a file: of each what all kinds of cases have, then what `read` takes from it.
template <class Case, class Read>
std::vector<Case> read_cases(ObjectReader& file, const Read& read) {
  std::vector<Case> cases;
  std::set<std::string> ids;
  const auto list = file.need("cases");
  if (!list) return cases;
  for (const Node& item : items_of(*list)) {
    ObjectReader reader(item, "a case");
    Case made;
    if (const auto id = reader.need("id")) made.id = read_case_id(*id).value_or("");
    if (const auto inputs = reader.need("inputs")) made.inputs = read_case_inputs(*inputs);
    if (const auto attributes = reader.get("attributes")) made.attributes = read_case_values(*attributes);
    if (const auto tunables = reader.get("tunables")) made.tunables = read_case_values(*tunables);
    read(reader, made);
    reader.finish();
    if (!made.id.empty() && !ids.insert(made.id).second)
      item.fault(fmt::format("The id of the case ({}) is used twice", made.id));
    cases.push_back(std::move(made));
  }
  return cases;
}

}  // namespace kernelpack::package
