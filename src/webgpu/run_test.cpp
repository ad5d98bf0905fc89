#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>

#include "webgpu/device_fixture_test.hpp"
#include "webgpu/plan_fixture_test.hpp"

namespace kernelpack::webgpu {
namespace {

class RunTest : public DeviceTest {
 protected:
  void add(std::int64_t count) {
    const Plan plan = add_plan(count);
    std::vector<float> a(static_cast<std::size_t>(count));
    std::iota(a.begin(), a.end(), 0.5f);
    const std::vector<float> b(a.size(), 2.0f);
    std::vector<float> out(a.size(), -1.0f);
    const auto view_a = TensorView::of<float>(a, {count});
    const auto view_b = TensorView::of<float>(b, {count});
    const auto view_out = MutableTensorView::of<float>(out, {count});
    run(*engine_, plan, std::vector<HostTensor>{{&view_a}, {&view_b}, {nullptr, &view_out}});
    for (std::size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], a[i] + b[i]) << i;
  }

  Tensor copy(const BoundTensor& like, const Tensor& in) {
    Tensor out(in.spec());
    run(*engine_, copy_plan(like), std::vector<HostTensor>{{&in.view()}, {nullptr, &out.mutable_view()}});
    return out;
  }
  void expect_copied(const BoundTensor& like, const Tensor& in) {
    const Tensor out = copy(like, in);
    ASSERT_EQ(out.byte_size(), in.byte_size());
    EXPECT_EQ(std::memcmp(out.data(), in.data(), in.byte_size()), 0) << to_string(like.dtype);
  }

  Error error_of(const Plan& plan, std::vector<HostTensor> tensors) {
    try {
      run(*engine_, plan, tensors);
    } catch (const Error& error) {
      return error;
    }
    ADD_FAILURE() << "no error";
    return Error(ErrorKind::internal, "no error");
  }
};

TEST_P(RunTest, AddsElementwise) {
  for (std::int64_t count : {1, 3, 64, 65, 1000, 100000}) add(count);
}

TEST_P(RunTest, FoldsMoreThan65535Workgroups) {
  const std::int64_t count = 65535 * 64 + 100;
  ASSERT_EQ(add_plan(count).passes[0].workgroups, (std::array<std::uint32_t, 3>{65535, 2, 1}));
  add(count);
}

TEST_P(RunTest, RepeatsWithoutNewObjects) {
  add(500);
  add(500);
  const auto buffers = engine_->buffers().created();
  const auto groups = engine_->bind_groups().size();
  const auto pipelines = engine_->pipelines().compiled();
  for (int i = 0; i < 10; ++i) add(500);
  EXPECT_EQ(engine_->buffers().created(), buffers);
  EXPECT_EQ(engine_->bind_groups().size(), groups);
  EXPECT_EQ(engine_->pipelines().compiled(), pipelines);
}

TEST_P(RunTest, SharesPipelinesBetweenSizes) {
  add(700);
  const auto pipelines = engine_->pipelines().compiled();
  for (std::int64_t count : {701, 702, 703}) add(count);
  EXPECT_EQ(engine_->pipelines().compiled(), pipelines);
}

TEST_P(RunTest, KeepsEveryDtypeThroughStorage) {
  using V8 = std::vector<std::int8_t>;
  expect_copied(bound_tensor("x", DType::int8, {5}), Tensor::from(V8{-128, -1, 0, 1, 127}, {5}));
  expect_copied(bound_tensor("x", DType::int16, {3}),
                Tensor::from(std::vector<std::int16_t>{-32768, 5, 32767}, {3}));
  expect_copied(bound_tensor("x", DType::int32, {2}),
                Tensor::from(std::vector<std::int32_t>{-7, 1 << 30}, {2}));
  expect_copied(bound_tensor("x", DType::uint32, {2}),
                Tensor::from(std::vector<std::uint32_t>{7, 1u << 31}, {2}));
  expect_copied(bound_tensor("x", DType::uint8, {3}),
                Tensor::from(std::vector<std::uint8_t>{0, 9, 255}, {3}));
  BoundTensor packed = bound_tensor("x", DType::uint8, {7});
  packed.packed = true;
  expect_copied(packed, Tensor::from(std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6, 255}, {7}));
  const std::vector<std::int64_t> wide{-(std::int64_t{1} << 62), -1, std::int64_t{1} << 40};
  expect_copied(bound_tensor("x", DType::int64, {3}), Tensor::from(wide, {3}));
  BoundTensor projected = bound_tensor("x", DType::int64, {3});
  projected.storage = DType::int32;
  expect_copied(projected, Tensor::from(std::vector<std::int64_t>{-2147483648LL, -1, 2147483647LL}, {3}));
  expect_copied(bound_tensor("x", DType::float16, {2, 3}),
                Tensor::from(std::vector<Float16>(6, Float16(1.5f)), {2, 3}));
  expect_copied(bound_tensor("x", DType::float32, {}), Tensor::from(std::vector<float>{2.5f}, {}));
}

TEST_P(RunTest, NormalisesBool) {
  Tensor in(DType::bool_, {4});
  const unsigned char values[] = {0, 1, 2, 255};
  std::memcpy(in.data(), values, 4);
  const Tensor out = copy(bound_tensor("x", DType::bool_, {4}), in);
  const unsigned char expected[] = {0, 1, 1, 1};
  EXPECT_EQ(std::memcmp(out.data(), expected, 4), 0);
}

TEST_P(RunTest, RefusesProjectedValuesOutsideTheStorage) {
  BoundTensor projected = bound_tensor("x", DType::int64, {2});
  projected.storage = DType::int32;
  const Tensor in = Tensor::from(std::vector<std::int64_t>{0, std::int64_t{1} << 33}, {2});
  Tensor out(in.spec());
  const Error error = error_of(copy_plan(projected), {{&in.view()}, {nullptr, &out.mutable_view()}});
  EXPECT_EQ(error.kind(), ErrorKind::contract);
  EXPECT_EQ(error.message(), "Element 1 (8589934592) of in does not fit its storage dtype (int32)");
  projected.saturating = true;
  EXPECT_EQ(copy(projected, in).values<std::int64_t>()[1], 2147483647);
}

// The destination is a slice of a larger array; what lies behind the odd half must stay.
TEST_P(RunTest, LeavesWhatLiesBehindAnOddHalf) {
  if (!has("shader-f16")) GTEST_SKIP() << "the device has no shader-f16";
  Plan plan;
  plan.op = "test.Double";
  plan.tensors = {bound_tensor("x", DType::float16, {5}), bound_tensor("y", DType::float16, {5})};
  plan.passes = {planned_pass(
      "main",
      "enable f16;\n"
      "@group(0) @binding(0) var<storage, read> x: array<f16>;\n"
      "@group(0) @binding(1) var<storage, read_write> y: array<f16>;\n"
      "@compute @workgroup_size(8)\n"
      "fn main(@builtin(local_invocation_index) i: u32) { if (i < 5u) { y[i] = x[i] * 2.0h; } }\n",
      {tensor_binding(0, "x", BufferKind::read_only_storage), tensor_binding(1, "y", BufferKind::storage)},
      {1, 1, 1})};
  std::vector<Float16> x;
  for (int i = 0; i < 5; ++i) x.emplace_back(static_cast<float>(i) + 0.25f);
  std::vector<Float16> y(8, Float16::from_bits(0x7BAD));
  const auto in = TensorView::of<Float16>(x, {5});
  const auto out = MutableTensorView::of<Float16>(std::span(y).first(5), {5});
  run(*engine_, plan, std::vector<HostTensor>{{&in}, {nullptr, &out}});
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(static_cast<float>(y[i]), 2 * static_cast<float>(x[i])) << i;
  for (std::size_t i = 5; i < 8; ++i) EXPECT_EQ(y[i].bits, 0x7BAD) << i;
}

// Partial sums in scratch, then one sum; a counter in zeroInit scratch checks the clear.
Plan reduction_plan(std::int64_t count, bool submit_after) {
  Plan plan;
  plan.op = "test.Sum";
  plan.tensors = {bound_tensor("x", DType::uint32, {count}), bound_tensor("sum", DType::uint32, {2})};
  const auto n = static_cast<std::uint32_t>(count);
  const std::uint32_t groups = (n + 255) / 256;
  plan.scratch = {
      {.id = "partial", .dtype = DType::uint32, .shape = {groups}, .bytes = groups * 4, .used = true},
      {.id = "count", .dtype = DType::uint32, .shape = {1}, .bytes = 4, .zero_init = true, .used = true}};
  PlannedPass first = planned_pass(
      "g[0].partial",
      "struct U { n: u32, p0: u32, p1: u32, p2: u32 };\n"
      "@group(0) @binding(0) var<storage, read> x: array<u32>;\n"
      "@group(0) @binding(1) var<storage, read_write> partial: array<u32>;\n"
      "@group(0) @binding(2) var<storage, read_write> count: array<atomic<u32>>;\n"
      "@group(0) @binding(3) var<uniform> u: U;\n"
      "var<workgroup> t: array<u32, 256>;\n"
      "@compute @workgroup_size(256)\n"
      "fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) l: u32) {\n"
      "  let i = g.x * 256u + l;\n"
      "  t[l] = select(0u, x[min(i, u.n - 1u)], i < u.n);\n"
      "  for (var s = 128u; s > 0u; s >>= 1u) { workgroupBarrier(); if (l < s) { t[l] += t[l + s]; } }\n"
      "  if (l == 0u) { partial[g.x] = t[0]; atomicAdd(&count[0], 1u); }\n"
      "}\n",
      {tensor_binding(0, "x", BufferKind::read_only_storage),
       scratch_binding(1, "partial", BufferKind::storage), scratch_binding(2, "count", BufferKind::storage),
       uniform_binding(3, "u", {n, 0, 0, 0})},
      {groups, 1, 1});
  first.submit_after = submit_after;
  PlannedPass second = planned_pass(
      "g[1].total",
      "struct U { n: u32, p0: u32, p1: u32, p2: u32 };\n"
      "@group(0) @binding(0) var<storage, read> partial: array<u32>;\n"
      "@group(0) @binding(1) var<storage, read> count: array<u32>;\n"
      "@group(0) @binding(2) var<storage, read_write> sum: array<u32>;\n"
      "@group(0) @binding(3) var<uniform> u: U;\n"
      "@compute @workgroup_size(1) fn main() {\n"
      "  var s = 0u; for (var i = 0u; i < u.n; i++) { s += partial[i]; }\n"
      "  sum[0] = s; sum[1] = count[0];\n"
      "}\n",
      {scratch_binding(0, "partial", BufferKind::read_only_storage),
       scratch_binding(1, "count", BufferKind::read_only_storage),
       tensor_binding(2, "sum", BufferKind::storage), uniform_binding(3, "u", {groups, 0, 0, 0})},
      {1, 1, 1});
  plan.passes = {first, second};
  return plan;
}

TEST_P(RunTest, ReducesInTwoPassesWithClearedScratch) {
  for (bool submit_after : {false, true}) {
    for (std::int64_t count : {1, 257, 5000}) {
      std::vector<std::uint32_t> x(static_cast<std::size_t>(count));
      std::iota(x.begin(), x.end(), 1u);
      const auto in = TensorView::of<std::uint32_t>(x, {count});
      // The second run gets the scratch of the first from the pool: only the clear makes its counter zero.
      for (int repeat = 0; repeat < 3; ++repeat) {
        std::vector<std::uint32_t> sum(2, 99);
        const auto out = MutableTensorView::of<std::uint32_t>(sum, {2});
        run(*engine_, reduction_plan(count, submit_after), std::vector<HostTensor>{{&in}, {nullptr, &out}});
        EXPECT_EQ(sum[0], static_cast<std::uint32_t>(count * (count + 1) / 2));
        EXPECT_EQ(sum[1], static_cast<std::uint32_t>((count + 255) / 256));
      }
    }
  }
}

TEST_P(RunTest, WritesInoutTensorsInPlace) {
  Plan plan;
  plan.op = "test.Increment";
  plan.tensors = {bound_tensor("x", DType::uint32, {3})};
  plan.tensors[0].inout = true;
  plan.passes = {
      planned_pass("main",
                   "@group(0) @binding(0) var<storage, read_write> x: array<u32>;\n"
                   "@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) {\n"
                   "  if (i < 3u) { x[i] += 10u; }\n"
                   "}\n",
                   {tensor_binding(0, "x", BufferKind::storage)}, {1, 1, 1})};
  std::vector<std::uint32_t> x{1, 2, 3};
  const auto both = MutableTensorView::of<std::uint32_t>(x, {3});
  run(*engine_, plan, std::vector<HostTensor>{{&both, &both}});
  EXPECT_EQ(x, (std::vector<std::uint32_t>{11, 12, 13}));
}

TEST_P(RunTest, OutputsStartAsZeroAlsoInUsedBuffers) {
  add(64);
  Plan plan = add_plan(64);
  plan.passes[0].workgroups = {0, 1, 1};
  std::vector<float> a(64, 1.0f);
  std::vector<float> out(64, -1.0f);
  const auto in = TensorView::of<float>(a, {64});
  const auto view = MutableTensorView::of<float>(out, {64});
  run(*engine_, plan, std::vector<HostTensor>{{&in}, {&in}, {nullptr, &view}});
  EXPECT_EQ(out, std::vector<float>(64, 0.0f));
}

TEST_P(RunTest, RunsEmptyTensorsWithoutWork) {
  Plan plan = add_plan(64);
  for (BoundTensor& tensor : plan.tensors) tensor.shape = {0, 5};
  plan.passes[0].skip = PlannedPass::Skip::empty;
  const Tensor in(DType::float32, {0, 5});
  Tensor out(DType::float32, {0, 5});
  run(*engine_, plan, std::vector<HostTensor>{{&in.view()}, {&in.view()}, {nullptr, &out.mutable_view()}});
}

TEST_P(RunTest, BindsManyUniformsWithPlainOffsets) {
  const std::uint32_t count = 10;
  if (engine_->device().limits().maxUniformBuffersPerShaderStage < count)
    GTEST_SKIP() << "too few uniform buffers";
  Plan plan;
  plan.op = "test.Uniforms";
  plan.tensors = {bound_tensor("out", DType::uint32, {count})};
  std::string wgsl =
      "struct U { v: u32, p0: u32, p1: u32, p2: u32 };\n"
      "@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n";
  std::string body;
  std::vector<PlannedBinding> bindings{tensor_binding(0, "out", BufferKind::storage)};
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string index = std::to_string(i);
    wgsl += "@group(1) @binding(" + index + ") var<uniform> u" + index + ": U;\n";
    body += "  out[" + index + "] = u" + index + ".v;\n";
    bindings.push_back(uniform_binding(i, "u" + index, {i * i, 0, 0, 0}));
    bindings.back().group = 1;
  }
  plan.passes = {planned_pass("main", wgsl + "@compute @workgroup_size(1) fn main() {\n" + body + "}\n",
                              bindings, {1, 1, 1})};
  std::vector<std::uint32_t> out(count);
  const auto view = MutableTensorView::of<std::uint32_t>(out, {count});
  run(*engine_, plan, std::vector<HostTensor>{{nullptr, &view}});
  for (std::uint32_t i = 0; i < count; ++i) EXPECT_EQ(out[i], i * i);
}

TEST_P(RunTest, SaysWhereAShaderDoesNotCompile) {
  Plan plan = add_plan(64);
  plan.passes[0].wgsl = "@compute @workgroup_size(1) fn main() {\n  let x: u32 = 1.5;\n}\n";
  plan.passes[0].bindings.clear();
  const Error error = error_of(plan, std::vector<HostTensor>(3));
  EXPECT_EQ(error.kind(), ErrorKind::shader);
  EXPECT_NE(error.where().find("test.wgsl.jinja, line 2, column "), std::string::npos) << error.report();
  EXPECT_NE(error.excerpt().find("let x: u32 = 1.5;"), std::string::npos) << error.report();
  EXPECT_NE(error.message().find("of pass main does not compile with "), std::string::npos) << error.report();
  EXPECT_EQ(error.message().find('\n'), std::string::npos);
}

TEST_P(RunTest, SaysThatAnEntryPointIsMissing) {
  Plan plan = add_plan(64);
  plan.passes[0].entry_point = "nowhere";
  EXPECT_EQ(error_of(plan, std::vector<HostTensor>(3)).kind(), ErrorKind::shader);
  add(64);
}

TEST_P(RunTest, ChecksLimitsEarly) {
  Plan plan = add_plan(64);
  plan.passes[0].workgroups = {65536, 1, 1};
  EXPECT_EQ(error_of(plan, std::vector<HostTensor>(3)).line(),
            "limit: The workgroups of pass main along x (65536) exceed the device's "
            "maxComputeWorkgroupsPerDimension (65535)");
  plan = add_plan(64);
  plan.tensors[0].shape = {std::int64_t{1} << 50};
  const Error error = error_of(plan, std::vector<HostTensor>(3));
  EXPECT_EQ(error.kind(), ErrorKind::limit);
  EXPECT_EQ(
      error.message().rfind("The buffer of a (4503599627370496 bytes) exceeds the device's maxBufferSize", 0),
      0u);
  plan = add_plan(64);
  for (std::uint32_t i = 4; i < 70; ++i)
    plan.passes[0].bindings.push_back(uniform_binding(i, "v", {0, 0, 0, 0}));
  EXPECT_EQ(error_of(plan, std::vector<HostTensor>(3)).kind(), ErrorKind::limit);
}

TEST_P(RunTest, RefusesHazardsAndSmallRanges) {
  Plan plan = add_plan(64);
  plan.passes[0].bindings[1].target = "out";
  const Error hazard = error_of(plan, std::vector<HostTensor>(3));
  EXPECT_EQ(hazard.line(), "contract: Pass main binds one buffer twice (b and out) and writes to it");
  plan = add_plan(64);
  plan.passes[0].bindings[0].required_bytes = 260;
  EXPECT_EQ(error_of(plan, std::vector<HostTensor>(3)).line(),
            "contract: The range bound to a of pass main (256 bytes of a) is smaller than its sized array "
            "(260 bytes)");
}

TEST_P(RunTest, RefusesOtherShapesThanThePlans) {
  const Tensor in(DType::float32, {63});
  const Error error = error_of(add_plan(64), {{&in.view()}, {}, {}});
  EXPECT_EQ(error.line(),
            "contract: The input a (float32[63]) differs from what the plan was made for (float32[64])");
}

TEST_P(RunTest, StartsWithoutWaiting) {
  std::vector<float> a(64, 1.0f);
  std::vector<float> out(64);
  const auto in = TensorView::of<float>(a, {64});
  const auto view = MutableTensorView::of<float>(out, {64});
  const std::vector<HostTensor> tensors{{&in}, {&in}, {nullptr, &view}};
  PendingRun pending = start(engine_, add_plan(64), tensors);
  while (!pending.wait(std::chrono::milliseconds(5))) {
  }
  pending.finish();
  EXPECT_EQ(out, std::vector<float>(64, 2.0f));
  // A dropped run leaves the device as it was.
  { PendingRun dropped = start(engine_, add_plan(64), tensors); }
  add(64);
}

TEST_P(RunTest, RunsFromSeveralThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::int64_t count = 100 + 64 * t;
      std::vector<float> a(static_cast<std::size_t>(count), static_cast<float>(t));
      const auto in = TensorView::of<float>(a, {count});
      for (int repeat = 0; repeat < 25; ++repeat) {
        std::vector<float> out(a.size());
        const auto view = MutableTensorView::of<float>(out, {count});
        run(*engine_, add_plan(count), std::vector<HostTensor>{{&in}, {&in}, {nullptr, &view}});
        if (out != std::vector<float>(a.size(), 2.0f * static_cast<float>(t))) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

KERNELPACK_FOR_EACH_LIBRARY(RunTest);

}  // namespace
}  // namespace kernelpack::webgpu
