#include "hub/url.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/utf8.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::hub {
namespace {

struct FreeUrl {
  void operator()(CURLU* url) const { curl_url_cleanup(url); }
};
using Parsed = std::unique_ptr<CURLU, FreeUrl>;

Parsed parse(const std::string& text) {
  Parsed url(curl_url());
  if (!url || curl_url_set(url.get(), CURLUPART_URL, text.c_str(), 0) != CURLUE_OK) return nullptr;
  return url;
}

std::optional<std::string> part(const Parsed& url, CURLUPart which, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url.get(), which, &text, flags) != CURLUE_OK || text == nullptr) return std::nullopt;
  std::string copy = text;
  curl_free(text);
  return copy;
}

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

}  // namespace

std::string printable(std::string_view text) {
  const bool utf8 = !find_invalid_utf8(text);
  std::string result(text);
  for (char& c : result) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f || (byte > 0x7f && !utf8)) c = '?';
  }
  return result;
}

std::optional<Origin> origin_of(const std::string& url) {
  const Parsed parsed = parse(url);
  // libcurl takes a third '/' for a slip of the pen and goes on to a host.
  const std::size_t slashes = url.find("://");
  if (!parsed || slashes == std::string::npos || url.compare(slashes, 4, ":///") == 0) return std::nullopt;
  auto scheme = part(parsed, CURLUPART_SCHEME);
  auto host = part(parsed, CURLUPART_HOST);
  auto port = part(parsed, CURLUPART_PORT, CURLU_DEFAULT_PORT);
  if (!scheme || !host || !port || host->empty()) return std::nullopt;
  Origin origin{lower(*scheme), lower(*host), *port};
  if (origin.scheme != "http" && origin.scheme != "https") return std::nullopt;
  return origin;
}

std::string require_base_url(std::string_view what, std::string_view text) {
  const auto fail = [&](std::string_view reason) -> Error {
    return Error(ErrorKind::contract, fmt::format("The {} ({}) is no base URL: {}", what,
                                                  clip(display(std::string(text))), reason));
  };
  std::string url(text);
  while (!url.empty() && url.back() == '/') url.pop_back();
  if (std::any_of(url.begin(), url.end(), [](unsigned char c) { return c <= 0x20 || c == 0x7f; }))
    throw fail("it holds a space or a control character");
  if (find_invalid_utf8(url)) throw fail("it is not UTF-8");
  const Parsed parsed = parse(url);
  if (!parsed || !origin_of(url)) throw fail("it is not an http or https URL");
  if (part(parsed, CURLUPART_USER) || part(parsed, CURLUPART_PASSWORD))
    throw fail("it holds a user name or password; a token can be given instead");
  if (url.find_first_of("?#") != std::string::npos) throw fail("it holds a query or a fragment");
  return url;
}

std::string display(const std::string& url) {
  std::string text = printable(url.substr(0, url.find_first_of("?#")));
  const std::size_t start = text.find("://");
  if (start == std::string::npos) return text;
  const std::size_t end = std::min(text.find('/', start + 3), text.size());
  const std::size_t at = text.rfind('@', end);
  if (at != std::string::npos && at >= start + 3 && at < end) text.erase(start + 3, at + 1 - (start + 3));
  return text;
}

std::string escape_segment(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    escaped += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return escaped;
}

}  // namespace kernelpack::hub
