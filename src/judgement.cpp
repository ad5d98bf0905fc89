// Results held against the operator's own definition.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "contract/memory.hpp"
#include "cpu/kernel_table.hpp"
#include "element_types.hpp"
#include "kernelpack/cases.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Consecutive float16 values map to consecutive integers; both zeros map to 0.
int step_of(Float16 half) noexcept {
  const int magnitude = half.bits & 0x7fff;
  return (half.bits & 0x8000) != 0 ? -magnitude : magnitude;
}

double share(double difference, double allowed) noexcept {
  return difference == 0 ? 0 : allowed > 0 ? difference / allowed : kNever;
}

/// Whether the reference is 0 because nothing but a minus infinity went in.
bool is_masked(double expected, double distance) noexcept {
  return expected == 0 && (distance == 0 || std::isinf(distance));
}

double share_of(float got, double expected, double distance, const Float32Tolerance& tolerance) noexcept {
  const double size = std::fabs(expected);
  const double allowed =
      size == 0 ? tolerance.floor
                : std::max(tolerance.floor,
                           size * (tolerance.relative + tolerance.relative_per_distance * distance));
  return share(std::fabs(static_cast<double>(got) - expected), allowed);
}

double share_of(Float16 got, double expected, double, const Float16Tolerance& tolerance) noexcept {
  const auto steps = static_cast<double>(std::abs(step_of(got) - step_of(rounded<Float16>(expected))));
  double used = share(steps, static_cast<double>(tolerance.steps));
  if (std::fabs(expected) < tolerance.limit)
    used = std::min(used, share(std::fabs(widened(got) - expected), tolerance.absolute));
  return used;
}

/// The part of its tolerance that an element uses; a tolerance of none leaves no room.
template <class T, class Tolerance>
double used_of(T got, double expected, double distance, const Tolerance* tolerance) noexcept {
  const double mine = widened(got);
  const double wanted = widened(rounded<T>(expected));
  if (std::isnan(mine) || std::isnan(wanted)) return std::isnan(mine) && std::isnan(wanted) ? 0 : kNever;
  if (mine == wanted) return 0;
  if (std::isinf(mine) || std::isinf(wanted) || is_masked(expected, distance)) return kNever;
  if constexpr (std::is_same_v<Tolerance, void>)
    return kNever;
  else
    return tolerance != nullptr ? share_of(got, expected, distance, *tolerance) : kNever;
}

template <class T, class Tolerance>
Judgement judge_all(const TensorView& output, const ReferenceOutput& reference, const Tolerance* tolerance) {
  const auto got = output.values<T>();
  const auto expected = reference.expected.values<double>();
  const auto distance = reference.distance.values<double>();
  Judgement judgement;
  judgement.elements = output.element_count();
  double most = -1;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double used = used_of<T>(got[i], expected[i], distance[i], tolerance);
    if (used > 1) ++judgement.wrong;
    if (used <= most) continue;
    most = used;
    judgement.worst = static_cast<std::int64_t>(i);
    judgement.got = widened(got[i]);
    judgement.expected = expected[i];
  }
  judgement.multiple = std::max(most, 0.0);
  return judgement;
}

}  // namespace

bool has_reference(std::string_view op) noexcept {
  return cpu::find_kernel(op) != nullptr;
}

std::vector<ReferenceOutput> reference_outputs(const Call& call, std::span<const TensorView> inputs) {
  const cpu::KernelEntry* kernel = cpu::find_kernel(call.op);
  if (kernel == nullptr)
    throw Error(ErrorKind::unsupported, fmt::format("This build has no reference of {}", call.op), call.op);
  contract::check_inputs(call, inputs);
  kernel->check(call);
  std::vector<ReferenceOutput> outputs;
  for (const BoundTensor& bound : call.outputs)
    outputs.push_back({bound.name, Tensor(DType::float64, bound.shape), Tensor(DType::float64, bound.shape)});
  std::vector<std::span<double>> expected;
  std::vector<std::span<double>> distances;
  for (ReferenceOutput& output : outputs) {
    expected.push_back(output.expected.values<double>());
    distances.push_back(output.distance.values<double>());
  }
  kernel->reference(call, inputs, expected, distances);
  return outputs;
}

Judgement judge(const TensorView& got, const ReferenceOutput& reference, const TestTolerance& tolerance,
                bool exact) {
  if (got.shape() != reference.expected.shape())
    throw Error(ErrorKind::contract,
                fmt::format("The shape of the output ({}) differs from that of the reference ({})",
                            to_string(got.shape()), to_string(reference.expected.shape())),
                "output " + reference.name);
  Judgement judgement;
  with_element_type(got.dtype(), [&]<class T>(T) {
    if constexpr (std::is_same_v<T, float>)
      judgement = judge_all<T>(got, reference, exact || !tolerance.float32 ? nullptr : &*tolerance.float32);
    else if constexpr (std::is_same_v<T, Float16>)
      judgement = judge_all<T>(got, reference, exact || !tolerance.float16 ? nullptr : &*tolerance.float16);
    else
      judgement = judge_all<T, void>(got, reference, nullptr);
  });
  return judgement;
}

}  // namespace kernelpack
