#include "hub/atomic_file.hpp"

#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

#include "kernelpack/error.hpp"

namespace kernelpack::hub {
namespace {

namespace fs = std::filesystem;

class HubAtomicFile : public testing::Test {
 protected:
  HubAtomicFile() {
    std::string pattern = (fs::temp_directory_path() / "kernelpack-atomic-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = pattern;
  }
  ~HubAtomicFile() override { fs::remove_all(folder_); }

  std::string content(const fs::path& path) { return read_if_present(path, 1000).value_or("(none)"); }
  std::size_t entries(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
  }

  fs::path folder_;
};

TEST_F(HubAtomicFile, ReplacesFilesAndLinksThemselves) {
  const fs::path outside = folder_ / "outside";
  write_atomically(outside, "theirs", ".tmp");
  const fs::path target = folder_ / "a/b/target";
  fs::create_directories(target.parent_path());
  fs::create_symlink(outside, target);
  write_atomically(target, "ours", ".tmp");
  EXPECT_EQ(content(target), "ours");
  EXPECT_EQ(content(outside), "theirs");
  EXPECT_FALSE(fs::is_symlink(target));
  link_atomically(target, "../../outside", "theirs");
  EXPECT_EQ(fs::read_symlink(target), "../../outside");
  EXPECT_EQ(content(target), "theirs");
  EXPECT_EQ(entries(target.parent_path()), 1U);
}

TEST_F(HubAtomicFile, FailuresLeaveNothing) {
  write_atomically(folder_ / "file", "x", ".tmp");
  EXPECT_THROW(write_atomically(folder_ / "file/below", "x", ".tmp"), Error);
  fs::create_directories(folder_ / "taken/by/a/folder");
  EXPECT_THROW(write_atomically(folder_ / "taken", "x", ".tmp"), Error);
  EXPECT_THROW(link_atomically(folder_ / "taken", "file", "x"), Error);
  EXPECT_THROW(write_atomically(folder_ / std::string(300, 'x'), "x", ".tmp"), Error);
  EXPECT_EQ(entries(folder_), 2U);
}

TEST_F(HubAtomicFile, ReadsRegularFilesWithinTheLimit) {
  write_atomically(folder_ / "file", "12345", ".tmp");
  EXPECT_EQ(read_if_present(folder_ / "file", 5), "12345");
  EXPECT_FALSE(read_if_present(folder_ / "file", 4));
  EXPECT_FALSE(read_if_present(folder_, 100));
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(read_if_present(folder_ / "pipe", 100));
  EXPECT_FALSE(read_if_present("/dev/zero", 100));
  fs::create_symlink("loop", folder_ / "loop");
  EXPECT_FALSE(read_if_present(folder_ / "loop", 100));
}

TEST_F(HubAtomicFile, LocksAreOpenToTheGroupWhateverTheMask) {
  const mode_t before = ::umask(0077);
  const FileLock lock(folder_ / "locks/x.lock");
  ::umask(before);
  EXPECT_TRUE(lock.held());
  EXPECT_EQ(fs::status(folder_ / "locks/x.lock").permissions(), fs::perms(0664));
}

TEST_F(HubAtomicFile, ATakenLockIsWaitedForASecondAtMost) {
  const FileLock first(folder_ / "x.lock");
  const auto start = std::chrono::steady_clock::now();
  const FileLock second(folder_ / "x.lock");
  const auto waited = std::chrono::steady_clock::now() - start;
  EXPECT_TRUE(first.held());
  EXPECT_FALSE(second.held());
  EXPECT_GE(waited, std::chrono::milliseconds(900));
}

TEST_F(HubAtomicFile, LocksThatCannotBeTaken) {
  write_atomically(folder_ / "file", "x", ".tmp");
  EXPECT_FALSE(FileLock(folder_ / "file/x.lock").held());
  fs::create_directories(folder_ / "folder.lock");
  EXPECT_FALSE(FileLock(folder_ / "folder.lock").held());
  fs::create_symlink(folder_ / "elsewhere", folder_ / "link.lock");
  EXPECT_FALSE(FileLock(folder_ / "link.lock").held());
  EXPECT_FALSE(fs::exists(folder_ / "elsewhere"));
}

}  // namespace
}  // namespace kernelpack::hub
