#include "contract/memory.hpp"

#include <array>

#include <gtest/gtest.h>

#include "contract/narrow.hpp"
#include "contract/test_model.hpp"

namespace kernelpack::contract {
namespace {

class Memory : public testing::Test {
 protected:
  Memory() {
    call_.inputs = {{"a", DType::float32, DType::float32, {4}}, {"b", DType::float32, DType::float32, {4}}};
    call_.outputs = {{"y", DType::float32, DType::float32, {4}}, {"z", DType::float32, DType::float32, {4}}};
  }

  TensorView view(std::size_t first) {
    return TensorView::of<float>(std::span<const float>(values_).subspan(first, 4), {4});
  }
  MutableTensorView target(std::size_t first) {
    return MutableTensorView::of<float>(std::span<float>(values_).subspan(first, 4), {4});
  }

  std::string check(std::size_t a, std::size_t b, std::size_t y, std::size_t z,
                    MayAlias may_alias = nullptr) {
    const std::array<TensorView, 2> inputs = {view(a), view(b)};
    const std::array<MutableTensorView, 2> outputs = {target(y), target(z)};
    try {
      check_tensors(call_, inputs, outputs, may_alias);
      return "";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::contract);
      return error.message();
    }
  }

  Call call_;
  std::array<float, 32> values_{};
};

TEST_F(Memory, DisjointMemoryPasses) {
  EXPECT_EQ(check(0, 4, 8, 12), "");
  EXPECT_EQ(check(0, 0, 8, 12), "");  // inputs may share memory
}

TEST_F(Memory, OverlapIsRefused) {
  EXPECT_EQ(check(0, 4, 8, 10), "The memory of output z overlaps that of output y");
  EXPECT_EQ(check(0, 4, 8, 8), "The memory of output z overlaps that of output y");
  EXPECT_EQ(check(0, 4, 3, 12),
            "The memory of output y overlaps that of input a, which the kernel does not allow");
  EXPECT_EQ(check(0, 4, 0, 12), "The memory of output y is that of input a, which the kernel does not allow");
}

TEST_F(Memory, KernelMayAllowTheVerySameMemory) {
  const MayAlias first = [](const Call&, std::size_t output, std::size_t input) {
    return output == 0 && input == 0;
  };
  EXPECT_EQ(check(0, 4, 0, 12, first), "");
  EXPECT_EQ(check(0, 4, 1, 12, first),
            "The memory of output y overlaps that of input a; only the very same memory is allowed");
  EXPECT_EQ(check(0, 4, 4, 12, first),
            "The memory of output y is that of input b, which the kernel does not allow");
}

TEST_F(Memory, SpecsMustBeThoseOfTheCall) {
  const std::array<TensorView, 2> inputs = {view(0), view(4)};
  std::array<MutableTensorView, 2> outputs = {target(8), target(12)};
  const auto message = [&](std::span<const TensorView> in, std::span<const MutableTensorView> out) {
    return error_of([&] { check_tensors(call_, in, out, nullptr); }).message();
  };
  EXPECT_EQ(message(std::span(inputs).first(1), outputs),
            "The number of inputs (1) differs from that of the call (2)");
  outputs[1] = MutableTensorView::of<float>(std::span<float>(values_).subspan(12, 4), {2, 2});
  EXPECT_EQ(message(inputs, outputs),
            "The output z (float32[2, 2]) differs from what the call is bound to (float32[4])");
}

TEST_F(Memory, InoutTensorIsOnePieceOfMemory) {
  call_.inputs = {{"y", DType::float32, DType::float32, {4}, false, true}};
  call_.outputs = call_.inputs;
  const std::array<TensorView, 1> inputs = {view(0)};
  std::array<MutableTensorView, 1> outputs = {target(0)};
  EXPECT_NO_THROW(check_tensors(call_, inputs, outputs, nullptr));
  outputs[0] = target(4);
  EXPECT_EQ(error_of([&] { check_tensors(call_, inputs, outputs, nullptr); }).kind(), ErrorKind::contract);
}

TEST(Point65, NarrowingOfInt64) {
  const std::array<std::int64_t, 4> values = {0, -1, 4294967296, 7};
  std::array<std::uint32_t, 4> words{};
  const Error error =
      error_of([&] { narrow_int64("indices", values, DType::uint32, package::Narrowing::checked, words); });
  EXPECT_EQ(error.kind(), ErrorKind::contract);
  EXPECT_EQ(error.message(),
            "The value of input indices at element index 1 (-1) is outside the range of its storage uint32 "
            "(0 to 4294967295)");
  narrow_int64("indices", values, DType::uint32, package::Narrowing::saturating, words);
  EXPECT_EQ(words, (std::array<std::uint32_t, 4>{0, 0, 4294967295u, 7}));
  narrow_int64("indices", values, DType::int32, package::Narrowing::saturating, words);
  EXPECT_EQ(words, (std::array<std::uint32_t, 4>{0, 4294967295u, 2147483647u, 7}));
  std::array<std::int64_t, 4> back{};
  widen_int64(words, DType::int32, back);
  EXPECT_EQ(back, (std::array<std::int64_t, 4>{0, -1, 2147483647, 7}));
  widen_int64(words, DType::uint32, back);
  EXPECT_EQ(back, (std::array<std::int64_t, 4>{0, 4294967295, 2147483647, 7}));
}

}  // namespace
}  // namespace kernelpack::contract
