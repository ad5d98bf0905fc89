// The four worked calls of format.md 3.3 on the 1.0 manifest of ../shared/seeds.
#include <gtest/gtest.h>

#include "base/file.hpp"
#include "contract/bind.hpp"
#include "kernelpack/explanation.hpp"
#include "plan/call_scope.hpp"
#include "plan/declarations.hpp"
#include "plan/explain.hpp"
#include "plan/planner.hpp"
#include "shared_inputs_test.hpp"

namespace kernelpack {
namespace {

using Groups = std::array<std::uint32_t, 3>;
using Words = std::vector<std::uint32_t>;

/// format.md 15, point 25
class Point25 : public testing::Test {
 protected:
  void SetUp() override {
    const std::filesystem::path seed = tests::shared_folder() / "seeds" / "manifest-1.0.json";
    if (!tests::has_shared(seed)) GTEST_SKIP() << "there is no " << seed;
    folder_ = testing::TempDir() + "kernelpack-seed";
    std::filesystem::create_directories(folder_);
    std::filesystem::copy_file(seed, folder_ / "manifest.json",
                               std::filesystem::copy_options::overwrite_existing);
    package_.emplace(Package::load(folder_, {.verify = false, .allow_missing_templates = true}));
  }

  Call call(DType dtype, Shape data, Shape bias, int inner, int axis = 1) const {
    return contract::bind(
        package_->model(),
        std::vector<NamedSpec>{{"data", {dtype, std::move(data)}}, {"bias", {dtype, std::move(bias)}}},
        {.attributes = {{"axis", axis}, {"is_inner_broadcast", inner}}});
  }
  Plan plan(const Call& call, const DeviceFacts& facts = {}) const {
    return plan::make_plan(package_->model(), call, facts,
                           {.allow_missing_templates = true, .buffers = {}, .profile = {}});
  }
  Explanation explanation(const Call& call, const DeviceFacts& facts = {}) const {
    return plan::explain(package_->model(), call, facts,
                         {.allow_missing_templates = true, .buffers = {}, .profile = {}});
  }
  const package::Pass& pass(std::string_view variant, std::size_t index) const {
    return std::get<package::Pass>(package_->model().variant(variant)->passes.at(index).content);
  }

  std::filesystem::path folder_;
  std::optional<Package> package_;
};

std::string value_of(const std::vector<ExplainedValue>& values, std::string_view name) {
  for (const ExplainedValue& value : values)
    if (value.name == name) return value.value;
  return "absent";
}

DeviceFacts with_feature(std::string feature) {
  DeviceFacts facts;
  facts.features.push_back(std::move(feature));
  return facts;
}

TEST_F(Point25, PackedRows) {
  const Call request = call(DType::float32, {2, 64, 4}, {64, 4}, 0, -1);
  const Plan packed = plan(request);
  EXPECT_EQ(packed.variant, "packed_rows");
  ASSERT_EQ(packed.rejected.size(), 1u);
  EXPECT_EQ(packed.rejected[0].variant, "longrow_split");
  EXPECT_NE(packed.rejected[0].text.find("blockSize >= 65536"), std::string::npos) << packed.rejected[0].text;
  const PlannedPass& main = packed.passes.at(0);
  EXPECT_EQ(main.workgroups, (Groups{1, 1, 1}));
  EXPECT_EQ(main.bindings.at(3).words, (Words{4, 128, 0, 0}));
  EXPECT_EQ(plan::resource_declarations(pass("packed_rows", 0), main.bindings),
            "struct Params { blockSize: u32, batchCount: u32, _pad0: u32, _pad1: u32 };\n"
            "@group(0) @binding(0) var<storage, read> data: array<f32>;\n"
            "@group(0) @binding(1) var<storage, read> bias: array<f32>;\n"
            "@group(0) @binding(2) var<storage, read_write> output: array<f32>;\n"
            "@group(0) @binding(3) var<uniform> params: Params;");

  const Explanation why = explanation(request);
  EXPECT_EQ(value_of(why.derives, "axisNorm"), "2");
  EXPECT_EQ(value_of(why.derives, "batchCount"), "128");
  EXPECT_EQ(value_of(why.derives, "blockSize"), "4");
  EXPECT_EQ(value_of(why.derives, "biasBlockCount"), "64");
  const ExplainedPass& explained = why.passes.at(0);
  EXPECT_EQ(value_of(explained.values, "scalar"), "\"f32\"");
  EXPECT_EQ(value_of(explained.values, "packedRows"), "true");
  EXPECT_EQ(value_of(explained.source, "blockSize"), "4");
  EXPECT_EQ(value_of(explained.source, "isInnerBroadcast"), "false");
  EXPECT_EQ(value_of(explained.source, "biasBlockCount"), "64");
  EXPECT_EQ(value_of(explained.source, "innerRepeat"), "2");
}

TEST_F(Point25, LongRowSplit) {
  const DeviceFacts facts = with_feature("shader-f16");
  const Call request = call(DType::float16, {4, 70000}, {1, 70000}, 1);
  const Plan split = plan(request, facts);
  EXPECT_EQ(split.variant, "longrow_split");
  EXPECT_TRUE(split.rejected.empty());
  std::vector<Shape> scratch;
  for (const PlannedScratch& buffer : split.scratch) scratch.push_back(buffer.shape);
  EXPECT_EQ(scratch, (std::vector<Shape>{{140}, {140}, {4}, {4}}));
  ASSERT_EQ(split.passes.size(), 3u);
  EXPECT_EQ(split.passes[0].id, "block_stats");
  EXPECT_EQ(split.passes[0].workgroups, (Groups{35, 4, 1}));
  EXPECT_EQ(split.passes[0].bindings.back().words, (Words{70000, 35, 0, 0}));
  EXPECT_EQ(split.passes[1].id, "row_stats");
  EXPECT_EQ(split.passes[1].workgroups, (Groups{4, 1, 1}));
  EXPECT_EQ(split.passes[1].bindings.back().words, (Words{35, 0, 0, 0}));
  EXPECT_EQ(split.passes[2].id, "normalize");
  EXPECT_EQ(split.passes[2].workgroups, (Groups{35, 4, 1}));
  EXPECT_EQ(split.passes[2].bindings.back().words, (Words{70000, 0, 0, 0}));

  const Explanation why = explanation(request, facts);
  EXPECT_EQ(value_of(why.passes.at(0).values, "scalar"), "\"f16\"");
  EXPECT_EQ(value_of(why.passes.at(0).values, "usesF16"), "true");
  EXPECT_EQ(value_of(why.passes.at(0).source, "innerRepeat"), "4");
  EXPECT_EQ(value_of(why.passes.at(0).source, "biasBlockCount"), "1");
}

TEST_F(Point25, AdaptiveRow) {
  const DeviceFacts facts = with_feature("subgroups");
  const Call request = call(DType::float32, {70000, 100}, {70000, 100}, 1);
  const Plan adaptive = plan(request, facts);
  EXPECT_EQ(adaptive.variant, "adaptive_row");
  EXPECT_EQ(adaptive.passes.at(0).workgroups, (Groups{65535, 2, 1}));
  EXPECT_EQ(adaptive.passes.at(0).bindings.at(3).words, (Words{100, 70000, 0, 0}));
  EXPECT_EQ(value_of(explanation(request, facts).passes.at(0).values, "combineSubgroups"), "true");
}

TEST_F(Point25, NoVariantWithoutHalves) {
  try {
    plan(call(DType::float16, {70000, 100}, {100}, 0));
    FAIL() << "a variant is found";
  } catch (const NoVariantError& error) {
    ASSERT_EQ(error.reasons().size(), 3u);
    EXPECT_NE(error.reasons()[0].text.find("blockSize >= 65536"), std::string::npos);
    EXPECT_NE(error.reasons()[1].text.find("blockSize <= 8"), std::string::npos);
    EXPECT_NE(error.reasons()[2].text.find("f16Ok(dtypes.T)"), std::string::npos);
  }
}

}  // namespace
}  // namespace kernelpack
