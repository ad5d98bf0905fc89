#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <set>
#include <string>
#include <system_error>
#include <utility>

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
      for (const hub::DamagedFile& file : hub::find_damage(cached)) {
        // The content itself is damaged, so other links to it are as well.
        std::error_code error;
        const fs::path link = fs::read_symlink(file.path, error);
        remove(file.path, "damaged file");
        if (!error) remove(root_of(cached) / "blobs" / link.filename(), "damaged file");
      }
    }
    for (const fs::path& root : roots) {
      remove_unfinished(root / "blobs");
      remove_unfinished(root / "refs");
      remove_unused_blobs(root);
    }
    const hub::UrlCache urls(settings_.url_cache);
    remove_unfinished(urls.urls());
    for (const fs::path& folder : hub::entries_of(urls.packages()))
      remove_unfinished(folder / "build" / "webgpu");
    return std::move(removed_);
  }

 private:
  static fs::path root_of(const CachedPackage& cached) {
    return cached.kind == PackageOrigin::Kind::hub ? cached.folder.parent_path().parent_path()
                                                   : cached.folder;
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
    if (!prune_.dry_run) {
      std::error_code error;
      if (!fs::remove(path, error) || error)
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
    std::vector<fs::path> files;
    std::vector<fs::path> folders{cached.folder};
    std::error_code error;
    for (auto entry = fs::recursive_directory_iterator(cached.folder, error);
         !error && entry != fs::recursive_directory_iterator(); entry.increment(error))
      (entry->is_directory() && !entry->is_symlink() ? folders : files).push_back(entry->path());
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
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      if (!entry->is_symlink() || gone_.contains(entry->path())) continue;
      std::error_code unreadable;
      used.insert(fs::read_symlink(entry->path(), unreadable).filename().string());
    }
    // An incomplete view of what is used must not cost a blob.
    if (error) return;
    for (const fs::path& blob : hub::entries_of(root / "blobs")) {
      const std::string name = blob.filename().string();
      if (!used.contains(name) && hub::is_blob_name(name) && is_old(blob)) remove(blob, "unused blob");
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
