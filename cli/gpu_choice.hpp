#pragma once

#include <string>

#include "kernelpack/device.hpp"

namespace kernelpack::cli {

/// Whether a value of --device is "gpu" or "gpu:NAME".
bool is_gpu_choice(const std::string& value);

/// The GPU that --device and --library name; `halves`: one with float16.
GpuOptions gpu_options(const std::string& device, const std::string& library, bool halves);

/// Opens the GPU of these options, with `halves` one that has float16 if there is one. Throws as
/// Device::open.
Device open_preferring_halves(GpuOptions options, bool halves);

}  // namespace kernelpack::cli
