#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kernelpack/call.hpp"
#include "kernelpack/package.hpp"
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

}  // namespace kernelpack
