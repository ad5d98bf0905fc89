#include "hub/settings.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>

#include "base/file.hpp"
#include "hub/url.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::hub {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTrustedPublisher = "webgpu-kernels";
constexpr std::size_t kLongestToken = 4096;

/// The value of an environment variable that is set and not empty.
std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

bool is_true(const char* name) {
  std::string value = variable(name).value_or("");
  for (char& c : value)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return value == "1" || value == "ON" || value == "YES" || value == "TRUE";
}

fs::path home_folder() {
  if (const auto home = variable("HOME")) return *home;
  std::array<char, 4096> buffer;
  struct passwd entry {};
  struct passwd* found = nullptr;
  if (::getpwuid_r(::getuid(), &entry, buffer.data(), buffer.size(), &found) == 0 && found != nullptr)
    return found->pw_dir;
  return "/";
}

/// "~" at the start and "$NAME" or "${NAME}" anywhere, as Hugging Face's tools read these variables.
fs::path expanded(std::string text) {
  if (text == "~" || text.starts_with("~/")) text = home_folder().string() + text.substr(1);
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '$') {
      result += text[i];
      continue;
    }
    const bool braced = i + 1 < text.size() && text[i + 1] == '{';
    const std::size_t first = i + (braced ? 2 : 1);
    std::size_t end = first;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
      ++end;
    const std::string name = text.substr(first, end - first);
    const bool closed = !braced || (end < text.size() && text[end] == '}');
    const char* value = name.empty() || !closed ? nullptr : std::getenv(name.c_str());
    if (value == nullptr) {
      result += text[i];
      continue;
    }
    result += value;
    i = braced ? end : end - 1;
  }
  return result;
}

fs::path cache_home() {
  const auto folder = variable("XDG_CACHE_HOME");
  return folder ? fs::path(*folder) : home_folder() / ".cache";
}

fs::path hugging_face_home() {
  const auto folder = variable("HF_HOME");
  return folder ? expanded(*folder) : expanded((cache_home() / "huggingface").string());
}

fs::path default_hub_cache() {
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"})
    if (const auto folder = variable(name)) return expanded(*folder);
  return hugging_face_home() / "hub";
}

fs::path default_url_cache() {
  const auto folder = variable("KERNELPACK_CACHE");
  return folder ? expanded(*folder) : cache_home() / "kernelpack";
}

/// So that results stay valid in a process that changes its working directory.
fs::path anchored(const fs::path& path) {
  std::error_code error;
  const fs::path result = fs::absolute(path.has_filename() ? path : path.parent_path(), error);
  return error ? path : result;
}

void read_seconds(const char* name, std::chrono::milliseconds& limit) {
  const auto text = variable(name);
  if (!text) return;
  int seconds = 0;
  const auto read = std::from_chars(text->data(), text->data() + text->size(), seconds);
  if (read.ec != std::errc() || read.ptr != text->data() + text->size() || seconds < 1 || seconds > 86400)
    throw Error(ErrorKind::contract, fmt::format("The value of the variable {} ({}) is no number of seconds "
                                                 "from 1 to 86400",
                                                 name, *text));
  limit = std::chrono::seconds(seconds);
}

std::string cleaned_token(std::string token, std::string_view origin) {
  constexpr std::string_view kSpace = " \t\r\n";
  token.erase(0, std::min(token.find_first_not_of(kSpace), token.size()));
  token.erase(token.find_last_not_of(kSpace) + 1);
  const bool fit = token.size() <= kLongestToken &&
                   std::all_of(token.begin(), token.end(), [](char c) { return c > 0x20 && c < 0x7f; });
  if (!fit)
    throw Error(ErrorKind::contract,
                fmt::format("The token of {} is too long or holds a space, a control character or a letter "
                            "outside ASCII",
                            origin));
  return token;
}

std::string implicit_token() {
  if (is_true("HF_HUB_DISABLE_IMPLICIT_TOKEN")) return {};
  for (const char* name : {"HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"})
    if (const auto token = variable(name)) return cleaned_token(*token, fmt::format("the variable {}", name));
  const auto named = variable("HF_TOKEN_PATH");
  const fs::path path = named ? expanded(*named) : hugging_face_home() / "token";
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return {};
  return cleaned_token(read_file(path, kLongestToken + 64), fmt::format("the file {}", path.string()));
}

}  // namespace

Settings read_settings(const GetOptions& options) {
  Settings settings;
  settings.limits = options.limits;
  const NetworkLimits defaults;
  if (options.limits.branch == defaults.branch) read_seconds("HF_HUB_ETAG_TIMEOUT", settings.limits.branch);
  if (options.limits.stall == defaults.stall) read_seconds("HF_HUB_DOWNLOAD_TIMEOUT", settings.limits.stall);
  settings.endpoint = require_base_url(
      "endpoint", options.endpoint.empty() ? variable("HF_ENDPOINT").value_or("https://huggingface.co")
                                           : options.endpoint);
  settings.offline = options.offline || is_true("HF_HUB_OFFLINE") || is_true("TRANSFORMERS_OFFLINE");
  settings.hub_cache = anchored(options.cache_dir.empty() ? default_hub_cache() : options.cache_dir);
  settings.url_cache = anchored(options.url_cache_dir.empty() ? default_url_cache() : options.url_cache_dir);
  return settings;
}

std::string token_for(const Source& source, const GetOptions& options) {
  if (!options.token.empty()) return cleaned_token(options.token, "this call");
  return std::holds_alternative<Repository>(source) ? implicit_token() : std::string();
}

void require_trust(const Source& source, const Settings& settings, const GetOptions& options) {
  if (options.trust_remote_code) return;
  if (const auto* repository = std::get_if<Repository>(&source)) {
    if (repository->organisation == kTrustedPublisher) return;
    throw Error(
        ErrorKind::trust,
        fmt::format("The publisher ({}) is not {}, the only one trusted by default on {}; allow remote "
                    "code to load it all the same",
                    repository->organisation, kTrustedPublisher, display(settings.endpoint)),
        repository->text());
  }
  if (const auto* url = std::get_if<BaseUrl>(&source))
    throw Error(
        ErrorKind::trust,
        "The source is a base URL, whose publisher is unknown; allow remote code to load it all the same",
        display(url->base));
}

}  // namespace kernelpack::hub
