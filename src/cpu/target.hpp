#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "kernelpack/device.hpp"

namespace kernelpack::cpu {

/// Instruction sets that kernels are compiled for. `avx3` is AVX-512 with F, DQ, BW and VL; `avx2` includes
/// FMA and F16C; `scalar` is the plain build with one lane.
enum class Target { avx3, avx2, sse4, neon, scalar };

std::string_view to_string(Target target) noexcept;
std::optional<Target> parse_target(std::string_view name) noexcept;

/// The targets of this build, best first; `scalar` is always the last.
std::span<const Target> compiled_targets() noexcept;
/// Whether the processor has the instructions and the operating system saves their registers.
bool supported(Target target) noexcept;
/// The first compiled target that is supported.
Target best_target() noexcept;

}  // namespace kernelpack::cpu
