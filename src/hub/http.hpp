#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "hub/settings.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::hub {

struct HttpRequest {
  std::string url;
  std::string token;      ///< a bearer for the origin of `url` only; may be empty
  std::size_t limit = 0;  ///< most bytes of the body
  /// Time for the whole request, redirects included; nothing: only the limits on connecting and stalling.
  std::optional<std::chrono::milliseconds> whole{};
};

/// An answer with status 200. Of the headers, the first hop that carries one wins: a redirect inside the
/// endpoint states commit and ETag, and the place it leads to may not know them.
struct HttpAnswer {
  std::string body;
  std::string commit;  ///< X-Repo-Commit
  std::string etag;    ///< X-Linked-Etag or ETag, without W/ and quotes
  std::string next;    ///< target of Link: <...>; rel="next", absolute; may be empty
};

struct HttpFailure {
  Error error;
  bool transient = false;  ///< another attempt may succeed
  std::optional<std::chrono::milliseconds> retry_after{};
};

using HttpResult = std::variant<HttpAnswer, HttpFailure>;

/// A connection to a server, kept open between requests. For one thread at a time.
class HttpClient {
 public:
  /// `received` is told of each piece of a body; `cancelled` is asked about once a second.
  HttpClient(const NetworkLimits& limits, std::function<bool()> cancelled,
             std::function<void(std::size_t)> received);
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// One attempt, with redirects. Throws io if cancelled; everything else is a result.
  HttpResult attempt(const HttpRequest& request);
  /// Attempts until one succeeds, waiting in between as the limits and Retry-After say. Throws the last
  /// failure.
  HttpAnswer get(const HttpRequest& request);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kernelpack::hub
