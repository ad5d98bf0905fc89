#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/bias_softmax/bias_softmax_simd.hpp"
#include "cpu/simd/operations_simd.hpp"

namespace kernelpack::cpu {
namespace {

using Half = std::uint16_t;

template <int I>
struct Index {
  static constexpr int kValue = I;
  KERNELPACK_INLINE constexpr operator int() const { return I; }
};

/// Calls step(Index<0>) to step(Index<N - 1>), unrolled at every optimisation level.
template <int N, int I = 0, class Step>
KERNELPACK_INLINE void unrolled(const Step& step) {
  if constexpr (I < N) {
    step(Index<I>{});
    unrolled<N, I + 1>(step);
  }
}

/// `combine` of value[first] to value[first + count - 1] as a balanced tree.
template <class V, class Operation, int kCount, class Floats>
KERNELPACK_INLINE Floats tree(const Floats* value) {
  if constexpr (kCount == 1) {
    return value[0];
  } else {
    constexpr int kLeft = (kCount + 1) / 2;
    return Operation::template apply<V>(tree<V, Operation, kLeft>(value),
                                        tree<V, Operation, kCount - kLeft>(value + kLeft));
  }
}

/// Walks along the bias rows of consecutive data rows.
template <class T>
class BiasRows {
 public:
  KERNELPACK_INLINE BiasRows(const SoftmaxRows& rows, std::size_t row)
      : bias_(static_cast<const T*>(rows.bias)),
        columns_(rows.columns),
        count_(rows.bias_rows),
        repeat_(rows.repeat),
        index_(row / rows.repeat % rows.bias_rows),
        left_(rows.repeat - row % rows.repeat) {}

  KERNELPACK_INLINE const T* get() const { return bias_ + index_ * columns_; }
  /// Rows from here on, this one included, that take the same bias row.
  KERNELPACK_INLINE std::size_t same() const { return left_; }
  /// Whether the next `rows` rows take bias rows that follow each other.
  KERNELPACK_INLINE bool consecutive(std::size_t rows) const {
    return repeat_ == 1 && index_ + rows <= count_;
  }
  KERNELPACK_INLINE void advance(std::size_t rows) {
    while (rows >= left_) {
      rows -= left_;
      left_ = repeat_;
      if (++index_ == count_) index_ = 0;
    }
    left_ -= rows;
  }

 private:
  const T* bias_;
  std::size_t columns_, count_, repeat_, index_, left_;
};

/// `V::broadcast` of a row number that is known at compile time.
template <class V, int I>
KERNELPACK_INLINE typename V::Floats row_of(typename V::Rows4 rows, Index<I>) {
  return V::template broadcast<I>(rows);
}

/// Bytes that are asked for ahead of their use where tensors come from memory, and where they come from a
/// cache.
inline constexpr std::size_t kPrefetchBytes = 4096;
inline constexpr std::size_t kCachedPrefetchBytes = 2048;

/// Asks for what lies ahead: `from` to be read, `to` to be written.
template <bool kPrefetch, class T, class U>
KERNELPACK_INLINE void prefetch(const T* from, const U* to) {
  if constexpr (kPrefetch) {
    __builtin_prefetch(reinterpret_cast<const char*>(from) + kPrefetchBytes, 0);
    __builtin_prefetch(reinterpret_cast<const char*>(to) + kPrefetchBytes, 1);
  }
}

}  // namespace
}  // namespace kernelpack::cpu
