#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "cpu/bias_softmax/bias_softmax_call_test.hpp"

namespace kernelpack::cpu {

/// A file of the folder of shared inputs' `cases`.
json::Document read_shared(const std::string& name);

/// Skips, or fails where CI says that nothing may be absent.
#define KERNELPACK_REQUIRE_SHARED(name)                                                            \
  if (!std::filesystem::exists(std::filesystem::path(KERNELPACK_SHARED_DIR) / "cases" / (name))) { \
    const char* ci = std::getenv("CI");                                                            \
    ASSERT_FALSE(ci != nullptr && std::string(ci) == "true") << (name) << " is absent";            \
    GTEST_SKIP() << "cases/" << (name) << " is absent from " << KERNELPACK_SHARED_DIR;             \
  }

Shape shape_of(const json::Value& value);

/// A call of the shared cases and what the file says of its result.
struct SharedCase {
  std::string label;
  OpCase op;
  bool exact = false;     ///< every element equals the rounded reference
  double row_sums = 0.0;  ///< how far the sum of a row may be from 1; 0: not looked at
  std::vector<std::pair<std::size_t, std::vector<double>>> rows{};  ///< number of a row and its values
};

/// The calls of an entry of cases.json whose values stand in the file, and none of another. Values that
/// float16 lacks become its largest or lowest.
std::vector<SharedCase> written_cases(const json::Value& entry, DType dtype);
/// The calls of onnxruntime_shapes.json for all dtypes that it names. Expects the rows and columns that the
/// file states.
std::vector<SharedCase> onnxruntime_cases(const json::Document& document);

/// Expects of a result what the file says, apart from the reference: values of float32 within `tolerance`.
void expect_as_written(const SharedCase& shared, const Tensor& output, double tolerance);

}  // namespace kernelpack::cpu
