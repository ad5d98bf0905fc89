#pragma once

#include "cpu/bias_softmax/rows_simd.hpp"

namespace kernelpack::cpu {
namespace {

/// What rows ask for ahead of its use: nothing, data from a cache (worth it only where loads cross lines), or
/// data and output from memory.
enum class Ahead { nothing, data, all };

/// Softmax of kRows rows, each in kVectors registers. The last vector of a row ends with the row and overlaps
/// the one before it, so no partial load or store is needed, except in rows shorter than a vector (kPartial).
template <class V, class E, class T, int kVectors, bool kPartial, Ahead kAhead, int kRows>
KERNELPACK_INLINE void registers_block(const T* x, const T* const (&bias)[kRows], T* y, std::size_t columns) {
  using Floats = typename V::Floats;
  constexpr bool kFine = sizeof(T) == sizeof(float);
  const std::size_t tail = kPartial ? 0 : columns - V::kLanes;
  const auto offset = [&](int k) KERNELPACK_INLINE_LAMBDA {
    return k + 1 < kVectors ? static_cast<std::size_t>(k) * V::kLanes : tail;
  };

  Floats v[kRows][kVectors];
  Floats top[kRows];
  unrolled<kRows>([&](auto r) KERNELPACK_INLINE_LAMBDA {
    const T* from = x + static_cast<std::size_t>(r) * columns;
    unrolled<kVectors>([&](auto k) KERNELPACK_INLINE_LAMBDA {
      if constexpr (kAhead == Ahead::data) {
        __builtin_prefetch(reinterpret_cast<const char*>(from + offset(k)) + kCachedPrefetchBytes, 0);
      }
      if constexpr (kPartial) {
        v[r][k] = V::select(V::first(columns),
                            V::add(V::load_partial(from, columns), V::load_partial(bias[r], columns)),
                            V::set(-__builtin_inff()));
      } else {
        prefetch<kAhead == Ahead::all>(from + offset(k),
                                       y + static_cast<std::size_t>(r) * columns + offset(k));
        v[r][k] = V::add(V::load(from + offset(k)), V::load(bias[r] + offset(k)));
      }
    });
    top[r] = tree<V, Maximum, kVectors>(v[r]);
  });
  // A row of -inf alone gets the lowest finite number as its maximum: all its exponentials are 0.
  const auto tops = V::at_least(
      V::template reduce4<Maximum, V::kLanes>(top[0], top[1 % kRows], top[2 % kRows], top[3 % kRows]),
      -kLargest);

  const E exponential = E::at_zero();
  const auto fresh = V::last(columns - (kVectors - 1) * V::kLanes);
  Floats sum[kRows];
  unrolled<kRows>([&](auto r) KERNELPACK_INLINE_LAMBDA {
    const Floats row_top = row_of<V>(tops, r);
    unrolled<kVectors>([&](auto k) KERNELPACK_INLINE_LAMBDA {
      v[r][k] = exponential.template apply<false, kFine>(V::subtract(v[r][k], row_top));
    });
    if constexpr (kPartial) {
      sum[r] = v[r][0];
    } else if constexpr (kVectors == 1) {
      sum[r] = V::keep(fresh, v[r][0]);
    } else {
      sum[r] = V::add(tree<V, Sum, kVectors - 1>(v[r]), V::keep(fresh, v[r][kVectors - 1]));
    }
  });
  const auto inverses = V::inverse_or_zero(
      V::template reduce4<Sum, V::kLanes>(sum[0], sum[1 % kRows], sum[2 % kRows], sum[3 % kRows]));

  unrolled<kRows>([&](auto r) KERNELPACK_INLINE_LAMBDA {
    T* to = y + static_cast<std::size_t>(r) * columns;
    const Floats inverse = row_of<V>(inverses, r);
    unrolled<kVectors>([&](auto k) KERNELPACK_INLINE_LAMBDA {
      const Floats result = V::multiply(v[r][k], inverse);
      if constexpr (kPartial) {
        V::store_partial(to, result, columns);
      } else {
        V::store(to + offset(k), result);
      }
    });
  });
}

/// A bias row that many rows share, copied to where its loads cost least: at the beginning of a line, and not
/// in the first line of a page. Zen 5 seems to hold loads from there back until earlier stores that cross a
/// line are done.
template <class T, std::size_t kMost>
class NearBias {
 public:
  KERNELPACK_INLINE const T* copy_of(const T* row, std::size_t columns) {
    if (row != source_) copy(row, columns);
    return near_;
  }

 private:
  void copy(const T* row, std::size_t columns) {
    constexpr std::uintptr_t kPageBytes = 4096;
    constexpr std::uintptr_t kLineBytes = 64;
    const auto first = reinterpret_cast<std::uintptr_t>(memory_);
    const std::uintptr_t page = (first + kPageBytes - kLineBytes) / kPageBytes * kPageBytes;
    const bool clear = first + columns * sizeof(T) <= page;
    near_ = clear ? memory_ : memory_ + (page + kLineBytes - first) / sizeof(T);
    for (std::size_t i = 0; i < columns; ++i) near_[i] = row[i];
    source_ = row;
  }

  const T* source_ = nullptr;
  T* near_ = nullptr;
  alignas(64) T memory_[2 * kMost + 64];
};
/// Rows that share a bias row from which on a copy of it is worth its cost.
inline constexpr std::size_t kFewestRowsOfCopy = 16;

template <class V, class E, class T, int kVectors, bool kPartial, Ahead kAhead>
void registers_rows(const SoftmaxRows& rows, std::size_t first, std::size_t last) {
  const std::size_t columns = rows.columns;
  const T* x = static_cast<const T*>(rows.data) + first * columns;
  T* y = static_cast<T*>(rows.output) + first * columns;
  BiasRows<T> bias(rows, first);
  NearBias<T, kVectors * V::kLanes> near;
  std::size_t left = last - first;
  constexpr int kAtOnce = V::rows_in_registers(kVectors);
  for (; left >= kAtOnce; left -= kAtOnce) {
    const T* from[kAtOnce];
    if (bias.same() >= kAtOnce) {
      const T* shared = bias.get();
      if (rows.repeat >= kFewestRowsOfCopy) shared = near.copy_of(shared, columns);
      unrolled<kAtOnce>([&](auto r) KERNELPACK_INLINE_LAMBDA { from[r] = shared; });
      bias.advance(kAtOnce);
    } else {
      unrolled<kAtOnce>([&](auto r) KERNELPACK_INLINE_LAMBDA {
        from[r] = bias.get();
        bias.advance(1);
      });
    }
    registers_block<V, E, T, kVectors, kPartial, kAhead, kAtOnce>(x, from, y, columns);
    x += kAtOnce * columns;
    y += kAtOnce * columns;
  }
  for (; left > 0; --left) {
    const T* from[1] = {bias.get()};
    bias.advance(1);
    registers_block<V, E, T, kVectors, kPartial, Ahead::nothing, 1>(x, from, y, columns);
    x += columns;
    y += columns;
  }
}

/// Rows in registers, up to four at once, 1 <= columns <= kMost * V::kLanes.
template <class V, class E, class T, int kMost>
void registers(const SoftmaxRows& rows, std::size_t first, std::size_t last) {
  if (rows.columns < V::kLanes) return registers_rows<V, E, T, 1, true, Ahead::nothing>(rows, first, last);
  unrolled<kMost>([&](auto k) KERNELPACK_INLINE_LAMBDA {
    constexpr int kVectors = decltype(k)::kValue + 1;
    const bool fits = rows.columns <= kVectors * V::kLanes;
    if (!fits || rows.columns <= (kVectors - 1) * V::kLanes) return;
    if (rows.prefetch) {
      registers_rows<V, E, T, kVectors, false, Ahead::all>(rows, first, last);
    } else if (rows.columns % V::kLanes != 0) {
      registers_rows<V, E, T, kVectors, false, Ahead::data>(rows, first, last);
    } else {
      registers_rows<V, E, T, kVectors, false, Ahead::nothing>(rows, first, last);
    }
  });
}

}  // namespace
}  // namespace kernelpack::cpu
