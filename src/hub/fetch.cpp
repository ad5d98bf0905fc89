// A remote source becomes a verified package in a local folder.
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/digest.hpp"
#include "hub/atomic_file.hpp"
#include "hub/contents.hpp"
#include "hub/downloads.hpp"
#include "hub/hub_cache.hpp"
#include "hub/known_states.hpp"
#include "hub/settings.hpp"
#include "hub/source.hpp"
#include "hub/url.hpp"
#include "hub/url_cache.hpp"
#include "kernelpack/hub.hpp"

namespace kernelpack::hub {
namespace {

std::string short_state(const std::string& state) {
  return state.substr(0, 12);
}

std::string key_of(const std::filesystem::path& cache, const std::string& place, const std::string& name) {
  return cache.string() + '\n' + place + '\n' + name;
}

/// The sentence of PackageOrigin::note.
std::string note_about(const std::string& kept, const Error& error) {
  return fmt::format("The cached {} is used, because the newest state cannot be fetched: {}{}", kept,
                     error.message(), error.where().empty() ? "" : fmt::format(" ({})", error.where()));
}

/// What differs between packages of the Hub and those of a base URL.
class Remote {
 public:
  Remote(const Settings& settings, const GetOptions& options, std::string text, Source source)
      : settings_(settings), options_(options), text_(std::move(text)), source_(std::move(source)) {}
  virtual ~Remote() = default;

  FetchedPackage fetch_state(const std::string& state) {
    Downloads downloads(settings_, text_, options_);
    return finish(downloads, state);
  }

  /// The state of a branch or base URL, which only the server knows.
  FetchedPackage fetch_newest() {
    std::optional<FetchedPackage> fetched;
    if (settings_.offline) return fetch_offline();
    const auto wait = [this] {
      if (options_.cancel.stop_requested()) throw Error(ErrorKind::io, "The download is cancelled", text_);
    };
    KnownStates::of_process().with(memory_key(), wait, [&](const std::optional<KnownState>& known) {
      fetched = known ? fetch_known(*known) : ask();
      return KnownState{state_of(*fetched), fetched->origin.note};
    });
    return std::move(*fetched);
  }

 protected:
  virtual std::string memory_key() const = 0;
  /// The state that the cache knows; nothing if none.
  virtual std::optional<std::string> cached_state() const = 0;
  virtual void keep_state(const std::string& state) const = 0;
  virtual std::unique_ptr<Copy> copy_of(const std::string& state) const = 0;
  virtual std::string url_of_newest(const std::string& file) const = 0;
  virtual std::string url_of(const std::string& state, const std::string& file) const = 0;
  /// The state that an answer for the newest metadata.json belongs to. Throws io if it does not say.
  virtual std::string state_in(const HttpAnswer& answer) const = 0;
  virtual std::string describe(const std::string& state) const = 0;
  virtual PackageOrigin origin_of(const std::string& state) const = 0;
  virtual std::string state_of(const FetchedPackage& fetched) const = 0;
  virtual void check(const Package& package) const = 0;

  const Settings& settings_;
  const GetOptions& options_;
  const std::string text_;

 private:
  /// What needs no request needs no token either, and does not mind one that cannot be read.
  HttpRequest request_for(std::string url, const std::string& file) {
    if (!token_) token_ = token_for(source_, options_);
    return {std::move(url), *token_, file_budget(file), std::nullopt};
  }

  Contents contents_of(Copy& copy, Downloads& downloads, const std::string& state) {
    return {copy,
            downloads,
            options_,
            settings_.offline,
            text_,
            describe(state),
            origin_of(state).commit,
            [this, state](const std::string& file) { return request_for(url_of(state, file), file); }};
  }

  FetchedPackage finish(Downloads& downloads, const std::string& state,
                        const HttpAnswer* metadata = nullptr) {
    const std::unique_ptr<Copy> copy = copy_of(state);
    const Contents contents = contents_of(*copy, downloads, state);
    touch(copy->folder());  // in use, says it to a prune
    if (metadata != nullptr) accept_metadata(contents, *metadata);
    Package package = complete(contents);
    check(package);
    PackageOrigin origin = origin_of(state);
    origin.source = text_;
    origin.folder = copy->folder();
    origin.files_fetched = downloads.done();
    return {std::move(package), std::move(origin)};
  }

  FetchedPackage fetch_offline() {
    const auto state = cached_state();
    if (!state)
      throw Error(ErrorKind::io,
                  fmt::format("The cache does not hold {}, and no request may be made offline", text_),
                  text_);
    return fetch_state(*state);
  }

  FetchedPackage fetch_known(const KnownState& known) {
    FetchedPackage fetched = fetch_state(known.state);
    fetched.origin.note = known.note;
    return fetched;
  }

  /// The cached state stands in for one that cannot be had.
  FetchedPackage fall_back(Downloads& downloads, const std::string& state, const Error& error) {
    const std::string note = note_about(describe(state), error);
    try {
      FetchedPackage fetched = finish(downloads, state);
      fetched.origin.note = note;
      return fetched;
    } catch (Error& fault) {
      throw fault.add_context(note);
    }
  }

  FetchedPackage ask() {
    Downloads downloads(settings_, text_, options_);
    auto cached = cached_state();
    if (cached && !is_begun(*copy_of(*cached))) cached.reset();
    Wanted newest{"metadata.json", request_for(url_of_newest("metadata.json"), "metadata.json")};
    std::optional<HttpAnswer> answer;
    std::string state;
    try {
      if (cached) {
        // A copy is at hand: one attempt in bounded time is all that asking is worth.
        newest.request.whole = settings_.limits.branch;
        HttpResult result = downloads.attempt(newest);
        if (auto* failure = std::get_if<HttpFailure>(&result)) throw std::move(failure->error);
        answer = std::move(std::get<HttpAnswer>(result));
      } else {
        answer = downloads.get(newest);
      }
      state = state_in(*answer);
    } catch (const Error& error) {
      if (!cached || options_.cancel.stop_requested()) throw;
      return fall_back(downloads, *cached, error);
    }
    try {
      FetchedPackage fetched = finish(downloads, state, &*answer);
      keep_state(state);
      return fetched;
    } catch (const Error& error) {
      const bool broken_off = error.kind() == ErrorKind::io && cached && *cached != state;
      if (!broken_off || options_.cancel.stop_requested()) throw;
      return fall_back(downloads, *cached, error);
    }
  }

  const Source source_;
  std::optional<std::string> token_;
};

class HubRemote final : public Remote {
 public:
  HubRemote(const Settings& settings, const GetOptions& options, const Repository& repository)
      : Remote(settings, options, repository.text(), repository),
        repository_(repository),
        cache_(settings.hub_cache, repository) {}

 protected:
  std::string memory_key() const override { return key_of(settings_.hub_cache, settings_.endpoint, text_); }
  std::optional<std::string> cached_state() const override { return cache_.commit_of(repository_.branch); }
  void keep_state(const std::string& state) const override { cache_.set_commit(repository_.branch, state); }
  std::unique_ptr<Copy> copy_of(const std::string& state) const override {
    return std::make_unique<Snapshot>(cache_, state);
  }
  std::string url_of_newest(const std::string& file) const override {
    return url_of(repository_.branch, file);
  }
  std::string url_of(const std::string& state, const std::string& file) const override {
    return fmt::format("{}/kernels/{}/resolve/{}/build/webgpu/{}", settings_.endpoint, repository_.id(),
                       state, escape_segment(file));
  }
  std::string state_in(const HttpAnswer& answer) const override {
    if (is_commit(answer.commit)) return answer.commit;
    throw Error(
        ErrorKind::io,
        "The answer does not name the commit of its files (header X-Repo-Commit), so it is not that of a "
        "Hugging Face Hub",
        display(url_of_newest("metadata.json")));
  }
  std::string describe(const std::string& state) const override {
    return fmt::format("commit {} of {}", short_state(state), repository_.id());
  }
  PackageOrigin origin_of(const std::string& state) const override {
    PackageOrigin origin;
    origin.kind = PackageOrigin::Kind::hub;
    origin.branch = repository_.branch;
    origin.commit = state;
    return origin;
  }
  std::string state_of(const FetchedPackage& fetched) const override { return fetched.origin.commit; }
  void check(const Package& package) const override {
    if (repository_.branch.empty() || !package.version()) return;
    if (fmt::format("v{}", *package.version()) == repository_.branch) return;
    throw Error(
        ErrorKind::package,
        fmt::format("The version in metadata.json ({}) differs from the branch that was asked for ({})",
                    *package.version(), repository_.branch),
        text_);
  }

 private:
  const Repository repository_;
  const RepositoryCache cache_;
};

class UrlRemote final : public Remote {
 public:
  UrlRemote(const Settings& settings, const GetOptions& options, const BaseUrl& source)
      : Remote(settings, options, source.base, source), cache_(settings.url_cache) {}

 protected:
  std::string memory_key() const override { return key_of(settings_.url_cache, text_, {}); }
  std::optional<std::string> cached_state() const override { return cache_.state_of(text_); }
  void keep_state(const std::string& state) const override { cache_.set_state(text_, state); }
  std::unique_ptr<Copy> copy_of(const std::string& state) const override {
    return std::make_unique<UrlCopy>(cache_, state);
  }
  std::string url_of_newest(const std::string& file) const override {
    return fmt::format("{}/build/webgpu/{}", text_, escape_segment(file));
  }
  std::string url_of(const std::string&, const std::string& file) const override {
    return url_of_newest(file);
  }
  std::string state_in(const HttpAnswer& answer) const override { return hex(sha256(answer.body)); }
  std::string describe(const std::string& state) const override {
    return fmt::format("copy {} of {}", short_state(state), text_);
  }
  PackageOrigin origin_of(const std::string&) const override {
    PackageOrigin origin;
    origin.kind = PackageOrigin::Kind::url;
    return origin;
  }
  std::string state_of(const FetchedPackage& fetched) const override {
    return fetched.origin.folder.filename().string();
  }
  void check(const Package&) const override {}

 private:
  const UrlCache cache_;
};

}  // namespace
}  // namespace kernelpack::hub

namespace kernelpack {

FetchedPackage fetch_package(std::string_view source, const GetOptions& options) {
  const hub::Source parsed = hub::parse_source(source, options);
  if (std::holds_alternative<hub::Local>(parsed))
    throw Error(ErrorKind::contract,
                fmt::format("The source ({}) is neither a package of the Hub nor a base URL", source));
  const hub::Settings settings = hub::read_settings(options);
  hub::require_trust(parsed, settings, options);
  if (const auto* url = std::get_if<hub::BaseUrl>(&parsed))
    return hub::UrlRemote(settings, options, *url).fetch_newest();
  const auto& repository = std::get<hub::Repository>(parsed);
  hub::HubRemote remote(settings, options, repository);
  return repository.branch.empty() ? remote.fetch_state(repository.commit) : remote.fetch_newest();
}

}  // namespace kernelpack
