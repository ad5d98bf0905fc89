#pragma once

#include <functional>

#include <CLI/CLI.hpp>

#include "failure.hpp"

namespace kernelpack::cli {

/// A subcommand: its options, and what it does once they are parsed.
struct Verb {
  CLI::App* options;
  std::function<ExitCode()> action;
};

Verb add_run(CLI::App& program);
Verb add_inspect(CLI::App& program);
Verb add_list(CLI::App& program);
Verb add_plot(CLI::App& program);

}  // namespace kernelpack::cli
