#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "json.hpp"
#include "kernelpack/json.hpp"
#include "kernelpack/kernel.hpp"
#include "kernelpack/package.hpp"
#include "layout.hpp"
#include "package_source.hpp"
#include "verb.hpp"

namespace kernelpack::cli {
namespace {

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string dtypes_text(const std::vector<DType>& dtypes) {
  std::vector<std::string> names;
  for (const DType dtype : dtypes) names.emplace_back(to_string(dtype));
  return joined(names, ", ");
}

Table ports_table(const std::vector<PackageSummary::Port>& ports) {
  Table table;
  for (const PackageSummary::Port& port : ports) {
    std::vector<std::string> notes;
    if (port.optional) notes.emplace_back("optional");
    if (port.inout) notes.emplace_back("input and output");
    if (!port.rank.empty()) notes.push_back("rank " + port.rank);
    if (!port.shape.empty()) notes.push_back("shape " + port.shape);
    table.add({port.name, port.dtype, joined(notes, ", ")}, port.description);
  }
  return table;
}

std::string values_text(const std::vector<AttributeValue>& values) {
  std::vector<std::string> texts;
  for (const AttributeValue& value : values) texts.push_back(to_string(value));
  return joined(texts, ", ");
}

std::string text_of(const Package& package) {
  const PackageSummary summary = package.describe();
  std::string text = summary.op_id + '\n';
  text += wrapped(summary.description, 2);
  text += fmt::format("  manifest {}{}{}{}\n", package.manifest_spec(),
                      package.version() ? fmt::format(", contract version {}", *package.version()) : "",
                      summary.since_version ? fmt::format(", ONNX opset {}", *summary.since_version) : "",
                      summary.license.empty() ? "" : ", " + summary.license);
  text += fmt::format("  {}\n", package.folder().string());

  text += ports_table(summary.inputs).text("Inputs");
  text += ports_table(summary.outputs).text("Outputs");

  Table arguments;
  for (const auto& argument : summary.arguments) {
    arguments.add({argument.name, argument.kind,
                   (argument.required ? "required" : "optional") +
                       (argument.one_of.empty() ? "" : ", one of " + joined(argument.one_of, ", "))},
                  argument.description);
  }
  text += arguments.text("Arguments");

  Table attributes;
  for (const auto& attribute : summary.attributes) {
    std::string state = attribute.required        ? "required"
                        : attribute.default_value ? "default " + to_string(*attribute.default_value)
                                                  : "absent unless given";
    if (!attribute.values.empty()) state += ", one of " + values_text(attribute.values);
    attributes.add({attribute.name, state}, attribute.description);
  }
  text += attributes.text("Attributes");

  Table types;
  for (const auto& type : summary.types) types.add({type.name, dtypes_text(type.dtypes)});
  text += types.text("Types");

  Table tunables;
  for (const auto& tunable : summary.tunables) {
    tunables.add({tunable.name, to_string(tunable.value)}, tunable.description);
  }
  text += tunables.text("Tunables");

  Table conditions;
  for (const std::string& condition : summary.when) conditions.add({condition});
  text += conditions.text("Conditions on every call");

  Table variants;
  for (const auto& variant : summary.variants) {
    std::string prose = variant.description;
    for (const std::string& condition : variant.when)
      prose += (prose.empty() ? "when " : "\nwhen ") + condition;
    variants.add({variant.id, fmt::format("priority {}", variant.priority), joined(variant.templates, ", ")},
                 prose);
  }
  text += summary.variants.empty()
              ? "\nVariants\n  none: the package is a contract only and runs on CPU kernels\n"
              : variants.text("Variants");

  Table files;
  for (const PackageFile& file : package.files()) {
    const bool absent = file.digest == DigestState::absent;
    const std::string state = file.name == "metadata.json" ? "states the digests"
                              : absent                     ? "absent"
                                                           : fmt::format("digest {}", to_string(file.digest));
    files.add({file.name, absent ? "" : fmt::format("{} bytes", file.bytes), state});
  }
  text += files.text("Files");
  return text;
}

struct InspectOptions {
  PackageFlags package;
  bool json = false;
};

ExitCode inspect(const InspectOptions& options) {
  const Kernel kernel = get_kernel(options.package);
  print(options.json ? document(Json::parse(to_json(kernel))) : text_of(kernel.package()));
  return ExitCode::ok;
}

}  // namespace

Verb add_inspect(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "inspect",
      "print the contract of a package\n"
      "Loads and verifies the package, then prints its inputs and outputs, attributes with defaults, type "
      "constraints, variants, and its files with the state of their digests.");
  auto options = std::make_shared<InspectOptions>();
  add_package_options(*command, options->package);
  command->add_flag("--json", options->json, "Print JSON.");
  command->footer("EXAMPLES\n  kernelpack inspect com.microsoft.BiasSoftmax\n");
  return {command, [options] { return inspect(*options); }};
}

}  // namespace kernelpack::cli
