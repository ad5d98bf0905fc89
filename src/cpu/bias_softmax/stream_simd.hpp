#pragma once

#include "cpu/bias_softmax/rows_simd.hpp"

namespace kernelpack::cpu {
namespace {

/// A guess outside of this is not used: it is a mask value in all probability, and e^(v - base) loses
/// precision.
inline constexpr float kLargestGuess = 1000.0f;

/// A row, or a piece of one, on its way from data and bias to output. Terms e^(v - base) are kept at `terms`:
/// in the output for float32, in scratch memory for float16, whose elements cannot hold them.
template <class T>
struct Span {
  const T* x;
  const T* bias;
  T* y;
  float* terms;
  std::size_t columns;
};

/// Sums of few terms in float: lane sums of up to 32 terms that are added up.
template <class V>
struct ShortSum {
  typename V::Floats total = V::set(0.0f);
  KERNELPACK_INLINE void add(typename V::Floats lanes) { total = V::add(total, lanes); }
};

/// Sums of any number of terms: lane sums of up to 32 terms that are added up in double.
template <class V>
struct LongSum {
  typename V::Doubles total = V::zero_doubles();
  KERNELPACK_INLINE void add(typename V::Floats lanes) { V::accumulate(total, lanes); }
};

/// What is left of a span after its whole vectors is done by one more vector that ends with the span and
/// overlaps them. Its terms stay in a register, because in place they would be taken for data.
template <class V>
struct Tail {
  typename V::Floats terms = V::set(0.0f);
  std::size_t fresh = 0;  ///< lanes, at the end, that belong to no other vector
};

template <class V, class E, class T, bool kShifted>
KERNELPACK_INLINE typename V::Floats term(const T* x, const T* bias, const E& exponential,
                                          typename V::Floats shift) {
  constexpr bool kFine = sizeof(T) == sizeof(float);
  typename V::Floats v = V::add(V::load(x), V::load(bias));
  if constexpr (kShifted) v = V::subtract(v, shift);
  return exponential.template apply<!kShifted, kFine>(v);
}

/// Terms of a span of at least one vector, and their sum. kStore: they are kept.
template <class V, class E, class T, bool kShifted, bool kStore, bool kPrefetch, class Total>
KERNELPACK_INLINE Tail<V> sum_terms(const Span<T>& span, const E& exponential, typename V::Floats shift,
                                    Total& total) {
  using Floats = typename V::Floats;
  constexpr std::size_t kLanes = V::kLanes;
  constexpr std::size_t kChain = 8;  ///< additions in a lane before the sum is passed on
  const auto make = [&](std::size_t i) KERNELPACK_INLINE_LAMBDA {
    prefetch<kPrefetch>(span.x + i, span.y + i);
    const Floats e = term<V, E, T, kShifted>(span.x + i, span.bias + i, exponential, shift);
    if constexpr (kStore) V::store(span.terms + i, e);
    return e;
  };

  Tail<V> tail;
  tail.fresh = span.columns % kLanes;
  if (tail.fresh != 0) {
    const std::size_t at = span.columns - kLanes;
    tail.terms = term<V, E, T, kShifted>(span.x + at, span.bias + at, exponential, shift);
    total.add(V::keep(V::last(tail.fresh), tail.terms));
  }
  const std::size_t whole = span.columns - tail.fresh;
  std::size_t i = 0;
  while (whole - i >= 4 * kLanes) {
    std::size_t chain = (whole - i) / (4 * kLanes);
    if (chain > kChain) chain = kChain;
    Floats lanes = V::set(0.0f);
    for (std::size_t n = 0; n < chain; ++n, i += 4 * kLanes) {
      Floats e[4];
      unrolled<4>([&](auto k) KERNELPACK_INLINE_LAMBDA { e[k] = make(i + k * kLanes); });
      lanes = V::add(lanes, tree<V, Sum, 4>(e));
    }
    total.add(lanes);
  }
  if (i < whole) {
    Floats lanes = V::set(0.0f);
    for (; i < whole; i += kLanes) lanes = V::add(lanes, make(i));
    total.add(lanes);
  }
  return tail;
}

/// Divides terms by their sum so that a term that is the whole sum gives 1: by both parts of the inverse of
/// the sum, or, where products are not fused, by the sum itself. For float16 the inverse does.
template <class V, class T>
struct Scale {
  using Floats = typename V::Floats;
  static constexpr bool kFine = sizeof(T) == sizeof(float);
  Floats high, low;

  KERNELPACK_INLINE static Scale of(double sum) {
    const float rounded = static_cast<float>(1.0 / sum);
    if constexpr (kFine && !V::kFused) return {V::set(static_cast<float>(sum)), V::set(0.0f)};
    return {V::set(rounded), V::set(static_cast<float>(1.0 / sum - static_cast<double>(rounded)))};
  }
  KERNELPACK_INLINE Floats operator()(Floats terms) const {
    if constexpr (!kFine) return V::multiply(terms, high);
    if constexpr (kFine && V::kFused) return V::multiply_add(terms, high, V::multiply(terms, low));
    if constexpr (kFine && !V::kFused) return V::divide(terms, high);
  }
};

/// Scales the terms of a span. With kWholeLines the stores are lines of the output, one by one; the terms lie
/// in memory as the output does, or their loads would cross lines instead.
template <class V, class T>
KERNELPACK_INLINE void write_terms(const Span<T>& span, const Tail<V>& tail, const Scale<V, T>& scale) {
  const std::size_t whole = span.columns - tail.fresh;
  const auto write = [&](std::size_t i)
                         KERNELPACK_INLINE_LAMBDA { V::store(span.y + i, scale(V::load(span.terms + i))); };
  constexpr bool kLines = V::kWholeLines && Scale<V, T>::kFine;
  const auto write_some = [&](std::size_t at, std::size_t count) KERNELPACK_INLINE_LAMBDA {
    if (count != 0) V::store_partial(span.y + at, scale(V::load_partial(span.terms + at, count)), count);
  };
  std::size_t i = 0;
  if constexpr (kLines) {
    i = (0 - reinterpret_cast<std::uintptr_t>(span.y) / sizeof(T)) % V::kLanes;
    write_some(0, i);
  }
  for (; i + 4 * V::kLanes <= whole; i += 4 * V::kLanes) {
    unrolled<4>([&](auto k) KERNELPACK_INLINE_LAMBDA { write(i + k * V::kLanes); });
  }
  for (; i + V::kLanes <= whole; i += V::kLanes) write(i);
  if constexpr (kLines) write_some(i, whole - i);
  if (tail.fresh != 0) V::store(span.y + span.columns - V::kLanes, scale(tail.terms));
}

/// The greatest v of a span, disregarding NaN as it comes.
template <class V, class T>
KERNELPACK_INLINE typename V::Floats greatest(const Span<T>& span) {
  using Floats = typename V::Floats;
  const std::size_t last = span.columns - V::kLanes;
  const auto v = [&](std::size_t i)
                     KERNELPACK_INLINE_LAMBDA { return V::add(V::load(span.x + i), V::load(span.bias + i)); };
  Floats top[4];
  top[0] = top[1] = top[2] = top[3] = v(last);
  std::size_t i = 0;
  for (; i + 4 * V::kLanes <= span.columns; i += 4 * V::kLanes) {
    unrolled<4>([&](auto k) KERNELPACK_INLINE_LAMBDA { top[k] = V::max(v(i + k * V::kLanes), top[k]); });
  }
  for (; i < last; i += V::kLanes) top[0] = V::max(v(i), top[0]);
  return tree<V, Maximum, 4>(top);
}

template <class V, class T>
KERNELPACK_INLINE bool any_nan(const Span<T>& span) {
  for (std::size_t i = 0; i < span.columns; ++i) {
    if (V::any(V::is_nan(V::add(V::load_partial(span.x + i, 1), V::load_partial(span.bias + i, 1)))))
      return true;
  }
  return false;
}

template <class V, class T>
void fill(const Span<T>& span, float value) {
  for (std::size_t i = 0; i < span.columns; ++i) V::store_partial(span.y + i, V::set(value), 1);
}

/// A lower bound of the row's maximum from a few of its vectors.
template <class V, class T>
KERNELPACK_INLINE float guess_row(const Span<T>& span) {
  const std::size_t last = span.columns - V::kLanes;
  typename V::Floats top[5];
  unrolled<5>([&](auto k) KERNELPACK_INLINE_LAMBDA {
    const std::size_t at = last / 4 * static_cast<std::size_t>(k);
    top[k] = V::add(V::load(span.x + at), V::load(span.bias + at));
  });
  top[4] = V::max(V::add(V::load(span.x + last), V::load(span.bias + last)), top[4]);
  return V::maximum(tree<V, Maximum, 5>(top));
}

template <class T>
KERNELPACK_INLINE Span<T> span_of(const SoftmaxRows& rows, std::size_t row, const T* bias) {
  Span<T> span{static_cast<const T*>(rows.data) + row * rows.columns, bias,
               static_cast<T*>(rows.output) + row * rows.columns, rows.scratch, rows.columns};
  if constexpr (sizeof(T) == sizeof(float)) span.terms = span.y;
  return span;
}

/// Piece number `piece` of a row; the last one takes what is left beyond whole pieces.
template <class V, class T>
KERNELPACK_INLINE Span<T> piece_of(Span<T> span, std::size_t piece) {
  const std::size_t at = piece * kPiece;
  const std::size_t left = span.columns - at;
  // Terms that are not kept have no place.
  float* const terms = span.terms == nullptr ? nullptr : span.terms + at;
  return {span.x + at, span.bias + at, span.y + at, terms, left < kPiece + V::kLanes ? left : kPiece};
}

template <class V>
KERNELPACK_INLINE std::size_t pieces_of(std::size_t columns) {
  return columns < kPiece + V::kLanes ? 1 : (columns - V::kLanes) / kPiece + 1;
}

KERNELPACK_INLINE bool within(float top) {
  return top >= -kLargestGuess && top <= kLargestGuess;
}
KERNELPACK_INLINE bool accepted(double sum) {
  return sum >= kSmallestSum && sum <= kLargestSum;
}

/// The sum of a whole row, piece by piece; `top` is its maximum or a guess of it.
template <class V, class E, class T, bool kStore, bool kPrefetch>
KERNELPACK_INLINE double sum_row(const Span<T>& span, float top, Tail<V>& tail) {
  const std::size_t pieces = pieces_of<V>(span.columns);
  double sum = 0.0;
  for (std::size_t piece = 0; piece < pieces; ++piece) {
    LongSum<V> total;
    if (within(top)) {
      tail = sum_terms<V, E, T, false, kStore, kPrefetch>(piece_of<V>(span, piece), E::below(V::set(top)),
                                                          V::set(0.0f), total);
    } else {
      tail = sum_terms<V, E, T, true, kStore, kPrefetch>(piece_of<V>(span, piece), E::at_zero(), V::set(top),
                                                         total);
    }
    sum += V::total(total.total);
  }
  return sum;
}

/// A row whose maximum is infinite or NaN: zeros if all of it is -inf, else NaN.
template <class V, class T>
KERNELPACK_INLINE void special_row(const Span<T>& span, float top) {
  fill<V>(span, top < -kLargest && !any_nan<V>(span) ? 0.0f : __builtin_nanf(""));
}

/// One row by its true maximum: right for every row, in place too.
template <class V, class E, class T>
__attribute__((noinline)) void exact_row(const Span<T>& span) {
  const float top = V::maximum(greatest<V>(span));
  if (!(top >= -kLargest && top <= kLargest)) return special_row<V>(span, top);
  // A NaN anywhere makes the sum NaN, and with it the whole row.
  Tail<V> tail;
  write_terms<V>(span, tail, Scale<V, T>::of(sum_row<V, E, T, true, false>(span, top, tail)));
}

template <class V, class E, class T, bool kPrefetch>
void stream_rows(const SoftmaxRows& rows, std::size_t first, std::size_t last) {
  BiasRows<T> bias(rows, first);
  for (std::size_t row = first; row < last; ++row, bias.advance(1)) {
    Span<T> span = span_of<T>(rows, row, bias.get());
    if (rows.data == rows.output) {
      exact_row<V, E, T>(span);
      continue;
    }
    const float top = guess_row<V>(span);
    Tail<V> tail;
    double sum = 0.0;
    if (within(top)) sum = sum_row<V, E, T, true, kPrefetch>(span, top, tail);
    if (accepted(sum)) {
      write_terms<V>(span, tail, Scale<V, T>::of(sum));
    } else {
      exact_row<V, E, T>(span);
    }
  }
}

/// One row at a time: terms by a guessed maximum, then scaled. At least V::kLanes columns.
template <class V, class E, class T>
void stream(const SoftmaxRows& rows, std::size_t first, std::size_t last) {
  if (rows.prefetch) {
    stream_rows<V, E, T, true>(rows, first, last);
  } else {
    stream_rows<V, E, T, false>(rows, first, last);
  }
}

}  // namespace
}  // namespace kernelpack::cpu
