#include "hub/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/utf8.hpp"
#include "hub/url.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::hub {
namespace {

bool is_digit_or_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

bool is_folder(std::string_view text) {
  std::error_code ignored;
  return std::filesystem::is_directory(text, ignored);
}

Error mistake(std::string message) {
  return Error(ErrorKind::contract, std::move(message));
}

void set_revision(Repository& repository, std::string_view revision, std::string_view text) {
  const std::string small = lower(revision);
  if (is_commit(small)) {
    repository.commit = small;
  } else if (is_version_branch(revision)) {
    repository.branch = revision;
  } else {
    throw mistake(
        fmt::format("The revision ({}) of {} is neither a branch such as v1 nor a commit of 40 "
                    "hexadecimal digits",
                    clip(revision), clip(text)));
  }
}

void refuse_revision(std::string_view what, std::string_view text, const GetOptions& options) {
  if (!options.version && options.revision.empty()) return;
  throw mistake(fmt::format("A {} belongs to packages of the Hub, but the source ({}) is {}",
                            options.version ? "version" : "revision", clip(text), what));
}

}  // namespace

bool is_commit(std::string_view text) noexcept {
  return text.size() == 40 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

bool is_version_branch(std::string_view text) noexcept {
  if (text.size() < 2 || text[0] != 'v' || text[1] < '1' || text[1] > '9') return false;
  int version = 0;
  const auto read = std::from_chars(text.data() + 1, text.data() + text.size(), version);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

bool is_repository_name(std::string_view text) noexcept {
  if (text.empty() || text.size() > 96) return false;
  const auto edge = [](char c) { return is_digit_or_letter(c) || c == '_'; };
  if (!edge(text.front()) || !edge(text.back())) return false;
  if (text.find("--") != std::string_view::npos || text.find("..") != std::string_view::npos) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return is_digit_or_letter(c) || c == '-' || c == '_' || c == '.'; });
}

Source parse_source(std::string_view text, const GetOptions& options) {
  const std::string start = lower(text.substr(0, 8));
  if (start.starts_with("http://") || start.starts_with("https://")) {
    refuse_revision("a base URL", text, options);
    BaseUrl source{require_base_url("source", text)};
    if (source.base.ends_with("/build/webgpu")) source.base.erase(source.base.size() - 13);
    return source;
  }
  if (const std::size_t colon = text.find("://"); colon != std::string_view::npos && !is_folder(text))
    throw mistake(fmt::format("The scheme ({}) of the source is neither http nor https",
                              clip(text.substr(0, colon), 20)));

  const std::size_t slash = text.find('/');
  const std::size_t at = text.find('@');
  const bool marked = at != std::string_view::npos;
  const std::string_view id = text.substr(0, at);
  const bool named = slash != std::string_view::npos && slash < id.size() &&
                     is_repository_name(id.substr(0, slash)) && is_repository_name(id.substr(slash + 1));
  const bool wanted = options.version || !options.revision.empty();
  if (named && marked) {
    const std::string_view revision = text.substr(at + 1);
    const bool clear = is_version_branch(revision) || is_commit(lower(revision));
    if (!clear && is_folder(text)) {
      refuse_revision("a folder", text, options);
      return Local{};
    }
    Repository repository{std::string(id.substr(0, slash)), std::string(id.substr(slash + 1)), {}, {}};
    set_revision(repository, revision, id);
    if (wanted)
      throw mistake(fmt::format("The source ({}) names its revision, and a {} is given as well", clip(text),
                                options.version ? "version" : "revision"));
    return repository;
  }
  if (named && wanted) {
    Repository repository{std::string(id.substr(0, slash)), std::string(id.substr(slash + 1)), {}, {}};
    if (options.version && !options.revision.empty())
      throw mistake(fmt::format("Both a version ({}) and a revision ({}) are given for {}; one is needed",
                                *options.version, clip(options.revision), text));
    if (options.version && *options.version < 1)
      throw mistake(fmt::format("The version ({}) of {} is not positive", *options.version, text));
    set_revision(repository, options.version ? fmt::format("v{}", *options.version) : options.revision, id);
    return repository;
  }
  if (named && !is_folder(text))
    throw mistake(
        fmt::format("The source ({0}) is no folder, and a package of the Hub needs a version or a "
                    "revision; write {0}@v1, for example",
                    text));
  refuse_revision(is_folder(text) ? "a folder" : "no package of the Hub", text, options);
  return Local{};
}

}  // namespace kernelpack::hub

namespace kernelpack {

bool is_remote_source(std::string_view source, const GetOptions& options) {
  return !std::holds_alternative<hub::Local>(hub::parse_source(source, options));
}

}  // namespace kernelpack
