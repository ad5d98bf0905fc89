#include <gtest/gtest.h>

#include "kernelpack/cases.hpp"
#include "package/test_package.hpp"

namespace kernelpack::package {
namespace {

BenchmarkCases read(std::string_view bench) {
  const TestPackage folder(small_manifest());
  folder.write("bench.json", bench);
  return read_benchmark_cases(Package::load(folder.folder(), {.verify = false}));
}

std::string fault(std::string_view bench) {
  try {
    read(bench);
  } catch (const Error& error) {
    return error.line();
  }
  return {};
}

std::string with_case(std::string_view body) {
  return std::string(
             R"({"schema": "kernelpack/1", "kind": "benchmarks", "tunables": {"A": [1, 2]}, "cases": [)") +
         std::string(body) + "]}";
}

TEST(BenchmarkCases, ReadsACase) {
  const BenchmarkCases cases = read(with_case(
      R"({"id": "one", "inputs": {"x": {"dtype": "float32", "shape": [2, 3], "fill": {"kind": "normal", "mean": 1,
      "deviation": 2, "seed": 3, "set": [{"first": 1, "step": 2, "value": "-inf"}]}}}, "attributes": {"axis": -1},
      "tunables": {"A": 2}, "tune": ["A"], "$comment": "none"})"));
  ASSERT_EQ(cases.cases.size(), 1u);
  const BenchmarkCase& one = cases.cases[0];
  EXPECT_EQ(one.inputs[0].spec, (TensorSpec{DType::float32, {2, 3}}));
  EXPECT_EQ(one.inputs[0].fill.kind, Fill::Kind::normal);
  EXPECT_EQ(one.inputs[0].fill.seed, 3u);
  EXPECT_EQ(one.inputs[0].fill.set.size(), 1u);
  EXPECT_EQ(one.attributes, (NamedValues{{"axis", -1}}));
  EXPECT_EQ(one.tunables, (NamedValues{{"A", 2}}));
  EXPECT_EQ(one.tune, std::vector<std::string>{"A"});
  ASSERT_EQ(cases.tunables.size(), 1u);
  EXPECT_EQ(cases.tunables[0].values.size(), 2u);
}

TEST(BenchmarkCases, RefusesAnotherSchema) {
  EXPECT_EQ(
      fault("{\n  \"cases\": []\n}"),
      "unsupported: The schema of bench.json (none) is not kernelpack/1, the only one that kernelpack reads "
      "(bench.json, line 1, column 1)");
  EXPECT_EQ(
      fault("{\n  \"schema\": \"hub/3\"\n}"),
      "unsupported: The schema of bench.json (hub/3) is not kernelpack/1, the only one that kernelpack reads "
      "(bench.json:/schema, line 2, column 13)");
}

TEST(BenchmarkCases, NamesThePlaceOfAFault) {
  const std::pair<std::string, std::string> faults[] = {
      {R"({"id": "A", "inputs": {}})", "The id (A) is not lower case with underscores"},
      {R"({"inputs": {}})", "id"},
      {R"({"id": "a", "inputs": {"x": {"dtype": "float31", "shape": []}}})",
       "The dtype (float31) is unknown"},
      {R"({"id": "a", "inputs": {"x": {"dtype": "float32", "shape": [-1]}}})", "-1"},
      {R"({"id": "a", "inputs": {"x": {"dtype": "float32", "shape": [1099511627776, 1099511627776]}}})",
       "The shape has more elements than any tensor here"},
      {R"({"id": "a", "inputs": {"x": {"dtype": "float32", "shape": [1]}}})",
       "The input x has elements (1) but no fill"},
      {R"({"id": "a", "inputs": {"x": {"dtype": "float32", "shape": [1], "fill": {"kind": "odd"}}}})",
       "The kind of a fill (odd) is unknown"},
      {R"({"id": "a", "inputs": {"x": {"dtype": "float32", "shape": [1], "fill": {"kind": "constant", "value": "x"}}}})",
       "is neither a number nor"},
      {R"({"id": "a", "inputs": {"x": {"dtype": "float32", "shape": [3], "fill": {"kind": "values", "values": [1]}}}})",
       "The number of values (1) differs from the number of elements of x (3)"},
      {R"({"id": "a", "inputs": {"x": {"dtype": "float32", "shape": [3], "fill": {"kind": "causal", "value": 1}}}})",
       "The rank of x (1) is too small for a causal fill, which needs two dimensions"},
      {R"({"id": "a", "inputs": {"x": {"dtype": "float32", "shape": [1], "fill": {"kind": "constant", "value": 1,
       "set": [{"first": 0, "step": 0, "value": 1}]}}}})",
       "step"},
      {R"({"id": "a", "inputs": {}, "tune": ["B"]})",
       "The name in tune (B) is not among the tunables of the file"},
      {R"({"id": "a", "inputs": {}, "speed": 3})", "speed"},
      {R"({"id": "a", "inputs": {}}, {"id": "a", "inputs": {}})", "The id of the case (a) is used twice"},
  };
  for (const auto& [body, expected] : faults) {
    const std::string line = fault(with_case(body));
    EXPECT_NE(line.find(expected), std::string::npos) << body << "\n" << line;
    EXPECT_NE(line.find("bench.json:/cases/"), std::string::npos) << line;
  }
}

TEST(BenchmarkCases, SaysThatThereAreNone) {
  const TestPackage folder(small_manifest());
  try {
    read_benchmark_cases(Package::load(folder.folder()));
    FAIL() << "nothing is thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
  }
}

}  // namespace
}  // namespace kernelpack::package
