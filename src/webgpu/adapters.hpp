#pragma once

#include <string>
#include <vector>

#include "kernelpack/gpu.hpp"
#include "webgpu/instance.hpp"

namespace kernelpack::webgpu {

/// An adapter with what the library says about it.
struct Adapter {
  Handle<WGPUAdapter> handle;
  GpuAdapter description;
  WGPUBackendType backend = WGPUBackendType_Undefined;
  std::uint32_t vendor_id = 0;
  std::uint32_t device_id = 0;
};

/// Every adapter that the library gives, Dawn's Null backend excepted: it computes nothing.
std::vector<Adapter> list_adapters(const Instance& instance);
/// Dawn's Null backend, which validates and computes nothing; for tests and measurements. Throws device if
/// the library has none.
Adapter null_adapter(const Instance& instance);

/// The adapter that the options ask for, taken out of the list. Throws device, naming those there are, if
/// none fits.
Adapter choose_adapter(std::vector<Adapter> adapters, const GpuOptions& options, const Library& library);

/// "nvidia" for 0x10de, ...; "" for an id that is not in the table.
std::string_view vendor_of(std::uint32_t vendor_id) noexcept;

/// Reads vendor, architecture, subgroup sizes and the fallback flag; frees what the library allocated.
Adapter describe(const Library& library, const WGPUAdapterInfo& info);
/// WebGPU's names of the limits with their values.
std::map<std::string, double> named_limits(const WGPULimits& limits);

}  // namespace kernelpack::webgpu
