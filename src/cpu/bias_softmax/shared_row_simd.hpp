#pragma once

#include "cpu/bias_softmax/stream_simd.hpp"

namespace kernelpack::cpu {
namespace {

/// The parts of `stream` for a row that several threads share. Nothing is stored before the sum is known:
/// terms are computed twice, with the same results as when they are kept.
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

  static double sum(const SoftmaxRows& rows, std::size_t row, std::size_t piece, float top) {
    const Span<T> part = piece_of<V>(span(rows, row), piece);
    LongSum<V> total;
    if (within(top)) {
      sum_terms<V, E, T, false, false, true>(part, E::below(V::set(top)), V::set(0.0f), total);
    } else {
      sum_terms<V, E, T, true, false, true>(part, E::at_zero(), V::set(top), total);
    }
    return V::total(total.total);
  }

  static void write(const SoftmaxRows& rows, std::size_t row, std::size_t piece, float top, double sum,
                    bool around_caches) {
    const Span<T> part = piece_of<V>(span(rows, row), piece);
    const bool aligned = reinterpret_cast<std::uintptr_t>(part.y) % (V::kLanes * sizeof(T)) == 0;
    if (within(top)) {
      if (around_caches && aligned) return write_part<false, true>(part, E::below(V::set(top)), top, sum);
      return write_part<false, false>(part, E::below(V::set(top)), top, sum);
    }
    write_part<true, false>(part, E::at_zero(), top, sum);
  }

  static void special(const SoftmaxRows& rows, std::size_t row, float top) {
    special_row<V>(span(rows, row), top);
  }

 private:
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
      prefetch<true>(part.x + i, part.x + i);
      unrolled<4>([&](auto k) KERNELPACK_INLINE_LAMBDA { write(i + k * V::kLanes); });
    }
    for (; i < whole; i += V::kLanes) write(i);
    if constexpr (kAround) V::finish_streams();
    if (fresh != 0) V::store(part.y + part.columns - V::kLanes, tail);
  }
};

}  // namespace
}  // namespace kernelpack::cpu
