#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "kernelpack/package.hpp"
#include "package/model.hpp"

namespace kernelpack::package {

/// Files that are only listed (benchmarks) can be larger than what a package may use.
inline constexpr std::size_t kLargestListedFile = std::size_t{64} << 20;

/// The folder that holds the files of the package: `folder/build/webgpu`, or the folder itself. Throws io if
/// there is no such folder and package if it holds no manifest.
std::filesystem::path find_package_folder(const std::filesystem::path& folder);

/// Throws integrity unless metadata.json lists `file` with the digest of `content`. Does nothing for a bare
/// manifest or when verification is off.
void check_digest(std::string_view file, std::string_view content, const LoadOptions& options,
                  const Model& model);

/// The files of the package: those it uses, those that metadata.json lists, and what else lies in the folder.
std::vector<PackageFile> list_files(const Model& model);

}  // namespace kernelpack::package
