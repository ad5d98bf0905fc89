#include <gtest/gtest.h>

#include "base/file.hpp"
#include "kernelpack/error.hpp"
#include "kernelpack/plan.hpp"

namespace kernelpack {
namespace {

Error refusal(const std::string& text) {
  try {
    DeviceFacts::from_json(text, "facts.json");
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << text << " is accepted";
  return Error(ErrorKind::internal, "accepted");
}

TEST(DeviceFacts, ReadsWhatItWrites) {
  DeviceFacts facts;
  facts.features = {"shader-f16", "subgroups"};
  facts.wgsl_language_features = {"subgroup_id"};
  facts.limits = {{"maxBufferSize", 1099511627776.0}, {"maxStorageBuffersPerShaderStage", 16}};
  facts.vendor = "nvidia";
  facts.architecture = "hopper";
  facts.is_fallback_adapter = true;
  facts.subgroup_min_size = 16;
  facts.subgroup_max_size = 32;
  facts.subgroup_matrix_configs = {{"f16", "f32", 16, 8, 4}};
  EXPECT_EQ(DeviceFacts::from_json(facts.to_json(), "facts.json"), facts);
  EXPECT_EQ(DeviceFacts::from_json(DeviceFacts::defaults().to_json(), "facts.json"), DeviceFacts());
}

TEST(DeviceFacts, LeavesOutWhatIsNotReported) {
  const DeviceFacts facts =
      DeviceFacts::from_json(R"({"$comment": "c", "adapterInfo": {"vendor": "Intel"}})", "f");
  EXPECT_EQ(facts.vendor, "intel");
  EXPECT_FALSE(facts.is_fallback_adapter);
  EXPECT_FALSE(facts.subgroup_min_size.has_value());
  EXPECT_FALSE(facts.subgroup_matrix_configs.has_value());
}

TEST(DeviceFacts, FillsInDefaultLimits) {
  DeviceFacts facts;
  EXPECT_EQ(facts.limit("maxComputeInvocationsPerWorkgroup"), 256);
  EXPECT_EQ(facts.limit("maxStorageBuffersPerShaderStage"), 10);
  EXPECT_EQ(facts.limit("maxBufferSize"), 268435456);
  EXPECT_EQ(facts.limit("maxStorageBuffersInVertexStage"), std::nullopt);
  EXPECT_EQ(facts.limit("maxUnicorns"), std::nullopt);
  facts.limits = {{"maxBufferSize", 1024}, {"maxComputeWorkgroupsPerDimension", 1e6}};
  EXPECT_EQ(facts.limit("maxBufferSize"), 1024);
  EXPECT_EQ(facts.limit("maxComputeWorkgroupsPerDimension"), 65535);
}

TEST(DeviceFacts, RefusesMalformedTextWithItsPointer) {
  const auto where = [](const std::string& text) { return refusal(text).where(); };
  EXPECT_EQ(refusal("[]").kind(), ErrorKind::device);
  EXPECT_EQ(refusal("{").kind(), ErrorKind::device);
  EXPECT_NE(where(R"({"features": ["a", 3]})").find("facts.json:/features/1"), std::string::npos);
  EXPECT_NE(where(R"({"features": ["a", "a"]})").find("/features/1"), std::string::npos);
  EXPECT_NE(where(R"({"feature": []})").find("/feature"), std::string::npos);
  EXPECT_NE(where(R"({"limits": {"maxBufferSize": "big"}})").find("/limits/maxBufferSize"),
            std::string::npos);
  EXPECT_NE(where(R"({"limits": {"maxBufferSize": -1}})").find("/limits/maxBufferSize"), std::string::npos);
  EXPECT_NE(where(R"({"adapterInfo": {"subgroupMinSize": 0}})").find("/adapterInfo/subgroupMinSize"),
            std::string::npos);
  EXPECT_NE(where(R"({"adapterInfo": {"isFallbackAdapter": 1}})").find("/adapterInfo/isFallbackAdapter"),
            std::string::npos);
  EXPECT_NE(
      where(R"({"adapterInfo": {"subgroupMatrixConfigs": [{"M": 8}]}})").find("/subgroupMatrixConfigs/0"),
      std::string::npos);
}

}  // namespace
}  // namespace kernelpack
