#include "bench_report.hpp"

#include <gtest/gtest.h>

#include "result_check.hpp"

namespace kernelpack::cli {
namespace {

Contender contender(std::string name, std::vector<double> seconds) {
  Contender made;
  made.name = std::move(name);
  made.plan = std::make_shared<const Plan>(copy_plan(1 << 20));
  made.seconds = std::move(seconds);
  made.cold = 0.01;
  made.warm = 0.001;
  return made;
}

BenchResult result_of(double copy_seconds, double seconds) {
  BenchResult result;
  result.packages = {"ours", "theirs"};
  result.device = "NVIDIA H200 (vulkan, wgpu-native)";
  BenchCaseResult one;
  one.id = "one";
  one.inputs = {{"data", {DType::float32, {1024, 1024}}}};
  one.bytes = 2000000000;
  one.columns = 1024;
  one.copy.measured = contender("copy", {copy_seconds, copy_seconds, copy_seconds});
  one.entries.push_back({contender("ours", {seconds, 2 * seconds, seconds}), "", -1});
  one.entries.push_back({{}, "no_variant: none", -1});
  one.valid = 2e9 / copy_seconds >= least_copy_rate(result.device, one.bytes);
  result.cases.push_back(one);
  BenchCaseResult skipped;
  skipped.id = "two";
  skipped.skipped = "The device does not offer shader-f16";
  result.cases.push_back(skipped);
  return result;
}

TEST(BenchReport, KnowsHowFastAnH200Copies) {
  EXPECT_EQ(least_copy_rate("NVIDIA H200 (vulkan, Dawn)", (std::uint64_t{512} << 20) + 1), 4.0e12);
  EXPECT_EQ(least_copy_rate("NVIDIA H200 (vulkan, Dawn)", std::uint64_t{512} << 20), 0);
  EXPECT_EQ(least_copy_rate("NVIDIA H100 (vulkan, Dawn)", std::uint64_t{1} << 31), 0);
}

TEST(BenchReport, TellsMediansAndFractions) {
  const BenchResult result = result_of(450e-6, 500e-6);
  EXPECT_TRUE(result.valid());
  const std::string text = to_text(result);
  EXPECT_NE(text.find("500.0 us"), std::string::npos) << text;
  EXPECT_NE(text.find("0.900"), std::string::npos) << text;
  EXPECT_NE(text.find("theirs: no_variant: none"), std::string::npos) << text;
  EXPECT_NE(text.find("The device does not offer shader-f16"), std::string::npos) << text;
  const Json json = to_json(result);
  EXPECT_EQ(json["valid"], true);
  EXPECT_DOUBLE_EQ(json["cases"][0]["results"][0]["ofCopy"].get<double>(), 0.9);
  EXPECT_DOUBLE_EQ(json["cases"][0]["results"][0]["seconds"]["max"].get<double>(), 1e-3);
  EXPECT_EQ(json["cases"][0]["results"][1]["failure"], "no_variant: none");
  EXPECT_FALSE(json["cases"][0].contains("ratio"));
}

TEST(BenchReport, RefusesARunWhoseCopyIsSlow) {
  const BenchResult result = result_of(501e-6, 500e-6);
  EXPECT_FALSE(result.valid());
  EXPECT_NE(to_text(result).find("Not valid: the copy reached only 3.992 TB/s"), std::string::npos);
  EXPECT_EQ(to_json(result)["valid"], false);
}

TEST(BenchReport, DrawsAlsoWhatIsEmpty) {
  const Canvas picture = draw(result_of(450e-6, 500e-6));
  EXPECT_GT(picture.width(), 600);
  BenchResult none = result_of(450e-6, 500e-6);
  none.cases.erase(none.cases.begin());
  EXPECT_EQ(draw(none).width(), picture.width());
}

TEST(ResultCheck, AllowsWhatCpuAndGpuMayDifferBy) {
  const Tensor one = Tensor::from<float>({1.0F, 0.0F, NAN}, {3});
  EXPECT_EQ(worst_of(one, one), 0);
  EXPECT_LT(worst_of(Tensor::from<float>({1.000008F, 0.0F, NAN}, {3}), one), 1);
  EXPECT_GT(worst_of(Tensor::from<float>({1.00003F, 0.0F, NAN}, {3}), one), 1);
  EXPECT_GT(worst_of(Tensor::from<float>({1.0F, 1e-37F, NAN}, {3}), one), 1);
  EXPECT_GT(worst_of(Tensor::from<float>({1.0F, 0.0F, 0.0F}, {3}), one), 1);
  EXPECT_GT(worst_of(Tensor::from<float>({NAN, 0.0F, NAN}, {3}), one), 1);
  EXPECT_GT(worst_of(Tensor::from<float>({INFINITY, 0.0F, NAN}, {3}), one), 1);
  const auto half = [](std::uint16_t bits) { return Tensor::from<Float16>({Float16::from_bits(bits)}, {1}); };
  EXPECT_LE(worst_of(half(0x3802), half(0x3800)), 1);
  EXPECT_GT(worst_of(half(0x3803), half(0x3800)), 1);
  EXPECT_LE(worst_of(half(0x0000), half(0x0300)), 1);
}

}  // namespace
}  // namespace kernelpack::cli
