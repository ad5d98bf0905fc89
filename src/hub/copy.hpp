#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "hub/http.hpp"

namespace kernelpack::hub {

/// The files of one package at one state, in a cache. Some may be absent.
class Copy {
 public:
  virtual ~Copy() = default;

  /// The folder given to Package::load; `folder()`/build/webgpu holds the files.
  const std::filesystem::path& folder() const noexcept { return folder_; }
  std::filesystem::path place(std::string_view file) const { return folder_ / "build" / "webgpu" / file; }

  /// Why `content` cannot be the metadata.json of this copy; nothing if it can. No digest of the package
  /// covers that file, so each cache has its own means.
  virtual std::optional<std::string> metadata_fault(std::string_view content) const = 0;
  /// Keeps a file that was checked. Throws io.
  virtual void store(const std::string& file, const HttpAnswer& answer) = 0;

 protected:
  explicit Copy(std::filesystem::path folder) : folder_(std::move(folder)) {}

 private:
  std::filesystem::path folder_;
};

}  // namespace kernelpack::hub
