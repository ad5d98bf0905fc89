#pragma once

#include "cpu/bias_softmax/rows_simd.hpp"

namespace kernelpack::cpu {
namespace {

/// Rows of at most kGroup columns, kGroup lanes each, so that a vector holds several.
template <class V, class E, class T, std::size_t kGroup, bool kWhole>
class PackedRows {
 public:
  using Floats = typename V::Floats;
  static constexpr std::size_t kRows = V::kLanes / kGroup;  ///< rows of a vector
  static constexpr std::size_t kBlock = 4 * kRows;          ///< rows of a block of four vectors

  explicit PackedRows(std::size_t columns) : columns_(columns) {
    std::int32_t spread[V::kLanes], repeat[V::kLanes], gather[V::kLanes] = {};
    float dead[V::kLanes];
    for (std::size_t lane = 0; lane < V::kLanes; ++lane) {
      const std::size_t column = lane % kGroup < columns ? lane % kGroup : columns - 1;
      dead[lane] = lane % kGroup < columns ? 0.0f : __builtin_nanf("");
      repeat[lane] = static_cast<std::int32_t>(column);
      spread[lane] = static_cast<std::int32_t>(lane / kGroup * columns + column);
      if (lane % kGroup < columns) gather[lane / kGroup * columns + column] = static_cast<std::int32_t>(lane);
    }
    spread_ = V::load_lanes(spread);
    repeat_ = V::load_lanes(repeat);
    gather_ = V::load_lanes(gather);
    dead_ = V::is_nan(V::load(dead));
  }

  void run(const SoftmaxRows& rows, std::size_t first, std::size_t last) const {
    const T* x = static_cast<const T*>(rows.data) + first * columns_;
    T* y = static_cast<T*>(rows.output) + first * columns_;
    BiasRows<T> bias(rows, first);
    Floats shared[4] = {V::set(0.0f), V::set(0.0f), V::set(0.0f), V::set(0.0f)};
    const T* shared_row = nullptr;
    for (std::size_t row = first; row < last; row += kBlock) {
      const std::size_t count = last - row < kBlock ? last - row : kBlock;
      if (bias.same() >= count) {
        if (shared_row != bias.get()) {
          shared_row = bias.get();
          shared[0] = V::permute(V::load_partial(shared_row, columns_), repeat_);
          shared[1] = shared[2] = shared[3] = shared[0];
        }
        step(x, y, shared, count, rows.prefetch);
      } else {
        const T* from = bias.get();
        T copied[4 * V::kLanes];
        if (!bias.consecutive(count)) {
          copy_rows(bias, copied, count);
          from = copied;
        }
        Floats own[4];
        unrolled<4>([&](auto j) KERNELPACK_INLINE_LAMBDA {
          own[j] = load(from + j * kRows * columns_, rows_of(count, static_cast<std::size_t>(j)));
        });
        step(x, y, own, count, rows.prefetch);
      }
      bias.advance(count);
      x += count * columns_;
      y += count * columns_;
    }
  }

 private:
  KERNELPACK_INLINE static std::size_t rows_of(std::size_t count, std::size_t vector) {
    const std::size_t before = vector * kRows;
    return count <= before ? 0 : count - before < kRows ? count - before : kRows;
  }

  void copy_rows(BiasRows<T> bias, T* to, std::size_t count) const {
    for (std::size_t row = 0; row < count; ++row, bias.advance(1)) {
      for (std::size_t i = 0; i < columns_; ++i) to[row * columns_ + i] = bias.get()[i];
    }
  }

  KERNELPACK_INLINE Floats load(const T* from, std::size_t rows) const {
    if (kWhole && rows == kRows) return V::load(from);
    return V::permute(V::load_partial(from, rows * columns_), spread_);
  }

  KERNELPACK_INLINE void step(const T* x, T* y, const Floats (&bias)[4], std::size_t count,
                              bool prefetched) const {
    if (count == kBlock && prefetched) {
      block<true, true>(x, y, bias, count);
    } else if (count == kBlock) {
      block<true, false>(x, y, bias, count);
    } else {
      block<false, false>(x, y, bias, count);
    }
  }

  template <bool kFull, bool kPrefetch>
  KERNELPACK_INLINE void block(const T* x, T* y, const Floats (&bias)[4], std::size_t count) const {
    constexpr bool kFine = sizeof(T) == sizeof(float);
    Floats v[4];
    unrolled<4>([&](auto j) KERNELPACK_INLINE_LAMBDA {
      prefetch<kPrefetch>(x + j * kRows * columns_, y + j * kRows * columns_);
      v[j] = load(x + j * kRows * columns_, kFull ? kRows : rows_of(count, static_cast<std::size_t>(j)));
      v[j] = V::add(v[j], bias[j]);
      if constexpr (!kWhole) v[j] = V::select(dead_, V::set(-__builtin_inff()), v[j]);
    });
    const auto tops = V::at_least(V::template reduce4<Maximum, kGroup>(v[0], v[1], v[2], v[3]), -kLargest);
    const E exponential = E::at_zero();
    unrolled<4>([&](auto j) KERNELPACK_INLINE_LAMBDA {
      v[j] = exponential.template apply<false, kFine>(V::subtract(v[j], row_of<V>(tops, j)));
    });
    const auto inverses = V::inverse_or_zero(V::template reduce4<Sum, kGroup>(v[0], v[1], v[2], v[3]));
    unrolled<4>([&](auto j) KERNELPACK_INLINE_LAMBDA {
      Floats result = V::multiply(v[j], row_of<V>(inverses, j));
      T* to = y + j * kRows * columns_;
      if constexpr (kWhole && kFull) {
        V::store(to, result);
      } else {
        const std::size_t rows = kFull ? kRows : rows_of(count, static_cast<std::size_t>(j));
        if constexpr (!kWhole) result = V::permute(result, gather_);
        V::store_partial(to, result, rows * columns_);
      }
    });
  }

  std::size_t columns_;
  typename V::Lanes spread_, repeat_, gather_;
  typename V::Mask dead_;
};

template <class V, class E, class T, std::size_t kGroup>
void packed_group(const SoftmaxRows& rows, std::size_t first, std::size_t last) {
  if (rows.columns == kGroup) {
    PackedRows<V, E, T, kGroup, true>(rows.columns).run(rows, first, last);
  } else {
    PackedRows<V, E, T, kGroup, false>(rows.columns).run(rows, first, last);
  }
}

/// Several rows in a vector, 1 <= columns <= V::kLanes / 2.
template <class V, class E, class T>
void packed(const SoftmaxRows& rows, std::size_t first, std::size_t last) {
  if constexpr (V::kLanes >= 16) {
    if (rows.columns > 4) return packed_group<V, E, T, 8>(rows, first, last);
  }
  packed_group<V, E, T, 4>(rows, first, last);
}

}  // namespace
}  // namespace kernelpack::cpu
