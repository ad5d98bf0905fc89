#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kernelpack/hub.hpp"

namespace kernelpack::hub {

/// A file of a cached package that does not match what vouches for it.
struct DamagedFile {
  std::filesystem::path path;
  Error error;
};

/// Every damaged file of build/webgpu in the folder of a cached package. Absent files are no damage.
std::vector<DamagedFile> find_damage(const CachedPackage& cached);

/// Folders of repositories in the hub cache ("kernels--ORG--NAME") with their ids.
struct CachedRepository {
  std::string organisation;
  std::string name;
  std::filesystem::path root;
};
std::vector<CachedRepository> cached_repositories(const std::filesystem::path& hub_cache);

/// The entries of a folder, sorted; none if it cannot be read.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder);

}  // namespace kernelpack::hub
