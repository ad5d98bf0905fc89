// Values of the pipeline as JSON documents: for the program, the C interface and whoever else reads JSON.
#include "kernelpack/json.hpp"

#include "json_object.hpp"

namespace kernelpack {
namespace {

std::string_view to_string(PackageOrigin::Kind kind) noexcept {
  switch (kind) {
    case PackageOrigin::Kind::folder:
      return "folder";
    case PackageOrigin::Kind::shipped:
      return "shipped";
    case PackageOrigin::Kind::hub:
      return "hub";
    case PackageOrigin::Kind::url:
      break;
  }
  return "url";
}

json::Value port(const PackageSummary::Port& port) {
  return JsonObject()
      .add("name", port.name)
      .add("dtype", port.dtype)
      .add("rank", port.rank)
      .add("shape", port.shape)
      .add("optional", port.optional)
      .add("inout", port.inout)
      .add("description", port.description);
}

json::Value argument(const PackageSummary::Argument& argument) {
  return JsonObject()
      .add("name", argument.name)
      .add("kind", argument.kind)
      .add("required", argument.required)
      .add("oneOf", json_array(argument.one_of))
      .add("description", argument.description);
}

json::Value attribute(const PackageSummary::Attribute& attribute) {
  JsonObject object;
  object.add("name", attribute.name).add("required", attribute.required);
  if (attribute.default_value) object.add("default", *attribute.default_value);
  return object.add("values", json_array(attribute.values)).add("description", attribute.description);
}

json::Value type(const PackageSummary::Type& type) {
  return JsonObject().add("name", type.name).add("dtypes", json_array(type.dtypes));
}

json::Value tunable(const PackageSummary::Tunable& tunable) {
  return JsonObject()
      .add("name", tunable.name)
      .add("default", tunable.value)
      .add("description", tunable.description);
}

json::Value variant(const PackageSummary::Variant& variant) {
  return JsonObject()
      .add("id", variant.id)
      .add("description", variant.description)
      .add("priority", variant.priority)
      .add("when", json_array(variant.when))
      .add("templates", json_array(variant.templates));
}

json::Value file(const PackageFile& file) {
  return JsonObject()
      .add("name", file.name)
      .add("bytes", file.bytes)
      .add("digest", kernelpack::to_string(file.digest));
}

json::Value origin(const PackageOrigin& origin) {
  return JsonObject()
      .add("kind", to_string(origin.kind))
      .add("source", origin.source)
      .add("branch", origin.branch)
      .add("commit", origin.commit)
      .add("filesFetched", origin.files_fetched)
      .add("note", origin.note);
}

json::Value bound_tensor(const BoundTensor& tensor) {
  return JsonObject()
      .add("name", tensor.name)
      .add("dtype", tensor.dtype)
      .add("storageDtype", tensor.storage)
      .add("shape", json_array(tensor.shape))
      .add("packed", tensor.packed)
      .add("inout", tensor.inout)
      .add("saturating", tensor.saturating);
}

json::Value bound_type(const BoundType& type) {
  return JsonObject().add("name", type.name).add("dtype", type.dtype).add("storageDtype", type.storage);
}

json::Value call_value(const Call& call) {
  return JsonObject()
      .add("op", call.op)
      .add("inputs", json_array(call.inputs, bound_tensor))
      .add("outputs", json_array(call.outputs, bound_tensor))
      .add("types", json_array(call.types, bound_type))
      .add("attributes", call.attributes)
      .add("arguments", call.arguments)
      .add("tunables", call.tunables)
      .add("variant", call.variant);
}

json::Value binding(const PlannedBinding& binding) {
  JsonObject object;
  object.add("name", binding.name).add("buffer", kernelpack::to_string(binding.buffer));
  switch (binding.resource) {
    case PlannedBinding::Resource::tensor:
      object.add("tensor", binding.target);
      break;
    case PlannedBinding::Resource::scratch:
      object.add("scratch", binding.target);
      break;
    case PlannedBinding::Resource::uniform:
      return object.add("uniform", binding.target).add("words", json_array(binding.words));
  }
  object.add("elementType", binding.element_type);
  if (binding.length) object.add("length", *binding.length);
  return object;
}

json::Value pass(const PlannedPass& pass) {
  std::vector<std::uint32_t> words;
  for (const PlannedBinding& each : pass.bindings)
    words.insert(words.end(), each.words.begin(), each.words.end());
  JsonObject object;
  object.add("id", pass.id)
      .add("dispatch", json_array(pass.workgroups))
      .add("uniformWords", json_array(words));
  if (pass.skip == PlannedPass::Skip::empty) object.add("skip", "empty");
  if (pass.skip == PlannedPass::Skip::view_alias) object.add("skip", "viewAlias");
  return object.add("bindings", json_array(pass.bindings, binding)).add("wgsl", pass.wgsl);
}

json::Value scratch(const PlannedScratch& buffer) {
  return JsonObject()
      .add("id", buffer.id)
      .add("dtype", buffer.dtype)
      .add("shape", json_array(buffer.shape))
      .add("bytes", buffer.bytes)
      .add("zeroInit", buffer.zero_init)
      .add("used", buffer.used);
}

json::Value plan_value(const Call& call, const Plan& plan) {
  JsonObject outputs;
  for (const BoundTensor& output : call.outputs)
    outputs.add(output.name, JsonObject()
                                 .add("shape", json_array(output.shape))
                                 .add("logicalDtype", output.dtype)
                                 .add("storageDtype", output.storage)
                                 .value());
  return JsonObject()
      .add("variant", plan.variant)
      .add("rejected", json_array(plan.rejected, [](const Rejection& each) { return json_of(each.variant); }))
      .add("outputs", outputs.value())
      .add("scratch", json_array(plan.scratch, scratch))
      .add("passes", json_array(plan.passes, pass));
}

json::Value explained(const ExplainedValue& value) {
  return JsonObject()
      .add("name", value.name)
      .add("expression", value.expression)
      .add("value", value.value)
      .add("failed", value.failed);
}

json::Value clause(const ExplainedClause& clause) {
  return JsonObject()
      .add("expression", clause.result.expression)
      .add("value", clause.result.value)
      .add("failed", clause.result.failed)
      .add("holds", clause.holds)
      .add("because", json_array(clause.because, explained));
}

json::Value explained_variant(const ExplainedVariant& variant) {
  json::Value rejection;
  if (variant.rejection)
    rejection = JsonObject()
                    .add("kind", kernelpack::to_string(variant.rejection->kind))
                    .add("text", variant.rejection->text)
                    .value();
  return JsonObject()
      .add("id", variant.id)
      .add("priority", variant.priority)
      .add("outcome", kernelpack::to_string(variant.outcome))
      .add("rejection", std::move(rejection))
      .add("demoted", variant.demoted)
      .add("when", json_array(variant.when, clause))
      .add("demoteWhen", json_array(variant.demote_when, clause));
}

json::Value explained_pass(const ExplainedPass& pass) {
  return JsonObject()
      .add("id", pass.id)
      .add("values", json_array(pass.values, explained))
      .add("source", json_array(pass.source, explained))
      .add("dispatch", json_array(pass.dispatch, explained))
      .add("groups", pass.groups);
}

json::Value refusal(const Error& error) {
  return JsonObject()
      .add("kind", kernelpack::to_string(error.kind()))
      .add("message", error.message())
      .add("where", error.where())
      .add("excerpt", error.excerpt())
      .add("context", json_array(error.context()));
}

// Facts have a text form of their own, which is what reads them.
json::Value facts(const DeviceFacts& facts) {
  return json::parse(facts.to_json(), "facts").root;
}

json::Value adapter(const GpuAdapter& adapter) {
  return JsonObject()
      .add("name", adapter.name)
      .add("description", adapter.description)
      .add("backend", adapter.backend)
      .add("type", adapter.type)
      .add("software", adapter.software)
      .add("facts", facts(adapter.facts))
      .add("float16Missing", adapter.float16_missing);
}

json::Value library(const GpuLibrary& library) {
  return JsonObject()
      .add("name", library.name)
      .add("path", library.path)
      .add("problem", library.problem)
      .add("complete", library.complete)
      .add("adapters", json_array(library.adapters, adapter));
}

}  // namespace

std::string to_json(const Kernel& kernel) {
  const Package& package = kernel.package();
  const PackageSummary summary = package.describe();
  return json::write(JsonObject()
                         .add("op", summary.op_id)
                         .add("description", summary.description)
                         .add("manifestSpec", package.manifest_spec())
                         .add("version", package.version())
                         .add("sinceVersion", summary.since_version)
                         .add("license", summary.license)
                         .add("folder", package.folder().string())
                         .add("verified", package.verified())
                         .add("inputs", json_array(summary.inputs, port))
                         .add("outputs", json_array(summary.outputs, port))
                         .add("arguments", json_array(summary.arguments, argument))
                         .add("attributes", json_array(summary.attributes, attribute))
                         .add("types", json_array(summary.types, type))
                         .add("tunables", json_array(summary.tunables, tunable))
                         .add("when", json_array(summary.when))
                         .add("variants", json_array(summary.variants, variant))
                         .add("files", json_array(package.files(), file))
                         .add("origin", origin(kernel.origin())));
}

std::string to_json(const Call& call) {
  return json::write(call_value(call));
}

std::string to_json(const Call& call, const Plan& plan) {
  return json::write(plan_value(call, plan));
}

std::string to_json(const Explanation& explanation) {
  json::Value plan;
  if (explanation.plan) plan = plan_value(explanation.call, *explanation.plan);
  json::Value refused;
  if (explanation.refusal) refused = refusal(*explanation.refusal);
  return json::write(JsonObject()
                         .add("call", call_value(explanation.call))
                         .add("device", facts(explanation.device))
                         .add("derives", json_array(explanation.derives, explained))
                         .add("variants", json_array(explanation.variants, explained_variant))
                         .add("tunables", json_array(explanation.tunables, explained))
                         .add("variantDerives", json_array(explanation.variant_derives, explained))
                         .add("passes", json_array(explanation.passes, explained_pass))
                         .add("plan", std::move(plan))
                         .add("refusal", std::move(refused)));
}

std::string to_json(std::span<const GpuLibrary> libraries) {
  return json::write(json_array(libraries, library));
}

}  // namespace kernelpack
