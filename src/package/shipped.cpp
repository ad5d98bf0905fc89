#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <system_error>

#include "base/binaries.hpp"
#include "kernelpack/package.hpp"
#include "package/files.hpp"

namespace kernelpack {
namespace {

bool is_folder(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

bool holds_package(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const auto& candidate : {folder / "build" / "webgpu", folder})
    if (std::filesystem::is_regular_file(candidate / "manifest.json", ignored)) return true;
  return false;
}

}  // namespace

std::vector<std::filesystem::path> package_search_path() {
  std::vector<std::filesystem::path> folders;
  if (const char* variable = std::getenv("KERNELPACK_PACKAGES")) {
    std::string_view rest = variable;
    while (!rest.empty()) {
      const std::size_t colon = rest.find(':');
      const std::string_view entry = rest.substr(0, colon);
      // An empty entry would mean the working directory, which is never searched.
      if (!entry.empty()) folders.emplace_back(entry);
      rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
    }
  }
  const auto add = [&](const std::filesystem::path& folder) {
    auto normal = folder.lexically_normal();
    if (std::find(folders.begin(), folders.end(), normal) == folders.end())
      folders.push_back(std::move(normal));
  };
  const std::filesystem::path installed = std::filesystem::path("share") / "kernelpack" / "packages";
  const auto program = running_program();
  if (!program.empty()) {
    const auto folder = program.parent_path();
    add(folder / ".." / ".." / "packages");
    add(folder / ".." / installed);
  }
  // A shared library lies in PREFIX/lib or, where machines of several kinds share it, in PREFIX/lib/MACHINE;
  // the module of the Python package lies in its PREFIX.
  if (const auto library = own_binary(); !library.empty() && library != program) {
    const auto folder = library.parent_path();
    add(folder / ".." / installed);
    add(folder / ".." / ".." / installed);
    add(folder / installed);
  }
  return folders;
}

std::vector<ShippedPackage> shipped_packages() {
  std::map<std::string, std::filesystem::path> found;
  for (const auto& folder : package_search_path()) {
    if (!is_folder(folder)) continue;
    std::error_code error;
    for (auto entry = std::filesystem::directory_iterator(folder, error);
         !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
      if (is_folder(entry->path()) && holds_package(entry->path()))
        found.emplace(entry->path().filename().string(), entry->path());
  }
  std::vector<ShippedPackage> packages;
  packages.reserve(found.size());
  for (auto& [op_id, path] : found) packages.push_back({op_id, path});
  return packages;
}

}  // namespace kernelpack
