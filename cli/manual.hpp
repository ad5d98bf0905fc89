#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace kernelpack::cli {

/// Prints --help as a manual page. The first line of a description is its summary; the footer holds further
/// sections and is printed as it is.
class Manual : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace kernelpack::cli
