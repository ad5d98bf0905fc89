#include "comparison.hpp"

#include <bit>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "kernelpack/error.hpp"

namespace kernelpack::cli {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Rounds once: the float is rounded to odd first, so that the second rounding sees what was cut off.
Float16 to_half(double value) {
  float single = static_cast<float>(value);
  const double difference = value - static_cast<double>(single);
  auto bits = std::bit_cast<std::uint32_t>(single);
  if (std::isfinite(single) && difference != 0 && (bits & 1u) == 0) {
    const bool away_from_zero = (difference > 0) == (value > 0);
    bits = away_from_zero ? bits + 1 : bits - 1;
    single = std::bit_cast<float>(bits);
  }
  return Float16(single);
}

/// Consecutive float16 values map to consecutive integers; both zeros map to 0.
int step_of(Float16 half) {
  const int magnitude = half.bits & 0x7fff;
  return (half.bits & 0x8000) != 0 ? -magnitude : magnitude;
}

double excess(double got, double expected, double allowed) {
  if (std::isnan(got) || std::isnan(expected)) return std::isnan(got) && std::isnan(expected) ? 0 : kNever;
  if (got == expected) return 0;
  if (std::isinf(got) || std::isinf(expected)) return kNever;
  return allowed > 0 ? std::abs(got - expected) / allowed : kNever;
}

/// `multiple(i)` is the share of the tolerance that element i uses; `text(i)` are got and expected in print.
template <class Multiple, class Text>
void examine(Comparison& result, const Shape& shape, Multiple multiple, Text text) {
  result.multiple = -1;
  for (std::int64_t i = 0; i < result.elements; ++i) {
    const double share = multiple(static_cast<std::size_t>(i));
    if (!(share <= 1)) ++result.failures;
    if (share > result.multiple) {
      result.multiple = share;
      result.worst = i;
    }
  }
  result.passed = result.failures == 0;
  if (result.elements == 0) {
    result.multiple = 0;
    return;
  }
  result.worst_index = index_text(result.worst, shape);
  std::tie(result.got, result.expected) = text(static_cast<std::size_t>(result.worst));
}

template <class T>
void examine_equal(Comparison& result, const TensorView& got, const TensorView& expected) {
  const auto mine = got.values<T>();
  const auto theirs = expected.values<T>();
  examine(
      result, got.shape(), [&](std::size_t i) { return mine[i] == theirs[i] ? 0.0 : kNever; },
      [&](std::size_t i) {
        // +: int8 prints as a number. bool prints as true or false.
        if constexpr (std::is_same_v<T, bool>) {
          return std::pair(fmt::format("{}", mine[i]), fmt::format("{}", theirs[i]));
        } else {
          return std::pair(fmt::format("{}", +mine[i]), fmt::format("{}", +theirs[i]));
        }
      });
}

template <class Expected>
void examine_float(Comparison& result, const TensorView& got, const TensorView& expected,
                   const Tolerance& tolerance) {
  const auto mine = got.values<float>();
  const auto theirs = expected.values<Expected>();
  examine(
      result, got.shape(),
      [&](std::size_t i) {
        const auto wanted = static_cast<double>(theirs[i]);
        return excess(static_cast<double>(mine[i]), wanted,
                      tolerance.absolute + tolerance.relative * std::abs(wanted));
      },
      [&](std::size_t i) { return std::pair(fmt::format("{}", mine[i]), fmt::format("{}", theirs[i])); });
}

template <class Convert>
void examine_half(Comparison& result, const TensorView& got, const Tolerance& tolerance, Convert expected) {
  const auto mine = got.values<Float16>();
  examine(
      result, got.shape(),
      [&](std::size_t i) {
        const Float16 wanted = expected(i);
        const double own = static_cast<double>(static_cast<float>(mine[i]));
        const double other = static_cast<double>(static_cast<float>(wanted));
        if (std::isfinite(own) && std::isfinite(other)) {
          const double apart = std::abs(step_of(mine[i]) - step_of(wanted));
          return apart == 0 ? 0 : tolerance.steps > 0 ? apart / static_cast<double>(tolerance.steps) : kNever;
        }
        return excess(own, other, 0);
      },
      [&](std::size_t i) {
        return std::pair(fmt::format("{}", static_cast<float>(mine[i])),
                         fmt::format("{}", static_cast<float>(expected(i))));
      });
}

}  // namespace

std::string index_text(std::int64_t position, const Shape& shape) {
  Shape index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = position % shape[axis];
    position /= shape[axis];
  }
  return to_string(index);
}

Comparison compare(const TensorView& got, const TensorView& expected, const Tolerance& tolerance,
                   const std::string& where) {
  const bool floating = got.dtype() == DType::float32 || got.dtype() == DType::float16;
  if (expected.dtype() != got.dtype() && !(floating && expected.dtype() == DType::float64)) {
    throw Error(ErrorKind::contract,
                fmt::format("The dtype of the expected values ({}) does not fit the output ({}{})",
                            to_string(expected.dtype()), to_string(got.dtype()),
                            floating ? "; float64 is possible, too" : ""),
                where);
  }
  Comparison result;
  if (got.shape() != expected.shape()) {
    result.shapes_match = false;
    return result;
  }
  result.elements = got.element_count();
  switch (got.dtype()) {
    case DType::float32:
      if (expected.dtype() == DType::float64) {
        examine_float<double>(result, got, expected, tolerance);
      } else {
        examine_float<float>(result, got, expected, tolerance);
      }
      break;
    case DType::float16:
      if (expected.dtype() == DType::float64) {
        examine_half(result, got, tolerance,
                     [&](std::size_t i) { return to_half(expected.values<double>()[i]); });
      } else {
        examine_half(result, got, tolerance, [&](std::size_t i) { return expected.values<Float16>()[i]; });
      }
      break;
    case DType::bool_:
      examine_equal<bool>(result, got, expected);
      break;
    case DType::int8:
      examine_equal<std::int8_t>(result, got, expected);
      break;
    case DType::int16:
      examine_equal<std::int16_t>(result, got, expected);
      break;
    case DType::int32:
      examine_equal<std::int32_t>(result, got, expected);
      break;
    case DType::int64:
      examine_equal<std::int64_t>(result, got, expected);
      break;
    case DType::uint8:
      examine_equal<std::uint8_t>(result, got, expected);
      break;
    case DType::uint32:
      examine_equal<std::uint32_t>(result, got, expected);
      break;
    case DType::float64:
      throw Error(ErrorKind::internal, "An output has the dtype float64, which no package can have", where);
  }
  return result;
}

}  // namespace kernelpack::cli
