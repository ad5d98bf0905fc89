#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "json.hpp"
#include "request.hpp"
#include "verb.hpp"

namespace kernelpack::cli {
namespace {

struct RenderFlags {
  PlanFlags plan;
  std::string pass;
  bool json = false;
};

const PlannedPass* find_pass(const Plan& plan, const std::string& id) {
  std::vector<std::string> known;
  for (const PlannedPass& pass : plan.passes) {
    if (pass.id == id) return &pass;
    known.push_back(pass.id);
  }
  throw Error(
      ErrorKind::contract,
      fmt::format("The variant {} has no pass of that id; it has {}", plan.variant, fmt::join(known, ", ")),
      "pass " + id);
}

ExitCode render(const RenderFlags& flags) {
  const BoundRequest request = bind_request(flags.plan);
  const auto plan = request.kernel.plan(request.call, request.facts, request.options);
  std::vector<const PlannedPass*> passes;
  if (!flags.pass.empty())
    passes.push_back(find_pass(*plan, flags.pass));
  else
    for (const PlannedPass& pass : plan->passes) passes.push_back(&pass);

  Json array = Json::array();
  std::string text;
  for (const PlannedPass* pass : passes) {
    if (!pass->wgsl)
      throw Error(ErrorKind::template_,
                  fmt::format("The pass {} of variant {} has no rendered text", pass->id, plan->variant),
                  pass->shader);
    array.push_back({{"pass", pass->id}, {"shader", pass->shader}, {"wgsl", *pass->wgsl}});
    if (passes.size() > 1) text += fmt::format("// pass {}, from {}\n", pass->id, pass->shader);
    text += *pass->wgsl;
    if (passes.size() > 1 && !text.ends_with('\n')) text += '\n';
  }
  print(flags.json ? document(array) : text);
  return ExitCode::ok;
}

}  // namespace

Verb add_render(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "render",
      "print the shaders of a variant\n"
      "Plans the request and prints the WGSL of the passes. The text of a single pass, or of the one that "
      "--pass names, "
      "is printed exactly as the GPU gets it; several passes are separated by a comment line each.");
  auto flags = std::make_shared<RenderFlags>();
  add_plan_options(*command, flags->plan);
  command->add_option("--pass", flags->pass, "Print this pass only.")->type_name("ID");
  command->add_flag("--json", flags->json, "Print a JSON array of objects with pass, shader and wgsl.");
  command->footer(
      "EXAMPLES\n"
      "  kernelpack render com.microsoft.BiasSoftmax --variant packed_rows \\\n"
      "      --input data=float32:128x4 --input bias=float32:128x4 \\\n"
      "      --attr axis=1 --attr is_inner_broadcast=0 > packed_rows.wgsl\n");
  return {command, [flags] { return render(*flags); }};
}

}  // namespace kernelpack::cli
