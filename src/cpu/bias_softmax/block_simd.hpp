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

/// kRows rows of a block by guessed maxima, whose terms are summed in a register each and reduced together.
/// Returns false, with data intact, if a row needs its true maximum.
template <class V, class E, class T, bool kPrefetch, int kRows>
KERNELPACK_INLINE bool block_rows(const Span<T> (&rows)[kRows]) {
  using Floats = typename V::Floats;
  const std::size_t last = rows[0].columns - V::kLanes;
  Floats top[kRows];
  unrolled<kRows>([&](auto r) KERNELPACK_INLINE_LAMBDA {
    const auto v = [&](std::size_t at) KERNELPACK_INLINE_LAMBDA {
      return V::add(V::load(rows[r].x + at), V::load(rows[r].bias + at));
    };
    top[r] = V::max(V::max(v(0), v(last / 2)), v(last));
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
  if (!V::all_within(sums, static_cast<float>(kSmallestSum), static_cast<float>(kLargestSum))) return false;

  const auto scales = RowScales<V, T>::of(sums);
  unrolled<kRows>([&](auto r) KERNELPACK_INLINE_LAMBDA { write_terms<V>(rows[r], tail[r], scales.row(r)); });
  return true;
}

template <class V, class E, class T, bool kPrefetch>
void block_range(const SoftmaxRows& rows, std::size_t first, std::size_t last) {
  // Terms are kept in the output, but apart from it where it cannot hold them, still holds data, or would be
  // stored to across lines. Their rows are whole lines, and one or two more, so that they do not compete for
  // the same places of the cache.
  constexpr bool kFine = sizeof(T) == sizeof(float);
  constexpr bool kLines = V::kWholeLines && kFine;
  const auto output = reinterpret_cast<std::uintptr_t>(rows.output) / sizeof(T);
  const bool crossing = kLines && (output % V::kLanes != 0 || rows.columns % V::kLanes != 0);
  const bool apart = !kFine || rows.data == rows.output || crossing;
  const std::size_t stride = (rows.columns + 31) / 16 * 16 + (crossing ? 16 : 0);
  alignas(64) float terms[4 * (kBlockColumns<V> + 32)];
  BiasRows<T> bias(rows, first);
  std::size_t row = first;
  while (row < last) {
    const std::size_t count = last - row < 4 ? 1 : 4;
    Span<T> span[4];
    for (std::size_t r = 0; r < count; ++r, bias.advance(1)) {
      span[r] = span_of<T>(rows, row + r, bias.get());
      if (!apart) continue;
      span[r].terms = terms + r * stride;
      if (crossing) span[r].terms += reinterpret_cast<std::uintptr_t>(span[r].y) / sizeof(T) % V::kLanes;
    }
    row += count;
    if (count == 4 && block_rows<V, E, T, kPrefetch, 4>(span)) continue;
    for (std::size_t r = 0; r < count; ++r) {
      const Span<T> one[1] = {span[r]};
      if (!block_rows<V, E, T, false, 1>(one)) exact_row<V, E, T>(span[r]);
    }
  }
}

/// Four rows at a time by guessed maxima, V::kLanes <= columns <= kBlockColumns<V>.
template <class V, class E, class T>
void block(const SoftmaxRows& rows, std::size_t first, std::size_t last) {
  if (rows.prefetch) return block_range<V, E, T, true>(rows, first, last);
  block_range<V, E, T, false>(rows, first, last);
}

}  // namespace
}  // namespace kernelpack::cpu
