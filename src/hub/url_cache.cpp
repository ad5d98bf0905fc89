#include "hub/url_cache.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.hpp"
#include "hub/atomic_file.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::hub {
namespace {

constexpr std::size_t kMostEntryBytes = 16 * 1024;

std::string entry_text(const std::string& url, const std::string& state) {
  return fmt::format("{}\n{}\n", state, url);
}

}  // namespace

bool is_state(std::string_view text) noexcept {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

std::optional<std::string> UrlCache::state_of(const std::string& url) const {
  const auto text = read_if_present(urls() / hex(sha256(url)), kMostEntryBytes);
  if (!text) return std::nullopt;
  std::string state = text->substr(0, text->find('\n'));
  if (!is_state(state)) return std::nullopt;
  return state;
}

void UrlCache::set_state(const std::string& url, const std::string& state) const {
  if (state_of(url) == state) return;
  try {
    write_atomically(urls() / hex(sha256(url)), entry_text(url, state), ".incomplete");
  } catch (const Error&) {
    // The files are there, and the next call asks the server again.
  }
}

UrlCopy::UrlCopy(const UrlCache& cache, const std::string& state)
    : Copy(cache.packages() / state), state_(state) {}

std::optional<std::string> UrlCopy::metadata_fault(std::string_view content) const {
  const std::string actual = hex(sha256(content));
  if (actual == state_) return std::nullopt;
  return fmt::format("its SHA-256 ({}) differs from the name of its folder ({})", actual, state_);
}

void UrlCopy::store(const std::string& file, const HttpAnswer& answer) {
  if (const auto fault = file == "metadata.json" ? metadata_fault(answer.body) : std::nullopt)
    throw Error(
        ErrorKind::integrity,
        fmt::format("The metadata.json of the server is no longer that of the cached copy: {}", *fault),
        file);
  if (read_if_present(place(file), answer.body.size()) != answer.body)
    write_atomically(place(file), answer.body, ".incomplete");
}

}  // namespace kernelpack::hub
