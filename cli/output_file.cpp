#include "output_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "kernelpack/error.hpp"

namespace kernelpack::cli {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, std::string_view what) {
  throw Error(ErrorKind::io, fmt::format("The file cannot be {} ({})", what, std::strerror(errno)),
              path.string());
}

class OpenFile {
 public:
  explicit OpenFile(int descriptor) : descriptor_(descriptor) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  bool is_open() const { return descriptor_ >= 0; }
  bool write_all(std::span<const std::byte> bytes) const {
    while (!bytes.empty()) {
      const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return true;
  }
  bool set_mode(mode_t mode) const { return fchmod(descriptor_, mode) == 0; }
  bool finish() { return close(std::exchange(descriptor_, -1)) == 0; }

 private:
  int descriptor_;
};

/// The mode of a new file, as open() would give it.
mode_t new_file_mode() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

}  // namespace

void write_output(const std::filesystem::path& path, std::span<const std::byte> bytes) {
  std::error_code ignored;
  const std::filesystem::path target = std::filesystem::weakly_canonical(path, ignored);
  struct stat existing {};
  const bool exists = stat(target.c_str(), &existing) == 0;
  if (exists && !S_ISREG(existing.st_mode)) {
    OpenFile file(open(target.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.is_open()) fail(path, "opened");
    if (!file.write_all(bytes) || !file.finish()) fail(path, "written");
    return;
  }
  std::string temporary = (target.parent_path() / ".kernelpack-XXXXXX").string();
  OpenFile file(mkostemp(temporary.data(), O_CLOEXEC));
  if (!file.is_open()) fail(path, "created");
  const mode_t mode = exists ? existing.st_mode & 07777 : new_file_mode();
  if (!file.write_all(bytes) || !file.set_mode(mode) || !file.finish() ||
      std::rename(temporary.c_str(), target.c_str()) != 0) {
    const int cause = errno;
    unlink(temporary.c_str());
    errno = cause;
    fail(path, "written");
  }
}

void write_output(const std::filesystem::path& path, std::string_view text) {
  write_output(path, std::as_bytes(std::span(text)));
}

}  // namespace kernelpack::cli
