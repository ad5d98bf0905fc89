#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernelpack/call.hpp"
#include "kernelpack/device.hpp"
#include "kernelpack/package.hpp"

namespace kernelpack {

/// The profile of a package on a device: the tunables that a search found fastest there. Later runs of the
/// package on that device plan with it (`PlanOptions::profile`). It belongs to one adapter (vendor,
/// architecture, name), driver and content of the package; under any other it does not exist.
struct Tuning {
  /// Only tunables that the package declares, with values that its bench.json lists: whatever a file says, a
  /// profile changes the speed of a run and never its results.
  NamedValues tunables;
  std::vector<std::string> notes;  ///< what was ignored and why, a sentence each
  std::filesystem::path file;      ///< where the profile is, or would be
};

/// The profile in the user's cache; no tunables if there is none. The folder is that of KERNELPACK_TUNING
/// ("off": none is ever used), else `tuning` in KERNELPACK_CACHE, else `kernelpack/tuning` in XDG_CACHE_HOME
/// or
/// ~/.cache. Never throws for what a file holds. Throws device for the CPU.
Tuning find_tuning(const Package& package, const Device& device);

/// The same for a file that somebody exported. Throws io if it cannot be read, and contract if it belongs to
/// another package or device.
Tuning read_tuning(const std::filesystem::path& file, const Package& package, const Device& device);

/// The text of such a file.
std::string tuning_text(const Package& package, const Device& device, const NamedValues& tunables);

/// Puts the profile into the user's cache, whole or not at all. Throws io, and contract for tunables that
/// `find_tuning` would ignore.
std::filesystem::path save_tuning(const Package& package, const Device& device, const NamedValues& tunables);

}  // namespace kernelpack
