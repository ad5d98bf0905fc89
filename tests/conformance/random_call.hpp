#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "gpu_run.hpp"

namespace kernelpack::conformance {

/// A call without values, as drawn.
struct RandomCall {
  DType dtype = DType::float32;
  Shape data;
  Shape bias;
  int axis = 0;  ///< also negative
  int inner = 0;
  NamedValues tunables{};
};

/// Draws what decides which shaders run: rows from one value to beyond 65536 (`longest`: of those for
/// certain), of any rank, of lengths around the powers of two more often than not; up to all rows with a bias
/// of their own; at times some of the tunables that the package may be tuned with.
RandomCall random_call(std::mt19937_64& random, const std::vector<TunableRange>& tunables, bool longest);
/// Draws other numbers of rows for a call, whose rows stay as long as they are.
void draw_rows(std::mt19937_64& random, RandomCall& call);
/// Draws the values: most rows are ordinary, some are hard in one way or another.
cpu::OpCase random_values(std::mt19937_64& random, const RandomCall& call);

/// "float16[3, 40, 7] + [40, 7], axis -1, inner 0, WORKGROUP_SIZE 64".
std::string describe(const RandomCall& call);

}  // namespace kernelpack::conformance
