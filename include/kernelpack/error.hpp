#pragma once

#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace kernelpack {

/// The stage that failed. `to_string` gives the name that the CLI, the C ABI and the documents use.
enum class ErrorKind {
  package,      ///< bad JSON, metadata or manifest
  integrity,    ///< a digest does not match, or a file name is not allowed
  trust,        ///< the publisher is not trusted by default
  expression,   ///< an expression of a manifest does not parse or cannot be evaluated
  template_,    ///< a template does not parse or cannot be rendered; printed as "template"
  contract,     ///< wrong inputs, dtypes, attributes, shapes or aliasing in a request
  no_variant,   ///< no variant of the package accepts the request on the device
  limit,        ///< a dispatch axis, a buffer size or a budget for untrusted input is exceeded
  device,       ///< a device is missing, lost or refuses a request
  shader,       ///< a rendered shader does not compile
  io,           ///< a file or the network cannot be read or written
  unsupported,  ///< a feature or version that kernelpack does not implement
  internal,     ///< a fault of kernelpack itself
};

/// The name of a kind: "package", ..., "template", "no_variant", ... Never empty.
std::string_view to_string(ErrorKind kind) noexcept;

/// The one exception type of the library. Immutable once thrown, except for the context that each room adds
/// on the way up.
class Error : public std::exception {
 public:
  /// `message` is one full sentence in the present tense without its final period. `where` locates the fault
  /// ("manifest.json:/variants/2/when/1, line 1, column 7", a file name, "input bias") and may be empty.
  Error(ErrorKind kind, std::string message, std::string where = {});

  ErrorKind kind() const noexcept { return kind_; }
  const std::string& message() const noexcept { return message_; }
  const std::string& where() const noexcept { return where_; }
  /// "While ..." lines, innermost first.
  const std::vector<std::string>& context() const noexcept { return context_; }
  /// The offending source line and a caret line below it, joined by a newline; empty where there is no
  /// source.
  const std::string& excerpt() const noexcept { return excerpt_; }

  /// Appends a line such as "While evaluating /variants/2/when/1 of com.microsoft.BiasSoftmax".
  Error& add_context(std::string line);
  Error& set_where(std::string where);
  Error& set_excerpt(std::string excerpt);

  /// "KIND: message (where)", on one line; the same text as `what()`.
  const std::string& line() const noexcept { return line_; }
  /// `line()`, then the excerpt and the context, one item a line.
  std::string report() const;

  const char* what() const noexcept override { return line_.c_str(); }

 private:
  void compose_line();

  ErrorKind kind_;
  std::string message_;
  std::string where_;
  std::vector<std::string> context_;
  std::string excerpt_;
  std::string line_;
};

}  // namespace kernelpack
