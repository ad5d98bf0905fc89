#pragma once

#include "kernelpack/tensor.hpp"

namespace kernelpack::cli {

/// The largest difference of two results in parts of what CPU and GPU together may differ by: above 1 is
/// wrong. NaN matches NaN alone; dtypes other than float32 and float16 must be equal. Dtypes and shapes must
/// agree.
double worst_of(const TensorView& got, const TensorView& expected);

}  // namespace kernelpack::cli
