#pragma once

#include <string>

#include <CLI/CLI.hpp>

namespace kernelpack::cli {

/// What is wrong with the command line, as a sentence that names the argument and the manual to read.
std::string usage_message(const CLI::App& program, const CLI::ParseError& error);

}  // namespace kernelpack::cli
