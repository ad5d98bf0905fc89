#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelpack/call.hpp"
#include "kernelpack/error.hpp"
#include "kernelpack/package.hpp"
#include "kernelpack/plan.hpp"
#include "kernelpack/tensor.hpp"

namespace kernelpack {

/// How the elements of a tensor of test.json or bench.json come about: docs/package-schema.md defines each
/// kind.
struct Fill {
  enum class Kind { constant, values, ramp, uniform, normal, causal };
  struct Set {
    std::int64_t first = 0;
    std::int64_t step = 1;
    double value = 0;
    bool operator==(const Set&) const = default;
  };
  Kind kind = Kind::constant;
  double value = 0;            ///< constant, causal
  std::vector<double> values;  ///< values
  double first = 0;            ///< ramp: start; uniform: low; normal: mean
  double second = 0;           ///< ramp: step; uniform: high; normal: deviation
  std::uint64_t seed = 0;      ///< uniform, normal
  std::vector<Set> set;
  bool operator==(const Fill&) const = default;
};

/// An input of a case.
struct CaseInput {
  std::string name;
  TensorSpec spec;
  Fill fill;
};

/// The values of an input, computed by several threads where there are many. Throws contract for a fill that
/// gives too few values.
Tensor make_tensor(const CaseInput& input);

/// A case of bench.json.
struct BenchmarkCase {
  std::string id;
  std::vector<CaseInput> inputs;
  NamedValues attributes;
  NamedValues tunables;
  std::vector<std::string> tune;  ///< names out of BenchmarkCases::tunables that matter to it
};

struct TunableRange {
  std::string name;
  std::vector<AttributeValue> values;  ///< those that a search may try
};

/// What bench.json of a package says.
struct BenchmarkCases {
  std::vector<TunableRange> tunables;
  std::vector<BenchmarkCase> cases;
};

/// Reads bench.json in the package's folder. Throws io if there is none, unsupported for a schema other than
/// kernelpack/1, and package, with the place, for the first fault in it.
BenchmarkCases read_benchmark_cases(const Package& package);
/// The same for a file anywhere.
BenchmarkCases read_benchmark_cases(const std::filesystem::path& file);

/// How far a float32 output may be from the reference: max(floor, (relative + relative_per_distance * d) *
/// |expected|), d being the distance of the element (ReferenceOutput).
struct Float32Tolerance {
  double relative = 0;
  double relative_per_distance = 0;
  double floor = 0;
  bool operator==(const Float32Tolerance&) const = default;
};

/// How far a float16 output may be from the reference: so many float16 steps from the rounded reference, or,
/// where |expected| < limit, by `absolute`.
struct Float16Tolerance {
  std::int64_t steps = 0;
  double limit = 0;
  double absolute = 0;
  bool operator==(const Float16Tolerance&) const = default;
};

/// What test.json allows. An output of a dtype without a tolerance must equal the rounded reference.
struct TestTolerance {
  std::optional<Float32Tolerance> float32;
  std::optional<Float16Tolerance> float16;
};

/// A device that test.json describes: calls are planned for it, nothing runs there.
struct TestDevice {
  std::string name;
  DeviceFacts facts;
};

/// The variant that must be chosen on a device of TestCases::devices.
struct ExpectedVariant {
  std::string device;
  std::string variant;
  bool operator==(const ExpectedVariant&) const = default;
};

/// A case of test.json. One with `error` has neither of `variants`, `pins` and `exact`; one with `pins` has
/// no `variants`.
struct TestCase {
  std::string id;
  std::vector<CaseInput> inputs;
  NamedValues attributes;
  NamedValues tunables;
  std::vector<ExpectedVariant> variants;
  std::vector<std::string> pins;   ///< variants to run with in turn; empty: the one that is chosen
  bool exact = false;              ///< the outputs must equal the rounded reference
  std::optional<ErrorKind> error;  ///< contract: binding fails; no_variant: planning does
};

/// What test.json of a package says.
struct TestCases {
  TestTolerance tolerance;
  std::vector<TestDevice> devices;
  std::vector<TestCase> cases;
};

/// Reads test.json in the package's folder. Throws io if there is none, unsupported for a schema other than
/// kernelpack/1, and package (limit for what is too large), with the place, for the first fault in it; a
/// variant that the package lacks is one.
TestCases read_test_cases(const Package& package);
/// The same for a file anywhere, with cases of that package.
TestCases read_test_cases(const std::filesystem::path& file, const Package& package);

/// What an output must be, by the definition of the operator in double precision.
struct ReferenceOutput {
  std::string name;
  Tensor expected;  ///< float64, not rounded, in the shape of the output
  /// float64, for each element what its tolerance grows with: for BiasSoftmax how far its sum of data and
  /// bias lies below the greatest of its row; infinite where the value is minus infinity, 0 in rows of those
  /// alone, NaN in rows that give NaN.
  Tensor distance;
};

/// Whether this program has a reference of the operator ("com.microsoft.BiasSoftmax").
bool has_reference(std::string_view op) noexcept;
/// The outputs of the call for these inputs, which are those of `call.inputs` in that order. Throws
/// unsupported for an operator without reference, and contract for tensors that are not those of the call and
/// for calls that the operator cannot compute.
std::vector<ReferenceOutput> reference_outputs(const Call& call, std::span<const TensorView> inputs);

/// The outcome of `judge`.
struct Judgement {
  std::int64_t elements = 0;
  std::int64_t wrong = 0;  ///< elements outside the tolerance
  /// Of the element that uses most of its tolerance: above 1 is wrong; infinity where no tolerance would do.
  double multiple = 0;
  std::int64_t worst = 0;  ///< its place, row-major; meaningless without elements, as what follows
  double got = 0;
  double expected = 0;
};

/// Holds an output against the reference. NaN matches NaN alone, an infinity itself alone, zeros of either
/// sign each other. Elements whose reference is 0 because their input is minus infinity must be 0. With
/// `exact` every element must equal the rounded reference. Throws contract if the shapes differ.
Judgement judge(const TensorView& got, const ReferenceOutput& reference, const TestTolerance& tolerance,
                bool exact);

}  // namespace kernelpack
