#include "webgpu/blob_cache.hpp"

#include <gtest/gtest.h>

#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "base/file.hpp"

namespace kernelpack::webgpu {
namespace {

namespace fs = std::filesystem;

class BlobCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        fs::path(::testing::TempDir()) / ("kernelpack-blobs-" + std::to_string(getpid()) + "-" +
                                          ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::span<const std::byte> bytes(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
  }
  static std::string load(BlobCache& cache, std::string_view key) {
    std::string value(cache.load(bytes(key), {}), '\0');
    if (value.empty()) return "nothing";
    const std::size_t got =
        cache.load(bytes(key), std::as_writable_bytes(std::span(value.data(), value.size())));
    return got == value.size() ? value : "other size";
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> result;
    std::error_code absent;
    for (fs::recursive_directory_iterator at(folder_, absent), end; at != end; ++at)
      if (at->is_regular_file()) result.push_back(at->path());
    return result;
  }

  fs::path folder_;
};

TEST_F(BlobCacheTest, GivesBackWhatWasStoredAlsoToAnotherObject) {
  BlobCache first(folder_, "build 1, adapter", 1 << 20);
  EXPECT_EQ(load(first, "key"), "nothing");
  first.store(bytes("key"), bytes("value"));
  EXPECT_EQ(load(first, "key"), "value");
  BlobCache second(folder_, "build 1, adapter", 1 << 20);
  EXPECT_EQ(load(second, "key"), "value");
  EXPECT_EQ(load(second, "other key"), "nothing");
  EXPECT_EQ(first.counts(), (ShaderCacheCounts{.loaded = 1, .missed = 1, .stored = 1, .ignored = 0}));
  EXPECT_EQ(second.counts(), (ShaderCacheCounts{.loaded = 1, .missed = 1, .stored = 0, .ignored = 0}));
  BlobCache other(folder_, "build 2, adapter", 1 << 20);
  EXPECT_EQ(load(other, "key"), "nothing") << "another build's entry was taken";
  first.store(bytes("key"), bytes("newer"));
  EXPECT_EQ(load(second, "key"), "newer");
}

TEST_F(BlobCacheTest, TheSecondCallSeesWhatTheFirstSaw) {
  BlobCache cache(folder_, "owner", 1 << 20);
  cache.store(bytes("key"), bytes("value"));
  EXPECT_EQ(cache.load(bytes("key"), {}), 5u);
  cache.store(bytes("key"), bytes("a longer value of another process"));
  std::string value(5, '\0');
  EXPECT_EQ(cache.load(bytes("key"), std::as_writable_bytes(std::span(value.data(), 5))), 5u);
  EXPECT_EQ(value, "value");
}

TEST_F(BlobCacheTest, IgnoresEveryFlippedByteAndEveryCut) {
  BlobCache cache(folder_, "owner", 1 << 20);
  cache.store(bytes("key"), bytes("value"));
  ASSERT_EQ(files().size(), 1u);
  const fs::path file = files()[0];
  const std::string sound = read_file(file, 1000);
  std::uint64_t ignored = 0;
  for (std::size_t at = 0; at < sound.size(); ++at) {
    std::string damaged = sound;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    std::ofstream(file, std::ios::binary) << damaged;
    ASSERT_EQ(load(cache, "key"), "nothing") << "byte " << at;
    std::ofstream(file, std::ios::binary) << sound.substr(0, at);
    ASSERT_EQ(load(cache, "key"), "nothing") << "cut at " << at;
    ignored += 2;
  }
  EXPECT_EQ(cache.counts().ignored, ignored);
  cache.store(bytes("key"), bytes("value"));
  EXPECT_EQ(load(cache, "key"), "value") << "a damaged entry is not replaced";
}

TEST_F(BlobCacheTest, StaysBelowItsLimitAndKeepsWhatWasUsedLast) {
  constexpr std::uint64_t kLimit = 64 << 10;
  BlobCache cache(folder_, "owner", kLimit);
  const std::string value(1000, 'v');
  cache.store(bytes("precious"), bytes(value));
  for (int i = 0; i < 200; ++i) {
    for (const fs::path& file : files())
      fs::last_write_time(file, fs::last_write_time(file) - std::chrono::hours(2));
    EXPECT_EQ(load(cache, "precious"), value) << i;
    cache.store(bytes("key " + std::to_string(i)), bytes(value));
    std::uint64_t total = 0;
    for (const fs::path& file : files()) total += fs::file_size(file);
    ASSERT_LE(total, kLimit) << i;
  }
  EXPECT_EQ(load(cache, "key 199"), value);
  EXPECT_EQ(load(cache, "key 0"), "nothing");
  cache.store(bytes("huge"), bytes(std::string(kLimit, 'v')));
  EXPECT_EQ(load(cache, "huge"), "nothing");
}

TEST_F(BlobCacheTest, RemovesLeftoversOfWritersThatDied) {
  BlobCache cache(folder_, "owner", 1000);
  cache.store(bytes("a"), bytes("1"));
  const fs::path leftover = files()[0].parent_path() / ".kernelpack-1-0.tmp";
  const fs::path stranger = folder_ / "notes.txt";
  std::ofstream(leftover) << "half";
  std::ofstream(stranger) << "mine";
  fs::last_write_time(leftover, fs::file_time_type::clock::now() - std::chrono::hours(2));
  for (int i = 0; i < 20; ++i) cache.store(bytes("key " + std::to_string(i)), bytes("value"));
  EXPECT_FALSE(fs::exists(leftover));
  EXPECT_TRUE(fs::exists(stranger));
}

TEST_F(BlobCacheTest, ManyWritersDoNoHarm) {
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([this, thread] {
      BlobCache cache(folder_, "owner", 1 << 20);
      for (int i = 0; i < 100; ++i) {
        const std::string key = "key " + std::to_string(i % 5);
        const std::string value(static_cast<std::size_t>(10 + (i * 7 + thread) % 50),
                                static_cast<char>('a' + i % 5));
        cache.store(bytes(key), bytes(value));
        const std::string got = load(cache, key);
        EXPECT_EQ(got, std::string(got.size(), value[0])) << "a mixture of two entries";
      }
      EXPECT_EQ(cache.counts().ignored, 0u);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(BlobCacheTest, IsNoErrorWhereNothingCanBeWritten) {
  BlobCache cache("/proc/kernelpack", "owner", 1 << 20);
  cache.store(bytes("key"), bytes("value"));
  EXPECT_EQ(load(cache, "key"), "nothing");
  EXPECT_EQ(cache.counts().stored, 0u);
}

TEST_F(BlobCacheTest, FindsItsFolder) {
  EXPECT_EQ(BlobCache::folder_of("none"), std::nullopt);
  EXPECT_EQ(BlobCache::folder_of("/some/where"), fs::path("/some/where"));
}

}  // namespace
}  // namespace kernelpack::webgpu
