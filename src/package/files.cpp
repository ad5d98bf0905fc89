#include "package/files.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <system_error>

#include <fmt/format.h>

#include "base/digest.hpp"
#include "base/file.hpp"
#include "package/metadata.hpp"

namespace kernelpack {

std::string_view to_string(DigestState state) noexcept {
  constexpr std::array<std::string_view, 5> kNames = {"matches", "differs", "absent", "unlisted",
                                                      "unchecked"};
  return kNames[static_cast<std::size_t>(state)];
}

namespace package {
namespace {

std::string digest_text(std::string_view content) {
  return base64_encode(sha256(content));
}

bool is_file(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

}  // namespace

std::filesystem::path find_package_folder(const std::filesystem::path& folder) {
  std::error_code error;
  const auto status = std::filesystem::status(folder, error);
  if (!std::filesystem::exists(status))
    throw Error(ErrorKind::io, fmt::format("The package folder ({}) does not exist", folder.string()),
                folder.string());
  if (!std::filesystem::is_directory(status))
    throw Error(ErrorKind::io, fmt::format("The package ({}) is not a folder", folder.string()),
                folder.string());
  for (const auto& candidate : {folder / "build" / "webgpu", folder})
    if (is_file(candidate / "manifest.json") || is_file(candidate / "metadata.json")) return candidate;
  throw Error(ErrorKind::package,
              fmt::format("The folder ({}) holds no kernel package: there is neither "
                          "build/webgpu/manifest.json nor manifest.json",
                          folder.string()),
              folder.string());
}

void check_digest(std::string_view file, std::string_view content, const LoadOptions& options,
                  const Model& model) {
  if (!options.verify || !model.metadata) return;
  const std::string* listed = listed_digest(*model.metadata, file);
  if (listed == nullptr)
    throw Error(ErrorKind::integrity,
                fmt::format("The file {} is not listed in digest.files of metadata.json", file),
                std::string(file));
  const std::string actual = digest_text(content);
  if (actual != *listed)
    throw Error(ErrorKind::integrity,
                fmt::format("The digest of file {} ({}) differs from the one in metadata.json ({})", file,
                            actual, *listed),
                std::string(file));
}

std::vector<PackageFile> list_files(const Model& model) {
  std::map<std::string, PackageFile> files;
  const auto add = [&](const std::string& name) {
    if (files.contains(name)) return;
    PackageFile file{name, 0, DigestState::unchecked};
    const auto path = model.folder / name;
    const std::string* listed = model.metadata ? listed_digest(*model.metadata, name) : nullptr;
    if (!is_file(path)) {
      file.digest = DigestState::absent;
    } else {
      std::error_code error;
      const auto size = std::filesystem::file_size(path, error);
      file.bytes = error ? 0 : static_cast<std::size_t>(size);
      if (model.metadata && listed == nullptr && name != "metadata.json") {
        file.digest = DigestState::unlisted;
      } else if (listed != nullptr) {
        try {
          file.digest = digest_text(read_file(path, kLargestListedFile)) == *listed ? DigestState::matches
                                                                                    : DigestState::differs;
        } catch (const Error&) {
          file.digest = DigestState::unchecked;
        }
      }
    }
    files.emplace(name, std::move(file));
  };
  add("manifest.json");
  if (model.metadata) {
    add("metadata.json");
    for (const auto& entry : model.metadata->digests) add(entry.first);
  }
  for (const TemplateFile& entry : model.templates) add(entry.name);
  std::error_code error;
  for (auto entry = std::filesystem::directory_iterator(model.folder, error);
       !error && entry != std::filesystem::directory_iterator(); entry.increment(error))
    if (is_file(entry->path())) add(entry->path().filename().string());

  std::vector<PackageFile> result;
  result.reserve(files.size());
  for (auto& entry : files) result.push_back(std::move(entry.second));
  return result;
}

}  // namespace package
}  // namespace kernelpack
