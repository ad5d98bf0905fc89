#include "cpu/target.hpp"

#include <array>
#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace kernelpack::cpu {
namespace {

constexpr std::array<std::string_view, 5> kNames{"avx3", "avx2", "sse4", "neon", "scalar"};

#if defined(__x86_64__)
constexpr std::array kTargets{Target::avx3, Target::avx2, Target::sse4, Target::scalar};

struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

Registers cpuid(unsigned leaf) noexcept {
  Registers registers;
  __get_cpuid_count(leaf, 0, &registers.a, &registers.b, &registers.c, &registers.d);
  return registers;
}

bool all(unsigned word, std::initializer_list<int> bits) noexcept {
  for (const int bit : bits) {
    if ((word >> bit & 1u) == 0) return false;
  }
  return true;
}

/// The register sets that the operating system saves (XCR0); 0 if it saves none beyond SSE.
std::uint32_t saved_registers(const Registers& basic) noexcept {
  if (!all(basic.c, {27})) return 0;
  std::uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

bool detect(Target target) noexcept {
  const Registers basic = cpuid(1);
  const Registers extended = cpuid(7);
  const std::uint32_t saved = saved_registers(basic);
  const bool sse4 = all(basic.c, {9, 19});
  const bool avx2 = sse4 && all(saved, {1, 2}) && all(basic.c, {12, 28, 29}) && all(extended.b, {3, 5, 8});
  const bool avx3 = avx2 && all(saved, {5, 6, 7}) && all(extended.b, {16, 17, 30, 31});
  switch (target) {
    case Target::avx3:
      return avx3;
    case Target::avx2:
      return avx2;
    case Target::sse4:
      return sse4;
    case Target::neon:
      return false;
    case Target::scalar:
      return true;
  }
  return false;
}
#elif defined(__aarch64__)
constexpr std::array kTargets{Target::neon, Target::scalar};
bool detect(Target target) noexcept {
  return target == Target::neon || target == Target::scalar;
}
#else
constexpr std::array kTargets{Target::scalar};
bool detect(Target target) noexcept {
  return target == Target::scalar;
}
#endif

}  // namespace

std::string_view to_string(Target target) noexcept {
  return kNames[static_cast<std::size_t>(target)];
}

std::optional<Target> parse_target(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Target>(i);
  }
  return std::nullopt;
}

std::span<const Target> compiled_targets() noexcept {
  return kTargets;
}

bool supported(Target target) noexcept {
  static const std::array<bool, kNames.size()> kSupported = [] {
    std::array<bool, kNames.size()> result{};
    for (const Target compiled : kTargets) result[static_cast<std::size_t>(compiled)] = detect(compiled);
    return result;
  }();
  return kSupported[static_cast<std::size_t>(target)];
}

Target best_target() noexcept {
  for (const Target target : kTargets) {
    if (supported(target)) return target;
  }
  return Target::scalar;
}

}  // namespace kernelpack::cpu
