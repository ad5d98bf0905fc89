#include <gtest/gtest.h>

#include <numeric>

#include "webgpu/device_fixture_test.hpp"
#include "webgpu/device_memory.hpp"
#include "webgpu/plan_fixture_test.hpp"

namespace kernelpack::webgpu {
namespace {

class DeviceTensorTest : public DeviceTest {
 protected:
  DeviceTensor upload(const Tensor& values, const StorageOptions& options = {}) {
    DeviceTensor tensor = allocate(engine_, stored_as(values.spec(), options));
    write(tensor, values);
    return tensor;
  }
  Tensor download(const DeviceTensor& tensor) {
    Tensor values(tensor.spec());
    read(tensor, values.mutable_view());
    return values;
  }
  DeviceTensor zeros(std::int64_t count) {
    return allocate(engine_, stored_as({DType::float32, {count}}, {}));
  }
};

Tensor ramp(std::int64_t count, float start) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), start);
  return Tensor::from(values, {count});
}

TEST_P(DeviceTensorTest, KeepsValuesOfEveryStorage) {
  const Tensor halves = Tensor::from(std::vector<Float16>(5, Float16(2.5f)), {5});
  EXPECT_EQ(static_cast<float>(download(upload(halves)).values<Float16>()[4]), 2.5f);
  const Tensor bytes = Tensor::from(std::vector<std::uint8_t>{1, 2, 3, 4, 5}, {5});
  for (bool packed : {false, true})
    EXPECT_EQ(download(upload(bytes, {.packed = packed})).values<std::uint8_t>()[4], 5);
  const Tensor wide = Tensor::from(std::vector<std::int64_t>{-1, 7}, {2});
  EXPECT_EQ(download(upload(wide)).values<std::int64_t>()[0], -1);
  EXPECT_EQ(download(upload(wide, {.storage = DType::int32})).values<std::int64_t>()[1], 7);
  EXPECT_EQ(download(allocate(engine_, stored_as({DType::bool_, {3}}, {}))).values<bool>()[2], false);
  EXPECT_EQ(download(upload(Tensor(DType::float32, {0, 3}))).element_count(), 0);
  EXPECT_THROW(stored_as({DType::float32, {1}}, {.storage = DType::int32}), Error);
  EXPECT_THROW(stored_as({DType::int8, {1}}, {.packed = true}), Error);
}

TEST_P(DeviceTensorTest, ChainsCallsInOneSubmission) {
  const auto plan = std::make_shared<const Plan>(add_plan(1000));
  const DeviceTensor a = upload(ramp(1000, 0.0f));
  const DeviceTensor b = upload(ramp(1000, 1.0f));
  DeviceTensor x = zeros(1000);
  DeviceTensor y = zeros(1000);
  Submission submission(engine_);
  submission.add(plan, std::vector{a, b, x});
  for (int i = 0; i < 10; ++i) {
    submission.add(plan, std::vector{x, b, y});
    std::swap(x, y);
  }
  EXPECT_EQ(submission.size(), 11u);
  submission.submit();
  EXPECT_EQ(submission.size(), 0u);
  const Tensor result = download(x);
  for (std::size_t i = 0; i < 1000; ++i)
    ASSERT_EQ(result.values<float>()[i], static_cast<float>(i) + 11 * (static_cast<float>(i) + 1));
  EXPECT_TRUE(wait_until_idle(*engine_, std::nullopt));
}

TEST_P(DeviceTensorTest, BindsUniformsAnewWhereOnlyTheyDiffer) {
  // The same pipeline and the same buffers; only the dynamic offset tells the calls apart.
  Plan half = add_plan(64);
  half.passes[0].bindings[3].words[0] = 32;
  const auto first = std::make_shared<const Plan>(half);
  const auto second = std::make_shared<const Plan>(add_plan(64));
  const DeviceTensor a = upload(ramp(64, 1.0f));
  for (const bool whole_last : {true, false}) {
    const DeviceTensor out = zeros(64);
    Submission submission(engine_);
    submission.add(first, std::vector{a, a, out});
    if (whole_last) submission.add(second, std::vector{a, a, out});
    submission.submit();
    const Tensor result = download(out);
    EXPECT_EQ(result.values<float>()[31], 64.0f);
    EXPECT_EQ(result.values<float>()[63], whole_last ? 128.0f : 0.0f);
  }
}

TEST_P(DeviceTensorTest, RefusesHazardsBetweenBuffers) {
  const auto plan = std::make_shared<const Plan>(add_plan(64));
  const DeviceTensor a = zeros(64);
  Submission submission(engine_);
  submission.add(plan, std::vector{a, zeros(64), a});
  try {
    submission.submit();
    FAIL() << "an input that is also the output was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.line(),
              "contract: Pass main reads and writes one buffer through two bindings (a and out); an input "
              "may be an "
              "output only where the kernel declares it inout");
  }
  EXPECT_EQ(submission.size(), 0u);
  submission.add(plan, std::vector{a, a, zeros(64)});
  submission.submit();
}

TEST_P(DeviceTensorTest, RefusesTensorsThatDoNotFit) {
  const auto plan = std::make_shared<const Plan>(add_plan(64));
  Submission submission(engine_);
  EXPECT_THROW(submission.add(plan, std::vector{zeros(63), zeros(64), zeros(64)}), Error);
  EXPECT_THROW(submission.add(plan, std::vector{zeros(64), zeros(64)}), Error);
  EXPECT_THROW(submission.add(plan, std::vector{DeviceTensor(), zeros(64), zeros(64)}), Error);
  const auto other = open({.library = GetParam()});
  const DeviceTensor foreign = allocate(other, stored_as({DType::float32, {64}}, {}));
  EXPECT_THROW(submission.add(plan, std::vector{foreign, zeros(64), zeros(64)}), Error);
  EXPECT_EQ(submission.size(), 0u);
}

TEST_P(DeviceTensorTest, SkipsPassesWhoseViewsAlias) {
  Plan plan = add_plan(64);
  plan.passes[0].view_aliases = {{"a", "out"}};
  const auto shared = std::make_shared<const Plan>(plan);
  const DeviceTensor a = upload(ramp(64, 5.0f));
  Submission submission(engine_);
  submission.add(shared, std::vector{a, upload(ramp(64, 1.0f)), a});
  submission.submit();
  EXPECT_EQ(download(a).values<float>()[3], 8.0f) << "the pass was not skipped";
  const DeviceTensor out = zeros(64);
  submission.add(shared, std::vector{a, a, out});
  submission.submit();
  EXPECT_EQ(download(out).values<float>()[3], 16.0f);
}

TEST_P(DeviceTensorTest, ManySubmissionsMakeNothingNew) {
  const auto plan = std::make_shared<const Plan>(add_plan(64));
  const std::vector<DeviceTensor> tensors{zeros(64), zeros(64), zeros(64)};
  Submission submission(engine_);
  const auto call = [&] {
    submission.add(plan, tensors);
    submission.submit();
  };
  call();
  const auto buffers = engine_->buffers().created();
  const auto groups = engine_->bind_groups().size();
  for (int i = 0; i < 100; ++i) call();
  EXPECT_EQ(engine_->buffers().created(), buffers);
  EXPECT_EQ(engine_->bind_groups().size(), groups);
  EXPECT_TRUE(wait_until_idle(*engine_, std::chrono::seconds(60)));
}

TEST_P(DeviceTensorTest, ReleasesBindGroupsWithTheirBuffers) {
  const auto plan = std::make_shared<const Plan>(add_plan(64));
  const auto before = engine_->bind_groups().size();
  {
    const std::vector<DeviceTensor> tensors{zeros(64), zeros(64), zeros(64)};
    Submission submission(engine_);
    submission.add(plan, tensors);
    submission.submit();
    EXPECT_EQ(engine_->bind_groups().size(), before + 1);
  }
  EXPECT_EQ(engine_->bind_groups().size(), before);
}

KERNELPACK_FOR_EACH_LIBRARY(DeviceTensorTest);

}  // namespace
}  // namespace kernelpack::webgpu
