#include "webgpu/storage.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

#include "kernelpack/error.hpp"

namespace kernelpack::webgpu {
namespace {

BoundTensor bound(DType dtype, DType storage, std::int64_t count) {
  return {.name = std::string("x"), .dtype = dtype, .storage = storage, .shape = {count}};
}

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class Host, class Stored>
void expect_both_ways(const BoundTensor& tensor, const std::vector<Host>& host,
                      const std::vector<Stored>& stored) {
  const auto host_bytes = bytes_of(host);
  const auto stored_bytes = bytes_of(stored);
  ASSERT_EQ(storage_bytes(tensor), stored_bytes.size());
  std::vector<std::byte> out(stored_bytes.size());
  to_storage(tensor, host_bytes, out);
  EXPECT_EQ(out, stored_bytes);
  std::vector<std::byte> back(host_bytes.size());
  from_storage(tensor, stored_bytes, back);
  EXPECT_EQ(back, host_bytes);
}

TEST(Storage, WidensAndNarrowsEveryDtype) {
  expect_both_ways<std::int8_t, std::int32_t>(bound(DType::int8, DType::int8, 3), {-128, 0, 127},
                                              {-128, 0, 127});
  expect_both_ways<std::int16_t, std::int32_t>(bound(DType::int16, DType::int16, 3), {-32768, -1, 32767},
                                               {-32768, -1, 32767});
  expect_both_ways<std::uint8_t, std::uint32_t>(bound(DType::uint8, DType::uint8, 3), {0, 7, 255},
                                                {0, 7, 255});
  expect_both_ways<std::uint8_t, std::uint32_t>(bound(DType::bool_, DType::bool_, 3), {0, 1, 1}, {0, 1, 1});
  expect_both_ways<std::int64_t, std::int64_t>(bound(DType::int64, DType::int64, 2),
                                               {std::numeric_limits<std::int64_t>::min(), 5},
                                               {std::numeric_limits<std::int64_t>::min(), 5});
  expect_both_ways<std::int64_t, std::int32_t>(bound(DType::int64, DType::int32, 2),
                                               {-2147483648LL, 2147483647LL},
                                               {std::numeric_limits<std::int32_t>::min(), 2147483647});
  expect_both_ways<std::int64_t, std::uint32_t>(bound(DType::int64, DType::uint32, 2), {0, 4294967295LL},
                                                {0u, 4294967295u});
  expect_both_ways<std::uint16_t, std::uint16_t>(bound(DType::float16, DType::float16, 3),
                                                 {0x3C00, 0x7C00, 0xFE01}, {0x3C00, 0x7C00, 0xFE01});
  BoundTensor packed = bound(DType::uint8, DType::uint8, 5);
  packed.packed = true;
  expect_both_ways<std::uint8_t, std::uint8_t>(packed, {1, 2, 3, 4, 255}, {1, 2, 3, 4, 255});
}

TEST(Storage, NormalisesBoolBothWays) {
  const BoundTensor tensor = bound(DType::bool_, DType::bool_, 2);
  std::vector<std::byte> out(8);
  to_storage(tensor, std::vector{std::byte{2}, std::byte{0}}, out);
  EXPECT_EQ(out, bytes_of(std::vector<std::uint32_t>{1, 0}));
  std::vector<std::byte> back(2);
  from_storage(tensor, bytes_of(std::vector<std::uint32_t>{0x100, 0}), back);
  EXPECT_EQ(back, (std::vector{std::byte{1}, std::byte{0}}));
}

TEST(Storage, ChecksOrClampsProjectedIntegers) {
  BoundTensor tensor = bound(DType::int64, DType::int32, 2);
  const auto host = bytes_of(std::vector<std::int64_t>{3, 2147483648LL});
  std::vector<std::byte> out(8);
  try {
    to_storage(tensor, host, out);
    FAIL() << "an integer outside int32 was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.line(),
              "contract: Element 1 (2147483648) of x does not fit its storage dtype (int32) (input x)");
  }
  tensor.saturating = true;
  to_storage(tensor, host, out);
  EXPECT_EQ(out, bytes_of(std::vector<std::int32_t>{3, 2147483647}));
  BoundTensor unsigned_tensor = bound(DType::int64, DType::uint32, 2);
  unsigned_tensor.saturating = true;
  to_storage(unsigned_tensor, bytes_of(std::vector<std::int64_t>{-1, 4294967296LL}), out);
  EXPECT_EQ(out, bytes_of(std::vector<std::uint32_t>{0u, 4294967295u}));
}

TEST(Storage, LeavesBytesBehindTheValuesAlone) {
  std::vector<std::byte> out(4, std::byte{0xAB});
  to_storage(bound(DType::float16, DType::float16, 1), bytes_of(std::vector<std::uint16_t>{0x3C00}), out);
  EXPECT_EQ(out, (std::vector{std::byte{0x00}, std::byte{0x3C}, std::byte{0xAB}, std::byte{0xAB}}));
}

TEST(Storage, RefusesWhatCannotBeStored) {
  EXPECT_THROW(storage_bytes(bound(DType::float64, DType::float64, 1)), Error);
  BoundTensor huge = bound(DType::float32, DType::float32, 1);
  huge.shape = {std::int64_t{1} << 40, std::int64_t{1} << 40};
  EXPECT_THROW(storage_bytes(huge), Error);
  EXPECT_EQ(buffer_bytes(0), 4u);
  EXPECT_EQ(buffer_bytes(5), 8u);
}

}  // namespace
}  // namespace kernelpack::webgpu
