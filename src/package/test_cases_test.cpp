#include <gtest/gtest.h>

#include <cstdio>

#include "kernelpack/cases.hpp"
#include "package/test_package.hpp"

namespace kernelpack::package {
namespace {

TestCases read(std::string_view test) {
  const TestPackage folder(small_manifest());
  folder.write("test.json", test);
  return read_test_cases(Package::load(folder.folder(), {.verify = false}));
}

std::string fault(std::string_view test) {
  try {
    read(test);
  } catch (const Error& error) {
    return error.line();
  }
  return {};
}

std::string document(std::string_view tolerance, std::string_view devices, std::string_view cases) {
  return std::string(R"({"schema": "kernelpack/1", "kind": "tests", "tolerance": )") +
         std::string(tolerance) + R"(, "devices": )" + std::string(devices) + R"(, "cases": [)" +
         std::string(cases) + "]}";
}

constexpr std::string_view kTolerance =
    R"({"float32": {"relative": 2e-6, "relativePerDistance": 3e-7, "floor": 1.2e-38},
        "float16": {"steps": 1, "below": {"limit": 6.1e-05, "absolute": 6.2e-05}}})";
constexpr std::string_view kDevices =
    R"({"wide": {"features": ["subgroups"], "limits": {"maxBufferSize": 1024},
                 "adapterInfo": {"subgroupMinSize": 32}}, "$comment": "none", "plain": {}})";

TEST(TestCases, ReadsWhatTheFileSays) {
  const TestCases read_cases = read(document(kTolerance, kDevices, R"(
      {"id": "one", "inputs": {"x": {"dtype": "float16", "shape": [3], "fill": {"kind": "ramp", "start": 0,
       "step": 1}}}, "attributes": {"axis": -1}, "tunables": {"A": 2}, "variant": "main", "exact": true,
       "$comment": "none"},
      {"id": "two", "inputs": {}, "variant": {"plain": "main"}},
      {"id": "three", "inputs": {}, "pin": ["main"], "exact": false},
      {"id": "four", "inputs": {}, "error": "contract"},
      {"id": "five", "inputs": {}, "error": "no_variant"})"));
  EXPECT_EQ(read_cases.tolerance.float32, (Float32Tolerance{2e-6, 3e-7, 1.2e-38}));
  EXPECT_EQ(read_cases.tolerance.float16, (Float16Tolerance{1, 6.1e-05, 6.2e-05}));
  ASSERT_EQ(read_cases.devices.size(), 2u);
  EXPECT_EQ(read_cases.devices[0].name, "wide");
  EXPECT_TRUE(read_cases.devices[0].facts.has_feature("subgroups"));
  EXPECT_EQ(read_cases.devices[0].facts.limit("maxBufferSize"), 1024);
  EXPECT_EQ(read_cases.devices[0].facts.subgroup_min_size, 32);
  EXPECT_EQ(read_cases.devices[1].facts, DeviceFacts::defaults());
  ASSERT_EQ(read_cases.cases.size(), 5u);
  const TestCase& one = read_cases.cases[0];
  EXPECT_EQ(one.id, "one");
  EXPECT_EQ(one.inputs[0].spec, (TensorSpec{DType::float16, {3}}));
  EXPECT_EQ(one.inputs[0].fill.kind, Fill::Kind::ramp);
  EXPECT_EQ(one.attributes, (NamedValues{{"axis", -1}}));
  EXPECT_EQ(one.tunables, (NamedValues{{"A", 2}}));
  EXPECT_EQ(one.variants, (std::vector<ExpectedVariant>{{"wide", "main"}, {"plain", "main"}}));
  EXPECT_TRUE(one.exact);
  EXPECT_FALSE(one.error);
  EXPECT_EQ(read_cases.cases[1].variants, (std::vector<ExpectedVariant>{{"plain", "main"}}));
  EXPECT_EQ(read_cases.cases[2].pins, std::vector<std::string>{"main"});
  EXPECT_EQ(read_cases.cases[3].error, ErrorKind::contract);
  EXPECT_EQ(read_cases.cases[4].error, ErrorKind::no_variant);
}

TEST(TestCases, NeedsNeitherToleranceNorDevices) {
  const TestCases read_cases =
      read(R"({"schema": "kernelpack/1", "kind": "tests", "cases": [{"id": "a", "inputs": {}}]})");
  EXPECT_FALSE(read_cases.tolerance.float32);
  EXPECT_FALSE(read_cases.tolerance.float16);
  EXPECT_TRUE(read_cases.devices.empty());
  EXPECT_TRUE(read_cases.cases[0].variants.empty());
}

TEST(TestCases, RefusesAnotherSchema) {
  EXPECT_EQ(fault("{\n  \"schema\": \"hub/3\"\n}"),
            "unsupported: The schema of test.json (hub/3) is not kernelpack/1, the only one that kernelpack "
            "reads (test.json:/schema, line 2, column 13)");
  EXPECT_NE(fault("[]").find("unsupported: The schema of test.json (none)"), std::string::npos);
}

TEST(TestCases, RefusesWhatIsNoJson) {
  EXPECT_EQ(fault("{\"schema\": ").rfind("package: ", 0), 0u);
  EXPECT_EQ(fault(R"({"schema": "kernelpack/1", "schema": 1})").rfind("package: ", 0), 0u);
}

TEST(TestCases, NamesThePlaceOfAFaultInACase) {
  const std::pair<std::string, std::string> faults[] = {
      {R"({"inputs": {}})", "The required key (id) is missing"},
      {R"({"id": "A", "inputs": {}})",
       "The id (A) is not lower case with underscores (test.json:/cases/0/id"},
      {R"({"id": "a"})", "The required key (inputs) is missing"},
      {R"({"id": "a", "inputs": {}}, {"id": "a", "inputs": {}})",
       "The id of the case (a) is used twice (test.json:/cases/1"},
      {R"({"id": "a", "inputs": {}, "tune": []})", "(test.json:/cases/0/tune"},
      {R"({"id": "a", "inputs": {"x": {"dtype": "float31", "shape": []}}})",
       "The dtype (float31) is unknown (test.json:/cases/0/inputs/x/dtype"},
      {R"({"id": "a", "inputs": {}, "attributes": {"axis": {}}})",
       "An attribute cannot hold an object (test.json:/cases/0/attributes/axis"},
      {R"({"id": "a", "inputs": {}, "variant": "mian"})",
       "The package ai.onnx.Small has no variant of that id (mian); did you mean (main) "
       "(test.json:/cases/0/variant"},
      {R"({"id": "a", "inputs": {}, "variant": 3})", "(test.json:/cases/0/variant"},
      {R"({"id": "a", "inputs": {}, "variant": {"plain": "other"}})", "(test.json:/cases/0/variant/plain"},
      {R"({"id": "a", "inputs": {}, "variant": {"phone": "main"}})",
       "The device (phone) is not among those of the file (test.json:/cases/0/variant/phone"},
      {R"({"id": "a", "inputs": {}, "pin": []})", "The case pins no variant (test.json:/cases/0/pin"},
      {R"({"id": "a", "inputs": {}, "pin": "main"})", "(test.json:/cases/0/pin"},
      {R"({"id": "a", "inputs": {}, "pin": ["main", "main"]})",
       "The variant (main) is pinned twice (test.json:/cases/0/pin/1"},
      {R"({"id": "a", "inputs": {}, "pin": ["none"]})", "(test.json:/cases/0/pin/0"},
      {R"({"id": "a", "inputs": {}, "pin": ["main"], "variant": "main"})",
       "The case pins variants, but variant says which one must be chosen (test.json:/cases/0/pin"},
      {R"({"id": "a", "inputs": {}, "exact": 1})", "(test.json:/cases/0/exact"},
      {R"({"id": "a", "inputs": {}, "error": "limit"})",
       "The kind of error (limit) is neither contract nor no_variant (test.json:/cases/0/error"},
      {R"({"id": "a", "inputs": {}, "error": true})", "(test.json:/cases/0/error"},
      {R"({"id": "a", "inputs": {}, "error": "contract", "variant": "main"})",
       "The case ends with an error, but variant says what it gives (test.json:/cases/0/error"},
      {R"({"id": "a", "inputs": {}, "error": "contract", "pin": ["main"]})", "but pin says what it gives"},
      {R"({"id": "a", "inputs": {}, "error": "contract", "exact": true})", "but exact says what it gives"},
  };
  for (const auto& [body, expected] : faults) {
    const std::string line = fault(document(kTolerance, kDevices, body));
    EXPECT_NE(line.find(expected), std::string::npos) << body << "\n" << line;
    EXPECT_NE(line.find("test.json:/cases/"), std::string::npos) << line;
  }
}

TEST(TestCases, NamesThePlaceOfAFaultOutsideTheCases) {
  const std::string none = R"({"id": "a", "inputs": {}})";
  const std::pair<std::string, std::string> faults[] = {
      {document("3", kDevices, none), "(test.json:/tolerance,"},
      {document(R"({"float64": {}})", kDevices, none), "(test.json:/tolerance/float64"},
      {document(R"({"float32": {}})", kDevices, none), "The required key (relative) is missing"},
      {document(R"({"float32": {"relative": -1}})", kDevices, none),
       "The bound relative (-1) is negative (test.json:/tolerance/float32/relative"},
      {document(R"({"float32": {"relative": "1"}})", kDevices, none), "/tolerance/float32/relative"},
      {document(R"({"float32": {"relative": 1, "absolute": 1}})", kDevices, none),
       "/tolerance/float32/absolute"},
      {document(R"({"float16": {}})", kDevices, none), "The required key (steps) is missing"},
      {document(R"({"float16": {"steps": 1.5}})", kDevices, none), "/tolerance/float16/steps"},
      {document(R"({"float16": {"steps": -1}})", kDevices, none), "/tolerance/float16/steps"},
      {document(R"({"float16": {"steps": 1, "below": {"limit": 1}}})", kDevices, none),
       "The required key (absolute) is missing"},
      {document(R"({"float16": {"steps": 1, "below": {"limit": 1, "absolute": 1, "x": 1}}})", kDevices, none),
       "/tolerance/float16/below/x"},
      {document(kTolerance, "[]", none), "(test.json:/devices"},
      {document(kTolerance, R"({"a b": {}})", none), "(test.json:/devices/a b"},
      {document(kTolerance, R"({"a": {"feature": []}})", none),
       "package: The key \"feature\" is unknown here (known keys: features, wgslLanguageFeatures, limits, "
       "adapterInfo, $comment) (test.json:/devices/a/feature"},
      {document(kTolerance, R"({"a": {"adapterInfo": {"subgroupMinSize": 0}}})", none),
       "(test.json:/devices/a/adapterInfo/subgroupMinSize"},
      {document(kTolerance, "{}", R"({"id": "a", "inputs": {}, "variant": "main"})"),
       "The variant of the case cannot be examined: the file describes no devices"},
      {R"({"schema": "kernelpack/1", "kind": "benchmarks", "cases": []})",
       "The kind of test.json (benchmarks) is not tests (test.json:/kind"},
      {R"({"schema": "kernelpack/1", "cases": []})", "The required key (kind) is missing"},
      {R"({"schema": "kernelpack/1", "kind": "tests"})", "The required key (cases) is missing"},
      {R"({"schema": "kernelpack/1", "kind": "tests", "cases": {}})", "(test.json:/cases"},
      {R"({"schema": "kernelpack/1", "kind": "tests", "cases": [], "tunables": {}})", "(test.json:/tunables"},
  };
  for (const auto& [text, expected] : faults) {
    const std::string line = fault(text);
    EXPECT_NE(line.find(expected), std::string::npos) << text << "\n" << line;
    EXPECT_EQ(line.rfind("package: ", 0), 0u) << line;
  }
}

TEST(TestCases, RefusesMoreThanTheBudget) {
  std::string cases;
  for (int i = 0; i < 10001; ++i)
    cases += (i == 0 ? "" : ", ") + std::string(R"({"id": "a)") + std::to_string(i) + R"(", "inputs": {}})";
  EXPECT_EQ(fault(document(kTolerance, kDevices, cases)).rfind("limit: ", 0), 0u);
}

// Whatever becomes of a good file, reading it ends well or with an Error.
TEST(TestCases, SurvivesEveryMutationOfAByte) {
  const std::string good = document(kTolerance, kDevices, R"(
      {"id": "one", "inputs": {"x": {"dtype": "float16", "shape": [3], "fill": {"kind": "values", "values":
       [1, "nan", -2e3], "set": [{"first": 1, "step": 2, "value": "-inf"}]}}}, "attributes": {"axis": [1, null]},
       "variant": {"plain": "main"}, "exact": true}, {"id": "two", "inputs": {}, "error": "contract"})");
  ASSERT_EQ(fault(good), "");
  const TestPackage folder(small_manifest());
  const Package package = Package::load(folder.folder(), {.verify = false});
  std::size_t refused = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const char c : {'\0', '"', '}', '9'}) {
      std::string text = good;
      if (c == '\0')
        text.resize(i);
      else
        text[i] = c;
      folder.write("test.json", text);
      try {
        read_test_cases(package);
      } catch (const Error& error) {
        ++refused;
        EXPECT_NE(error.line().find("test.json"), std::string::npos) << error.line();
      }
    }
  }
  std::printf("%zu of %zu mutations are refused\n", refused, 4 * good.size());
  EXPECT_GT(refused, 2 * good.size());
}

TEST(TestCases, SaysThatThereAreNone) {
  const TestPackage folder(small_manifest());
  try {
    read_test_cases(Package::load(folder.folder()));
    FAIL() << "nothing is thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::io);
    EXPECT_EQ(error.message(), "The package ai.onnx.Small has no test cases");
  }
}

}  // namespace
}  // namespace kernelpack::package
