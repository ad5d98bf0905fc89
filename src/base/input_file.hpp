#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace kernelpack {

/// Which kinds of files may be opened for reading. A directory never may.
enum class InputKind { regular_only, any };

/// A file open for reading. Every failure is an error of kind io whose `where` is the path.
class InputFile {
 public:
  /// Does not block, even if `path` is a pipe without a writer and only regular files are wanted.
  InputFile(std::filesystem::path path, InputKind kind);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  const std::filesystem::path& path() const noexcept { return path_; }
  int descriptor() const noexcept { return descriptor_; }
  /// Size of a regular file when it was opened; nothing for other files and for those of size zero, which may
  /// be made while they are read (as below /proc).
  std::optional<std::uint64_t> size() const noexcept { return size_; }

  /// Reads until `bytes` is full or the file ends; the number of bytes read.
  std::size_t read(std::span<std::byte> bytes);
  /// The rest of the file; an error if that is more than `limit` bytes.
  std::string read_rest(std::size_t limit);

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::optional<std::uint64_t> size_;
};

}  // namespace kernelpack
