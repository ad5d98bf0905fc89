#pragma once

#include "cpu/bias_softmax/stream_simd.hpp"

namespace kernelpack::cpu {
namespace {

/// The parts of `stream` for a row that several threads share. Terms that are computed twice are the same as
/// those that are kept.
template <class V, class E, class T>
struct SharedRow {
  static Span<T> span(const SoftmaxRows& rows, std::size_t row) {
    return span_of<T>(rows, row, BiasRows<T>(rows, row).get());
  }

  static float guess(const SoftmaxRows& rows, std::size_t row) {
    const float top = guess_row<V>(span(rows, row));
    return within(top) ? top : __builtin_nanf("");
  }

  static float greatest(const SoftmaxRows& rows, std::size_t row, std::size_t piece) {
    return V::maximum(kernelpack::cpu::greatest<V>(piece_of<V>(span(rows, row), piece)));
  }

  static double sum(const SoftmaxRows& rows, std::size_t row, std::size_t piece, float top, bool keep) {
    const Span<T> part = piece_of<V>(span(rows, row), piece);
    if constexpr (kKeeps) {
      if (keep) return sum_part<true>(part, top);
    }
    return sum_part<false>(part, top);
  }

  static void write(const SoftmaxRows& rows, std::size_t row, std::size_t piece, float top, double sum,
                    Terms terms) {
    const Span<T> part = piece_of<V>(span(rows, row), piece);
    if constexpr (kKeeps) {
      if (terms == Terms::kept) return write_kept(part, top, sum);
    }
    const bool aligned = reinterpret_cast<std::uintptr_t>(part.y) % (V::kLanes * sizeof(T)) == 0;
    const bool around = terms == Terms::twice_around_caches && aligned;
    if (!within(top)) return write_part<true, false>(part, E::at_zero(), top, sum);
    if (around) return write_part<false, true>(part, E::below(V::set(top)), top, sum);
    write_part<false, false>(part, E::below(V::set(top)), top, sum);
  }

  static void special(const SoftmaxRows& rows, std::size_t row, float top) {
    special_row<V>(span(rows, row), top);
  }

 private:
  /// The output has room for terms.
  static constexpr bool kKeeps = sizeof(T) == sizeof(float);

  template <bool kStore>
  static double sum_part(const Span<T>& part, float top) {
    LongSum<V> total;
    if (within(top)) {
      sum_terms<V, E, T, false, kStore, false>(part, E::below(V::set(top)), V::set(0.0f), total);
    } else {
      sum_terms<V, E, T, true, kStore, false>(part, E::at_zero(), V::set(top), total);
    }
    return V::total(total.total);
  }

  static void write_kept(const Span<T>& part, float top, double sum) {
    Tail<V> tail;
    tail.fresh = part.columns % V::kLanes;
    const std::size_t at = part.columns - V::kLanes;
    const auto shift = V::set(top);
    tail.terms = within(top) ? term<V, E, T, false>(part.x + at, part.bias + at, E::below(shift), shift)
                             : term<V, E, T, true>(part.x + at, part.bias + at, E::at_zero(), shift);
    write_terms<V>(part, tail, Scale<V, T>::of(sum));
  }

  template <bool kShifted, bool kAround>
  static void write_part(const Span<T>& part, const E& exponential, float top, double sum) {
    const auto scale = Scale<V, T>::of(sum);
    const auto shift = V::set(top);
    const auto result = [&](std::size_t i) KERNELPACK_INLINE_LAMBDA {
      return scale(term<V, E, T, kShifted>(part.x + i, part.bias + i, exponential, shift));
    };
    const std::size_t fresh = part.columns % V::kLanes;
    const std::size_t whole = part.columns - fresh;
    const auto tail = result(part.columns - V::kLanes);
    const auto write = [&](std::size_t i) KERNELPACK_INLINE_LAMBDA {
      if constexpr (kAround) {
        V::stream(part.y + i, result(i));
      } else {
        V::store(part.y + i, result(i));
      }
    };
    std::size_t i = 0;
    for (; i + 4 * V::kLanes <= whole; i += 4 * V::kLanes) {
      unrolled<4>([&](auto k) KERNELPACK_INLINE_LAMBDA { write(i + k * V::kLanes); });
    }
    for (; i < whole; i += V::kLanes) write(i);
    if constexpr (kAround) V::finish_streams();
    if (fresh != 0) V::store(part.y + part.columns - V::kLanes, tail);
  }
};

}  // namespace
}  // namespace kernelpack::cpu
