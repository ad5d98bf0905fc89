// Packages of both manifest generations on a GPU, against sums computed here.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernelpack/batch.hpp"

namespace kernelpack {
namespace {

const std::filesystem::path kPackages = std::filesystem::path(KERNELPACK_SOURCE_DIR) / "tests/packages";

struct Setting {
  const char* library;
  const char* generation;  ///< folder of the generation, "" for the current one
};

class PackagesTest : public ::testing::TestWithParam<Setting> {
 protected:
  void SetUp() override {
    const auto manifest = std::filesystem::path(KERNELPACK_WEBGPU_DIR) / "lavapipe" / "lvp_icd.json";
    if (std::filesystem::exists(manifest)) setenv("VK_DRIVER_FILES", manifest.c_str(), 0);
    try {
      device_ = Device::open({.library = GetParam().library});
    } catch (const Error& error) {
      const char* ci = std::getenv("CI");
      if (ci != nullptr && std::string_view(ci) == "true") FAIL() << "no device in CI: " << error.report();
      GTEST_SKIP() << error.report();
    }
  }

  Kernel kernel(const char* name) const {
    return Kernel::get((kPackages / GetParam().generation / name).string());
  }
  Outputs run(const char* name, const Inputs& inputs) const {
    return kernel(name).run(inputs, {.device = device_});
  }

  template <class T>
  void expect_sums(const std::vector<T>& a, const std::vector<T>& b, Shape shape, Shape period) const {
    const Tensor left = Tensor::from(a, std::move(shape));
    const Tensor right = Tensor::from(b, std::move(period));
    const Outputs out = run("broadcast_add", {{"a", left}, {"b", right}});
    ASSERT_EQ(out["sum"].shape(), left.shape());
    const auto sum = out["sum"].template values<T>();
    for (std::size_t i = 0; i < a.size(); ++i) {
      const auto expected = static_cast<double>(static_cast<float>(a[i])) +
                            static_cast<double>(static_cast<float>(b[i % b.size()]));
      ASSERT_EQ(static_cast<double>(static_cast<float>(sum[i])), expected) << i;
    }
  }

  std::optional<Device> device_;
};

// Small integers, so that every dtype holds the sums exactly.
template <class T>
std::vector<T> numbers(std::size_t count, int step) {
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(static_cast<T>(static_cast<float>((i * static_cast<std::size_t>(step)) % 101)));
  return values;
}

TEST_P(PackagesTest, AddsWithBroadcasting) {
  expect_sums(numbers<float>(2 * 3 * 5, 7), numbers<float>(5, 3), {2, 3, 5}, {5});
  expect_sums(numbers<std::int32_t>(4000, 7), numbers<std::int32_t>(4000, 3), {40, 100}, {40, 100});
  expect_sums(numbers<std::uint32_t>(1, 7), numbers<std::uint32_t>(1, 3), {}, {});
  if (device_->facts().has_feature("shader-f16"))
    expect_sums(numbers<Float16>(7 * 3, 7), numbers<Float16>(3, 5), {7, 3}, {3});
}

TEST_P(PackagesTest, FoldsLargeDispatches) {
  const std::int64_t rows = 65537;
  expect_sums(numbers<float>(static_cast<std::size_t>(rows) * 64, 7), numbers<float>(64, 3), {rows, 64},
              {64});
}

TEST_P(PackagesTest, GivesEmptyOutputsForEmptyInputs) {
  const Tensor left(DType::float32, {0, 5});
  const Tensor right(DType::float32, {5});
  const Outputs out = run("broadcast_add", {{"a", left}, {"b", right}});
  EXPECT_EQ(out["sum"].shape(), (Shape{0, 5}));
}

TEST_P(PackagesTest, SumsInTwoPasses) {
  const Kernel total = kernel("total");
  for (std::size_t count : {1u, 255u, 256u, 257u, 3000u, 300000u}) {
    const std::vector<float> values = numbers<float>(count, 1);
    double expected = 0;
    for (float value : values) expected += value;
    const Tensor x = Tensor::from(values, {static_cast<std::int64_t>(count)});
    for (int repeat = 0; repeat < 2; ++repeat) {
      const Outputs out = total.run({{"x", x}}, {.device = device_});
      EXPECT_EQ(out["total"].values<float>()[0], static_cast<float>(expected)) << count;
      EXPECT_EQ(out["groups"].values<std::uint32_t>()[0], std::min<std::size_t>(1024, (count + 255) / 256));
    }
  }
}

TEST_P(PackagesTest, WritesIntoDestinations) {
  const Tensor left = Tensor::from(numbers<float>(64, 3), {64});
  std::vector<float> mine(64, -1.0f);
  const auto destination = MutableTensorView::of<float>(mine, {64});
  const Outputs out =
      kernel("broadcast_add")
          .run({{"a", left}, {"b", left}}, {.destinations = {{"sum", destination}}, .device = device_});
  EXPECT_EQ(out.size(), 0u);
  for (std::size_t i = 0; i < mine.size(); ++i) EXPECT_EQ(mine[i], 2 * left.values<float>()[i]);
}

TEST_P(PackagesTest, ChainsKernelsInOneBatch) {
  const Kernel add = kernel("broadcast_add");
  const Kernel total = kernel("total");
  const DeviceTensor a = DeviceTensor::upload(*device_, Tensor::from(numbers<float>(600, 7), {600}));
  const DeviceTensor b = DeviceTensor::upload(*device_, Tensor::from(numbers<float>(6, 3), {6}));
  Batch batch(*device_);
  DeviceTensor x = a;
  for (int i = 0; i < 5; ++i) x = batch.add(add, {{"a", x}, {"b", b}})["sum"];
  const DeviceOutputs out = batch.add(total, {{"x", x}});
  EXPECT_EQ(batch.size(), 6u);
  batch.submit();
  double expected = 0;
  for (std::size_t i = 0; i < 600; ++i)
    expected += numbers<float>(600, 7)[i] + 5 * numbers<float>(6, 3)[i % 6];
  EXPECT_EQ(out["total"].read().values<float>()[0], static_cast<float>(expected));
  EXPECT_EQ(out["groups"].read().values<std::uint32_t>()[0], 3u);
  EXPECT_TRUE(batch.wait());
}

TEST_P(PackagesTest, PrewarmsCalls) {
  const Kernel add = kernel("broadcast_add");
  const std::vector<NamedSpec> specs{{"a", {DType::uint32, {9, 4}}}, {"b", {DType::uint32, {4}}}};
  const std::vector<Call> calls{add.bind(specs)};
  std::size_t done = 0;
  prewarm(add, calls, *device_, [&](std::size_t count, std::size_t total) {
    EXPECT_EQ(total, 1u);
    done = count;
  });
  EXPECT_EQ(done, 1u);
}

INSTANTIATE_TEST_SUITE_P(Everywhere, PackagesTest,
                         ::testing::Values(Setting{"dawn", ""}, Setting{"wgpu-native", ""},
                                           Setting{"dawn", "generations/1.0"},
                                           Setting{"wgpu-native", "generations/1.0"}),
                         [](const ::testing::TestParamInfo<Setting>& setting) {
                           return std::string(setting.param.library == std::string("dawn") ? "Dawn"
                                                                                           : "WgpuNative") +
                                  (*setting.param.generation == '\0' ? "" : "Generation1");
                         });

}  // namespace
}  // namespace kernelpack
