#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "webgpu/engine.hpp"

namespace kernelpack::webgpu {

/// Whether a test may not be skipped for want of a library or an adapter.
inline bool gpu_required() {
  const auto is = [](const char* name, std::string_view value) {
    const char* text = std::getenv(name);
    return text != nullptr && text == value;
  };
  return is("CI", "true") || is("KERNELPACK_REQUIRE_GPU", "1");
}

/// Points Vulkan at the software driver that tools/webgpu/fetch brought, and keeps compiled shaders out of
/// the user's cache, unless the caller has chosen otherwise.
inline void use_fetched_driver() {
  const auto manifest = std::filesystem::path(KERNELPACK_WEBGPU_DIR) / "lavapipe" / "lvp_icd.json";
  if (std::filesystem::exists(manifest)) setenv("VK_DRIVER_FILES", manifest.c_str(), 0);
  setenv("KERNELPACK_SHADER_CACHE", "none", 0);
}

/// A test that runs once a library, on a device that all tests of that library share. Skipped with the reason
/// where there is no library or adapter; a failure in CI, where tools/webgpu/fetch has run.
class DeviceTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    use_fetched_driver();
    Opened& opened = shared()[GetParam()];
    if (!opened.tried) {
      opened.tried = true;
      try {
        opened.engine = open({.library = GetParam()});
      } catch (const Error& error) {
        opened.reason = error.report();
      }
    }
    if (opened.engine == nullptr) {
      if (gpu_required()) FAIL() << "no device: " << opened.reason;
      GTEST_SKIP() << opened.reason;
    }
    engine_ = opened.engine;
    engine_->device().take_uncaptured();
  }
  void TearDown() override {
    if (engine_ == nullptr) return;
    for (const CapturedError& error : engine_->device().take_uncaptured()) ADD_FAILURE() << error.message;
  }

  bool has(std::string_view feature) const {
    const auto& features = facts(*engine_).features;
    return std::find(features.begin(), features.end(), feature) != features.end();
  }

  std::shared_ptr<Engine> engine_;

 private:
  struct Opened {
    bool tried = false;
    std::shared_ptr<Engine> engine;
    std::string reason;
  };
  static std::map<std::string, Opened>& shared() {
    static std::map<std::string, Opened> devices;
    return devices;
  }
};

inline std::string library_test_name(const ::testing::TestParamInfo<const char*>& parameter) {
  return std::string(parameter.param) == "dawn" ? "Dawn" : "WgpuNative";
}

#define KERNELPACK_FOR_EACH_LIBRARY(suite) \
  INSTANTIATE_TEST_SUITE_P(Libraries, suite, ::testing::Values("dawn", "wgpu-native"), library_test_name)

}  // namespace kernelpack::webgpu
