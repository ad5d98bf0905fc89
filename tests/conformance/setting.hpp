#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "kernelpack/device.hpp"
#include "kernelpack/kernel.hpp"

namespace kernelpack::conformance {

/// Whether the data-driven tests try more (./test --long).
bool long_form();

/// A generation of the BiasSoftmax package through a WebGPU library.
struct Setting {
  const char* library;     ///< "dawn", "wgpu-native"
  const char* generation;  ///< folder below packages/, "" for the current one
};

/// A device, and what planning is told of it: never more than the device has.
struct Place {
  std::string name;
  Device device;
  DeviceFacts facts;
};

/// The software driver through `library`: as the browser policy opens it ("all features"); planned as if it
/// did not report its subgroup sizes ("unreported sizes", where it does report them), or allowed half of
/// WebGPU's default invocations only ("128 invocations"); and opened without any feature and with default
/// limits ("no features"). Throws device.
std::vector<Place> open_places(const std::string& library);

/// A test that runs once for each generation and library, with devices that all tests of one library share.
/// Skipped with the reason where there is no library or adapter; a failure in CI.
class ConformanceTest : public ::testing::TestWithParam<Setting> {
 protected:
  void SetUp() override;

  const Kernel& kernel() const { return *kernel_; }
  /// The first is the device with all features, the last the one without any.
  const std::vector<Place>& places() const { return *places_; }
  const Place& all_features() const { return places_->front(); }
  const Place& no_features() const { return places_->back(); }
  bool first_generation() const { return kernel_->package().manifest_spec() == "1.0"; }
  /// Whether the package has halves there: the first generation needs shader-f16 for them.
  bool has_halves(const Place& place) const {
    return !first_generation() || place.facts.has_feature("shader-f16");
  }
  std::vector<std::string> variants() const;

 private:
  std::optional<Kernel> kernel_;
  const std::vector<Place>* places_ = nullptr;
};

std::string setting_name(const ::testing::TestParamInfo<Setting>& setting);

#define KERNELPACK_FOR_EACH_SETTING(suite)                                                                   \
  INSTANTIATE_TEST_SUITE_P(                                                                                  \
      Everywhere, suite,                                                                                     \
      ::testing::Values(Setting{"dawn", ""}, Setting{"wgpu-native", ""}, Setting{"dawn", "generations/1.0"}, \
                        Setting{"wgpu-native", "generations/1.0"}),                                          \
      setting_name)

}  // namespace kernelpack::conformance
