#pragma once

#include <string>
#include <vector>

namespace kernelpack::webgpu {

class GpuDevice;

/// The WGSL language features that the device's compiler accepts: each is tried with a small shader that uses
/// it.
std::vector<std::string> accepted_language_features(const GpuDevice& device);

}  // namespace kernelpack::webgpu
