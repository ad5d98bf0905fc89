#include "hub/hub_cache.hpp"

#include <gtest/gtest.h>

namespace kernelpack::hub {
namespace {

TEST(HubCache, BlobNamesVouchForContent) {
  const std::string git = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";  // of an empty file
  const std::string sha256_of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  EXPECT_FALSE(blob_fault(git, ""));
  EXPECT_TRUE(blob_fault(git, "a"));
  EXPECT_FALSE(blob_fault(sha256_of_abc, "abc"));
  EXPECT_TRUE(blob_fault(sha256_of_abc, "abd"));
  for (const char* silent : {"", "abc", "E69DE29BB2D1D6434B8B29AE775AD8C2E48C5391", "weak-2"})
    EXPECT_FALSE(blob_fault(silent, "anything")) << silent;
}

TEST(HubCache, BlobNamesAreFileNames) {
  for (const char* good : {"0", "abc-DEF_1.2", "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"})
    EXPECT_TRUE(is_blob_name(good)) << good;
  for (const char* bad :
       {"", ".", "..", ".a", "a/b", "a\\b", "a b", "a\n", "\"a\"", "a.incomplete", "\xc3\xa9"})
    EXPECT_FALSE(is_blob_name(bad)) << bad;
  EXPECT_TRUE(is_blob_name(std::string(200, 'a')));
  EXPECT_FALSE(is_blob_name(std::string(201, 'a')));
}

}  // namespace
}  // namespace kernelpack::hub
