#include "base/digest.hpp"

#include <gtest/gtest.h>

#include <string>

namespace kernelpack {
namespace {

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::optional<std::string> decode(std::string_view text) {
  const auto decoded = base64_decode(text);
  if (!decoded) return std::nullopt;
  return std::string(reinterpret_cast<const char*>(decoded->data()), decoded->size());
}

TEST(Digest, Sha256KnownAnswers) {
  EXPECT_EQ(hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(sha256(std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Digest, Sha1KnownAnswers) {
  EXPECT_EQ(hex(sha1("")), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(hex(sha1("abc")), "a9993e364706816aba3e25717850c26c9cd0d89d");
  using namespace std::string_view_literals;
  EXPECT_EQ(hex(sha1("blob 0\0"sv)), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
}

TEST(Digest, Base64RoundTrips) {
  EXPECT_EQ(base64_encode(bytes("")), "");
  EXPECT_EQ(base64_encode(bytes("f")), "Zg==");
  EXPECT_EQ(base64_encode(bytes("fo")), "Zm8=");
  EXPECT_EQ(base64_encode(bytes("foo")), "Zm9v");
  EXPECT_EQ(base64_encode(bytes("foobar")), "Zm9vYmFy");
  std::string all;
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(decode(base64_encode(bytes(all))), all);
    all += static_cast<char>(i);
  }
}

TEST(Digest, Base64DecodingIsStrict) {
  EXPECT_EQ(decode("Zg=="), "f");
  EXPECT_EQ(decode("+/+/"), "\xFB\xFF\xBF");
  for (const char* bad :
       {"Zg", "Zg=", "Zh==", "Zm9=", "Zm 9", "Zm9v\n", "====", "Z===", "Zg==Zg==", "-_-_", "=g==", "Zg=a"}) {
    EXPECT_EQ(decode(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace kernelpack
