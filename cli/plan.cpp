#include <memory>
#include <string>

#include <fmt/format.h>

#include "json.hpp"
#include "kernelpack/json.hpp"
#include "request.hpp"
#include "verb.hpp"

namespace kernelpack::cli {
namespace {

/// An error's kind as the JSON form spells it: "no-variant".
std::string kind_text(ErrorKind kind) {
  std::string text(to_string(kind));
  for (char& c : text)
    if (c == '_') c = '-';
  return text;
}

Json refusal_json(const Error& error) {
  Json reasons = Json::array();
  if (const auto* no_variant = dynamic_cast<const NoVariantError*>(&error))
    for (const Rejection& reason : no_variant->reasons())
      reasons.push_back({{"variant", reason.variant},
                         {"kind", std::string(to_string(reason.kind))},
                         {"text", reason.text}});
  Json json{{"error", kind_text(error.kind())}, {"message", error.message()}};
  json["reasons"] = std::move(reasons);
  return json;
}

ExitCode plan(const PlanFlags& flags, bool as_json) {
  if (!as_json) {
    const BoundRequest request = bind_request(flags);
    print(to_string(*request.kernel.plan(request.call, request.facts, request.options)));
    return ExitCode::ok;
  }
  // A refusal is an answer, too: it is printed as one, and then ends the program as everywhere.
  try {
    const BoundRequest request = bind_request(flags);
    print(document(Json::parse(
        to_json(request.call, *request.kernel.plan(request.call, request.facts, request.options)))));
    return ExitCode::ok;
  } catch (const Failure& failure) {
    if (failure.code == ExitCode::input) print(document(refusal_json(failure.error)));
    throw;
  } catch (const Error& error) {
    print(document(refusal_json(error)));
    throw;
  }
}

}  // namespace

Verb add_plan(CLI::App& program) {
  CLI::App* command = program.add_subcommand("plan",
                                             "say how a request runs on a device\n"
                                             "Binds the request to the contract of the package, chooses a "
                                             "variant for the device that --facts describes, and "
                                             "prints the passes with their bindings, uniform words, "
                                             "workgroups and scratch buffers. Needs no GPU. With --json a "
                                             "request that is refused prints {\"error\": KIND, \"message\": "
                                             "..., \"reasons\": [...]} and exits with code 1.");
  auto flags = std::make_shared<PlanFlags>();
  auto as_json = std::make_shared<bool>(false);
  add_plan_options(*command, *flags);
  command->add_flag("--json", *as_json, "Print JSON, the rendered shaders included.");
  command->footer(
      "EXAMPLES\n"
      "  kernelpack plan com.microsoft.BiasSoftmax --facts device.json \\\n"
      "      --input data=float32:8x12x48x48 --input bias=float32:8x1x1x48 \\\n"
      "      --attr axis=3 --attr is_inner_broadcast=1\n"
      "  kernelpack plan ./my-package --request request.json --facts device.json --json\n");
  return {command, [flags, as_json] { return plan(*flags, *as_json); }};
}

}  // namespace kernelpack::cli
