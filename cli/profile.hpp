#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "json.hpp"
#include "kernelpack/kernel.hpp"

namespace kernelpack::cli {

/// A pass of a call by the clock.
struct PassProfile {
  std::string id;
  std::string name;
  double seconds = 0;       ///< median
  std::uint64_t bytes = 0;  ///< of the tensors and scratch buffers that it binds, each once
};

/// The passes of a call, each in a compute pass of its own, beside a copy of as many bytes as the call moves.
struct Profile {
  std::string variant;
  bool device_clock = true;
  int rounds = 0;
  std::vector<PassProfile> passes;
  std::uint64_t copy_bytes = 0;
  double copy_seconds = 0;
};

/// Runs the call on the GPU with tensors of its own. Throws as Kernel::run.
Profile profile(const Device& device, const Kernel& kernel, const Call& call, const Inputs& inputs);

std::string to_text(const Profile& profile);
Json to_json(const Profile& profile);

}  // namespace kernelpack::cli
