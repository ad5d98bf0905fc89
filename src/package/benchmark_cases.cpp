#include <fmt/format.h>

#include <algorithm>

#include "package/attribute_value.hpp"
#include "package/case_inputs.hpp"

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

void read_case(ObjectReader& reader, const std::vector<TunableRange>& ranges, BenchmarkCase& made) {
  const auto tune = reader.get("tune");
  if (!tune) return;
  for (const Node& item : items_of(*tune, kMostSearched)) {
    const auto name = read_string(item);
    if (!name) continue;
    if (std::none_of(ranges.begin(), ranges.end(),
                     [&](const TunableRange& range) { return range.name == *name; }))
      item.fault(fmt::format("The name in tune ({}) is not among the tunables of the file", *name));
    made.tune.push_back(*name);
  }
}

}  // namespace
}  // namespace package

BenchmarkCases read_benchmark_cases(const Package& loaded) {
  return read_benchmark_cases(package::require_case_file(loaded, "bench.json", "benchmark cases"));
}

BenchmarkCases read_benchmark_cases(const std::filesystem::path& file) {
  BenchmarkCases result;
  package::read_case_file(file, "benchmarks", [&](package::ObjectReader& reader) {
    if (const auto tunables = reader.get("tunables")) result.tunables = package::read_ranges(*tunables);
    result.cases =
        package::read_cases<BenchmarkCase>(reader, [&](package::ObjectReader& each, BenchmarkCase& made) {
          package::read_case(each, result.tunables, made);
        });
  });
  return result;
}

}  // namespace kernelpack
