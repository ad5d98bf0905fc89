#include <gtest/gtest.h>

#include <dlfcn.h>

#include <vector>

#include "kernelpack/webgpu_interop.hpp"
#include "webgpu/device_fixture_test.hpp"
#include "webgpu/device_memory.hpp"
#include "webgpu/plan_fixture_test.hpp"

namespace kernelpack::webgpu {
namespace {

// The "foreign" device is one that the test drives through the C interface alone, as its owner would.
class AdoptTest : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    owner_ = open({.library = GetParam()});
    adopted_.device = raw_device(*owner_);
    const Library& library = owner_->device().library();
    if (library.is_dawn()) {
      void* handle = dlopen(library.origin().c_str(), RTLD_NOW | RTLD_NOLOAD);
      adopted_.get_proc_address = dlsym(handle, "wgpuGetProcAddress");
      adopted_.instance = owner_->device().instance().get();
    } else {
      adopted_.library = library.origin();
    }
  }
  void TearDown() override {
    if (owner_ != nullptr)
      for (const CapturedError& error : owner_->device().take_uncaptured()) ADD_FAILURE() << error.message;
    DeviceTest::TearDown();
  }

  const Functions& f() const { return owner_->device().functions(); }
  Handle<WGPUBuffer> buffer(std::uint64_t bytes, WGPUBufferUsage usage) const {
    WGPUBufferDescriptor descriptor{};
    descriptor.size = bytes;
    descriptor.usage = usage;
    return Handle<WGPUBuffer>(f().DeviceCreateBuffer(owner_->device().get(), &descriptor), f().BufferRelease);
  }
  template <class T>
  void owner_writes(WGPUBuffer to, const std::vector<T>& values) const {
    f().QueueWriteBuffer(owner_->device().queue(), to, 0, values.data(), values.size() * sizeof(T));
  }
  template <class T>
  std::vector<T> owner_reads(WGPUBuffer from, std::size_t count) const {
    const auto staging = buffer(count * sizeof(T), WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst);
    const auto encoder = f().DeviceCreateCommandEncoder(owner_->device().get(), nullptr);
    f().CommandEncoderCopyBufferToBuffer(encoder, from, 0, staging.get(), 0, count * sizeof(T));
    const auto commands = f().CommandEncoderFinish(encoder, nullptr);
    f().QueueSubmit(owner_->device().queue(), 1, &commands);
    f().CommandBufferRelease(commands);
    f().CommandEncoderRelease(encoder);
    Completion mapped;
    WGPUBufferMapCallbackInfo callback{};
    callback.mode = owner_->device().callback_mode();
    callback.userdata1 = &mapped;
    callback.callback = [](WGPUMapAsyncStatus, WGPUStringView, void* user, void*) {
      static_cast<Completion*>(user)->done = true;
    };
    owner_->device().wait(f().BufferMapAsync(staging.get(), WGPUMapMode_Read, 0, count * sizeof(T), callback),
                          mapped);
    const auto* values =
        static_cast<const T*>(f().BufferGetConstMappedRange(staging.get(), 0, count * sizeof(T)));
    std::vector<T> result(values, values + count);
    f().BufferUnmap(staging.get());
    return result;
  }

  static constexpr WGPUBufferUsage kAll =
      WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc | WGPUBufferUsage_CopyDst;
  std::shared_ptr<Engine> owner_;
  AdoptedDevice adopted_;
};

TEST_P(AdoptTest, NeedsNoInstance) {
  adopted_.instance = nullptr;
  const std::shared_ptr<Engine> engine = adopt(adopted_);
  const std::vector<float> values{1, 2, 3, 4};
  for (int round = 0; round < 5; ++round) {
    const DeviceTensor tensor = allocate(engine, stored_as({DType::float32, {4}}, {}));
    write(tensor, TensorView::of<float>(values, {4}));
    std::vector<float> got(4);
    read(tensor, MutableTensorView::of<float>(got, {4}));
    EXPECT_EQ(got, values);
  }
}

TEST_P(AdoptTest, RunsOnTheCallersBuffersAndLeavesTheDevice) {
  const auto a = buffer(256, kAll);
  const auto out = buffer(256, kAll);
  owner_writes(a.get(), std::vector<float>(64, 1.5f));
  {
    const auto engine = adopt(adopted_);
    EXPECT_EQ(facts(*engine).limits, facts(*owner_).limits);
    const BoundTensor bound = stored_as({DType::float32, {64}}, {});
    const DeviceTensor wrapped = wrap(engine, a.get(), 0, bound);
    const DeviceTensor result = wrap(engine, out.get(), 0, bound);
    Submission submission(engine);
    submission.add(std::make_shared<const Plan>(add_plan(64)), std::vector{wrapped, wrapped, result});
    submission.submit();
    EXPECT_EQ(owner_reads<float>(out.get(), 64)[63], 3.0f) << "between our calls";
    Tensor values(result.spec());
    read(result, values.mutable_view());
    EXPECT_EQ(values.values<float>()[0], 3.0f);
    // Host tensors on the adopted device, through the same caches.
    std::vector<float> host(64);
    const auto view = MutableTensorView::of<float>(host, {64});
    run(*engine, add_plan(64), std::vector<HostTensor>{{&values.view()}, {&values.view()}, {nullptr, &view}});
    EXPECT_EQ(host[5], 6.0f);
  }
  owner_writes(a.get(), std::vector<float>(64, 4.0f));
  EXPECT_EQ(owner_reads<float>(a.get(), 64)[7], 4.0f);
  EXPECT_EQ(owner_reads<float>(out.get(), 64)[7], 3.0f) << "after everything of ours is gone";
}

TEST_P(AdoptTest, OutlivesTheOwnersHandles) {
  const auto engine = adopt(adopted_);
  auto own = buffer(256, kAll);
  const DeviceTensor wrapped = wrap(engine, own.get(), 0, stored_as({DType::float32, {64}}, {}));
  own.reset();
  write(wrapped, Tensor::from(std::vector<float>(64, 2.0f), {64}));
  Tensor values(wrapped.spec());
  read(wrapped, values.mutable_view());
  EXPECT_EQ(values.values<float>()[63], 2.0f);
}

TEST_P(AdoptTest, NeverWritesBehindAWrappedTensor) {
  const auto engine = adopt(adopted_);
  const std::vector<std::uint16_t> sentinels(256, 0x7BAD);
  for (std::int64_t count : {1, 2, 3, 5, 126, 127}) {
    const auto own = buffer(512, kAll);
    owner_writes(own.get(), sentinels);
    const DeviceTensor tensor = wrap(engine, own.get(), 256, stored_as({DType::float16, {count}}, {}));
    write(tensor,
          Tensor::from(std::vector<Float16>(static_cast<std::size_t>(count), Float16(1.0f)), {count}));
    const auto words = owner_reads<std::uint16_t>(own.get(), 256);
    for (std::size_t i = 0; i < 256; ++i) {
      const bool inside = i >= 128 && i < 128 + static_cast<std::size_t>(count);
      ASSERT_EQ(words[i], inside ? 0x3C00 : 0x7BAD) << count << " halves, word " << i;
    }
  }
  const std::vector<std::uint8_t> guard(512, 0xA5);
  for (std::int64_t count : {1, 2, 3, 4, 5, 6, 7, 255}) {
    const auto own = buffer(512, kAll);
    owner_writes(own.get(), guard);
    const DeviceTensor tensor =
        wrap(engine, own.get(), 0, stored_as({DType::uint8, {count}}, {.packed = true}));
    write(tensor, Tensor::from(std::vector<std::uint8_t>(static_cast<std::size_t>(count), 7), {count}));
    const auto bytes = owner_reads<std::uint8_t>(own.get(), 512);
    for (std::size_t i = 0; i < 512; ++i)
      ASSERT_EQ(bytes[i], i < static_cast<std::size_t>(count) ? 7 : 0xA5) << count << " bytes, byte " << i;
  }
  // A kernel over whole workgroups, of which the last is half empty.
  {
    const auto own = buffer(512, kAll);
    owner_writes(own.get(), guard);
    const DeviceTensor one = allocate(engine, stored_as({DType::float32, {65}}, {}));
    Submission add(engine);
    add.add(std::make_shared<const Plan>(add_plan(65)),
            std::vector{one, one, wrap(engine, own.get(), 0, stored_as({DType::float32, {65}}, {}))});
    add.submit();
    const auto bytes = owner_reads<std::uint8_t>(own.get(), 512);
    for (std::size_t i = 0; i < 512; ++i) ASSERT_EQ(bytes[i], i < 65 * 4 ? 0 : 0xA5) << i;
  }
  if (!has("shader-f16")) return;
  // The kernel writes the odd half alone, too.
  Plan plan;
  plan.op = "test.Ones";
  plan.tensors = {bound_tensor("y", DType::float16, {3})};
  plan.passes = {
      planned_pass("main",
                   "enable f16;\n"
                   "@group(0) @binding(0) var<storage, read_write> y: array<f16>;\n"
                   "@compute @workgroup_size(4)\n"
                   "fn main(@builtin(local_invocation_index) i: u32) { if (i < 3u) { y[i] = 1.0h; } }\n",
                   {tensor_binding(0, "y", BufferKind::storage)}, {1, 1, 1})};
  const auto own = buffer(512, kAll);
  owner_writes(own.get(), sentinels);
  Submission submission(engine);
  submission.add(std::make_shared<const Plan>(plan),
                 std::vector{wrap(engine, own.get(), 0, stored_as({DType::float16, {3}}, {}))});
  submission.submit();
  const auto words = owner_reads<std::uint16_t>(own.get(), 256);
  for (std::size_t i = 0; i < 256; ++i) ASSERT_EQ(words[i], i < 3 ? 0x3C00 : 0x7BAD) << i;
}

TEST_P(AdoptTest, ChecksWrappedBuffers) {
  const auto engine = adopt(adopted_);
  const auto message = [&](WGPUBuffer raw, std::uint64_t offset, Shape shape) {
    try {
      wrap(engine, raw, offset, stored_as({DType::float32, std::move(shape)}, {}));
    } catch (const Error& error) {
      return error.line();
    }
    return std::string("no error");
  };
  const auto own = buffer(512, kAll);
  EXPECT_EQ(message(own.get(), 0, {128}), "no error");
  EXPECT_EQ(message(own.get(), 0, {129}),
            "contract: The wrapped buffer (512 bytes) does not hold the tensor (516 bytes from offset 0)");
  EXPECT_EQ(message(own.get(), 256, {65}),
            "contract: The wrapped buffer (512 bytes) does not hold the tensor (260 bytes from offset 256)");
  EXPECT_EQ(message(own.get(), 8, {1}),
            "contract: The offset of the wrapped tensor (8) is no multiple of the device's "
            "minStorageBufferOffsetAlignment (256)");
  const auto staging = buffer(512, WGPUBufferUsage_CopyDst | WGPUBufferUsage_MapRead);
  EXPECT_EQ(message(staging.get(), 0, {1}),
            "contract: The wrapped buffer has no storage usage (its usage is 0x9)");
  const auto storage_only = buffer(512, WGPUBufferUsage_Storage);
  const DeviceTensor tensor = wrap(engine, storage_only.get(), 0, stored_as({DType::float32, {1}}, {}));
  Tensor values(tensor.spec());
  EXPECT_THROW(read(tensor, values.mutable_view()), Error);
  EXPECT_THROW(write(tensor, values), Error);
}

TEST_P(AdoptTest, RefusesIncompleteDescriptions) {
  EXPECT_THROW(adopt(AdoptedDevice{}), Error);
  EXPECT_THROW(adopt(AdoptedDevice{.device = adopted_.device}), Error);
  EXPECT_THROW(adopt(AdoptedDevice{.library = "/nowhere/libwebgpu.so", .device = adopted_.device}), Error);
}

KERNELPACK_FOR_EACH_LIBRARY(AdoptTest);

}  // namespace
}  // namespace kernelpack::webgpu
