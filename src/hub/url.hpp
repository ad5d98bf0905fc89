#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace kernelpack::hub {

/// One line of UTF-8, for what a server says: control characters, and all bytes outside ASCII if the text is
/// no UTF-8, become '?'.
std::string printable(std::string_view text);

/// What a token may be sent to: it never crosses from one origin to another.
struct Origin {
  std::string scheme;  ///< lower case
  std::string host;    ///< lower case
  std::string port;    ///< the scheme's own port where none is written
  bool operator==(const Origin&) const = default;
};

/// Nothing unless `url` is a whole http or https URL.
std::optional<Origin> origin_of(const std::string& url);

/// A base to which paths are appended: http or https, a host, neither user, query nor fragment, no '/' at the
/// end. Throws contract, naming `what` ("endpoint", "source").
std::string require_base_url(std::string_view what, std::string_view text);

/// The URL for messages: without user, query and fragment, which may hold secrets.
std::string display(const std::string& url);

/// One segment of a path with everything but unreserved characters escaped.
std::string escape_segment(std::string_view text);

}  // namespace kernelpack::hub
