#include "base/file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include "base/input_file.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(std::string_view what, int code, const fs::path& path) {
  throw Error(ErrorKind::io,
              fmt::format("The file cannot be {} ({})", what, std::generic_category().message(code)),
              path.string());
}

class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  int value() const { return value_; }
  /// 0, or the error of close, which on some file systems is where a full disk shows.
  int close() { return ::close(std::exchange(value_, -1)) == 0 ? 0 : errno; }

 private:
  int value_;
};

int open_file(const fs::path& path, int flags, mode_t mode = 0) {
  int descriptor = -1;
  do descriptor = ::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY, mode);
  while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

void write_all(int descriptor, std::span<const std::byte> bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("written", errno, path);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

/// Where a path leads once its symbolic links are followed.
struct Target {
  fs::path path;
  int own_descriptor = -1;  ///< the path names this open descriptor of the process (/dev/stdout, /dev/fd/3)
};

/// The descriptor that a link in the folder /proc/PID/fd of this process stands for, or -1.
int own_descriptor(const fs::path& folder, const fs::path& name) {
  if (folder != fmt::format("/proc/{}/fd", ::getpid())) return -1;
  const std::string text = name.string();
  int number = -1;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() ? number : -1;
}

Target follow_links(const fs::path& path) {
  constexpr int kMostLinks = 40;
  fs::path current = path;
  for (int links = 0; links <= kMostLinks; ++links) {
    std::error_code error;
    if (!fs::is_symlink(fs::symlink_status(current, error))) return {current};
    const fs::path folder = current.has_parent_path() ? current.parent_path() : fs::path(".");
    const fs::path real_folder = fs::canonical(folder, error);
    if (!error) {
      const int descriptor = own_descriptor(real_folder, current.filename());
      if (descriptor >= 0) return {current, descriptor};
    }
    const fs::path link = fs::read_symlink(current, error);
    if (error) fail("written", error.value(), path);
    current = link.is_absolute() ? link : folder / link;
  }
  fail("written", ELOOP, path);
}

void write_directly(Descriptor descriptor, const fs::path& path,
                    const std::function<void(const WritePiece&)>& produce) {
  produce([&](std::span<const std::byte> bytes) { write_all(descriptor.value(), bytes, path); });
  if (const int code = descriptor.close()) fail("written", code, path);
}

/// A new file beside the target, removed unless it has been renamed over it.
class TemporaryFile {
 public:
  TemporaryFile(const fs::path& target, const fs::path& shown) : shown_(shown) {
    static std::atomic<unsigned> counter{0};
    constexpr int kAttempts = 1000;
    for (int attempt = 0; attempt < kAttempts && descriptor_ < 0; ++attempt) {
      path_ = target.parent_path() / fmt::format(".kernelpack-{}-{}.tmp", ::getpid(), counter++);
      // The kernel applies the umask (and default access lists) to the mode; mkstemp would not.
      descriptor_ = open_file(path_, O_WRONLY | O_CREAT | O_EXCL, 0666);
      if (descriptor_ < 0 && errno != EEXIST) break;
    }
    if (descriptor_ < 0) fail("created", errno, shown_);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!renamed_) ::unlink(path_.c_str());
  }

  int descriptor() const { return descriptor_; }

  /// Owner and group are kept where the process may; then the mode, which a change of owner can clear.
  void imitate(const struct stat& status) {
    if (::fchown(descriptor_, status.st_uid, status.st_gid) != 0 && errno != EPERM)
      fail("written", errno, shown_);
    if (::fchmod(descriptor_, status.st_mode & 0777) != 0) fail("written", errno, shown_);
  }

  void rename_to(const fs::path& target) {
    if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) fail("written", errno, shown_);
    if (::close(std::exchange(descriptor_, -1)) != 0) fail("written", errno, shown_);
    if (::rename(path_.c_str(), target.c_str()) != 0) fail("written", errno, shown_);
    renamed_ = true;
  }

 private:
  const fs::path& shown_;
  fs::path path_;
  int descriptor_ = -1;
  bool renamed_ = false;
};

}  // namespace

std::string read_file(const fs::path& path, std::size_t limit) {
  InputFile file(path, InputKind::regular_only);
  if (file.size() && *file.size() > limit) {
    throw Error(
        ErrorKind::io,
        fmt::format("The size of the file ({} bytes) exceeds the limit ({} bytes)", *file.size(), limit),
        path.string());
  }
  return file.read_rest(limit);
}

std::string read_input(const fs::path& path, std::size_t limit) {
  return InputFile(path, InputKind::any).read_rest(limit);
}

void write_file(const fs::path& path, const std::function<void(const WritePiece&)>& produce) {
  const std::string name = path.string();
  if (name.empty()) throw Error(ErrorKind::io, "The name of the file to write is empty");
  if (name.find('\0') != std::string::npos) {
    throw Error(ErrorKind::io, "The name of the file to write holds a NUL character", name);
  }
  const Target target = follow_links(path);
  if (target.own_descriptor >= 0) {
    Descriptor copy(::fcntl(target.own_descriptor, F_DUPFD_CLOEXEC, 0));
    if (copy.value() < 0) fail("opened", errno, path);
    return write_directly(std::move(copy), path, produce);
  }
  struct stat status {};
  const bool exists = ::stat(target.path.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) fail("written", errno, path);
  if (!target.path.has_filename() || (exists && S_ISDIR(status.st_mode))) fail("written", EISDIR, path);
  if (exists && !S_ISREG(status.st_mode)) {
    Descriptor direct(open_file(target.path, O_WRONLY));
    if (direct.value() < 0) fail("opened", errno, path);
    return write_directly(std::move(direct), path, produce);
  }
  // A file that may not be written is not replaced either, though the folder would allow it.
  if (exists && ::faccessat(AT_FDCWD, target.path.c_str(), W_OK, AT_EACCESS) != 0)
    fail("written", errno, path);

  TemporaryFile temporary(target.path, path);
  // Before the first byte, so that a private file is never readable by others on its way.
  if (exists) temporary.imitate(status);
  produce([&](std::span<const std::byte> bytes) { write_all(temporary.descriptor(), bytes, path); });
  temporary.rename_to(target.path);
}

void write_file(const fs::path& path, std::span<const std::byte> bytes) {
  write_file(path, [&](const WritePiece& write) { write(bytes); });
}

void write_file(const fs::path& path, std::string_view content) {
  write_file(path, std::as_bytes(std::span(content)));
}

}  // namespace kernelpack
