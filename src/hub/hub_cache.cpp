#include "hub/hub_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/digest.hpp"
#include "base/utf8.hpp"
#include "hub/atomic_file.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::hub {
namespace {

namespace fs = std::filesystem;

std::string git_blob_id(std::string_view content) {
  std::string object = fmt::format("blob {}", content.size());
  object += '\0';
  object += content;
  return hex(sha1(object));
}

bool is_hexadecimal(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

/// Tells backup tools that the folder can be made again (bford.info/cachedir).
void tag_cache(const fs::path& cache) {
  const fs::path tag = cache / "CACHEDIR.TAG";
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(tag, ignored))) return;
  try {
    write_atomically(tag, "Signature: 8a477f597d28d172789f06886806bc55\n# A cache of the Hugging Face Hub.\n",
                     ".tmp");
  } catch (const Error&) {
    // A missing tag harms nobody.
  }
}

}  // namespace

bool is_blob_name(std::string_view etag) noexcept {
  if (etag.empty() || etag.size() > 200 || etag.front() == '.' || etag.ends_with(".incomplete")) return false;
  return std::all_of(etag.begin(), etag.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || c == '.';
  });
}

std::optional<std::string> blob_fault(std::string_view blob_name, std::string_view content) {
  if (!is_hexadecimal(blob_name)) return std::nullopt;
  std::string actual;
  if (blob_name.size() == 40) {
    actual = git_blob_id(content);
  } else if (blob_name.size() == 64) {
    actual = hex(sha256(content));
  } else {
    return std::nullopt;
  }
  if (actual == blob_name) return std::nullopt;
  return fmt::format("its {} ({}) differs from the one that the Hub states ({})",
                     blob_name.size() == 40 ? "git SHA-1" : "SHA-256", actual, blob_name);
}

RepositoryCache::RepositoryCache(const fs::path& cache, const Repository& repository)
    : root_(cache / fmt::format("kernels--{}--{}", repository.organisation, repository.name)) {}

std::optional<std::string> RepositoryCache::commit_of(const std::string& branch) const {
  constexpr std::size_t kMostBytes = 256;
  auto text = read_if_present(root_ / "refs" / branch, kMostBytes);
  if (!text) return std::nullopt;
  text->erase(std::min(text->find_last_not_of(" \r\n") + 1, text->size()));
  if (!is_commit(*text)) return std::nullopt;
  return text;
}

void RepositoryCache::set_commit(const std::string& branch, const std::string& commit) const {
  if (commit_of(branch) == commit) return;
  try {
    write_atomically(root_ / "refs" / branch, commit, ".tmp");
  } catch (const Error&) {
    // The files are there, and the next call asks the Hub again.
  }
}

fs::path lock_of(const fs::path& root, const std::string& blob_name) {
  return root.parent_path() / ".locks" / root.filename() / (blob_name + ".lock");
}

fs::path RepositoryCache::snapshot(const std::string& commit) const {
  return root_ / "snapshots" / commit;
}

Snapshot::Snapshot(RepositoryCache cache, std::string commit)
    : Copy(cache.snapshot(commit)), cache_(std::move(cache)) {}

std::optional<std::string> Snapshot::metadata_fault(std::string_view content) const {
  std::error_code error;
  const fs::path target = fs::read_symlink(place("metadata.json"), error);
  // Where the file system has no links, the name of the blob is not known.
  return error ? std::nullopt : blob_fault(target.filename().string(), content);
}

void Snapshot::store(const std::string& file, const HttpAnswer& answer) {
  std::string name = answer.etag.empty() ? git_blob_id(answer.body) : answer.etag;
  if (!is_blob_name(name))
    throw Error(ErrorKind::io,
                fmt::format("The ETag ({}) of {} cannot be the name of a file", clip(name), file), file);
  // A blob of another name must not be replaced by what a digest, and not that name, vouches for. The name of
  // metadata.json is all that vouches for it, so it stays.
  if (file != "metadata.json" && blob_fault(name, answer.body)) name = git_blob_id(answer.body);
  const fs::path blob = cache_.root() / "blobs" / name;
  tag_cache(cache_.root().parent_path());
  const FileLock lock(lock_of(cache_.root(), name));
  if (read_if_present(blob, answer.body.size()) == answer.body)
    touch(blob);  // so that a prune under way takes it for young
  else
    write_atomically(blob, answer.body, ".incomplete");
  link_atomically(place(file), fs::path("../../../../blobs") / name, answer.body);
}

}  // namespace kernelpack::hub
