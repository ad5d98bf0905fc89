#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "hub/atomic_file.hpp"
#include "hub/hub_cache.hpp"
#include "hub/inventory.hpp"
#include "hub/settings.hpp"
#include "hub/url_cache.hpp"
#include "kernelpack/hub.hpp"

namespace kernelpack {
namespace {

namespace fs = std::filesystem;

class Pruning {
 public:
  Pruning(const PruneOptions& prune, const GetOptions& options)
      : prune_(prune), options_(options), settings_(hub::read_settings(options)) {}

  std::vector<PrunedFile> run() {
    std::set<fs::path> roots;
    for (const CachedPackage& cached : cached_packages(options_)) {
      const bool hub = cached.kind == PackageOrigin::Kind::hub;
      if (hub) roots.insert(cached.folder.parent_path().parent_path());
      const bool attached = hub ? !cached.branches.empty() : !cached.source.empty();
      if (!attached && prune_.detached && is_old(cached.folder)) {
        remove_folder(cached);
        continue;
      }
      for (const hub::DamagedFile& file : hub::find_damage(cached)) remove_damaged(cached, file.path);
      remove_unfinished(cached.folder / "build" / "webgpu");
    }
    for (const fs::path& root : roots) {
      remove_unfinished(root / "blobs");
      remove_unfinished(root / "refs");
      remove_unused_blobs(root);
    }
    const hub::UrlCache urls(settings_.url_cache);
    remove_unfinished(urls.urls());
    for (const fs::path& folder : hub::entries_of(urls.packages()))
      if (hub::is_state(folder.filename().string())) remove_unfinished(folder / "build" / "webgpu");
    return std::move(removed_);
  }

 private:
  /// Whether a folder between the caches and `path` is a symbolic link. What lies behind one is not the
  /// cache's to remove.
  bool is_behind_link(const fs::path& path) const {
    std::error_code ignored;
    for (fs::path folder = path.parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
      if (folder == settings_.hub_cache || folder == settings_.url_cache) return false;
      if (fs::is_symlink(fs::symlink_status(folder, ignored))) return true;
    }
    return false;
  }

  /// Held while a blob is removed, so that a download that wants to keep it sees it gone or keeps it.
  void take(std::optional<hub::FileLock>& lock, const fs::path& root, const std::string& blob) const {
    if (!prune_.dry_run) lock.emplace(hub::lock_of(root, blob));
  }

  void remove_damaged(const CachedPackage& cached, const fs::path& path) {
    const fs::path root = cached.folder.parent_path().parent_path();
    std::error_code error;
    const std::string blob = fs::read_symlink(path, error).filename().string();
    const bool linked = !error && cached.kind == PackageOrigin::Kind::hub && hub::is_blob_name(blob);
    std::optional<hub::FileLock> lock;
    if (linked) take(lock, root, blob);
    // A download may have mended it meanwhile.
    const std::vector<hub::DamagedFile> damage = hub::find_damage(cached);
    if (std::none_of(damage.begin(), damage.end(), [&](const auto& file) { return file.path == path; }))
      return;
    remove(path, "damaged file");
    // The content itself is damaged, so other links to it are as well.
    if (linked) remove(root / "blobs" / blob, "damaged file");
  }

  bool is_old(const fs::path& path) const {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) return false;
    return std::time(nullptr) - status.st_mtime >= prune_.least_age.count();
  }

  /// Removes an entry that is no folder.
  void remove(const fs::path& path, std::string reason) {
    struct stat status {};
    if (gone_.contains(path) || ::lstat(path.c_str(), &status) != 0 || S_ISDIR(status.st_mode)) return;
    if (is_behind_link(path)) return;
    if (!prune_.dry_run) {
      std::error_code error;
      // False without an error: another process was faster.
      if (!fs::remove(path, error) && !error) return;
      if (error)
        throw Error(ErrorKind::io, "The file cannot be removed from the cache (" + error.message() + ")",
                    path.string());
    }
    gone_.insert(path);
    const auto bytes = S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
    removed_.push_back({path, std::move(reason), bytes});
  }

  void remove_folder(const CachedPackage& cached) {
    const std::string reason =
        cached.kind == PackageOrigin::Kind::hub ? "detached commit" : "copy without a URL";
    // Links are not followed, so only what lies in the folder itself goes.
    if (is_behind_link(cached.folder / "build")) return;
    std::vector<fs::path> files;
    std::vector<fs::path> folders{cached.folder};
    std::error_code error;
    std::error_code ignored;
    for (auto entry = fs::recursive_directory_iterator(cached.folder, error);
         !error && entry != fs::recursive_directory_iterator(); entry.increment(error))
      (fs::is_directory(entry->symlink_status(ignored)) ? folders : files).push_back(entry->path());
    for (const fs::path& file : files) remove(file, reason);
    if (prune_.dry_run) return;
    for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) fs::remove(*folder, error);
  }

  void remove_unfinished(const fs::path& folder) {
    for (const fs::path& path : hub::entries_of(folder)) {
      const std::string name = path.filename().string();
      if ((name.ends_with(".incomplete") || name.ends_with(".tmp")) && is_old(path))
        remove(path, "unfinished download");
    }
  }

  void remove_unused_blobs(const fs::path& root) {
    std::set<std::string> used;
    std::error_code error;
    auto entry = fs::recursive_directory_iterator(root / "snapshots", error);
    // An incomplete view of what is used must not cost a blob.
    if (is_behind_link(root / "snapshots" / "any")) return;
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      std::error_code ignored;
      if (!fs::is_symlink(entry->symlink_status(ignored)) || gone_.contains(entry->path())) continue;
      if (entry->is_directory(ignored)) return;
      used.insert(fs::read_symlink(entry->path(), ignored).filename().string());
    }
    if (error) return;
    for (const fs::path& blob : hub::entries_of(root / "blobs")) {
      const std::string name = blob.filename().string();
      if (used.contains(name) || !hub::is_blob_name(name) || !is_old(blob)) continue;
      std::optional<hub::FileLock> lock;
      take(lock, root, name);
      if (lock && !lock->held()) continue;
      if (is_old(blob)) remove(blob, "unused blob");
    }
  }

  const PruneOptions& prune_;
  const GetOptions& options_;
  const hub::Settings settings_;
  std::set<fs::path> gone_;
  std::vector<PrunedFile> removed_;
};

}  // namespace

std::vector<PrunedFile> prune_cache(const PruneOptions& prune, const GetOptions& options) {
  return Pruning(prune, options).run();
}

}  // namespace kernelpack
