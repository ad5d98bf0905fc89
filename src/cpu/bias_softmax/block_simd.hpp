#pragma once

#include "cpu/bias_softmax/stream_simd.hpp"

namespace kernelpack::cpu {
namespace {

/// The longest rows of `block`: their terms fit into the first-level cache beside the data, and the sums of
/// few lanes stay short enough for float.
template <class V>
inline constexpr std::size_t kBlockColumns = V::kLanes < 16 ? 64 * V::kLanes : 1024;

/// The scales of four rows by their sums.
template <class V, class T>
struct RowScales {
  typename V::Rows4 high, low;

  KERNELPACK_INLINE static RowScales of(typename V::Rows4 sums) {
    constexpr bool kFine = Scale<V, T>::kFine;
    if constexpr (kFine && !V::kFused) return {sums, sums};
    const auto inverses = V::inverse(sums);
    if constexpr (kFine && V::kFused) return {inverses, V::inverse_rest(sums, inverses)};
    return {inverses, inverses};
  }
  template <int I>
  KERNELPACK_INLINE Scale<V, T> row(Index<I> r) const {
    return {row_of<V>(high, r), row_of<V>(low, r)};
  }
};

/// kRows rows of a block whose terms are summed in a row of registers each and reduced together. kExact: by
/// the true maximum, which rows in place need because a wrong guess could not be repeated; otherwise by a
/// guess. Returns false, leaving the output undefined, if a row needs another way.
template <class V, class E, class T, bool kExact, bool kPrefetch, int kRows>
KERNELPACK_INLINE bool block_rows(const Span<T> (&rows)[kRows]) {
  using Floats = typename V::Floats;
  const std::size_t columns = rows[0].columns;
  Floats top[kRows];
  unrolled<kRows>([&](auto r) KERNELPACK_INLINE_LAMBDA {
    if constexpr (kExact) {
      top[r] = greatest<V>(rows[r]);
    } else {
      const std::size_t last = columns - V::kLanes;
      const auto v = [&](std::size_t at) KERNELPACK_INLINE_LAMBDA {
        return V::add(V::load(rows[r].x + at), V::load(rows[r].bias + at));
      };
      top[r] = V::max(V::max(v(0), v(last / 2)), v(last));
    }
  });
  const auto tops =
      V::template reduce4<Maximum, V::kLanes>(top[0], top[1 % kRows], top[2 % kRows], top[3 % kRows]);
  if (!V::all_within(tops, -kLargestGuess, kLargestGuess)) return false;

  Tail<V> tail[kRows];
  Floats sum[kRows];
  unrolled<kRows>([&](auto r) KERNELPACK_INLINE_LAMBDA {
    ShortSum<V> total;
    tail[r] = sum_terms<V, E, T, false, true, kPrefetch>(rows[r], E::below(row_of<V>(tops, r)), V::set(0.0f),
                                                         total);
    sum[r] = total.total;
  });
  const auto sums =
      V::template reduce4<Sum, V::kLanes>(sum[0], sum[1 % kRows], sum[2 % kRows], sum[3 % kRows]);
  // By the true maximum a sum is out of range only if it is NaN, and then the row becomes NaN below.
  if (!kExact && !V::all_within(sums, static_cast<float>(kSmallestSum), static_cast<float>(kLargestSum)))
    return false;

  const auto scales = RowScales<V, T>::of(sums);
  unrolled<kRows>([&](auto r) KERNELPACK_INLINE_LAMBDA { write_terms<V>(rows[r], tail[r], scales.row(r)); });
  return true;
}

template <class V, class E, class T, bool kExact, bool kPrefetch>
void block_range(const SoftmaxRows& rows, std::size_t first, std::size_t last) {
  float terms[sizeof(T) == sizeof(float) ? 1 : 4 * kBlockColumns<V>];
  BiasRows<T> bias(rows, first);
  std::size_t row = first;
  while (row < last) {
    const std::size_t count = last - row < 4 ? 1 : 4;
    Span<T> span[4];
    for (std::size_t r = 0; r < count; ++r, bias.advance(1)) {
      span[r] = span_of<T>(rows, row + r, bias.get());
      if constexpr (sizeof(T) != sizeof(float)) span[r].terms = terms + r * kBlockColumns<V>;
    }
    row += count;
    if (count == 4 && block_rows<V, E, T, kExact, kPrefetch, 4>(span)) continue;
    for (std::size_t r = 0; r < count; ++r) {
      const Span<T> one[1] = {span[r]};
      if (!block_rows<V, E, T, kExact, false, 1>(one)) exact_row<V, E, T>(span[r]);
    }
  }
}

/// Four rows at a time by guessed maxima, V::kLanes <= columns <= kBlockColumns<V>.
template <class V, class E, class T>
void block(const SoftmaxRows& rows, std::size_t first, std::size_t last) {
  if (rows.data == rows.output) return block_range<V, E, T, true, false>(rows, first, last);
  if (rows.prefetch) return block_range<V, E, T, false, true>(rows, first, last);
  block_range<V, E, T, false, false>(rows, first, last);
}

}  // namespace
}  // namespace kernelpack::cpu
