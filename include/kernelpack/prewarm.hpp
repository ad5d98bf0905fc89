#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "kernelpack/device.hpp"
#include "kernelpack/kernel.hpp"
#include "kernelpack/request.hpp"

namespace kernelpack {

/// How many of the pipelines that the calls need are compiled; each counts once, however many calls share it.
using PrewarmProgress = std::function<void(std::size_t done, std::size_t total)>;

/// Plans the calls and compiles their shaders, several at a time, so that their first run on the device does
/// not. `progress` is called by this thread: once before the first compilation and after each. A shader that
/// does not compile does not keep the others from being compiled. On the CPU there is nothing to do. Throws
/// as Kernel::run, for the first call that fails.
void prewarm(const Kernel& kernel, std::span<const Call> calls, const Device& device,
             const PrewarmProgress& progress = {});

/// The same for requests, which are bound first.
void prewarm(const Kernel& kernel, std::span<const Request> requests, const Device& device,
             const PrewarmProgress& progress = {});

/// The cache of compiled shaders that a device uses.
struct ShaderCacheState {
  std::string folder;
  ShaderCacheCounts counts;
};
/// Nothing if the device uses none: it is the CPU, belongs to the caller, its library has no such cache, or
/// `GpuOptions::shader_cache` is "none".
std::optional<ShaderCacheState> shader_cache(const Device& device);

}  // namespace kernelpack
