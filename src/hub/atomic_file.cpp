#include "hub/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <random>
#include <system_error>
#include <thread>

#include "base/file.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::hub {
namespace {

namespace fs = std::filesystem;

constexpr auto kLongestLockWait = std::chrono::seconds(1);
constexpr int kNameAttempts = 16;

[[noreturn]] void fail(std::string_view what, int code, const fs::path& path) {
  throw Error(
      ErrorKind::io,
      fmt::format("The cache cannot be written: {} fails ({})", what, std::generic_category().message(code)),
      path.string());
}

std::string random_hex() {
  thread_local std::mt19937 engine{std::random_device{}()};
  return fmt::format("{:08x}", static_cast<std::uint32_t>(engine()));
}

/// A new file that is removed unless it is renamed.
class Temporary {
 public:
  Temporary(const fs::path& target, std::string_view suffix) {
    for (int attempt = 0; attempt < kNameAttempts && descriptor_ < 0; ++attempt) {
      path_ = target;
      path_ += '.' + random_hex();
      path_ += suffix;
      descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
      if (descriptor_ < 0 && errno != EEXIST) break;
    }
    if (descriptor_ < 0) fail("creating a file", errno, path_);
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!renamed_) ::unlink(path_.c_str());
  }

  void write(std::string_view content) {
    while (!content.empty()) {
      const ssize_t count = ::write(descriptor_, content.data(), content.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail("writing", errno, path_);
      content.remove_prefix(static_cast<std::size_t>(count));
    }
    // Without it a loss of power can leave an empty file under the final name.
    if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) fail("writing", errno, path_);
    const int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0) fail("writing", errno, path_);
  }

  void rename_to(const fs::path& target) {
    if (::rename(path_.c_str(), target.c_str()) != 0) fail("renaming", errno, target);
    renamed_ = true;
  }

 private:
  fs::path path_;
  int descriptor_ = -1;
  bool renamed_ = false;
};

}  // namespace

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error && !fs::is_directory(folder)) fail("making a folder", error.value(), folder);
}

void write_atomically(const fs::path& target, std::string_view content, std::string_view suffix) {
  make_folder(target.parent_path());
  Temporary temporary(target, suffix);
  temporary.write(content);
  temporary.rename_to(target);
}

void link_atomically(const fs::path& link, const fs::path& to, std::string_view content) {
  make_folder(link.parent_path());
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(link, error)) && fs::read_symlink(link, error) == to) return;
  for (int attempt = 0; attempt < kNameAttempts; ++attempt) {
    fs::path temporary = link;
    temporary += '.' + random_hex() + ".tmp";
    if (::symlink(to.c_str(), temporary.c_str()) != 0) {
      if (errno == EEXIST) continue;
      if (errno != EPERM && errno != ENOTSUP && errno != ENOSYS) fail("linking", errno, link);
      write_atomically(link, content, ".incomplete");
      return;
    }
    if (::rename(temporary.c_str(), link.c_str()) == 0) return;
    const int code = errno;
    ::unlink(temporary.c_str());
    fail("renaming", code, link);
  }
  fail("linking", EEXIST, link);
}

std::optional<std::string> read_if_present(const fs::path& path, std::size_t limit) {
  try {
    return read_file(path, limit);
  } catch (const Error&) {
    return std::nullopt;
  }
}

void touch(const fs::path& path) noexcept {
  (void)!::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
}

FileLock::FileLock(const fs::path& path) {
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  constexpr mode_t kMode = 0664;  // so that users who share the cache can take it, too
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kMode);
  if (descriptor_ < 0) return;
  struct stat status {};
  if (::fstat(descriptor_, &status) == 0 && status.st_uid == ::geteuid() && (status.st_mode & 0777) != kMode)
    (void)!::fchmod(descriptor_, kMode);
  const auto end = std::chrono::steady_clock::now() + kLongestLockWait;
  for (;;) {
    held_ = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
    if (held_ || (errno != EWOULDBLOCK && errno != EINTR) || std::chrono::steady_clock::now() > end) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

FileLock::~FileLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace kernelpack::hub
