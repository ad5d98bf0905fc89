#include "hub/url.hpp"

#include <gtest/gtest.h>

namespace kernelpack::hub {
namespace {

TEST(HubUrl, OriginsAreSchemeHostAndPort) {
  const auto same = [](const char* a, const char* b) { return origin_of(a) && origin_of(a) == origin_of(b); };
  EXPECT_TRUE(same("https://example.org/a", "https://EXAMPLE.org:443/b?c#d"));
  EXPECT_TRUE(same("http://example.org", "HTTP://example.org:80/"));
  EXPECT_FALSE(same("https://example.org", "http://example.org"));
  EXPECT_FALSE(same("https://example.org", "https://example.org:8443"));
  EXPECT_FALSE(same("https://example.org", "https://www.example.org"));
  EXPECT_FALSE(same("https://example.org", "https://example.org.evil"));
  EXPECT_FALSE(same("https://example.org", "https://example.org@evil"));
  EXPECT_FALSE(same("http://127.0.0.1:1", "http://127.0.0.1:2"));
  for (const char* none : {"", "example.org", "/a", "ftp://example.org", "file:///etc", "file:/etc",
                           "https:/a", "https://", "https:///a"})
    EXPECT_FALSE(origin_of(none)) << none;
}

TEST(HubUrl, MessagesHoldNoSecrets) {
  EXPECT_EQ(display("https://user:secret@example.org/a?signature=secret#secret"), "https://example.org/a");
  EXPECT_EQ(display("https://example.org/@v1/a@b"), "https://example.org/@v1/a@b");
  EXPECT_EQ(display("https://a@b@example.org"), "https://example.org");
  EXPECT_EQ(display("nonsense"), "nonsense");
}

TEST(HubUrl, SegmentsAreEscaped) {
  EXPECT_EQ(escape_segment("a-b_c.D~9"), "a-b_c.D~9");
  EXPECT_EQ(escape_segment("a b/%?#\xc3\xa9"), "a%20b%2F%25%3F%23%C3%A9");
}

}  // namespace
}  // namespace kernelpack::hub
