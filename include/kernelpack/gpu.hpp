#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernelpack/plan.hpp"

namespace kernelpack {

enum class Power { high, low };

/// Which GPU to open and how.
struct GpuOptions {
  Power power = Power::high;
  /// Part of the adapter's name, in any case; empty: the best one for `power`, a software adapter only if
  /// there is no other.
  std::string adapter{};
  /// "dawn", "wgpu-native" or the file of a library. Empty: the environment variable KERNELPACK_WEBGPU, and
  /// without it Dawn before wgpu-native. A library that is named here or there is never replaced by another.
  std::string library{};
  /// Not null: wgpuGetProcAddress of a Dawn that this process has loaded, to be used instead of `library`.
  /// Must be null for wgpu-native, where that function ends the process.
  void* get_proc_address = nullptr;
  bool software = false;  ///< take a software adapter
  bool raise_all_limits =
      false;               ///< ask for all limits of the adapter; otherwise for those that a browser raises
  bool profiling = false;  ///< timestamps at full resolution, where the library rounds them otherwise
  /// Features without which the device is of no use, e.g. "shader-f16".
  std::vector<std::string> required_features{};
  /// Where compiled shaders are kept for the next process, by Dawn of June 2025 alone: a folder, or "none".
  /// Empty: the environment variable KERNELPACK_SHADER_CACHE, and without it the folder "shaders" of
  /// KERNELPACK_CACHE, XDG_CACHE_HOME/kernelpack, or ~/.cache/kernelpack.
  std::string shader_cache{};
  std::uint64_t shader_cache_limit = std::uint64_t{256} << 20;  ///< bytes of all files in that folder
};

/// What the cache of compiled shaders did in this process for one library and adapter.
struct ShaderCacheCounts {
  std::uint64_t loaded = 0;   ///< found and given to the library
  std::uint64_t missed = 0;   ///< asked for and not there, damaged ones included
  std::uint64_t stored = 0;   ///< written
  std::uint64_t ignored = 0;  ///< there, but damaged
  bool operator==(const ShaderCacheCounts&) const = default;
};

/// An adapter as a WebGPU library reports it.
struct GpuAdapter {
  std::string name;         ///< "NVIDIA H200"
  std::string description;  ///< what the library adds, usually the driver
  std::string backend;      ///< "vulkan", "metal", "d3d12", "null", ...
  std::string type;         ///< "discrete GPU", "integrated GPU", "software", "unknown"
  bool software = false;
  DeviceFacts facts;            ///< features and limits of the adapter; a device has fewer of both by default
  std::string float16_missing;  ///< why there is no shader-f16, one sentence; empty if there is
};

/// A WebGPU library and what it finds on this machine.
struct GpuLibrary {
  std::string name;       ///< "dawn", "wgpu-native", or the file that was asked for
  std::string path;       ///< of the file; empty if none loads
  std::string problem;    ///< why it does not load or lists nothing; empty if it does
  bool complete = false;  ///< false: the library cannot enumerate, the list may lack adapters
  std::vector<GpuAdapter> adapters;
};

/// The WebGPU libraries on this machine with their adapters; `library` as in GpuOptions. Opens no device.
/// Empty if kernelpack was built without WebGPU.
std::vector<GpuLibrary> gpu_libraries(std::string_view library = {});

}  // namespace kernelpack
