#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace kernelpack::package {

/// A limit of WebGPU by the name that packages use, with the default that holds where a device reports none.
struct DeviceLimit {
  std::string_view name;
  std::optional<double> default_value;  ///< nothing: known, but without default (format.md 13.3)
};

/// All known limits, in the order of format.md 13.3.
std::span<const DeviceLimit> device_limits() noexcept;
/// The limit of that name, or null.
const DeviceLimit* find_device_limit(std::string_view name) noexcept;

/// The features that a package may require, in the order of format.md 2.7.
std::span<const std::string_view> device_features() noexcept;

/// The value that expressions see for DISPATCH_FOLD_WIDTH and the cap of maxComputeWorkgroupsPerDimension.
inline constexpr double kDispatchFoldWidth = 65535;

}  // namespace kernelpack::package
