#include "hub/http.hpp"

#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "base/utf8.hpp"
#include "hub/url.hpp"

namespace kernelpack::hub {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr int kMostRedirects = 10;
constexpr std::size_t kMostHeaderBytes = 256 * 1024;
/// Of an answer that is no success, whose body nobody reads.
constexpr std::size_t kMostDiscardedBytes = 64 * 1024;
/// Below this average over the stall limit a connection counts as stalled.
constexpr long kSlowestBytesPerSecond = 1024;

void start_curl() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using HeaderList = std::unique_ptr<curl_slist, FreeList>;

void append(HeaderList& list, const std::string& line) {
  curl_slist* longer = curl_slist_append(list.get(), line.c_str());
  if (longer == nullptr) throw std::bad_alloc();
  (void)list.release();
  list.reset(longer);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
  return text.substr(0, text.find_last_not_of(kSpace) + 1);
}

std::string plain_etag(std::string_view text) {
  if (text.starts_with("W/")) text.remove_prefix(2);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  return std::string(text);
}

/// The target of rel="next" in a Link header.
std::string next_link(std::string_view text) {
  while (!text.empty()) {
    const std::size_t open = text.find('<');
    const std::size_t close = text.find('>', open);
    if (open == std::string_view::npos || close == std::string_view::npos) return {};
    const std::size_t end = std::min(text.find('<', close), text.size());
    const std::string_view parameters = text.substr(close, end - close);
    if (parameters.find("rel=\"next\"") != std::string_view::npos ||
        parameters.find("rel=next") != std::string_view::npos)
      return std::string(text.substr(open + 1, close - open - 1));
    text.remove_prefix(end);
  }
  return {};
}

bool is_redirect(long status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/// The short word with which the Hub explains a refusal, e.g. "RevisionNotFound"; empty unless it is one
/// word.
std::string error_word(const std::map<std::string, std::string>& headers) {
  const auto found = headers.find("x-error-code");
  if (found == headers.end() || found->second.size() > 40) return {};
  const bool word = std::all_of(found->second.begin(), found->second.end(),
                                [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
  return word ? found->second : std::string();
}

std::string describe_status(long status, const std::string& word, bool had_token) {
  const std::string code = fmt::format("HTTP status {}{}{}", status, word.empty() ? "" : ", ", word);
  if (status == 401 || status == 403)
    return fmt::format(
        "The server refuses access ({}): what is asked for does not exist, or it is private or "
        "gated; {}",
        code, had_token ? "the token that was sent does not open it" : "no token was sent");
  if (status == 404) return fmt::format("The server has nothing of that name ({})", code);
  if (status == 429) return fmt::format("The server asks for fewer requests ({})", code);
  if (status >= 500) return fmt::format("The server fails ({})", code);
  return fmt::format("The server's answer ({}) is not the expected one (HTTP status 200)", code);
}

bool is_transient(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_PARTIAL_FILE:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_SSL_CONNECT_ERROR:
      return true;
    default:
      return false;
  }
}

double random_between(double low, double high) {
  thread_local std::mt19937 engine{std::random_device{}()};
  return std::uniform_real_distribution<double>(low, high)(engine);
}

}  // namespace

struct HttpClient::State {
  NetworkLimits limits;
  std::function<bool()> cancelled;
  std::function<void(std::size_t)> received;
  CURL* curl = nullptr;
  std::array<char, CURL_ERROR_SIZE> reason{};

  // Of the hop under way.
  std::string body;
  std::size_t limit = 0;
  std::size_t discarded = 0;
  std::size_t header_bytes = 0;
  std::map<std::string, std::string> headers;
  bool over_limit = false;
  bool over_headers = false;
  std::exception_ptr thrown;  ///< by a callback

  ~State() {
    if (curl != nullptr) curl_easy_cleanup(curl);
  }

  // Exceptions must not cross libcurl.
  static std::size_t write(char* data, std::size_t size, std::size_t count, void* self) noexcept {
    auto& state = *static_cast<State*>(self);
    const std::size_t bytes = size * count;
    long status = 0;
    curl_easy_getinfo(state.curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200) {
      state.discarded += bytes;
      return state.discarded > kMostDiscardedBytes ? 0 : bytes;
    }
    if ((state.body.empty() && state.declared_too_large()) || bytes > state.limit - state.body.size()) {
      state.over_limit = true;
      return 0;
    }
    try {
      state.body.append(data, bytes);
      state.received(bytes);
    } catch (...) {
      state.thrown = std::current_exception();
      return 0;
    }
    return bytes;
  }

  static std::size_t header(char* data, std::size_t size, std::size_t count, void* self) noexcept {
    auto& state = *static_cast<State*>(self);
    const std::size_t bytes = size * count;
    state.header_bytes += bytes;
    if (state.header_bytes > kMostHeaderBytes) {
      state.over_headers = true;
      return 0;
    }
    try {
      const std::string_view line(data, bytes);
      if (line.starts_with("HTTP/")) state.headers.clear();
      const std::size_t colon = line.find(':');
      if (colon == std::string_view::npos) return bytes;
      std::string name(line.substr(0, colon));
      for (char& c : name)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
      state.headers.emplace(std::move(name), printable(trimmed(line.substr(colon + 1))));
    } catch (...) {
      state.thrown = std::current_exception();
      return 0;
    }
    return bytes;
  }

  static int progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) noexcept {
    auto& state = *static_cast<State*>(self);
    try {
      return state.cancelled() ? 1 : 0;
    } catch (...) {
      state.thrown = std::current_exception();
      return 1;
    }
  }

  std::string find(const char* name) const {
    const auto found = headers.find(name);
    return found == headers.end() ? std::string() : found->second;
  }

  void configure() {
    const auto set = [&](CURLoption option, auto value) {
      if (curl_easy_setopt(curl, option, value) != CURLE_OK)
        throw Error(ErrorKind::unsupported,
                    "The libcurl of this machine lacks an option that downloads need");
    };
    set(CURLOPT_NOSIGNAL, 1L);
    set(CURLOPT_ERRORBUFFER, reason.data());
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    // Redirects are followed here, so that the token stays behind and each hop's headers are seen.
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_SSL_VERIFYPEER, 1L);
    set(CURLOPT_SSL_VERIFYHOST, 2L);
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    set(CURLOPT_USERAGENT, "kernelpack/" KERNELPACK_VERSION);
    set(CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limits.connect.count()));
    const auto stall = std::chrono::ceil<std::chrono::seconds>(limits.stall);
    set(CURLOPT_LOW_SPEED_TIME, static_cast<long>(std::max<std::chrono::seconds::rep>(stall.count(), 1)));
    set(CURLOPT_LOW_SPEED_LIMIT, kSlowestBytesPerSecond);
    set(CURLOPT_WRITEFUNCTION, &State::write);
    set(CURLOPT_WRITEDATA, this);
    set(CURLOPT_HEADERFUNCTION, &State::header);
    set(CURLOPT_HEADERDATA, this);
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, &State::progress);
    set(CURLOPT_XFERINFODATA, this);
    // The library, unlike the program curl, does not read these.
    if (const char* file = std::getenv("SSL_CERT_FILE"); file != nullptr && *file != '\0')
      set(CURLOPT_CAINFO, file);
    if (const char* folder = std::getenv("SSL_CERT_DIR"); folder != nullptr && *folder != '\0')
      set(CURLOPT_CAPATH, folder);
  }

  /// One hop. `whole_ms` 0: no limit on the whole.
  CURLcode perform(const std::string& url, const std::string& token, std::size_t most, long whole_ms) {
    body.clear();
    limit = most;
    discarded = header_bytes = 0;
    headers.clear();
    over_limit = over_headers = false;
    thrown = nullptr;
    reason[0] = '\0';
    HeaderList lines;
    append(lines, "Accept-Encoding: identity");
    if (!token.empty()) append(lines, "Authorization: Bearer " + token);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, lines.get());
    curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, whole_ms);
    const CURLcode code = curl_easy_perform(curl);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, nullptr);
    return code;
  }

  bool declared_too_large() const {
    curl_off_t length = -1;
    curl_easy_getinfo(curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    return length > 0 && static_cast<std::uint64_t>(length) > limit;
  }

  std::string cause(CURLcode code) const {
    return clip(printable(reason[0] != '\0' ? reason.data() : curl_easy_strerror(code)), 200);
  }

  /// Waits; throws if cancelled.
  void wait(milliseconds time) const {
    const auto end = Clock::now() + time;
    while (Clock::now() < end) {
      require_wanted();
      std::this_thread::sleep_for(std::min<Clock::duration>(milliseconds(50), end - Clock::now()));
    }
    require_wanted();
  }

  void require_wanted() const {
    if (cancelled()) throw Error(ErrorKind::io, "The download is cancelled");
  }
};

HttpClient::HttpClient(const NetworkLimits& limits, std::function<bool()> cancelled,
                       std::function<void(std::size_t)> received)
    : state_(std::make_unique<State>()) {
  start_curl();
  state_->limits = limits;
  state_->cancelled = std::move(cancelled);
  state_->received = std::move(received);
  state_->curl = curl_easy_init();
  if (state_->curl == nullptr) throw Error(ErrorKind::internal, "libcurl gives no handle for a download");
  state_->configure();
}

HttpClient::~HttpClient() = default;

HttpResult HttpClient::attempt(const HttpRequest& request) {
  State& state = *state_;
  const auto end = Clock::now() + request.whole.value_or(milliseconds(0));
  const auto home = origin_of(request.url);
  std::string url = request.url;
  HttpAnswer answer;
  const auto failure = [&](ErrorKind kind, std::string message, bool transient = false) {
    return HttpFailure{Error(kind, std::move(message), display(url)), transient, std::nullopt};
  };
  if (!home) return failure(ErrorKind::io, "The address is not an http or https URL");

  for (int hop = 0; hop <= kMostRedirects; ++hop) {
    state.require_wanted();
    long whole = 0;
    if (request.whole) {
      whole = static_cast<long>(std::chrono::ceil<milliseconds>(end - Clock::now()).count());
      if (whole <= 0)
        return failure(ErrorKind::io,
                       fmt::format("The server takes longer than the limit ({} ms)", request.whole->count()),
                       true);
    }
    const auto origin = origin_of(url);
    const bool send_token = origin == home && !request.token.empty();
    const CURLcode code =
        state.perform(url, send_token ? request.token : std::string(), request.limit, whole);
    if (state.thrown) std::rethrow_exception(state.thrown);
    if (code == CURLE_ABORTED_BY_CALLBACK) state.require_wanted();
    if (state.over_headers)
      return failure(ErrorKind::limit,
                     fmt::format("The headers of the answer exceed the budget ({} bytes)", kMostHeaderBytes));
    long status = 0;
    curl_easy_getinfo(state.curl, CURLINFO_RESPONSE_CODE, &status);
    if (status == 200 && (state.over_limit || state.declared_too_large()))
      return failure(ErrorKind::limit,
                     fmt::format("The size of the answer exceeds the budget ({} bytes)", request.limit));
    const bool cut_short = code == CURLE_WRITE_ERROR && state.discarded > kMostDiscardedBytes;
    if (code != CURLE_OK && !cut_short)
      return failure(ErrorKind::io, fmt::format("The request fails ({})", state.cause(code)),
                     is_transient(code));

    if (answer.commit.empty()) answer.commit = state.find("x-repo-commit");
    if (answer.etag.empty()) answer.etag = plain_etag(state.find("x-linked-etag"));
    if (answer.etag.empty()) answer.etag = plain_etag(state.find("etag"));
    if (is_redirect(status)) {
      char* target = nullptr;
      curl_easy_getinfo(state.curl, CURLINFO_REDIRECT_URL, &target);
      const auto next = target == nullptr ? std::nullopt : origin_of(target);
      if (!next) return failure(ErrorKind::io, "The server redirects to no http or https URL");
      if (origin->scheme == "https" && next->scheme != "https")
        return failure(ErrorKind::io, "The server redirects from https to http, which nothing protects");
      url = target;
      continue;
    }
    if (status != 200) {
      HttpFailure refused =
          failure(ErrorKind::io, describe_status(status, error_word(state.headers), send_token),
                  status == 408 || status == 429 || status >= 500);
      curl_off_t seconds = 0;
      curl_easy_getinfo(state.curl, CURLINFO_RETRY_AFTER, &seconds);
      constexpr curl_off_t kLongest = 1000000;
      if (seconds > 0) refused.retry_after = std::chrono::seconds(std::min(seconds, kLongest));
      return refused;
    }
    answer.body = std::move(state.body);
    answer.next = next_link(state.find("link"));
    return answer;
  }
  return failure(ErrorKind::io,
                 fmt::format("The server redirects more often than the limit ({})", kMostRedirects));
}

HttpAnswer HttpClient::get(const HttpRequest& request) {
  const NetworkLimits& limits = state_->limits;
  for (int attempts = 1;; ++attempts) {
    HttpResult result = attempt(request);
    if (auto* answer = std::get_if<HttpAnswer>(&result)) return std::move(*answer);
    auto& failure = std::get<HttpFailure>(result);
    if (!failure.transient) throw std::move(failure.error);
    if (attempts >= limits.attempts) {
      if (attempts > 1) failure.error.add_context(fmt::format("After {} attempts", attempts));
      throw std::move(failure.error);
    }
    milliseconds pause;
    if (failure.retry_after) {
      if (*failure.retry_after > limits.longest_wait)
        throw Error(
            failure.error.kind(),
            fmt::format("{}, and asks to wait {} s, longer than the limit ({} s)", failure.error.message(),
                        failure.retry_after->count() / 1000, limits.longest_wait.count() / 1000),
            failure.error.where());
      pause = *failure.retry_after + milliseconds(static_cast<int>(random_between(0, 250)));
    } else {
      const int doublings = std::min(attempts - 1, 10);
      const double longest =
          static_cast<double>(limits.backoff.count()) * static_cast<double>(1 << doublings);
      pause = milliseconds(static_cast<milliseconds::rep>(longest * random_between(0.5, 1.0)));
    }
    state_->wait(pause);
  }
}

}  // namespace kernelpack::hub
