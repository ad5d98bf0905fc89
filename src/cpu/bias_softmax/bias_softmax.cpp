#include "cpu/bias_softmax/bias_softmax.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <new>
#include <span>

#include "cpu/bias_softmax/bias_softmax_simd.hpp"
#include "cpu/scratch.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::cpu {
namespace {

constexpr std::array<std::string_view, 5> kMethodNames{"packed", "registers", "block", "stream", "pieces"};

const BiasSoftmaxKernels& kernels_of(Target target) {
  switch (target) {
#if defined(__x86_64__)
    case Target::avx3:
      return avx3::bias_softmax_kernels();
    case Target::avx2:
      return avx2::bias_softmax_kernels();
    case Target::sse4:
      return sse4::bias_softmax_kernels();
#elif defined(__aarch64__)
    case Target::neon:
      return neon::bias_softmax_kernels();
#endif
    default:
      return scalar::bias_softmax_kernels();
  }
}

const TypedKernels& typed_kernels(const BiasSoftmaxShape& shape, Target target) {
  const BiasSoftmaxKernels& kernels = kernels_of(target);
  return shape.dtype == DType::float16 ? kernels.float16 : kernels.float32;
}

/// The methods in the order in which they are tried. A method is taken for rows of at most so many columns
/// (fewer where the tensors come from memory) if the target has it for them, and prefetches for tensors of
/// more bytes.
struct Choice {
  BiasSoftmaxMethod method;
  std::int64_t most_columns;
  std::int64_t most_columns_from_memory;
  std::int64_t most_bytes_without_prefetch;
  std::int64_t most_bytes_without_prefetch_of_halves;
};
constexpr std::int64_t kMegabyte = std::int64_t{1} << 20;
constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
constexpr std::array kChoices{
    Choice{BiasSoftmaxMethod::packed, 8, 8, 2 * kMegabyte, 2 * kMegabyte},
    Choice{BiasSoftmaxMethod::registers, 256, 256, 2 * kMegabyte, 2 * kMegabyte},
    Choice{BiasSoftmaxMethod::block, 1024, 192, 2 * kMegabyte, 2 * kMegabyte},
    Choice{BiasSoftmaxMethod::stream, kAny, kAny, 8 * kMegabyte, kMegabyte / 2},
};
/// Bytes of data and output from which they are taken to come from memory.
constexpr std::int64_t kCachedBytes = 16 * kMegabyte;
/// Rows shorter than this are never shared by threads.
constexpr std::int64_t kFewestSharedColumns = 65536;
/// A float16 row of more columns than this computes its terms twice rather than keep them as float.
constexpr std::int64_t kMostKeptHalves = 262144;
/// Work that is worth a second thread, and a task, in elements.
constexpr std::int64_t kFewestParallelElements = 32768;
constexpr std::int64_t kFewestTaskElements = 8192;
constexpr int kTasksPerThread = 4;

/// Runs one row after the other, each with all threads of an executor, or in the caller if there is none.
class PiecesRun {
 public:
  PiecesRun(const BiasSoftmaxShape& shape, const BiasSoftmaxPlan& plan, const SoftmaxRows& rows,
            Target target, const Executor* executor)
      : kernels_(typed_kernels(shape, target)),
        plan_(plan),
        rows_(rows),
        executor_(executor),
        terms_(terms_of(shape, plan, rows)),
        pieces_(pieces(rows.columns, kernels_of(target).lanes)),
        sums_(few_sums_) {
    if (pieces_ <= few_sums_.size()) return;
    float* const memory = thread_scratch(pieces_ * (sizeof(double) / sizeof(float)));
    if (memory == nullptr) throw std::bad_alloc();
    sums_ = {reinterpret_cast<double*>(memory), pieces_};
  }
  PiecesRun(const PiecesRun&) = delete;
  PiecesRun& operator=(const PiecesRun&) = delete;

  void row(std::size_t row) {
    const float guess = kernels_.shared.guess(rows_, row);
    double sum = std::isnan(guess) ? 0.0 : sum_row(row, guess);
    float top = guess;
    if (!(sum >= kSmallestSum && sum <= kLargestSum)) {
      top = greatest(row);
      if (!std::isfinite(top)) return kernels_.shared.special(rows_, row, top);
      sum = sum_row(row, top);
    }
    for_each_piece([&](std::size_t piece) { kernels_.shared.write(rows_, row, piece, top, sum, terms_); });
  }

 private:
  /// Terms are kept if the output has room for them and is not needed as data any more.
  static Terms terms_of(const BiasSoftmaxShape& shape, const BiasSoftmaxPlan& plan, const SoftmaxRows& rows) {
    if (plan.around_caches) return Terms::twice_around_caches;
    return shape.dtype == DType::float32 && rows.data != rows.output ? Terms::kept : Terms::twice;
  }

  static std::size_t pieces(std::size_t columns, std::size_t lanes) {
    return columns < kPiece + lanes ? 1 : (columns - lanes) / kPiece + 1;
  }

  template <class Use>
  void for_each_piece(const Use& use) {
    const auto tasks = static_cast<std::size_t>(executor_ != nullptr ? plan_.tasks : 1);
    const auto run = [&](int task) {
      const auto at = static_cast<std::size_t>(task);
      for (std::size_t piece = pieces_ * at / tasks; piece < pieces_ * (at + 1) / tasks; ++piece) use(piece);
    };
    if (executor_ == nullptr) return run(0);
    executor_->parallel(plan_.tasks, run);
  }

  double sum_row(std::size_t row, float top) {
    const bool keep = terms_ == Terms::kept;
    for_each_piece(
        [&](std::size_t piece) { sums_[piece] = kernels_.shared.sum(rows_, row, piece, top, keep); });
    double sum = 0.0;
    for (const double part : sums_.first(pieces_)) sum += part;
    return sum;
  }

  float greatest(std::size_t row) {
    for_each_piece([&](std::size_t piece) { sums_[piece] = kernels_.shared.greatest(rows_, row, piece); });
    double top = -std::numeric_limits<double>::infinity();
    for (const double part : sums_.first(pieces_)) {
      if (!(part <= top)) top = part;
    }
    return static_cast<float>(top);
  }

  const TypedKernels& kernels_;
  const BiasSoftmaxPlan& plan_;
  const SoftmaxRows& rows_;
  const Executor* executor_;
  Terms terms_;
  std::size_t pieces_;
  std::array<double, 64> few_sums_;
  std::span<double> sums_;  ///< of at least `pieces_` elements
};

}  // namespace

std::string_view to_string(BiasSoftmaxMethod method) noexcept {
  return kMethodNames[static_cast<std::size_t>(method)];
}

bool bias_softmax_can(BiasSoftmaxMethod method, const BiasSoftmaxShape& shape, Target target) {
  const BiasSoftmaxKernels& kernels = kernels_of(target);
  const auto columns = static_cast<std::size_t>(shape.columns);
  switch (method) {
    case BiasSoftmaxMethod::packed:
      return columns <= kernels.packed_columns;
    case BiasSoftmaxMethod::registers:
      return columns <= typed_kernels(shape, target).registers_columns;
    case BiasSoftmaxMethod::block:
      return columns >= kernels.lanes && columns <= kernels.block_columns;
    case BiasSoftmaxMethod::stream:
      return columns >= kernels.lanes && (shape.dtype != DType::float16 || shape.columns <= kMostKeptHalves);
    case BiasSoftmaxMethod::pieces:
      return columns >= kernels.lanes;
  }
  return false;
}

BiasSoftmaxPlan plan_bias_softmax(const BiasSoftmaxShape& shape, int threads, Target target) {
  BiasSoftmaxPlan plan;
  const std::int64_t elements = shape.rows * shape.columns;
  const std::int64_t bytes = elements * static_cast<std::int64_t>(2 * element_size(shape.dtype));
  const bool from_memory = bytes > kCachedBytes;
  const std::int64_t tasks =
      std::min<std::int64_t>(elements / kFewestTaskElements, std::int64_t{threads} * kTasksPerThread);
  if (threads > 1 && elements >= kFewestParallelElements) plan.tasks = static_cast<int>(tasks);

  // Computing terms twice is no gain for two threads unless memory is what they wait for.
  const bool worth_sharing = shape.dtype == DType::float32 || threads > 2 || from_memory;
  const bool few_rows =
      threads > 1 && shape.rows < threads && shape.columns >= kFewestSharedColumns && worth_sharing;
  const bool too_long = shape.dtype == DType::float16 && shape.columns > kMostKeptHalves;
  if (few_rows || too_long) {
    plan.method = BiasSoftmaxMethod::pieces;
    plan.around_caches = bytes > 2 * kCachedBytes;
    return plan;
  }
  for (const Choice& choice : kChoices) {
    plan.method = choice.method;
    plan.prefetch = bytes > (shape.dtype == DType::float16 ? choice.most_bytes_without_prefetch_of_halves
                                                           : choice.most_bytes_without_prefetch);
    const bool few = from_memory && shape.dtype == DType::float32;
    const std::int64_t most = few ? choice.most_columns_from_memory : choice.most_columns;
    if (shape.columns <= most && bias_softmax_can(choice.method, shape, target)) break;
  }
  plan.tasks = static_cast<int>(std::min<std::int64_t>(plan.tasks, shape.rows));
  return plan;
}

void run_bias_softmax(const BiasSoftmaxShape& shape, const BiasSoftmaxPlan& plan,
                      const BiasSoftmaxBuffers& buffers, const Executor& executor) {
  if (shape.rows * shape.columns == 0) return;
  const auto count = static_cast<std::size_t>(shape.rows);
  const SoftmaxRows rows{buffers.data,
                         buffers.bias,
                         buffers.output,
                         static_cast<std::size_t>(shape.columns),
                         static_cast<std::size_t>(shape.bias_rows),
                         static_cast<std::size_t>(shape.repeat),
                         plan.prefetch,
                         nullptr};
  if (plan.method == BiasSoftmaxMethod::pieces) {
    PiecesRun run(shape, plan, rows, executor.target(), &executor);
    for (std::size_t row = 0; row < count; ++row) run.row(row);
    return;
  }
  const TypedKernels& kernels = typed_kernels(shape, executor.target());
  RowsKernel kernel = kernels.stream;
  if (plan.method == BiasSoftmaxMethod::packed) kernel = kernels.packed;
  if (plan.method == BiasSoftmaxMethod::registers) kernel = kernels.registers;
  if (plan.method == BiasSoftmaxMethod::block) kernel = kernels.block;
  const bool needs_scratch = plan.method == BiasSoftmaxMethod::stream && shape.dtype == DType::float16;

  // Tasks begin at multiples of the rows that kernels take at once.
  constexpr std::size_t kUnit = 16;
  const std::size_t units = (count + kUnit - 1) / kUnit;
  const bool by_unit = units >= static_cast<std::size_t>(plan.tasks);
  const auto border = [&](int task) {
    const std::size_t share =
        (by_unit ? units : count) * static_cast<std::size_t>(task) / static_cast<std::size_t>(plan.tasks);
    return std::min(count, by_unit ? share * kUnit : share);
  };
  executor.parallel(plan.tasks, [&](int task) {
    SoftmaxRows own = rows;
    if (needs_scratch) own.scratch = thread_scratch(rows.columns);
    if (!needs_scratch || own.scratch != nullptr) return kernel(own, border(task), border(task + 1));
    // Without memory for the terms they are computed twice; so few pieces need none for their sums.
    PiecesRun run(shape, plan, rows, executor.target(), nullptr);
    for (std::size_t row = border(task); row < border(task + 1); ++row) run.row(row);
  });
}

std::size_t bias_softmax_input(const Call& call, std::string_view name) {
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    if (call.inputs[i].name == name) return i;
  }
  throw Error(ErrorKind::internal, "A checked call of BiasSoftmax lacks an input");
}

void bias_softmax(const Call& call, std::span<const TensorView> inputs,
                  std::span<const MutableTensorView> outputs, const Executor& executor) {
  const auto input = [&](std::string_view name) { return inputs[bias_softmax_input(call, name)].data(); };
  const BiasSoftmaxShape shape = bias_softmax_shape(call);
  run_bias_softmax(shape, plan_bias_softmax(shape, executor.threads(), executor.target()),
                   {input("data"), input("bias"), outputs[0].data()}, executor);
}

bool bias_softmax_in_place(const Call& call, std::size_t output, std::size_t input) {
  return output == 0 && input < call.inputs.size() && call.inputs[input].name == "data";
}

}  // namespace kernelpack::cpu
