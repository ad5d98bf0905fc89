#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace kernelpack::hub {

/// Writes `content` to a new file `target`.8HEX`suffix` and renames it to `target`, which thus is whole or
/// absent even if the process is killed. Replaces what is there, a link included. Folders are made. Throws
/// io.
void write_atomically(const std::filesystem::path& target, std::string_view content, std::string_view suffix);

/// Makes `link` a symbolic link with the text `to`, replacing what is there at once. Where the file system
/// has no links, a copy of `content` takes its place. Throws io.
void link_atomically(const std::filesystem::path& link, const std::filesystem::path& to,
                     std::string_view content);

/// Makes the folder and those above it. Throws io.
void make_folder(const std::filesystem::path& folder);

/// The content of a regular file of at most `limit` bytes (links are followed); nothing if there is none, it
/// cannot be read, or it is larger.
std::optional<std::string> read_if_present(const std::filesystem::path& path, std::size_t limit);

/// Makes the file count as changed now, where that is allowed.
void touch(const std::filesystem::path& path) noexcept;

/// An advisory lock that other processes which take it can see. Taking it waits for a second at most, and
/// then goes on without: nothing may depend on holding it.
class FileLock {
 public:
  explicit FileLock(const std::filesystem::path& path);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();
  bool held() const noexcept { return held_; }

 private:
  int descriptor_ = -1;
  bool held_ = false;
};

}  // namespace kernelpack::hub
