#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "webgpu/device_fixture_test.hpp"
#include "webgpu/plan_fixture_test.hpp"

namespace kernelpack::webgpu {
namespace {

class OpenTest : public DeviceTest {};

TEST_P(OpenTest, ReportsTheFactsOfTheDevice) {
  const DeviceFacts& device = facts(*engine_);
  std::printf("%s: %zu features, %zu language features\n", description(*engine_).c_str(),
              device.features.size(), device.wgsl_language_features.size());
  EXPECT_EQ(device.limits.at("maxComputeInvocationsPerWorkgroup"), 256) << "the browser's default is kept";
  EXPECT_EQ(device.limits.at("minStorageBufferOffsetAlignment"), 256);
  EXPECT_GE(device.limits.at("maxStorageBufferBindingSize"), 134217728);
  EXPECT_EQ(device.vendor, "mesa");
  EXPECT_TRUE(device.is_fallback_adapter);
  EXPECT_TRUE(has("shader-f16"));
  EXPECT_TRUE(has("subgroups"));
  const auto& language = device.wgsl_language_features;
  EXPECT_NE(std::find(language.begin(), language.end(), "packed_4x8_integer_dot_product"), language.end());
  const bool dawn = std::string(GetParam()) == "dawn";
  EXPECT_EQ(device.subgroup_min_size.has_value(), dawn);
  const bool pointers =
      std::find(language.begin(), language.end(), "unrestricted_pointer_parameters") != language.end();
  EXPECT_EQ(pointers, dawn);
}

TEST_P(OpenTest, RaisesAllLimitsOnRequest) {
  const auto raised = open({.library = GetParam(), .raise_all_limits = true});
  EXPECT_GT(facts(*raised).limits.at("maxComputeInvocationsPerWorkgroup"), 256);
}

TEST_P(OpenTest, ListsAdaptersAndChoosesByName) {
  const auto libraries = gpu_libraries(GetParam());
  ASSERT_EQ(libraries.size(), 1u);
  EXPECT_EQ(libraries[0].name, GetParam());
  EXPECT_EQ(libraries[0].complete, std::string(GetParam()) == "wgpu-native");
  ASSERT_EQ(libraries[0].adapters.size(), 1u) << libraries[0].problem;
  EXPECT_TRUE(libraries[0].adapters[0].software);
  EXPECT_NE(description(*open({.adapter = "LLVM", .library = GetParam()})).find("software"),
            std::string::npos);
  try {
    open({.adapter = "no such GPU", .library = GetParam()});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_NE(error.message().find("has the asked name (no such GPU)"), std::string::npos) << error.message();
  }
}

TEST_P(OpenTest, RefusesADeviceWithoutARequiredFeature) {
  try {
    open({.library = GetParam(), .required_features = {"chromium-experimental-subgroup-matrix"}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_NE(error.message().find("lacks a required feature (chromium-experimental-subgroup-matrix)"),
              std::string::npos)
        << error.message();
  }
}

std::size_t resident_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word != "VmRSS:") continue;
    std::size_t kilobytes = 0;
    status >> kilobytes;
    return kilobytes;
  }
  return 0;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define KERNELPACK_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KERNELPACK_SANITIZED 1
#endif
#endif

TEST_P(OpenTest, TwoHundredDevicesLeaveNoMemoryBehind) {
  const Tensor in(DType::float32, {64});
  Tensor out(DType::float32, {64});
#ifdef KERNELPACK_SANITIZED
  GTEST_SKIP() << "a sanitizer keeps freed memory for a while";
#endif
  std::size_t at_50 = 0;
  for (int i = 1; i <= 200; ++i) {
    const auto device = open({.library = GetParam()});
    run(*device, add_plan(64),
        std::vector<HostTensor>{{&in.view()}, {&in.view()}, {nullptr, &out.mutable_view()}});
    if (i == 50) at_50 = resident_kilobytes();
  }
  const std::size_t at_200 = resident_kilobytes();
  std::printf("resident at 50 devices: %zu kB, at 200: %zu kB\n", at_50, at_200);
  EXPECT_LT(at_200, at_50 + 5 * 1024);
}

KERNELPACK_FOR_EACH_LIBRARY(OpenTest);

TEST(Open, NamesWhatIsMissing) {
  use_fetched_driver();
  try {
    open({.library = "/nowhere/libwebgpu.so"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::device);
    EXPECT_NE(error.message().find("(/nowhere/libwebgpu.so) does not load"), std::string::npos)
        << error.message();
  }
}

}  // namespace
}  // namespace kernelpack::webgpu
