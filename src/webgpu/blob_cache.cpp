#include "webgpu/blob_cache.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <system_error>
#include <tuple>

#include "base/digest.hpp"
#include "base/file.hpp"

namespace kernelpack::webgpu {
namespace {

namespace fs = std::filesystem;
using FileClock = fs::file_time_type::clock;

// An entry: this mark, the SHA-256 of the rest, the size of the key, the key, the value.
constexpr std::string_view kMark = "kernelpack blob 1\n";
constexpr std::size_t kDigestBytes = 32;
constexpr std::size_t kMostEntryBytes = std::size_t{64} << 20;
constexpr std::string_view kSuffix = ".blob";
// Younger files that are no entries may be on their way to become one.
constexpr auto kLeastAge = std::chrono::hours(1);

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string size_text(std::size_t size) {
  std::string text(8, '\0');
  for (std::size_t i = 0; i < 8; ++i) text[i] = static_cast<char>((size >> (8 * i)) & 0xFF);
  return text;
}

std::string digest_text(std::string_view text) {
  const Sha256 digest = sha256(text);
  return std::string(text_of(digest));
}

const char* variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// What one thread found last, for the second call that the library makes for the same entry.
struct Found {
  const BlobCache* cache = nullptr;
  std::string key;
  std::string value;
};
Found& last_found() {
  thread_local Found found;
  return found;
}

}  // namespace

std::shared_ptr<BlobCache> BlobCache::of(const fs::path& folder, const std::string& owner,
                                         std::uint64_t limit) {
  using Key = std::tuple<fs::path, std::string, std::uint64_t>;
  static std::mutex mutex;
  static auto& caches = *new std::map<Key, std::shared_ptr<BlobCache>>;
  const std::lock_guard lock(mutex);
  auto& slot = caches[Key(folder, owner, limit)];
  if (slot == nullptr) slot = std::make_shared<BlobCache>(folder, owner, limit);
  return slot;
}

std::optional<fs::path> BlobCache::folder_of(const std::string& wanted) {
  const char* named = wanted.empty() ? variable("KERNELPACK_SHADER_CACHE") : wanted.c_str();
  if (named != nullptr)
    return std::string_view(named) == "none" ? std::nullopt : std::optional<fs::path>(named);
  fs::path root;
  if (const char* own = variable("KERNELPACK_CACHE")) {
    root = own;
  } else if (const char* shared = variable("XDG_CACHE_HOME")) {
    root = fs::path(shared) / "kernelpack";
  } else if (const char* home = variable("HOME")) {
    root = fs::path(home) / ".cache" / "kernelpack";
  } else {
    return std::nullopt;
  }
  return root / "shaders";
}

BlobCache::BlobCache(const fs::path& folder, std::string_view owner, std::uint64_t limit)
    : folder_(folder), owner_(owner), entries_(folder / hex(sha256(owner)).substr(0, 32)), limit_(limit) {}

fs::path BlobCache::path_of(std::span<const std::byte> key) const {
  return entries_ / (hex(sha256(key)) + std::string(kSuffix));
}

std::optional<std::string> BlobCache::read(std::span<const std::byte> key) {
  const fs::path path = path_of(key);
  std::error_code absent;
  if (!fs::is_regular_file(path, absent)) return std::nullopt;
  std::string entry;
  try {
    entry = read_file(path, kMostEntryBytes);
  } catch (const Error&) {
    // Gone meanwhile, or not readable.
    ++ignored_;
    return std::nullopt;
  }
  const std::size_t key_at = kMark.size() + kDigestBytes + 8;
  const bool sound = entry.size() > key_at + key.size() && std::string_view(entry).starts_with(kMark) &&
                     std::string_view(entry).substr(kMark.size(), kDigestBytes) ==
                         digest_text(std::string_view(entry).substr(kMark.size() + kDigestBytes)) &&
                     std::string_view(entry).substr(key_at - 8, 8) == size_text(key.size()) &&
                     std::string_view(entry).substr(key_at, key.size()) == text_of(key);
  if (!sound) {
    ++ignored_;
    return std::nullopt;
  }
  // The time says when an entry was last of use; a fresh enough one is not written anew.
  std::error_code ignored;
  const auto now = FileClock::now();
  if (now - fs::last_write_time(path, ignored) > kLeastAge) fs::last_write_time(path, now, ignored);
  return entry.substr(key_at + key.size());
}

std::size_t BlobCache::load(std::span<const std::byte> key, std::span<std::byte> value) noexcept {
  try {
    Found& found = last_found();
    if (value.empty() || found.cache != this || found.key != text_of(key)) {
      found.cache = nullptr;
      auto entry = read(key);
      if (!entry) {
        ++missed_;
        return 0;
      }
      found = {this, std::string(text_of(key)), std::move(*entry)};
    }
    const std::size_t size = found.value.size();
    if (value.empty()) return size;
    if (value.size() != size) return 0;
    std::memcpy(value.data(), found.value.data(), size);
    ++loaded_;
    found = {};
    return size;
  } catch (...) {
    return 0;
  }
}

void BlobCache::store(std::span<const std::byte> key, std::span<const std::byte> value) noexcept {
  try {
    if (value.empty() || key.size() + value.size() > kMostEntryBytes / 2) return;
    std::string rest = size_text(key.size());
    rest += text_of(key);
    rest += text_of(value);
    const std::string entry = std::string(kMark) + digest_text(rest) + rest;
    if (entry.size() > limit_) return;
    std::error_code ignored;
    fs::create_directories(entries_, ignored);
    write_file(path_of(key), entry);
    ++stored_;
    const std::lock_guard lock(trim_mutex_);
    if (bytes_) *bytes_ += entry.size();
    if (!bytes_ || *bytes_ > limit_) trim();
  } catch (...) {
    // The next process compiles it again.
  }
}

// Counts what all owners have and removes what was of no use for the longest time until three quarters of the
// limit are left. Files of others that run at the same time may vanish meanwhile.
void BlobCache::trim() {
  struct Entry {
    fs::path path;
    std::uint64_t bytes;
    fs::file_time_type time;
  };
  std::vector<Entry> entries;
  std::uint64_t total = 0;
  std::error_code error;
  const auto now = FileClock::now();
  for (fs::recursive_directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    if (!at->is_regular_file(gone) || at->is_symlink(gone)) continue;
    const std::uint64_t bytes = at->file_size(gone);
    const auto time = at->last_write_time(gone);
    if (gone) continue;
    if (at->path().extension() != kSuffix) {
      const bool leftover = at->path().extension() == ".tmp" && now - time > kLeastAge;
      if (leftover) fs::remove(at->path(), gone);
      continue;
    }
    entries.push_back({at->path(), bytes, time});
    total += bytes;
  }
  if (total > limit_) {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.time < b.time; });
    for (const Entry& entry : entries) {
      if (total <= limit_ / 4 * 3) break;
      std::error_code gone;
      fs::remove(entry.path, gone);
      total -= entry.bytes;
    }
  }
  bytes_ = total;
}

ShaderCacheCounts BlobCache::counts() const noexcept {
  return {.loaded = loaded_, .missed = missed_, .stored = stored_, .ignored = ignored_};
}

}  // namespace kernelpack::webgpu
