#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "kernelpack/package.hpp"

namespace kernelpack::package {

/// A package folder for tests: made below the temporary folder, removed at the end.
class TestPackage {
 public:
  /// An empty folder.
  TestPackage();
  /// A 2.x package of that manifest, sealed; templates that the manifest may use lie beside it.
  explicit TestPackage(std::string_view manifest, std::string_view spec = "2.1");
  TestPackage(const TestPackage&) = delete;
  TestPackage& operator=(const TestPackage&) = delete;
  ~TestPackage();

  const std::filesystem::path& folder() const noexcept { return folder_; }
  void write(const std::string& name, std::string_view content) const;
  void remove(const std::string& name) const;
  /// Writes metadata.json with the digests of all files.
  void seal(std::string_view name, std::string_view spec = "2.1") const;

 private:
  std::filesystem::path folder_;
};

/// A small valid manifest: input x, output y of type T, one variant `main` with the template a.wgsl.jinja.
/// Each pair replaces a text that must occur in it.
std::string small_manifest(const std::vector<std::pair<std::string, std::string>>& changes = {});

/// The reports of all faults of a package with that manifest; empty if it loads.
std::vector<std::string> faults_of(const std::string& manifest, std::string_view spec = "2.1");

}  // namespace kernelpack::package
