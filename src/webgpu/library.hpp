#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernelpack/error.hpp"
#include "webgpu/api.hpp"

namespace kernelpack::webgpu {

/// The families of libraries that differ in numbers and behaviour.
enum class Generation { dawn_2025_06, dawn, wgpu_native };

/// The number of a feature in a library, which is not the same in all of them.
struct FeatureNumber {
  std::string_view name;  ///< WebGPU's name, "shader-f16"
  WGPUFeatureName number;
};

/// A WebGPU library in this process with its functions. Immutable; once loaded it stays loaded, because its
/// threads and the driver's may outlive every device.
class Library {
 public:
  using Symbols = std::function<void*(const char* name)>;

  /// Loads the file. Throws device if it cannot be loaded, is no WebGPU library, or is older than those
  /// supported.
  static std::shared_ptr<const Library> load(const std::filesystem::path& path);
  /// The library behind a function that finds symbols; `origin` names it in messages.
  static std::shared_ptr<const Library> from_symbols(const Symbols& symbols, std::string origin);
  /// The library whose wgpuGetProcAddress that is; asked again, the same object.
  static std::shared_ptr<const Library> behind(void* get_proc_address);
  /// The copy of `path` that the process has loaded already; throws device if there is none.
  static std::shared_ptr<const Library> loaded(const std::filesystem::path& path);

  const Functions& functions() const noexcept { return functions_; }
  Generation generation() const noexcept { return generation_; }
  bool is_dawn() const noexcept { return generation_ != Generation::wgpu_native; }
  /// "Dawn" or "wgpu-native".
  std::string_view name() const noexcept { return is_dawn() ? "Dawn" : "wgpu-native"; }
  /// Where it came from: the file's path.
  const std::string& origin() const noexcept { return origin_; }
  /// What tells this build of the library from others; empty if its file cannot be read.
  std::string build() const;
  /// The features that a device may be asked for (format.md 13.1), with this library's numbers.
  const std::vector<FeatureNumber>& features() const noexcept;

 private:
  Library() = default;
  Functions functions_;
  Generation generation_ = Generation::dawn;
  std::string origin_;
};

/// One place where a library may be.
struct LibraryCandidate {
  std::string word;  ///< "dawn", "wgpu-native", or "" for a file that the caller named
  std::filesystem::path path;
};

/// The places to try, best first. `wanted` is "dawn", "wgpu-native", a file, or "" for the value of
/// KERNELPACK_WEBGPU and, without that, Dawn before wgpu-native. For each word: the copies beside the build
/// or the installation, then the system's loader path.
std::vector<LibraryCandidate> library_candidates(std::string_view wanted);

/// The name that the caller or the environment gave, or "": a named library is never replaced by another.
std::string named_library(std::string_view wanted);

/// The first candidate that loads. Throws device, saying what is missing and how to get it.
std::shared_ptr<const Library> find_library(std::string_view wanted);
/// The libraries that load, one a word, in the order of preference; their faults otherwise.
struct FoundLibrary {
  std::string word;
  std::shared_ptr<const Library> library;  ///< null if none of its candidates loads
  std::string problem;
};
std::vector<FoundLibrary> find_libraries(std::string_view wanted);

}  // namespace kernelpack::webgpu
