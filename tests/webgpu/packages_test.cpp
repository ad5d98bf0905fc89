// Packages of both manifest generations on a GPU, against sums computed here.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernelpack/async.hpp"
#include "kernelpack/batch.hpp"

namespace kernelpack {
namespace {

const std::filesystem::path kPackages = std::filesystem::path(KERNELPACK_SOURCE_DIR) / "tests/packages";

bool gpu_required() {
  const auto is = [](const char* name, std::string_view value) {
    const char* text = std::getenv(name);
    return text != nullptr && text == value;
  };
  return is("CI", "true") || is("KERNELPACK_REQUIRE_GPU", "1");
}

void use_fetched_driver() {
  const auto manifest = std::filesystem::path(KERNELPACK_WEBGPU_DIR) / "lavapipe" / "lvp_icd.json";
  if (std::filesystem::exists(manifest)) setenv("VK_DRIVER_FILES", manifest.c_str(), 0);
  setenv("KERNELPACK_SHADER_CACHE", "none", 0);
}

struct Setting {
  const char* library;
  const char* generation;  ///< folder of the generation, "" for the current one
};

class PackagesTest : public ::testing::TestWithParam<Setting> {
 protected:
  void SetUp() override {
    use_fetched_driver();
    try {
      device_ = Device::open({.library = GetParam().library});
    } catch (const Error& error) {
      if (gpu_required()) FAIL() << "no device: " << error.report();
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

TEST(Libraries, RunSideBySideInOneProcess) {
  use_fetched_driver();
  std::vector<Device> devices;
  for (const char* library : {"dawn", "wgpu-native"}) {
    try {
      devices.push_back(Device::open({.library = library}));
    } catch (const Error& error) {
      if (gpu_required()) FAIL() << "no device: " << error.report();
      GTEST_SKIP() << error.report();
    }
  }
  const Kernel total = Kernel::get((kPackages / "total").string());
  const Tensor x = Tensor::from(numbers<float>(3000, 1), {3000});
  const float expected = total.run({{"x", x}}, {.device = devices[0]})["total"].values<float>()[0];
  for (int round = 0; round < 20; ++round) {
    std::vector<PendingOutputs> pending;
    for (const Device& device : devices) pending.push_back(run_async(total, {{"x", x}}, {.device = device}));
    for (PendingOutputs& each : pending) EXPECT_EQ(each.get()["total"].values<float>()[0], expected);
  }
  const DeviceTensor one = DeviceTensor::upload(devices[0], x);
  Batch batch(devices[1]);
  EXPECT_THROW(batch.add(total, {{"x", one}}), Error) << "a tensor of the other library was taken";
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
  const std::vector<Request> requests{Request::from_json(
      R"({"tensors": {"a": {"shape": [9, 4], "dtype": "uint32"}, "b": {"shape": [4], "dtype": "uint32"}}})",
      "request", add.package())};
  std::vector<std::size_t> steps;
  prewarm(add, requests, *device_, [&](std::size_t count, std::size_t) { steps.push_back(count); });
  EXPECT_EQ(steps, std::vector<std::size_t>{1}) << "the same shader was compiled again";
}

TEST_P(PackagesTest, RunsWithoutWaiting) {
  const Kernel total = kernel("total");
  std::optional<PendingOutputs> pending;
  {
    const Tensor x = Tensor::from(numbers<float>(3000, 1), {3000});
    pending = run_async(total, {{"x", x}}, {.device = device_});
    // The input goes away before the results are there.
  }
  EXPECT_TRUE(pending->wait(std::chrono::minutes(1)));
  double expected = 0;
  for (float value : numbers<float>(3000, 1)) expected += value;
  const Outputs out = pending->get();
  EXPECT_EQ(out["total"].values<float>()[0], static_cast<float>(expected));
  EXPECT_THROW(pending->get(), Error) << "the results were taken twice";

  std::vector<float> mine(64, -1.0f);
  const auto destination = MutableTensorView::of<float>(mine, {64});
  const Tensor left = Tensor::from(numbers<float>(64, 3), {64});
  PendingOutputs second = run_async(kernel("broadcast_add"), {{"a", left}, {"b", left}},
                                    {.destinations = {{"sum", destination}}, .device = device_});
  EXPECT_EQ(second.get().size(), 0u);
  for (std::size_t i = 0; i < mine.size(); ++i) EXPECT_EQ(mine[i], 2 * left.values<float>()[i]);
  EXPECT_THROW(run_async(total, {}, {.device = device_}), Error);
}

TEST_P(PackagesTest, AClosedDeviceRefusesCalls) {
  const Device device = Device::open({.library = GetParam().library});
  const Kernel total = kernel("total");
  const Tensor x = Tensor::from(numbers<float>(300, 1), {300});
  const DeviceTensor tensor = DeviceTensor::upload(device, x);
  PendingOutputs pending = run_async(total, {{"x", x}}, {.device = device});
  Batch batch(device);
  batch.add(total, {{"x", tensor}});
  device.close();
  const auto said = [](const auto& step) {
    try {
      step();
    } catch (const Error& error) {
      return error.line();
    }
    return std::string("no error");
  };
  for (const std::string& line : {said([&] { pending.get(); }), said([&] { batch.submit(); }),
                                  said([&] { batch.wait(); }), said([&] { tensor.read(); }), said([&] {
                                    total.run({{"x", x}}, {.device = device});
                                  }),
                                  said([&] { DeviceTensor::upload(device, x); })}) {
    EXPECT_EQ(line.find("device: The device ("), 0u) << line;
    EXPECT_NE(line.find(") is closed"), std::string::npos) << line;
  }
}

// A package of several variants, each as the planning tests render it: both compilers take them all.
class LargePackageTest : public PackagesTest {};

TEST_P(LargePackageTest, CompilesEveryVariant) {
  const Kernel large = kernel("planbench");
  std::vector<Call> calls;
  for (const auto& [rows, columns] : {std::pair{512, 16}, std::pair{4, 8192}, std::pair{2, 131072}})
    calls.push_back(large.bind(std::vector<NamedSpec>{{"x", {DType::float32, {rows, columns}}},
                                                      {"bias", {DType::float32, {columns}}}}));
  std::size_t pipelines = 0;
  prewarm(large, calls, *device_, [&](std::size_t, std::size_t total) { pipelines = total; });
  EXPECT_EQ(pipelines, 4u);
  const std::vector<float> zeros(2 * 131072, 0.0f);
  const Outputs out = large.run({{"x", Tensor::from(zeros, {2, 131072})},
                                 {"bias", Tensor::from(std::vector<float>(131072, 1.0f), {131072})}},
                                {.device = device_});
  for (float value : out["y"].values<float>()) ASSERT_NEAR(value, 1.0f / 131072, 1e-9f);
}

std::string setting_name(const ::testing::TestParamInfo<Setting>& setting) {
  return std::string(setting.param.library == std::string("dawn") ? "Dawn" : "WgpuNative") +
         (*setting.param.generation == '\0' ? "" : "Generation1");
}

INSTANTIATE_TEST_SUITE_P(Everywhere, PackagesTest,
                         ::testing::Values(Setting{"dawn", ""}, Setting{"wgpu-native", ""},
                                           Setting{"dawn", "generations/1.0"},
                                           Setting{"wgpu-native", "generations/1.0"}),
                         setting_name);
INSTANTIATE_TEST_SUITE_P(Everywhere, LargePackageTest,
                         ::testing::Values(Setting{"dawn", ""}, Setting{"wgpu-native", ""}), setting_name);

}  // namespace
}  // namespace kernelpack
