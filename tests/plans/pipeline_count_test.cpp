// The current generation of BiasSoftmax is compiled for few kinds of rows: row counts, bias rows and the
// length of a row are numbers that shaders get at run time. What is counted is what a device compiles: WGSL,
// entry point, bindings.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <vector>

#include <gtest/gtest.h>

#include "base/file.hpp"
#include "contract/bind.hpp"
#include "kernelpack/package.hpp"
#include "plan/planner.hpp"

namespace kernelpack {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostPipelines = 120;
constexpr std::int64_t kLongestRow = 4096;
constexpr std::int64_t kAllRows[] = {1,   2,   3,   4,   5,    7,    8,    16,    31,    64,
                                     100, 256, 512, 513, 1000, 1024, 4096, 16384, 65536, 200000};
constexpr std::int64_t kSomeRows[] = {1, 513, 200000};

bool long_form() {
  const char* text = std::getenv("KERNELPACK_TEST_LONG");
  return text != nullptr && std::string_view(text) == "1";
}

/// A device of tests/devices that has room for the largest tensors here, and the workgroups that any device
/// has.
DeviceFacts roomy_device(const std::string& name) {
  const fs::path file = fs::path(KERNELPACK_SOURCE_DIR) / "tests" / "devices" / (name + ".json");
  DeviceFacts facts = DeviceFacts::from_json(read_file(file, std::size_t{1} << 20), name);
  facts.limits["maxBufferSize"] = facts.limits["maxStorageBufferBindingSize"] = 4294967292.0;
  facts.limits.erase("maxComputeWorkgroupsPerDimension");
  return facts;
}

std::string pipeline_key(const PlannedPass& pass) {
  std::string key = pass.wgsl.value() + pass.entry_point;
  for (const PlannedBinding& binding : pass.bindings) {
    key += '/' + std::to_string(binding.group) + '.' + std::to_string(binding.index);
    key += to_string(binding.buffer);
  }
  return key;
}

class PipelineCount : public ::testing::TestWithParam<std::tuple<const char*, DType>> {};

// Every device in the long form; otherwise one with all row counts, the others with a few, which keeps this
// short.
TEST_P(PipelineCount, StaysSmallForAllLengthsAndRowCounts) {
  const auto& [device, dtype] = GetParam();
  const DeviceFacts facts = roomy_device(device);
  const Package package =
      Package::load(fs::path(KERNELPACK_SOURCE_DIR) / "packages/com.microsoft.BiasSoftmax");
  const bool all = long_form() || std::string_view(device) == "desktop";
  const std::span<const std::int64_t> row_counts =
      all ? std::span<const std::int64_t>(kAllRows) : std::span<const std::int64_t>(kSomeRows);
  std::unordered_set<std::string> pipelines;
  std::size_t plans = 0;
  for (std::int64_t columns = 1; columns <= kLongestRow; ++columns) {
    for (const std::int64_t rows : row_counts) {
      const std::int64_t bias_rows = rows % 2 == 0 ? rows / 2 : 1;
      const std::vector<NamedSpec> specs{{"data", {dtype, {rows, columns}}},
                                         {"bias", {dtype, {bias_rows, columns}}}};
      for (const int inner : {0, 1}) {
        const Call call = contract::bind(package.model(), specs,
                                         {.attributes = {{"axis", 1}, {"is_inner_broadcast", inner}}});
        for (const PlannedPass& pass : plan::make_plan(package.model(), call, facts).passes)
          pipelines.insert(pipeline_key(pass));
        ++plans;
      }
    }
  }
  std::printf("%zu plans, %zu pipelines\n", plans, pipelines.size());
  EXPECT_GE(plans, all ? 163840u : 24576u);
  EXPECT_LE(pipelines.size(), kMostPipelines);
  EXPECT_GE(pipelines.size(), 20u) << "what is counted does not tell shaders apart";
}

INSTANTIATE_TEST_SUITE_P(Devices, PipelineCount,
                         ::testing::Combine(::testing::Values("desktop", "minimal", "mobile", "software"),
                                            ::testing::Values(DType::float32, DType::float16)),
                         [](const auto& parameter) {
                           return std::string(std::get<0>(parameter.param)) + "_" +
                                  std::string(to_string(std::get<1>(parameter.param)));
                         });

}  // namespace
}  // namespace kernelpack
