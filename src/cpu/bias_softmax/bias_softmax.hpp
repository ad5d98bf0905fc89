#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "cpu/executor.hpp"
#include "kernelpack/call.hpp"
#include "kernelpack/tensor.hpp"

namespace kernelpack::cpu {

/// com.microsoft.BiasSoftmax: output = softmax(data + bias) over rows, a row being what the dimensions of
/// data from `axis` on hold together. Bias holds whole rows, and their number divides that of data; each is
/// used by `repeat` consecutive rows of data, and after the last comes the first again.
///
/// v = float(data) + float(bias) in float32; y = e^(v - max) / sum, stored in the dtype of data (float32 or
/// float16). A row whose v are all -inf gives zeros; a row with a NaN or +inf gives NaN everywhere; one
/// column gives exactly 1 (or 0 or NaN, by the same rules). Results are never below 0 or above 1, and do not
/// depend on other rows, on the number of threads or on alignment. Their accuracy is that of
/// bias_softmax_tolerance (reference.hpp). Output may be data itself; other overlap is not allowed. Tensors
/// need the alignment of their elements only.
struct BiasSoftmaxShape {
  DType dtype = DType::float32;
  std::int64_t rows = 0;
  std::int64_t columns = 0;  ///< of a row; rows * columns == 0 for empty tensors
  std::int64_t bias_rows = 1;
  std::int64_t repeat = 1;  ///< data row r takes bias row (r / repeat) % bias_rows
  bool operator==(const BiasSoftmaxShape&) const = default;
};

/// How rows are computed. All give the same values up to rounding; which one is fastest depends on the row
/// length.
enum class BiasSoftmaxMethod {
  packed,     ///< several rows in a vector
  registers,  ///< four rows at once in registers
  block,      ///< four rows at once: terms by a guessed maximum, kept, then scaled
  stream,     ///< one row at a time: the same, with sums in double
  pieces,  ///< one row at a time, its pieces shared by the threads; terms are computed twice instead of kept
};
std::string_view to_string(BiasSoftmaxMethod method) noexcept;

/// What is decided before the first element is read; it follows from shape, threads and target alone.
struct BiasSoftmaxPlan {
  BiasSoftmaxMethod method = BiasSoftmaxMethod::stream;
  bool prefetch = false;       ///< the tensors come from memory rather than from a cache
  bool around_caches = false;  ///< `pieces` computes terms twice and writes past the caches
  int tasks = 1;               ///< that the executor's threads share
  bool operator==(const BiasSoftmaxPlan&) const = default;
};

/// The rows of a bound call. Throws contract with the numbers for a call that BiasSoftmax cannot compute: an
/// axis outside [-rank, rank) or not an integer, data of rank 0, a bias that does not fit, only one of data
/// and bias empty.
BiasSoftmaxShape bias_softmax_shape(const Call& call);

BiasSoftmaxPlan plan_bias_softmax(const BiasSoftmaxShape& shape, int threads, Target target);
/// Whether the target has that method for the shape.
bool bias_softmax_can(BiasSoftmaxMethod method, const BiasSoftmaxShape& shape, Target target);

/// Pointers to contiguous rows of the shape's dtype; a bias of `bias_rows` rows.
struct BiasSoftmaxBuffers {
  const void* data;
  const void* bias;
  void* output;
};
/// Computes by the given plan, whose method the executor's target must have.
void run_bias_softmax(const BiasSoftmaxShape& shape, const BiasSoftmaxPlan& plan,
                      const BiasSoftmaxBuffers& buffers, const Executor& executor);

/// The number of that input among those of a call that has been checked.
std::size_t bias_softmax_input(const Call& call, std::string_view name);

/// The functions of the kernel table.
void check_bias_softmax(const Call& call);
void bias_softmax(const Call& call, std::span<const TensorView> inputs,
                  std::span<const MutableTensorView> outputs, const Executor& executor);
bool bias_softmax_in_place(const Call& call, std::size_t output, std::size_t input);

}  // namespace kernelpack::cpu
