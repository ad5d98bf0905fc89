#pragma once

#include <cstdint>
#include <string>

#include "kernelpack/tensor.hpp"

namespace kernelpack::cli {

/// "[0, 3, 17, 5]" of a row-major position.
std::string index_text(std::int64_t position, const Shape& shape);

struct Tolerance {
  double absolute = 1e-7;
  double relative = 5e-6;
  std::int64_t steps = 1;  ///< for float16: neighbouring float16 values
};

/// The outcome of `compare`. With shapes that differ nothing is compared and `shapes_match` is false.
struct Comparison {
  bool passed = false;
  bool shapes_match = true;
  std::int64_t elements = 0;
  std::int64_t failures = 0;  ///< elements outside the tolerance
  // The element that uses most of its tolerance; meaningless without elements.
  std::int64_t worst = 0;   ///< row-major
  std::string worst_index;  ///< "[0, 3, 17, 5]"
  std::string got;
  std::string expected;
  double multiple = 0;  ///< of the tolerance: above 1 fails; infinity where no tolerance would do
};

/// Compares by the dtype of `got`: float32 |got - expected| <= absolute + relative * |expected|; float16 with
/// both rounded to float16, at most `steps` apart; integers and bool equal. NaN matches only NaN, an infinity
/// only itself, and zeros of either sign each other. `expected` has the dtype of `got`, or float64 for a
/// float one; any other dtype throws contract with `where` as its place.
Comparison compare(const TensorView& got, const TensorView& expected, const Tolerance& tolerance,
                   const std::string& where);

}  // namespace kernelpack::cli
