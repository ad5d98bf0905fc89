#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "kernelpack/error.hpp"

namespace kernelpack::cli {

/// What the process returns. Part of the interface of the program, see docs/cli.md.
enum class ExitCode {
  ok = 0,
  input = 1,        ///< something is wrong in a package, a tensor, an attribute or a named input file
  usage = 2,        ///< flags and syntax
  environment = 3,  ///< an output cannot be written, a device or library is missing, internal faults
  check = 4,        ///< a --check failed
};

/// A fault of the command line itself. The message is a sentence without its period, as in Error.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An error of the library that ends the program with another code than its kind suggests.
struct Failure {
  Error error;
  ExitCode code;
};

ExitCode exit_code_of(ErrorKind kind) noexcept;

/// Runs `step`; an Error of it ends the program with `code`.
template <class Step>
decltype(auto) failing_with(ExitCode code, Step&& step) {
  try {
    return std::forward<Step>(step)();
  } catch (const Error& error) {
    throw Failure{error, code};
  }
}

/// One line with control characters replaced, so that a hostile name cannot forge a second one.
std::string single_line(std::string_view text);

/// What stderr shows for an error: "kernelpack: KIND: message (where)" and, for faults inside a package or
/// when `verbose`, the excerpt and the context below it. Ends with a newline.
std::string describe(const Error& error, bool verbose);
std::string describe_usage(std::string_view message);

/// Writes to standard output at once; a failure is an Error of kind io that ends the program with code 3.
void print(std::string_view text);

}  // namespace kernelpack::cli
