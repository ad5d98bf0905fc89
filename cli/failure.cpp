#include "failure.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

namespace kernelpack::cli {

ExitCode exit_code_of(ErrorKind kind) noexcept {
  switch (kind) {
    case ErrorKind::device:
    case ErrorKind::unsupported:
    case ErrorKind::internal:
      return ExitCode::environment;
    default:
      return ExitCode::input;
  }
}

std::string single_line(std::string_view text) {
  std::string line(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  }
  return line;
}

std::string describe(const Error& error, bool verbose) {
  std::string text = fmt::format("kernelpack: {}\n", single_line(error.line()));
  switch (error.kind()) {
    case ErrorKind::package:
    case ErrorKind::integrity:
    case ErrorKind::expression:
    case ErrorKind::template_:
    case ErrorKind::shader:
      break;
    default:
      if (!verbose) return text;
  }
  if (!error.excerpt().empty()) text += error.excerpt() + '\n';
  for (const std::string& line : error.context()) text += single_line(line) + '\n';
  return text;
}

std::string describe_usage(std::string_view message) {
  return fmt::format("kernelpack: usage: {}\n", single_line(message));
}

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw Failure{
        Error(ErrorKind::io, fmt::format("Writing fails ({})", std::strerror(errno)), "standard output"),
        ExitCode::environment};
  }
}

}  // namespace kernelpack::cli
