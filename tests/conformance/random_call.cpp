#include "random_call.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kernelpack::conformance {
namespace {

using Random = std::mt19937_64;

std::int64_t between(Random& random, std::int64_t least, std::int64_t most) {
  return std::uniform_int_distribution<std::int64_t>(least, most)(random);
}
bool one_in(Random& random, int n) {
  return between(random, 1, n) == 1;
}

std::int64_t draw_columns(Random& random) {
  switch (between(random, 0, 9)) {
    case 0:
    case 1:
      return between(random, 1, 9);
    case 2:
    case 3:
      return between(random, 1, 140);
    case 4:
    case 5: {
      const std::int64_t power = std::int64_t{1} << between(random, 2, 13);
      return std::max<std::int64_t>(1, power + between(random, -3, 4));
    }
    case 6:
    case 7:
      return 4 * between(random, 1, 1100);
    case 8:
      return between(random, 140, 5000);
    default:
      return between(random, 5000, 66000);
  }
}

/// Dimensions, at most `most` of them, whose product is `count`.
Shape split(Random& random, std::int64_t count, std::int64_t most) {
  Shape shape;
  while (static_cast<std::int64_t>(shape.size()) + 1 < most && one_in(random, 2)) {
    std::int64_t factor = between(random, 1, std::min<std::int64_t>(count, 12));
    while (count % factor != 0) --factor;
    shape.push_back(factor);
    count /= factor;
  }
  shape.push_back(count);
  return shape;
}

std::int64_t columns_of(const RandomCall& call) {
  const auto rank = static_cast<std::ptrdiff_t>(call.data.size());
  const auto first = call.axis < 0 ? call.axis + rank : call.axis;
  return element_count(Shape(call.data.begin() + first, call.data.end()));
}

}  // namespace

RandomCall random_call(Random& random, const std::vector<TunableRange>& tunables, bool longest) {
  RandomCall call;
  call.dtype = one_in(random, 2) ? DType::float32 : DType::float16;
  call.data = split(random, longest ? between(random, 65537, 90000) : draw_columns(random), 3);
  call.axis = 0;
  if (one_in(random, 3))
    for (const TunableRange& range : tunables)
      if (one_in(random, 3))
        call.tunables.push_back(
            {range.name, range.values[static_cast<std::size_t>(
                             between(random, 0, static_cast<std::int64_t>(range.values.size()) - 1))]});
  draw_rows(random, call);
  return call;
}

void draw_rows(Random& random, RandomCall& call) {
  const std::int64_t columns = columns_of(call);
  const std::ptrdiff_t row_rank =
      static_cast<std::ptrdiff_t>(call.data.size()) -
      (call.axis < 0 ? call.axis + static_cast<std::ptrdiff_t>(call.data.size()) : call.axis);
  const Shape row(call.data.end() - row_rank, call.data.end());
  const std::int64_t most = std::max<std::int64_t>(3, (std::int64_t{1} << 16) / columns);
  std::int64_t bias_rows = between(random, 1, std::min<std::int64_t>(most, 40));
  std::int64_t repeat = between(random, 1, std::clamp<std::int64_t>(most / bias_rows, 1, 60));
  if (columns <= 8 && one_in(random, 20)) {
    bias_rows = between(random, 1, 9);
    repeat = 65536 / bias_rows + between(random, 1, 1000);
  }
  call.data = split(random, bias_rows * repeat, 3);
  call.data.insert(call.data.end(), row.begin(), row.end());
  const auto rank = static_cast<int>(call.data.size());
  call.axis = rank - static_cast<int>(row_rank) - (one_in(random, 2) ? rank : 0);
  call.inner = static_cast<int>(between(random, 0, 1));
  // The bias needs whole rows and no particular rank.
  call.bias = one_in(random, 4) ? Shape{bias_rows * columns} : split(random, bias_rows, 3);
  if (call.bias.size() > 1 || call.bias[0] != bias_rows * columns)
    call.bias.insert(call.bias.end(), row.begin(), row.end());
}

cpu::OpCase random_values(Random& random, const RandomCall& call) {
  const auto n = static_cast<std::size_t>(columns_of(call));
  std::vector<float> data(static_cast<std::size_t>(element_count(call.data)));
  std::vector<float> bias(static_cast<std::size_t>(element_count(call.bias)));
  std::vector<float> unused(n);
  const auto kind = [&]() -> const cpu::RowKind& {
    const std::vector<cpu::RowKind>& kinds = cpu::row_kinds();
    return kinds[one_in(random, 3) ? static_cast<std::size_t>(
                                         between(random, 0, static_cast<std::int64_t>(kinds.size()) - 1))
                                   : 0];
  };
  for (std::size_t first = 0; first < data.size(); first += n)
    kind().fill(random, &data[first], unused.data(), static_cast<std::int64_t>(n));
  for (std::size_t first = 0; first < bias.size(); first += n)
    kind().fill(random, unused.data(), &bias[first], static_cast<std::int64_t>(n));
  return {cpu::tensor_of(call.dtype, call.data, [&](std::size_t i) { return data[i]; }),
          cpu::tensor_of(call.dtype, call.bias, [&](std::size_t i) { return bias[i]; }), call.axis,
          call.inner};
}

std::string describe(const RandomCall& call) {
  std::string text = fmt::format("{}{} + {}, axis {}, inner {}", to_string(call.dtype), to_string(call.data),
                                 to_string(call.bias), call.axis, call.inner);
  for (const NamedValue& tunable : call.tunables)
    text += fmt::format(", {} {}", tunable.name, to_string(tunable.value));
  return text;
}

}  // namespace kernelpack::conformance
