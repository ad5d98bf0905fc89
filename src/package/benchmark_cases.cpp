#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "base/file.hpp"
#include "package/attribute_value.hpp"
#include "package/case_inputs.hpp"
#include "package/model.hpp"

namespace kernelpack {
namespace package {
namespace {

std::vector<TunableRange> read_ranges(const Node& node) {
  std::vector<TunableRange> ranges;
  for (const NamedNode& member : members_of(node, kMostSearched)) {
    TunableRange range{std::string(member.name), {}};
    for (const Node& item : items_of(member.node, kMostSearched))
      if (auto value = read_attribute_value(item)) range.values.push_back(std::move(*value));
    ranges.push_back(std::move(range));
  }
  return ranges;
}

BenchmarkCase read_case(const Node& node, const std::vector<TunableRange>& ranges) {
  ObjectReader reader(node, "a case");
  BenchmarkCase made;
  if (const auto id = reader.need("id")) made.id = read_case_id(*id).value_or("");
  if (const auto inputs = reader.need("inputs")) made.inputs = read_case_inputs(*inputs);
  if (const auto attributes = reader.get("attributes")) made.attributes = read_case_values(*attributes);
  if (const auto tunables = reader.get("tunables")) made.tunables = read_case_values(*tunables);
  if (const auto tune = reader.get("tune")) {
    for (const Node& item : items_of(*tune, kMostSearched)) {
      const auto name = read_string(item);
      if (!name) continue;
      if (std::none_of(ranges.begin(), ranges.end(),
                       [&](const TunableRange& range) { return range.name == *name; }))
        item.fault(fmt::format("The name in tune ({}) is not among the tunables of the file", *name));
      made.tune.push_back(*name);
    }
  }
  reader.finish();
  return made;
}

}  // namespace
}  // namespace package

BenchmarkCases read_benchmark_cases(const Package& loaded) {
  const std::filesystem::path file = loaded.folder() / "bench.json";
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored))
    throw Error(ErrorKind::io, fmt::format("The package {} has no benchmark cases", loaded.op_id()),
                file.string());
  return read_benchmark_cases(file);
}

BenchmarkCases read_benchmark_cases(const std::filesystem::path& file) {
  using namespace package;
  const Budgets budgets;
  const std::string name = file.filename().string();
  const json::Document document = json::parse(read_file(file, budgets.json_bytes), name, budgets);
  require_case_schema(document);
  Faults faults;
  Source source{document, faults, kManifestRank, budgets};
  ObjectReader reader(Node(source, document.root), "the file");
  reader.ignore("schema");
  BenchmarkCases result;
  if (const auto kind = reader.need("kind")) {
    const auto text = read_string(*kind);
    if (text && *text != "benchmarks")
      kind->fault(fmt::format("The kind of {} ({}) is not benchmarks", name, *text));
  }
  if (const auto tunables = reader.get("tunables")) result.tunables = read_ranges(*tunables);
  if (const auto cases = reader.need("cases")) {
    for (const Node& item : items_of(*cases)) {
      BenchmarkCase made = read_case(item, result.tunables);
      if (std::any_of(result.cases.begin(), result.cases.end(),
                      [&](const BenchmarkCase& other) { return other.id == made.id; }))
        item.fault(fmt::format("The id of the case ({}) is used twice", made.id));
      result.cases.push_back(std::move(made));
    }
  }
  reader.finish();
  if (!faults.empty()) throw faults.take().front();
  return result;
}

}  // namespace kernelpack
