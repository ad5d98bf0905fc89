// What lies in the caches, and whether it is sound.
#include "hub/inventory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <system_error>
#include <tuple>
#include <utility>

#include "hub/atomic_file.hpp"
#include "hub/contents.hpp"
#include "hub/hub_cache.hpp"
#include "hub/settings.hpp"
#include "hub/source.hpp"
#include "hub/url_cache.hpp"
#include "package/files.hpp"

namespace kernelpack::hub {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "kernels--";

bool holds_package(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / "build" / "webgpu" / "metadata.json", ignored);
}

void measure(CachedPackage& cached) {
  for (const fs::path& path : entries_of(cached.folder / "build" / "webgpu")) {
    std::error_code error;
    const auto size = fs::file_size(path, error);
    if (error) continue;
    ++cached.files;
    cached.bytes += size;
  }
}

/// Branch names by the commit that each leads to.
std::multimap<std::string, std::string> branches_of(const CachedRepository& repository,
                                                    const RepositoryCache& cache) {
  std::multimap<std::string, std::string> branches;
  for (const fs::path& path : entries_of(repository.root / "refs"))
    if (const auto commit = cache.commit_of(path.filename().string()))
      branches.emplace(*commit, path.filename().string());
  return branches;
}

void add_repositories(const fs::path& hub_cache, std::vector<CachedPackage>& packages) {
  for (const CachedRepository& repository : cached_repositories(hub_cache)) {
    const RepositoryCache cache(hub_cache, {repository.organisation, repository.name, {}, {}});
    const auto branches = branches_of(repository, cache);
    for (const fs::path& snapshot : entries_of(repository.root / "snapshots")) {
      const std::string commit = snapshot.filename().string();
      if (!is_commit(commit) || !holds_package(snapshot)) continue;
      CachedPackage cached;
      cached.source = repository.organisation + '/' + repository.name;
      cached.commit = commit;
      for (auto [at, end] = branches.equal_range(commit); at != end; ++at)
        cached.branches.push_back(at->second);
      cached.folder = snapshot;
      measure(cached);
      packages.push_back(std::move(cached));
    }
  }
}

void add_copies(const fs::path& url_cache, std::vector<CachedPackage>& packages) {
  const UrlCache cache(url_cache);
  std::map<std::string, std::string> urls;
  for (const fs::path& path : entries_of(cache.urls())) {
    constexpr std::size_t kMostBytes = 16 * 1024;
    const auto text = read_if_present(path, kMostBytes);
    const std::size_t line = text ? text->find('\n') : std::string::npos;
    if (line == std::string::npos || !text->ends_with('\n')) continue;
    urls.emplace(text->substr(0, line), text->substr(line + 1, text->size() - line - 2));
  }
  for (const fs::path& folder : entries_of(cache.packages())) {
    CachedPackage cached;
    cached.kind = PackageOrigin::Kind::url;
    cached.commit = folder.filename().string();
    if (!is_state(cached.commit) || !holds_package(folder)) continue;
    if (const auto found = urls.find(cached.commit); found != urls.end()) cached.source = found->second;
    cached.folder = folder;
    measure(cached);
    packages.push_back(std::move(cached));
  }
}

std::unique_ptr<Copy> copy_at(const CachedPackage& cached) {
  if (cached.kind == PackageOrigin::Kind::url)
    return std::make_unique<UrlCopy>(UrlCache(cached.folder.parent_path().parent_path()), cached.commit);
  const std::size_t slash = cached.source.find('/');
  const Repository repository{cached.source.substr(0, slash), cached.source.substr(slash + 1), {}, {}};
  const fs::path hub_cache = cached.folder.parent_path().parent_path().parent_path();
  return std::make_unique<Snapshot>(RepositoryCache(hub_cache, repository), cached.commit);
}

}  // namespace

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error))
    entries.push_back(entry->path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

std::vector<CachedRepository> cached_repositories(const fs::path& hub_cache) {
  std::vector<CachedRepository> repositories;
  for (const fs::path& root : entries_of(hub_cache)) {
    const std::string folder = root.filename().string();
    if (!folder.starts_with(kPrefix)) continue;
    const std::string id = folder.substr(kPrefix.size());
    const std::size_t dashes = id.find("--");
    if (dashes == std::string::npos) continue;
    CachedRepository repository{id.substr(0, dashes), id.substr(dashes + 2), root};
    if (is_repository_name(repository.organisation) && is_repository_name(repository.name))
      repositories.push_back(std::move(repository));
  }
  return repositories;
}

std::vector<DamagedFile> find_damage(const CachedPackage& cached) {
  std::vector<DamagedFile> damage;
  const auto copy = copy_at(cached);
  const fs::path metadata_path = copy->place("metadata.json");
  std::optional<package::Model> model;
  const auto metadata = read_if_present(metadata_path, file_budget("metadata.json"));
  try {
    if (!metadata)
      throw Error(ErrorKind::io, "The file cannot be read or is too large", metadata_path.string());
    if (const auto fault = copy->metadata_fault(*metadata))
      throw Error(ErrorKind::integrity, fmt::format("The file metadata.json is damaged: {}", *fault));
    model = metadata_model(*metadata);
  } catch (const Error& error) {
    damage.push_back({metadata_path, Error(error).set_where(metadata_path.string())});
    return damage;
  }
  for (const auto& entry : model->metadata->digests) {
    const fs::path path = copy->place(entry.first);
    std::error_code ignored;
    if (!fs::exists(path, ignored)) continue;
    // Files that are only listed (benchmarks) can be larger than what a package may use.
    constexpr std::size_t kLargest = std::size_t{64} << 20;
    const auto content = read_if_present(path, kLargest);
    try {
      if (!content) throw Error(ErrorKind::io, "The file cannot be read or is too large");
      package::check_digest(entry.first, *content, {}, *model);
    } catch (const Error& error) {
      damage.push_back({path, Error(error).set_where(path.string())});
    }
  }
  return damage;
}

}  // namespace kernelpack::hub

namespace kernelpack {

std::vector<CachedPackage> cached_packages(const GetOptions& options) {
  const hub::Settings settings = hub::read_settings(options);
  std::vector<CachedPackage> packages;
  hub::add_repositories(settings.hub_cache, packages);
  hub::add_copies(settings.url_cache, packages);
  std::sort(packages.begin(), packages.end(), [](const CachedPackage& a, const CachedPackage& b) {
    return std::tie(a.source, a.commit) < std::tie(b.source, b.commit);
  });
  return packages;
}

std::vector<Error> verify_cached(const CachedPackage& cached) {
  std::vector<Error> errors;
  for (hub::DamagedFile& file : hub::find_damage(cached)) errors.push_back(std::move(file.error));
  return errors;
}

}  // namespace kernelpack
