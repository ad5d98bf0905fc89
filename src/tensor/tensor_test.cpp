#include "kernelpack/tensor.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <new>

#include "base/shape.hpp"
#include "kernelpack/error.hpp"
#include "tensor/file_fixture_test.hpp"

#if defined(__SANITIZE_ADDRESS__)
#define KERNELPACK_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KERNELPACK_ADDRESS_SANITIZER 1
#endif
#endif

#ifdef KERNELPACK_ADDRESS_SANITIZER
// A request that does not fit in memory is what a test here is about.
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
#endif

namespace kernelpack {
namespace {

bool is_empty(const TensorView& view) {
  return view.spec() == TensorSpec{DType::float32, {0}} && view.element_count() == 0 &&
         view.byte_size() == 0 && view.data() == nullptr && view.bytes().empty() &&
         view.values<float>().empty();
}

TEST(TensorView, DescribesBorrowedMemory) {
  const std::array<float, 6> values{1, 2, 3, 4, 5, 6};
  const TensorView view = TensorView::of<float>(values, {2, 3});
  EXPECT_EQ(view.dtype(), DType::float32);
  EXPECT_EQ(view.shape(), (Shape{2, 3}));
  EXPECT_EQ(view.element_count(), 6);
  EXPECT_EQ(view.byte_size(), 24u);
  EXPECT_EQ(view.values<float>().data(), values.data());
  EXPECT_EQ(view.values<float>()[5], 6);
  const float scalar = 7;
  EXPECT_EQ(TensorView::of<float>({&scalar, 1}, {}).element_count(), 1);
}

TEST(TensorView, RefusesWrongMemory) {
  std::array<float, 6> values{};
  EXPECT_EQ(thrown([&] {
              TensorView::of<float>(values, {2, 2});
            }).line(),
            "contract: The size of the memory (24 bytes) differs from the size of the tensor (float32[2, 2], "
            "16 bytes)");
  EXPECT_EQ(thrown([&] { TensorView::of<float>(values, {2, -3}); }).kind(), ErrorKind::contract);
  EXPECT_EQ(thrown([&] {
              TensorView(DType::float32, {1}, std::as_bytes(std::span(values)).subspan(1, 4));
            }).message(),
            "The memory of the tensor (float32[1]) is not aligned to its elements (4 bytes)");
  EXPECT_EQ(
      thrown([&] { TensorView::of<float>(values, {6}).values<int>(); }).message(),
      "The dtype of the tensor (float32) differs from the dtype that its values are asked for as (int32)");
  EXPECT_NO_THROW(TensorView(DType::int64, {0, 5}, {}));
}

TEST(TensorView, MovedFromAndDefaultAreEmpty) {
  std::array<std::int16_t, 4> values{};
  TensorView view = TensorView::of<std::int16_t>(values, {2, 2});
  TensorView taken = std::move(view);
  EXPECT_TRUE(is_empty(view));  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(taken.shape(), (Shape{2, 2}));
  TensorView& self = taken;
  taken = std::move(self);
  EXPECT_EQ(taken.element_count(), 4);
  EXPECT_TRUE(is_empty(TensorView()));
  EXPECT_TRUE(is_empty(MutableTensorView()));
  MutableTensorView writable = MutableTensorView::of<std::int16_t>(values, {4});
  writable.values<std::int16_t>()[1] = 9;
  EXPECT_EQ(values[1], 9);
  const MutableTensorView moved = std::move(writable);
  EXPECT_TRUE(is_empty(writable));  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(moved.element_count(), 4);
}

TEST(Tensor, OwnsZeroedAlignedMemory) {
  for (const std::int64_t count : {1, 3, 17, 1000}) {
    const Tensor tensor(DType::float64, {count});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(tensor.data()) % 64, 0u);
    for (const double value : tensor.values<double>()) ASSERT_EQ(value, 0);
  }
  EXPECT_EQ(Tensor(DType::int8, {}).byte_size(), 1u);
  EXPECT_EQ(Tensor(DType::int64, {3, 0}).data(), nullptr);
  EXPECT_EQ(Tensor(DType::int64, {3, 0}).shape(), (Shape{3, 0}));
}

TEST(Tensor, CopiesValues) {
  Tensor first = Tensor::from<float>({1, 2, 3, 4}, {2, 2});
  Tensor second = first;
  second.values<float>()[0] = 9;
  EXPECT_EQ(first.values<float>()[0], 1);
  EXPECT_NE(first.data(), second.data());
  first = second;
  EXPECT_EQ(first.values<float>()[0], 9);
  const Tensor& self = first;
  first = self;
  EXPECT_EQ(first.values<float>()[3], 4);
  EXPECT_EQ(Tensor(Tensor(DType::bool_, {0})).dtype(), DType::bool_);
}

TEST(Tensor, MovedFromIsEmptyAndSafe) {
  Tensor first = Tensor::from<float>({1, 2, 3}, {3});
  const std::byte* memory = first.data();
  Tensor second = std::move(first);
  EXPECT_EQ(second.data(), memory);
  EXPECT_TRUE(is_empty(first.view()));  // NOLINT(bugprone-use-after-move)
  const Tensor copy = first;
  EXPECT_TRUE(is_empty(copy));
  first = std::move(second);
  EXPECT_EQ(first.data(), memory);
  EXPECT_TRUE(is_empty(second.view()));  // NOLINT(bugprone-use-after-move)
  Tensor& self = first;
  first = std::move(self);
  EXPECT_EQ(first.values<float>()[2], 3);
}

TEST(Tensor, HugeShapesNeverOverflow) {
  const std::int64_t big = std::int64_t{1} << 32;
  EXPECT_EQ(thrown([&] { Tensor(DType::float32, {big, big}); }).kind(), ErrorKind::contract);
  EXPECT_EQ(thrown([&] {
              Tensor(DType::float32, {std::numeric_limits<std::int64_t>::max(), 2});
            }).kind(),
            ErrorKind::contract);
  EXPECT_EQ(thrown([&] { Tensor(DType::float64, {kMaxExactInteger}); }).kind(), ErrorKind::contract);
  EXPECT_EQ(thrown([&] { Tensor(DType::float32, {-1}); }).kind(), ErrorKind::contract);
  EXPECT_THROW(Tensor(DType::int8, {kMaxExactInteger}), std::bad_alloc);
  EXPECT_EQ(Tensor(DType::float32, {big, 0}).byte_size(), 0u);
}

TEST(Tensor, FromKeepsEveryDType) {
  EXPECT_EQ(Tensor::from<Float16>({Float16(1.5f)}, {1}).values<Float16>()[0].bits, 0x3E00);
  EXPECT_EQ(Tensor::from<std::int64_t>({-5}, {1}).values<std::int64_t>()[0], -5);
  EXPECT_EQ(Tensor::from<std::uint8_t>({200}, {}).values<std::uint8_t>()[0], 200);
  EXPECT_EQ(Tensor::from<std::uint32_t>({7}, {1}).dtype(), DType::uint32);
}

}  // namespace
}  // namespace kernelpack
