#include "hub/source.hpp"

#include <gtest/gtest.h>

#include <string>

#include "kernelpack/error.hpp"

namespace kernelpack::hub {
namespace {

constexpr const char* kCommit = "0123456789abcdef0123456789abcdef01234567";

std::string kind_of(std::string_view text, const GetOptions& options = {}) {
  try {
    const Source source = parse_source(text, options);
    if (const auto* repository = std::get_if<Repository>(&source)) return repository->text();
    if (const auto* url = std::get_if<BaseUrl>(&source)) return url->base;
    return "local";
  } catch (const Error& error) {
    return std::string(to_string(error.kind()));
  }
}

TEST(HubSource, RecognisesEachForm) {
  EXPECT_EQ(kind_of("org/name@v1"), "org/name@v1");
  EXPECT_EQ(kind_of("o-r_g/com.microsoft.BiasSoftmax@v12"), "o-r_g/com.microsoft.BiasSoftmax@v12");
  EXPECT_EQ(kind_of(std::string("org/name@") + kCommit), std::string("org/name@") + kCommit);
  EXPECT_EQ(kind_of("org/name@0123456789ABCDEF0123456789abcdef01234567"), std::string("org/name@") + kCommit);
  EXPECT_EQ(kind_of("org/name", {.version = 3}), "org/name@v3");
  EXPECT_EQ(kind_of("org/name", {.revision = kCommit}), std::string("org/name@") + kCommit);
  EXPECT_EQ(kind_of("https://example.org/a/op/"), "https://example.org/a/op");
  EXPECT_EQ(kind_of("HTTP://example.org/op/build/webgpu"), "HTTP://example.org/op");
  for (const char* local : {"com.microsoft.BiasSoftmax", "./org/name", "/org/name", "a/b/c", "a/b/c@v1", "",
                            ".", "..", "a@v1", "/@v1", "a/@v1", "org/na me@v1", "-org/name@v1",
                            "org/name.@v1", "org/a--b@v1", "org/a..b@v1", "../name@v1", "org\\name"})
    EXPECT_EQ(kind_of(local), "local") << local;
}

TEST(HubSource, RefusesMistakes) {
  for (const char* mistake :
       {"org/name", "org/name@", "org/name@main", "org/name@v", "org/name@v0", "org/name@v01", "org/name@v-1",
        "org/name@v1x", "org/name@v2147483648", "org/name@refs/pr/1", "org/name@v1@v1", "https://",
        "https:///x", "ftp://host/x", "http://host/a b", "http://user@host/x", "http://host/x?y",
        "http://host/x#y"})
    EXPECT_EQ(kind_of(mistake), "contract") << mistake;
  EXPECT_EQ(kind_of("org/name@v1", {.version = 1}), "contract");
  EXPECT_EQ(kind_of("org/name", {.version = 1, .revision = "v1"}), "contract");
  EXPECT_EQ(kind_of("org/name", {.version = 0}), "contract");
  for (const char* local : {"https://host/x", "./org/name", "com.microsoft.BiasSoftmax"}) {
    EXPECT_EQ(kind_of(local, {.version = 1}), "contract") << local;
    EXPECT_EQ(kind_of(local, {.revision = kCommit}), "contract") << local;
  }
}

TEST(HubSource, Names) {
  EXPECT_TRUE(is_commit(kCommit));
  EXPECT_FALSE(is_commit("0123456789ABCDEF0123456789abcdef01234567"));
  EXPECT_FALSE(is_commit(""));
  EXPECT_TRUE(is_version_branch("v2147483647"));
  EXPECT_FALSE(is_version_branch("V1"));
  EXPECT_TRUE(is_repository_name(std::string(96, 'a')));
  EXPECT_FALSE(is_repository_name(std::string(97, 'a')));
}

}  // namespace
}  // namespace kernelpack::hub
