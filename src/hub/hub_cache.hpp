#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hub/copy.hpp"
#include "hub/source.hpp"

namespace kernelpack::hub {

/// One repository in Hugging Face's hub cache, whose layout other tools read and write as well:
///     kernels--ORG--NAME/refs/v1                  the commit, without a newline
///     kernels--ORG--NAME/blobs/ETAG               content
///     kernels--ORG--NAME/snapshots/COMMIT/...     relative links to blobs
///     .locks/kernels--ORG--NAME/ETAG.lock
class RepositoryCache {
 public:
  RepositoryCache(const std::filesystem::path& cache, const Repository& repository);

  /// The commit that a branch was at when last asked; nothing if unknown.
  std::optional<std::string> commit_of(const std::string& branch) const;
  /// Writes only if something changes, and not at all to a cache that is read-only.
  void set_commit(const std::string& branch, const std::string& commit) const;
  std::filesystem::path snapshot(const std::string& commit) const;
  std::filesystem::path root() const { return root_; }

 private:
  std::filesystem::path root_;
};

/// The files of one commit.
class Snapshot final : public Copy {
 public:
  Snapshot(RepositoryCache cache, std::string commit);
  std::optional<std::string> metadata_fault(std::string_view content) const override;
  void store(const std::string& file, const HttpAnswer& answer) override;

 private:
  RepositoryCache cache_;
};

/// Why `content` does not fit a blob of that name: 40 hexadecimal digits are its git SHA-1, 64 its SHA-256;
/// other names say nothing about it. Nothing if it fits.
std::optional<std::string> blob_fault(std::string_view blob_name, std::string_view content);

/// The lock of a blob of the repository whose folder is `root`.
std::filesystem::path lock_of(const std::filesystem::path& root, const std::string& blob_name);

/// Whether an ETag can be a file name.
bool is_blob_name(std::string_view etag) noexcept;

}  // namespace kernelpack::hub
