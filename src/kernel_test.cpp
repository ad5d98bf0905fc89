#include "kernelpack/kernel.hpp"

#include <array>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "base/allocation_count_test.hpp"

namespace kernelpack {
namespace {

const std::filesystem::path kPackages = std::filesystem::path(KERNELPACK_SOURCE_DIR) / "packages";

Kernel softmax() {
  return Kernel::get((kPackages / "com.microsoft.BiasSoftmax").string());
}

const RunOptions kInner{.attributes = {{"is_inner_broadcast", 1}}};

template <class Run>
Error error_of(const Run& run) {
  try {
    run();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::internal, "nothing is thrown");
}

// A folder below the temporary one, removed at the end.
class Folder {
 public:
  Folder()
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("kernelpack_kernel_{}_{}", getpid(), count_++)) {
    std::filesystem::create_directories(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  static inline int count_ = 0;
  std::filesystem::path path_;
};

TEST(Kernel, RunsAShippedPackage) {
  const Tensor data = Tensor::from<float>({0, 0, 1, 2}, {2, 2}), bias = Tensor::from<float>({1, 1}, {1, 2});
  const Outputs outputs = softmax().run({{"data", data}, {"bias", bias}}, kInner);
  ASSERT_EQ(outputs.size(), 1u);
  const auto values = outputs["output"].values<float>();
  EXPECT_EQ(values[0], 0.5F);
  EXPECT_NEAR(values[3], 1 / (1 + std::exp(-1.0)), 1e-6);
  const Error error = error_of([&] { (void)outputs["outptu"]; });
  EXPECT_EQ(error.kind(), ErrorKind::contract);
  EXPECT_NE(error.message().find("did you mean (output)"), std::string::npos) << error.message();
}

TEST(Kernel, WritesToDestinations) {
  Tensor mine(DType::float32, {2, 2});
  const Tensor data = Tensor::from<float>({0, 0, 1, 1}, {2, 2}), bias = Tensor::from<float>({1, 1}, {1, 2});
  RunOptions options = kInner;
  options.destinations = {{"output", mine.mutable_view()}};
  EXPECT_EQ(softmax().run({{"data", data}, {"bias", bias}}, options).size(), 0u);
  for (const float value : mine.values<float>()) EXPECT_EQ(value, 0.5F);
}

TEST(Kernel, HotPathAllocatesNothing) {
  if (!allocation_count()) GTEST_SKIP() << "Allocations cannot be counted under a sanitizer";
  const Kernel kernel = softmax();
  const Tensor data = Tensor::from<float>({0, 0, 1, 2}, {2, 2}), bias = Tensor::from<float>({1, 1}, {1, 2});
  Tensor output(DType::float32, {2, 2});
  const std::array<NamedSpec, 2> specs = {NamedSpec{"data", data.spec()}, NamedSpec{"bias", bias.spec()}};
  const Call call = kernel.bind(specs, {.attributes = {{"is_inner_broadcast", 1}}});
  const std::array<TensorView, 2> inputs = {data.view(), bias.view()};
  const std::array<MutableTensorView, 1> outputs = {output.mutable_view()};
  const Device device = Device::cpu({.threads = 1});
  kernel.run(call, inputs, outputs, device);
  const long before = allocation_count().value();
  for (int i = 0; i < 10; ++i) kernel.run(call, inputs, outputs, device);
  EXPECT_EQ(allocation_count().value() - before, 0);
}

TEST(Kernel, HotPathChecksTensors) {
  const Kernel kernel = softmax();
  Tensor data = Tensor::from<float>({0, 0, 1, 2}, {2, 2}), bias = Tensor::from<float>({1, 1}, {1, 2});
  Tensor output(DType::float32, {2, 2}), wrong(DType::float32, {4});
  const std::array<NamedSpec, 2> specs = {NamedSpec{"data", data.spec()}, NamedSpec{"bias", bias.spec()}};
  Call call = kernel.bind(specs, {.attributes = {{"is_inner_broadcast", 1}}});
  const Device device = Device::cpu();
  const std::array<TensorView, 2> inputs = {data.view(), bias.view()};
  const auto run = [&](const MutableTensorView& target) {
    const std::array<MutableTensorView, 1> outputs = {target};
    kernel.run(call, inputs, outputs, device);
  };
  EXPECT_EQ(error_of([&] { run(wrong.mutable_view()); }).message(),
            "The output output (float32[4]) differs from what the call is bound to (float32[2, 2])");
  EXPECT_NO_THROW(run(data.mutable_view()));  // in place
  const MutableTensorView shifted(DType::float32, {2}, bias.mutable_view().bytes());
  call.outputs[0].shape = {2};
  EXPECT_EQ(error_of([&] { run(shifted); }).kind(), ErrorKind::contract);
  call.op = "com.microsoft.Other";
  EXPECT_EQ(error_of([&] { run(output.mutable_view()); }).kind(), ErrorKind::contract);
}

TEST(Kernel, GetFindsFoldersAndShippedPackages) {
  ASSERT_EQ(setenv("KERNELPACK_PACKAGES", kPackages.c_str(), 1), 0);
  EXPECT_EQ(package_search_path().front(), kPackages);
  EXPECT_EQ(Kernel::get("com.microsoft.BiasSoftmax").package().op_id(), "com.microsoft.BiasSoftmax");
  const Error unknown = error_of([] { Kernel::get("com.microsoft.BiasSoftmx"); });
  EXPECT_EQ(unknown.kind(), ErrorKind::package);
  EXPECT_NE(unknown.message().find("did you mean (com.microsoft.BiasSoftmax)"), std::string::npos)
      << unknown.message();
  EXPECT_NE(unknown.message().find(kPackages.string()), std::string::npos) << unknown.message();
  EXPECT_EQ(error_of([] { Kernel::get("./no/such/folder"); }).kind(), ErrorKind::io);

  // The first folder of the search path wins; the working directory is no part of it.
  const Folder first;
  std::filesystem::copy(kPackages / "com.microsoft.BiasSoftmax", first.path() / "com.microsoft.BiasSoftmax",
                        std::filesystem::copy_options::recursive);
  ASSERT_EQ(setenv("KERNELPACK_PACKAGES",
                   fmt::format(":{}:{}", first.path().string(), kPackages.string()).c_str(), 1),
            0);
  bool found = false;
  for (const ShippedPackage& shipped : shipped_packages()) {
    if (shipped.op_id != "com.microsoft.BiasSoftmax") continue;
    found = true;
    EXPECT_EQ(shipped.folder, first.path() / "com.microsoft.BiasSoftmax");
  }
  EXPECT_TRUE(found);
  unsetenv("KERNELPACK_PACKAGES");
}

TEST(Kernel, OpWithoutCpuKernelIsUnsupported) {
  const Folder folder;
  std::ofstream(folder.path() / "manifest.json")
      << R"({ "name": "Nothing", "inputs": { "x": { "dtype": "float32" } },
    "outputs": { "y": { "dtype": "float32", "shape": "shapes.x" } } })";
  const Kernel kernel = Kernel::get(folder.path().string(), {.verify = false});
  const Tensor x(DType::float32, {3});
  const Error error = error_of([&] { kernel.run({{"x", x}}); });
  EXPECT_EQ(error.kind(), ErrorKind::unsupported);
  EXPECT_EQ(error.message(), "This build has no CPU kernel for ai.onnx.Nothing");
}

// Conformance point 7: a bare manifest binds, but runs only with verification off.
TEST(Point7, BareManifestRunsOnlyUnverified) {
  const Folder folder;
  std::filesystem::copy(kPackages / "com.microsoft.BiasSoftmax" / "build" / "webgpu", folder.path(),
                        std::filesystem::copy_options::recursive);
  std::filesystem::remove(folder.path() / "metadata.json");
  const Tensor data = Tensor::from<float>({1, 1}, {1, 2});
  const Inputs inputs = {{"data", data}, {"bias", data}};
  const Kernel kernel = Kernel::get(folder.path().string());
  const std::array<NamedSpec, 2> specs = {NamedSpec{"data", data.spec()}, NamedSpec{"bias", data.spec()}};
  EXPECT_NO_THROW(kernel.bind(specs, {.attributes = {{"is_inner_broadcast", 1}}}));
  const Error error = error_of([&] { kernel.run(inputs, kInner); });
  EXPECT_EQ(error.kind(), ErrorKind::integrity);
  EXPECT_NE(error.message().find("no metadata.json"), std::string::npos);
  EXPECT_EQ(Kernel::get(folder.path().string(), {.verify = false}).run(inputs, kInner).size(), 1u);
}

TEST(Kernel, IsSharedBetweenThreads) {
  const Kernel kernel = softmax();
  std::array<std::thread, 4> threads;
  std::atomic<int> right{0};
  for (std::thread& thread : threads)
    thread = std::thread([&] {
      const Tensor data = Tensor::from<float>({3, 3, 3, 3}, {1, 4});
      for (int i = 0; i < 50; ++i)
        right += kernel.run({{"data", data}, {"bias", data}}, kInner)["output"].values<float>()[0] == 0.25F
                     ? 1
                     : 0;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(right, 200);
}

}  // namespace
}  // namespace kernelpack
