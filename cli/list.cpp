#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "json.hpp"
#include "kernelpack/package.hpp"
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

}  // namespace

Verb add_list(CLI::App& program) {
  CLI::App* options = program.add_subcommand("list",
                                             "print the packages that can be named by their op id\n"
                                             "Packages are searched in the folders of the environment "
                                             "variable KERNELPACK_PACKAGES (':' between them), then "
                                             "in ../../packages and ../share/kernelpack/packages from the "
                                             "folder of this program. The working directory is "
                                             "never searched.");
  auto as_json = std::make_shared<bool>(false);
  options->add_flag("--json", *as_json, "Print a JSON array of objects with op and folder.");
  return {options, [as_json] { return list(*as_json); }};
}

}  // namespace kernelpack::cli
