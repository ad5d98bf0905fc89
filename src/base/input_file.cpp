#include "base/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "kernelpack/error.hpp"

namespace kernelpack {
namespace {

std::string cause(int code) {
  return std::generic_category().message(code);
}

}  // namespace

InputFile::InputFile(std::filesystem::path path, InputKind kind) : path_(std::move(path)) {
  const std::string name = path_.string();
  const auto fail = [&](std::string message) { throw Error(ErrorKind::io, std::move(message), name); };
  if (name.empty()) throw Error(ErrorKind::io, "The name of the file to read is empty");
  if (name.find('\0') != std::string::npos) fail("The name of the file to read holds a NUL character");

  const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (kind == InputKind::regular_only ? O_NONBLOCK : 0);
  do descriptor_ = ::open(name.c_str(), flags);
  while (descriptor_ < 0 && errno == EINTR);
  if (descriptor_ < 0) {
    if (errno == ENOENT) fail("The file does not exist");
    fail(fmt::format("The file cannot be opened ({})", cause(errno)));
  }
  // The destructor does not run for a constructor that throws.
  const auto close_and_fail = [&](std::string message) {
    ::close(descriptor_);
    fail(std::move(message));
  };
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0)
    close_and_fail(fmt::format("The file cannot be read ({})", cause(errno)));
  if (S_ISDIR(status.st_mode)) close_and_fail("The file cannot be read because it is a directory");
  if (!S_ISREG(status.st_mode) && kind == InputKind::regular_only) {
    close_and_fail("The file cannot be read because it is not a regular file");
  }
  if (S_ISREG(status.st_mode) && status.st_size > 0) size_ = static_cast<std::uint64_t>(status.st_size);
}

InputFile::~InputFile() {
  ::close(descriptor_);
}

std::size_t InputFile::read(std::span<std::byte> bytes) {
  constexpr std::size_t kLargestRead = std::size_t{1} << 30;
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count =
        ::read(descriptor_, bytes.data() + done, std::min(bytes.size() - done, kLargestRead));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      throw Error(ErrorKind::io, fmt::format("The file cannot be read ({})", cause(errno)), path_.string());
    }
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

std::string InputFile::read_rest(std::size_t limit) {
  constexpr std::size_t kFirstRead = 64 * 1024;
  std::string content;
  std::size_t used = 0;
  std::size_t next =
      size_ ? static_cast<std::size_t>(std::min<std::uint64_t>(*size_, limit)) + 1 : kFirstRead;
  for (;;) {
    content.resize(used + next);
    const std::size_t count = read(std::as_writable_bytes(std::span(content).subspan(used)));
    used += count;
    if (used > limit) {
      throw Error(ErrorKind::io, fmt::format("The file is larger than the limit ({} bytes)", limit),
                  path_.string());
    }
    if (count < next) break;
    next = std::max(kFirstRead, used);
  }
  content.resize(used);
  return content;
}

}  // namespace kernelpack
