#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "hub/copy.hpp"

namespace kernelpack::hub {

/// kernelpack's own cache of base-URL packages:
///     urls/SHA256-OF-URL               the state it was at when last asked and the URL, a line each
///     packages/SHA256-OF-METADATA/build/webgpu/...
class UrlCache {
 public:
  explicit UrlCache(std::filesystem::path cache) : cache_(std::move(cache)) {}

  /// SHA-256 of the metadata.json that the URL served when last asked, lower-case hexadecimal; nothing if
  /// unknown.
  std::optional<std::string> state_of(const std::string& url) const;
  /// Writes only if something changes, and not at all to a cache that is read-only.
  void set_state(const std::string& url, const std::string& state) const;
  std::filesystem::path packages() const { return cache_ / "packages"; }
  std::filesystem::path urls() const { return cache_ / "urls"; }

 private:
  std::filesystem::path cache_;
};

/// The files that belong to one metadata.json.
class UrlCopy final : public Copy {
 public:
  UrlCopy(const UrlCache& cache, const std::string& state);
  std::optional<std::string> metadata_fault(std::string_view content) const override;
  void store(const std::string& file, const HttpAnswer& answer) override;

 private:
  std::string state_;
};

/// 64 lower-case hexadecimal digits.
bool is_state(std::string_view text) noexcept;

}  // namespace kernelpack::hub
