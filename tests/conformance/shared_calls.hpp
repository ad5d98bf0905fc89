#pragma once

#include <vector>

#include "cpu/bias_softmax/shared_cases_test.hpp"

namespace kernelpack::conformance {

/// The calls of an entry of cases.json in a dtype, with values that stand in the file or that its words
/// describe. Throws internal for an entry that is not known here.
std::vector<cpu::SharedCase> shared_calls(const json::Value& entry, DType dtype);

}  // namespace kernelpack::conformance
