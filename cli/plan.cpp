#include <memory>
#include <string>

#include <fmt/format.h>

#include "json.hpp"
#include "request.hpp"
#include "verb.hpp"

namespace kernelpack::cli {
namespace {

Json binding_json(const PlannedBinding& binding) {
  Json json{{"name", binding.name}, {"buffer", std::string(to_string(binding.buffer))}};
  switch (binding.resource) {
    case PlannedBinding::Resource::tensor:
      json["tensor"] = binding.target;
      break;
    case PlannedBinding::Resource::scratch:
      json["scratch"] = binding.target;
      break;
    case PlannedBinding::Resource::uniform:
      json["uniform"] = binding.target;
      json["words"] = binding.words;
      return json;
  }
  json["elementType"] = binding.element_type;
  if (binding.length) json["length"] = *binding.length;
  return json;
}

Json pass_json(const PlannedPass& pass) {
  Json words = Json::array();
  Json bindings = Json::array();
  for (const PlannedBinding& binding : pass.bindings) {
    for (const std::uint32_t word : binding.words) words.push_back(word);
    bindings.push_back(binding_json(binding));
  }
  Json json{{"id", pass.id}, {"dispatch", pass.workgroups}, {"uniformWords", std::move(words)}};
  if (pass.skip == PlannedPass::Skip::empty) json["skip"] = "empty";
  if (pass.skip == PlannedPass::Skip::view_alias) json["skip"] = "viewAlias";
  json["bindings"] = std::move(bindings);
  if (pass.wgsl)
    json["wgsl"] = *pass.wgsl;
  else
    json["wgsl"] = nullptr;
  return json;
}

Json plan_json(const Call& call, const Plan& plan) {
  Json rejected = Json::array();
  for (const Rejection& rejection : plan.rejected) rejected.push_back(rejection.variant);
  Json outputs = Json::object();
  for (const BoundTensor& output : call.outputs)
    outputs[output.name] = {{"shape", output.shape},
                            {"logicalDtype", std::string(to_string(output.dtype))},
                            {"storageDtype", std::string(to_string(output.storage))}};
  Json scratch = Json::array();
  for (const PlannedScratch& buffer : plan.scratch)
    scratch.push_back({{"id", buffer.id},
                       {"dtype", std::string(to_string(buffer.dtype))},
                       {"shape", buffer.shape},
                       {"bytes", buffer.bytes},
                       {"zeroInit", buffer.zero_init},
                       {"used", buffer.used}});
  Json passes = Json::array();
  for (const PlannedPass& pass : plan.passes) passes.push_back(pass_json(pass));
  return {{"variant", plan.variant},
          {"rejected", std::move(rejected)},
          {"outputs", std::move(outputs)},
          {"scratch", std::move(scratch)},
          {"passes", std::move(passes)}};
}

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
    print(document(
        plan_json(request.call, *request.kernel.plan(request.call, request.facts, request.options))));
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
