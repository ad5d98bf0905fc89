#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "kernelpack/explanation.hpp"
#include "request.hpp"
#include "verb.hpp"

namespace kernelpack::cli {
namespace {

ExitCode explain(const PlanFlags& flags, bool wgsl) {
  const BoundRequest request = bind_request(flags);
  const Explanation explanation = request.kernel.explain(request.call, request.facts, request.options);
  std::string text = to_string(explanation, {.wgsl = wgsl});
  if (!request.options.profile.empty()) {
    text += "\ndevice profile (kernelpack tune)\n";
    for (const NamedValue& each : request.options.profile)
      text += fmt::format("  {} = {}\n", each.name, to_string(each.value));
  }
  print(text);
  if (!explanation.refusal) return ExitCode::ok;
  std::fputs(describe(*explanation.refusal, false).c_str(), stderr);
  return ExitCode::input;
}

}  // namespace

Verb add_explain(CLI::App& program) {
  CLI::App* command = program.add_subcommand("explain",
                                             "show why a request runs as it does\n"
                                             "Prints the bound contract, every derived value, every variant "
                                             "with each of its conditions and the values that "
                                             "decided it, and for the chosen variant the passes: what each "
                                             "reads and writes, its uniform words by field, and its "
                                             "workgroups before and after folding. A request that is refused "
                                             "is explained as far as it gets, and the exit code "
                                             "is 1. Needs no GPU.");
  auto flags = std::make_shared<PlanFlags>();
  auto wgsl = std::make_shared<bool>(false);
  add_plan_options(*command, *flags);
  command->add_flag("--wgsl", *wgsl, "Print the rendered shaders with line numbers, too.");
  command->footer(
      "EXAMPLES\n"
      "  kernelpack explain com.microsoft.BiasSoftmax --facts device.json \\\n"
      "      --input data=scores.npy --input bias=mask.npy \\\n"
      "      --attr axis=3 --attr is_inner_broadcast=1 --wgsl\n");
  return {command, [flags, wgsl] { return explain(*flags, *wgsl); }};
}

}  // namespace kernelpack::cli
