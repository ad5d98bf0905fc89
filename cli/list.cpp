#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "json.hpp"
#include "kernelpack/hub.hpp"
#include "kernelpack/package.hpp"
#include "package_source.hpp"
#include "verb.hpp"

namespace kernelpack::cli {
namespace {

ExitCode list(bool as_json) {
  const std::vector<ShippedPackage> packages = shipped_packages();
  if (as_json) {
    Json array = Json::array();
    for (const ShippedPackage& package : packages) {
      array.push_back({{"op", package.op_id}, {"folder", package.folder.string()}});
    }
    print(document(array));
    return ExitCode::ok;
  }
  std::string text;
  std::size_t width = 0;
  for (const ShippedPackage& package : packages) width = std::max(width, package.op_id.size());
  for (const ShippedPackage& package : packages) {
    text += fmt::format("{:<{}}  {}\n", package.op_id, width, package.folder.string());
  }
  if (packages.empty()) {
    text = "No package is found in these folders:\n";
    for (const std::filesystem::path& folder : package_search_path())
      text += fmt::format("  {}\n", folder.string());
  }
  print(text);
  return ExitCode::ok;
}

ExitCode list_published_by(const std::string& organisation, const NetworkFlags& network, bool as_json) {
  const std::vector<std::string> ids = failing_with(
      ExitCode::input, [&] { return list_published(organisation, get_options(network, false)); });
  Json array = Json::array();
  std::string text;
  for (const std::string& id : ids) {
    array.push_back({{"op", id.substr(id.find('/') + 1)}, {"source", id}});
    text += id + '\n';
  }
  if (ids.empty()) text = fmt::format("The organisation {} publishes no package.\n", organisation);
  print(as_json ? document(array) : text);
  return ExitCode::ok;
}

}  // namespace

Verb add_list(CLI::App& program) {
  CLI::App* options = program.add_subcommand("list",
                                             "print the packages that can be named by their op id\n"
                                             "Packages are searched in the folders of the environment "
                                             "variable KERNELPACK_PACKAGES (':' between them), then "
                                             "in ../../packages and ../share/kernelpack/packages from the "
                                             "folder of this program. The working directory is "
                                             "never searched. With --org the packages that an organisation "
                                             "publishes on the Hugging Face Hub are "
                                             "printed instead, one ORG/NAME a line, which takes one request; "
                                             "kernelpack cache list prints those that are cached.");
  struct ListFlags {
    bool json = false;
    std::string organisation;
    NetworkFlags network;
  };
  auto flags = std::make_shared<ListFlags>();
  options
      ->add_option("--org", flags->organisation,
                   "Ask the Hugging Face Hub instead which packages this organisation publishes.")
      ->type_name("ORG");
  add_request_options(*options, flags->network);
  options->add_flag("--json", flags->json,
                    "Print a JSON array of objects with op and folder (with --org: op and source).");
  options->footer(
      "ENVIRONMENT\n"
      "  KERNELPACK_PACKAGES                    folders of packages, ':' between them\n"
      "  HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE  for --org, as in kernelpack fetch\n\n"
      "EXAMPLES\n"
      "  kernelpack list\n"
      "  kernelpack list --org webgpu-kernels --json\n");
  return {options, [flags] {
            return flags->organisation.empty()
                       ? list(flags->json)
                       : list_published_by(flags->organisation, flags->network, flags->json);
          }};
}

}  // namespace kernelpack::cli
