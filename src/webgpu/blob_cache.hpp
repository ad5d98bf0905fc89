#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernelpack/gpu.hpp"

namespace kernelpack::webgpu {

/// What a library compiled, kept in files for the next process. Thread-safe, and safe between processes: an
/// entry appears whole or not at all, carries a digest, and is ignored if that does not match. No fault of
/// the disk is an error: what cannot be read or written is compiled again.
class BlobCache {
 public:
  /// The cache of one `owner` (library build and adapter) in a folder that others may share. One object for
  /// each in the process, never destroyed, since threads of a library may outlive its devices.
  static std::shared_ptr<BlobCache> of(const std::filesystem::path& folder, const std::string& owner,
                                       std::uint64_t limit);
  /// The folder that `wanted` names (GpuOptions::shader_cache); nothing for none.
  static std::optional<std::filesystem::path> folder_of(const std::string& wanted);

  BlobCache(const std::filesystem::path& folder, std::string_view owner, std::uint64_t limit);

  const std::filesystem::path& folder() const noexcept { return folder_; }
  /// The isolation key for the library.
  const std::string& owner() const noexcept { return owner_; }

  /// The size of the entry, 0 if there is none; copies it to `value` if that has exactly this size. The
  /// second of two calls by one thread for one key sees what the first saw.
  std::size_t load(std::span<const std::byte> key, std::span<std::byte> value) noexcept;
  void store(std::span<const std::byte> key, std::span<const std::byte> value) noexcept;

  ShaderCacheCounts counts() const noexcept;

 private:
  std::filesystem::path path_of(std::span<const std::byte> key) const;
  std::optional<std::string> read(std::span<const std::byte> key);
  void trim();

  std::filesystem::path folder_;
  std::string owner_;
  std::filesystem::path entries_;  ///< the owner's own folder
  std::uint64_t limit_;
  std::mutex trim_mutex_;
  std::optional<std::uint64_t> bytes_;  ///< of the whole folder, as far as this process knows
  std::atomic<std::uint64_t> loaded_{0};
  std::atomic<std::uint64_t> missed_{0};
  std::atomic<std::uint64_t> stored_{0};
  std::atomic<std::uint64_t> ignored_{0};
};

}  // namespace kernelpack::webgpu
