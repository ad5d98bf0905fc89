#pragma once

#include <string>

#include "base/source.hpp"
#include "kernelpack/error.hpp"

namespace kernelpack::expr {

/// Makes the errors of one parsed text: it knows where the text comes from and which kind its faults have.
class Faults {
 public:
  virtual ~Faults() = default;
  /// Kind expression or template.
  virtual ErrorKind kind() const noexcept = 0;
  /// An error of that kind at a range of the text that was parsed.
  virtual Error at(ErrorKind kind, std::string message, SourceSpan span) const = 0;

  [[noreturn]] void fail(SourceSpan span, std::string message) const {
    throw at(kind(), std::move(message), span);
  }
  /// Adds the place to an error that has none. An error of kind expression takes the kind of this text.
  [[noreturn]] void rethrow(const Error& error, SourceSpan span) const;
};

}  // namespace kernelpack::expr
