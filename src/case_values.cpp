// The values of a fill: element i depends on the fill, the shape and i alone.
#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "element_types.hpp"
#include "kernelpack/cases.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack {
namespace {

constexpr std::int64_t kAlone = std::int64_t{1} << 18;  // elements that are not worth a second thread

double unit(std::uint64_t seed, std::uint64_t n) {
  std::uint64_t x = seed * 0xD1342543DE82EF95u + (n + 1) * 0x9E3779B97F4A7C15u;
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9u;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBu;
  x ^= x >> 31;
  return static_cast<double>(x >> 11) * 0x1p-53;
}

class Elements {
 public:
  explicit Elements(const CaseInput& input) : fill_(input.fill) {
    const Shape& shape = input.spec.shape;
    if (fill_.kind == Fill::Kind::causal) {
      if (shape.size() < 2)
        throw Error(ErrorKind::contract, "A causal fill needs a tensor of two dimensions or more",
                    "input " + input.name);
      columns_ = shape.back();
      rows_ = shape[shape.size() - 2];
    }
    count_ = element_count(input.spec.shape);
    if (fill_.kind == Fill::Kind::values && static_cast<std::int64_t>(fill_.values.size()) < count_)
      throw Error(ErrorKind::contract,
                  fmt::format("The number of values ({}) is smaller than the number of elements ({})",
                              fill_.values.size(), count_),
                  "input " + input.name);
  }

  double at(std::int64_t i) const {
    double value = base(i);
    for (const Fill::Set& set : fill_.set)
      if (i >= set.first && (i - set.first) % set.step == 0) value = set.value;
    return value;
  }

 private:
  double base(std::int64_t i) const {
    const auto n = static_cast<std::uint64_t>(i);
    switch (fill_.kind) {
      case Fill::Kind::constant:
        return fill_.value;
      case Fill::Kind::values:
        return fill_.values[static_cast<std::size_t>(i)];
      case Fill::Kind::ramp:
        return fill_.first + static_cast<double>(i) * fill_.second;
      case Fill::Kind::uniform:
        return fill_.first + (fill_.second - fill_.first) * unit(fill_.seed, n);
      case Fill::Kind::normal: {
        double sum = 0;
        for (std::uint64_t k = 0; k < 12; ++k) sum += unit(fill_.seed, 12 * n + k);
        return fill_.first + fill_.second * (sum - 6);
      }
      case Fill::Kind::causal:
        return i % columns_ > i / columns_ % rows_ ? fill_.value : 0;
    }
    return 0;
  }

  const Fill& fill_;
  std::int64_t columns_ = 1;
  std::int64_t rows_ = 1;
  std::int64_t count_ = 0;
};

template <class T>
void fill_values(const Elements& elements, std::span<T> values) {
  const auto count = static_cast<std::int64_t>(values.size());
  const auto part = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      values[static_cast<std::size_t>(i)] = rounded<T>(elements.at(i));
  };
  const std::int64_t wanted = std::clamp<std::int64_t>(count / kAlone, 1, 64);
  const std::int64_t threads =
      std::min<std::int64_t>(wanted, std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::jthread> workers;
  for (std::int64_t t = 1; t < threads; ++t)
    workers.emplace_back(part, count / threads * t, t + 1 == threads ? count : count / threads * (t + 1));
  part(0, threads == 1 ? count : count / threads);
}

}  // namespace

Tensor make_tensor(const CaseInput& input) {
  const Elements elements(input);
  Tensor tensor = Tensor::uninitialized(input.spec);
  with_element_type(input.spec.dtype, [&]<class T>(T) { fill_values(elements, tensor.values<T>()); });
  return tensor;
}

}  // namespace kernelpack
