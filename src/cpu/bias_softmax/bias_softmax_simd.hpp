#pragma once

#include <cstddef>

namespace kernelpack::cpu {

/// Rows of softmax(data + bias) as the kernels see them: row r of `data` and `output` has `columns` elements
/// and takes row (r / repeat) % bias_rows of `bias`. Elements are float or, as bits, IEEE binary16.
struct SoftmaxRows {
  const void* data;
  const void* bias;
  void* output;  ///< `data` itself or memory that overlaps neither input
  std::size_t columns;
  std::size_t bias_rows;
  std::size_t repeat;
  bool prefetch;   ///< the tensors come from beyond the second-level cache
  float* scratch;  ///< for `stream` of float16: `columns` floats of the calling thread
};

/// Computes rows [first, last).
using RowsKernel = void (*)(const SoftmaxRows& rows, std::size_t first, std::size_t last);

/// Where `write` takes the terms of a row from: it computes them again, and may write past the caches, or
/// they were kept.
enum class Terms { twice, twice_around_caches, kept };

/// The parts of `stream` for one row that several threads share. A row is cut into pieces of kPiece elements,
/// the last of which may be longer by less than a vector; their sums, added in order, do not depend on who
/// made them.
struct SharedRowKernels {
  /// A finite lower bound of the row's maximum that is close to it in practice, or NaN if there is no such
  /// guess.
  float (*guess)(const SoftmaxRows& rows, std::size_t row);
  /// The greatest v of a piece; NaN is disregarded as it comes.
  float (*greatest)(const SoftmaxRows& rows, std::size_t row, std::size_t piece);
  /// The sum of e^(v - base) over a piece, base being the one that `top`, the maximum of the row or a guess,
  /// gives. With `keep` the terms stay in the output, which is not data then; not for float16.
  double (*sum)(const SoftmaxRows& rows, std::size_t row, std::size_t piece, float top, bool keep);
  /// Writes a piece of the output; the sum of the whole row is `sum`.
  void (*write)(const SoftmaxRows& rows, std::size_t row, std::size_t piece, float top, double sum,
                Terms terms);
  /// Writes a row whose maximum is infinite or NaN.
  void (*special)(const SoftmaxRows& rows, std::size_t row, float top);
};
inline constexpr std::size_t kPiece = 16384;
/// Sums of a guessed row that are accepted: its largest term lies between 1 and 2^100.
inline constexpr double kSmallestSum = 0.5;
inline constexpr double kLargestSum = 0x1p100;

/// Kernels of one element type. `packed` puts several rows into one vector, `registers` keeps four rows at
/// once in registers, `block` takes four rows at once with a guessed maximum, `stream` one row at a time with
/// a guessed maximum. Each gives the rules of bias_softmax.hpp for every value and any alignment.
struct TypedKernels {
  RowsKernel packed;
  RowsKernel registers;
  std::size_t registers_columns;  ///< the most columns of `registers`
  RowsKernel block;
  RowsKernel stream;
  SharedRowKernels shared;
};

/// The kernels of one target and the row lengths that they can do.
struct BiasSoftmaxKernels {
  std::size_t lanes;           ///< floats of a vector; `block` and `stream` need at least so many columns
  std::size_t packed_columns;  ///< the most columns of `packed`
  std::size_t block_columns;   ///< the most columns of `block`
  TypedKernels float32;
  TypedKernels float16;
};

namespace avx3 {
const BiasSoftmaxKernels& bias_softmax_kernels() noexcept;
}
namespace avx2 {
const BiasSoftmaxKernels& bias_softmax_kernels() noexcept;
}
namespace sse4 {
const BiasSoftmaxKernels& bias_softmax_kernels() noexcept;
}
namespace neon {
const BiasSoftmaxKernels& bias_softmax_kernels() noexcept;
}
namespace scalar {
const BiasSoftmaxKernels& bias_softmax_kernels() noexcept;
}

}  // namespace kernelpack::cpu
