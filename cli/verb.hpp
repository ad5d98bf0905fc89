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
Verb add_fetch(CLI::App& program);
Verb add_bench(CLI::App& program);
Verb add_tune(CLI::App& program);
Verb add_test(CLI::App& program);
Verb add_cache(CLI::App& program);
Verb add_list(CLI::App& program);
Verb add_devices(CLI::App& program);
Verb add_prewarm(CLI::App& program);
Verb add_plot(CLI::App& program);
Verb add_plan(CLI::App& program);
Verb add_explain(CLI::App& program);
Verb add_render(CLI::App& program);
Verb add_validate(CLI::App& program);

}  // namespace kernelpack::cli
