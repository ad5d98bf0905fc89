#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <system_error>

#include "base/binaries.hpp"
#include "webgpu/library.hpp"

namespace kernelpack::webgpu {
namespace {

struct KnownLibrary {
  std::string_view word;
  std::array<std::string_view, 2> names;  ///< of the file, without the platform's prefix and suffix
};
constexpr std::array<KnownLibrary, 2> kKnown{
    {{"dawn", {"webgpu_dawn", "webgpu_wrapper"}}, {"wgpu-native", {"wgpu_native", "wgpu_native-release"}}}};

std::string file_name(std::string_view name) {
#if defined(__APPLE__)
  return fmt::format("lib{}.dylib", name);
#else
  return fmt::format("lib{}.so", name);
#endif
}

// The folders beside the program, beside this library, and of the build tree that this library was made in.
std::vector<std::filesystem::path> folders() {
  std::vector<std::filesystem::path> result;
  const auto add = [&](const std::filesystem::path& binary) {
    result.push_back(binary.parent_path());
    result.push_back(binary.parent_path().parent_path() / "lib" / "kernelpack");
  };
  if (const auto own = own_binary(); !own.empty()) add(own);
  if (const auto program = running_program(); !program.empty()) add(program);
  if (std::string_view tree = KERNELPACK_WEBGPU_LIBRARY_DIR; !tree.empty()) result.emplace_back(tree);
  return result;
}

constexpr std::string_view kAdvice =
    "run tools/webgpu/fetch, or name a library with --library or KERNELPACK_WEBGPU";

}  // namespace

std::string named_library(std::string_view wanted) {
  if (!wanted.empty()) return std::string(wanted);
  const char* environment = std::getenv("KERNELPACK_WEBGPU");
  return environment != nullptr ? environment : "";
}

std::vector<LibraryCandidate> library_candidates(std::string_view wanted) {
  const std::string named = named_library(wanted);
  std::vector<LibraryCandidate> candidates;
  for (const KnownLibrary& known : kKnown) {
    if (!named.empty() && named != known.word) continue;
    for (const auto& folder : folders()) {
      for (std::string_view name : known.names) {
        std::error_code ignored;
        if (auto path = folder / file_name(name); std::filesystem::exists(path, ignored))
          candidates.push_back({std::string(known.word), path});
      }
    }
    for (std::string_view name : known.names)
      candidates.push_back({std::string(known.word), file_name(name)});
  }
  if (candidates.empty()) candidates.push_back({"", named});
  return candidates;
}

std::vector<FoundLibrary> find_libraries(std::string_view wanted) {
  std::vector<FoundLibrary> found;
  for (const LibraryCandidate& candidate : library_candidates(wanted)) {
    if (found.empty() || found.back().word != candidate.word) found.push_back({candidate.word, nullptr, {}});
    FoundLibrary& entry = found.back();
    if (entry.library != nullptr) continue;
    try {
      entry.library = Library::load(candidate.path);
    } catch (const Error& error) {
      // The first fault of a file that exists is worth more than "not found" on the loader path.
      if (entry.problem.empty()) entry.problem = error.message();
    }
  }
  return found;
}

std::shared_ptr<const Library> find_library(std::string_view wanted) {
  const auto found = find_libraries(wanted);
  for (const FoundLibrary& entry : found)
    if (entry.library != nullptr) return entry.library;
  const std::string named = named_library(wanted);
  if (!named.empty())
    throw Error(ErrorKind::device,
                fmt::format("The WebGPU library asked for ({}) does not load; {}", named, kAdvice),
                found.empty() ? std::string() : found.front().problem);
  throw Error(ErrorKind::device, fmt::format("No WebGPU library is found; {}", kAdvice));
}

}  // namespace kernelpack::webgpu
