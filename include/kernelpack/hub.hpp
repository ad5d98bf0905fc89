#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "kernelpack/package.hpp"

namespace kernelpack {

/// How far the download of one package is.
struct FetchProgress {
  std::string source;            ///< "ORG/NAME@v1" or the base URL
  std::string file;              ///< the file that just moved on
  std::uint64_t bytes = 0;       ///< received of all files so far
  std::size_t files_done = 0;    ///< files that are complete and checked
  std::size_t files_wanted = 0;  ///< files known to be needed so far; grows once the manifest is read
};

/// Limits in time. A request is given up when it exceeds one.
struct NetworkLimits {
  std::chrono::milliseconds connect{10000};  ///< name resolution, TCP and TLS
  std::chrono::milliseconds stall{30000};    ///< no progress to speak of for this long
  /// The one request that asks which commit a branch is at, if a copy is in the cache.
  std::chrono::milliseconds branch{10000};
  int attempts = 4;                                ///< for 429, 5xx and lost connections; at least 1
  std::chrono::milliseconds backoff{500};          ///< before the second attempt; doubles, with jitter
  std::chrono::milliseconds longest_wait{120000};  ///< a longer Retry-After ends the attempts
  std::size_t parallel = 6;                        ///< templates fetched at the same time
};

/// How a package is found and loaded. `version` and `revision` belong to packages of the Hub and are refused
/// for folders, shipped packages and base URLs.
struct GetOptions {
  bool verify = true;  ///< check every used file against metadata.json's digests
  bool allow_missing_templates =
      false;                       ///< folders and shipped packages: plan only, there is no shader to run
  std::optional<int> version{};    ///< contract version N: the branch vN
  std::string revision{};          ///< a commit of 40 hexadecimal digits, or a branch vN
  std::string expected_op_id{};    ///< if not empty, the package must have this op id
  bool trust_remote_code = false;  ///< accept publishers other than webgpu-kernels, and base URLs
  /// Sent as a bearer to the scheme, host and port of the source only, never along a redirect to another one.
  /// Empty: for packages of the Hub HF_TOKEN, then the token file of Hugging Face's tools; for base URLs
  /// none.
  std::string token{};
  bool offline = false;               ///< no request is made; also by HF_HUB_OFFLINE
  std::filesystem::path cache_dir{};  ///< Hugging Face's hub cache; empty: HF_HUB_CACHE, HF_HOME/hub, ...
  /// Copies of base-URL packages; empty: KERNELPACK_CACHE, XDG_CACHE_HOME/kernelpack, ~/.cache/kernelpack.
  std::filesystem::path url_cache_dir{};
  std::string endpoint{};  ///< empty: HF_ENDPOINT, else https://huggingface.co
  NetworkLimits limits{};
  /// Called from the threads of the download, one call at a time.
  std::function<void(const FetchProgress&)> progress{};
  std::stop_token cancel{};  ///< ends a download within about a second with an error of kind io
};

/// Where a package came from.
struct PackageOrigin {
  enum class Kind { folder, shipped, hub, url };
  Kind kind = Kind::folder;
  std::string source;  ///< as given; "ORG/NAME" or the URL for remote ones
  std::string branch;  ///< hub: "v1" if it was asked for by version; else empty
  std::string commit;  ///< hub: the commit that all files are of
  std::filesystem::path folder;
  std::size_t files_fetched = 0;  ///< files that came over the network for this call
  /// Not empty if the network failed and a cached copy stands in: one sentence that says why.
  std::string note;
};

/// A package with its origin.
struct FetchedPackage {
  Package package;
  PackageOrigin origin;
};

/// Whether `source` names a package of the Hub ("ORG/NAME@vN", "ORG/NAME@COMMIT", or "ORG/NAME" with a
/// version or revision) or a base URL ("https://host/path/OP_ID"). Everything else is a folder or a shipped
/// op id. Throws contract for a source that can only be a mistake and for options that do not belong to it.
bool is_remote_source(std::string_view source, const GetOptions& options = {});

/// The package of a remote source: from the cache where that suffices, else from the network. Every file is
/// checked before it is used or stored. All files are of one commit. Requests are made only as docs/hub.md
/// says. Throws trust, integrity, io (the network or the cache), limit (an answer beyond its budget) and what
/// Package::load throws.
FetchedPackage fetch_package(std::string_view source, const GetOptions& options = {});

/// The packages "ORG/NAME" that an organisation publishes, sorted. One request, more if the endpoint pages.
std::vector<std::string> list_published(std::string_view organisation, const GetOptions& options = {});

/// A package in the cache.
struct CachedPackage {
  PackageOrigin::Kind kind = PackageOrigin::Kind::hub;
  std::string source;                 ///< "ORG/NAME" or the URL; empty if no URL leads to the copy any more
  std::string commit;                 ///< hub: the commit; url: SHA-256 of metadata.json
  std::vector<std::string> branches;  ///< branches that were at this commit when last asked
  std::filesystem::path folder;       ///< holds build/webgpu
  std::size_t files = 0;
  std::uint64_t bytes = 0;
};

/// All of them, sorted by source and commit. Reads `cache_dir` and `url_cache_dir` of the options only.
std::vector<CachedPackage> cached_packages(const GetOptions& options = {});

/// What is wrong with the files of a cached package; empty if nothing is. Absent templates are no fault: they
/// are fetched when needed.
std::vector<Error> verify_cached(const CachedPackage& cached);

struct PruneOptions {
  bool dry_run = false;
  bool detached = false;  ///< also commits that no branch leads to, and copies that no URL leads to
  std::chrono::seconds least_age{3600};  ///< younger leftovers may belong to a running download
};

struct PrunedFile {
  std::filesystem::path path;
  std::string reason;  ///< "unfinished download", "damaged file", "unused blob", "detached commit"
  std::uint64_t bytes = 0;
};

/// Removes unfinished downloads, damaged files and blobs that no snapshot uses. Repositories without a WebGPU
/// package are left alone. Returns what was removed, or would be.
std::vector<PrunedFile> prune_cache(const PruneOptions& prune, const GetOptions& options = {});

}  // namespace kernelpack
