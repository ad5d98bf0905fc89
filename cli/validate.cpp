#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "json.hpp"
#include "kernelpack/package.hpp"
#include "package_source.hpp"
#include "verb.hpp"

namespace kernelpack::cli {
namespace {

namespace fs = std::filesystem;

struct ValidateFlags {
  std::vector<std::string> packages;
  bool unverified = false;
  bool allow_missing_templates = false;
  bool json = false;
  NetworkFlags network;
};

bool holds_package(const fs::path& folder) {
  std::error_code ignored;
  for (const char* file :
       {"manifest.json", "metadata.json", "build/webgpu/manifest.json", "build/webgpu/metadata.json"})
    if (fs::exists(folder / file, ignored)) return true;
  return false;
}

/// The packages that one argument names: a package, each package below a folder, a shipped one, or one of the
/// Hub, which must load to be fetched whole.
std::vector<fs::path> packages_of(const std::string& argument, const ValidateFlags& flags) {
  if (const auto folder = fetched_folder(argument, flags.network, flags.unverified)) return {*folder};
  std::error_code fault;
  if (!fs::is_directory(argument, fault)) {
    for (const ShippedPackage& shipped : shipped_packages())
      if (shipped.op_id == argument) return {shipped.folder};
    throw Error(ErrorKind::io, "There is no folder and no shipped package of that name", argument);
  }
  if (holds_package(argument)) return {argument};
  std::vector<fs::path> found;
  for (auto entry =
           fs::recursive_directory_iterator(argument, fs::directory_options::skip_permission_denied, fault);
       !fault && entry != fs::recursive_directory_iterator(); entry.increment(fault)) {
    std::error_code ignored;
    if (!entry->is_directory(ignored) || !holds_package(entry->path())) continue;
    found.push_back(entry->path());
    entry.disable_recursion_pending();
  }
  if (fault)
    throw Error(ErrorKind::io, fmt::format("The folder cannot be read ({})", fault.message()), argument);
  if (found.empty()) throw Error(ErrorKind::io, "The folder holds no package", argument);
  std::sort(found.begin(), found.end());
  return found;
}

/// A bar on the terminal while many packages are checked; nothing elsewhere.
class Progress {
 public:
  explicit Progress(std::size_t total) : total_(total), shown_(total > 1 && ::isatty(STDERR_FILENO) == 1) {}
  ~Progress() {
    if (shown_) std::fputs("\r\x1b[K", stderr);
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void step(std::size_t done) const {
    if (!shown_) return;
    constexpr std::size_t kWidth = 40;
    const std::size_t filled = done * kWidth / total_;
    std::fputs(fmt::format("\r[{:#<{}}{:.<{}}] {}/{}", "", filled, "", kWidth - filled, done, total_).c_str(),
               stderr);
    std::fflush(stderr);
  }

 private:
  std::size_t total_;
  bool shown_;
};

std::string count(std::size_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

Json error_json(const Error& error) {
  Json json{{"error", std::string(to_string(error.kind()))}, {"message", error.message()}};
  if (!error.where().empty()) json["where"] = error.where();
  return json;
}

ExitCode validate(const ValidateFlags& flags) {
  std::vector<fs::path> packages;
  for (const std::string& argument : flags.packages)
    for (fs::path& package : packages_of(argument, flags)) packages.push_back(std::move(package));

  Json array = Json::array();
  std::string text;
  std::size_t faulty = 0;
  std::size_t faults = 0;
  {
    const Progress progress(packages.size());
    for (std::size_t i = 0; i < packages.size(); ++i) {
      progress.step(i);
      const std::vector<Error> errors =
          Package::validate(packages[i], {.verify = !flags.unverified,
                                          .expected_op_id = {},
                                          .allow_missing_templates = flags.allow_missing_templates});
      faulty += !errors.empty();
      faults += errors.size();
      Json list = Json::array();
      for (const Error& error : errors) {
        list.push_back(error_json(error));
        text += fmt::format("{}{}: {}\n", text.empty() ? "" : "\n", single_line(packages[i].string()),
                            single_line(error.line()));
        if (!error.excerpt().empty()) text += error.excerpt() + '\n';
        for (const std::string& context : error.context()) text += single_line(context) + '\n';
      }
      array.push_back({{"package", packages[i].string()}, {"problems", std::move(list)}});
    }
  }
  if (flags.json) {
    print(document(array));
  } else {
    if (!text.empty()) text += '\n';
    print(text + (faulty == 0
                      ? fmt::format("{} without problems\n", count(packages.size(), "package"))
                      : fmt::format("{}, {} of them with problems ({})\n", count(packages.size(), "package"),
                                    faulty, count(faults, "problem"))));
  }
  return faulty == 0 ? ExitCode::ok : ExitCode::input;
}

}  // namespace

Verb add_validate(CLI::App& program) {
  CLI::App* command = program.add_subcommand("validate",
                                             "check packages and print all their problems\n"
                                             "Loads each package as the other commands do, but goes on after "
                                             "a problem as far as it can and prints all of them "
                                             "with file, JSON pointer, line and column. A folder that is no "
                                             "package stands for all packages below it. The exit "
                                             "code is 1 if any package has a problem.");
  auto flags = std::make_shared<ValidateFlags>();
  command
      ->add_option("PACKAGE", flags->packages,
                   "Package folders, folders of packages, op ids of shipped packages, ORG/NAME@vN or "
                   "ORG/NAME@COMMIT of the Hugging Face Hub, or base URLs.")
      ->required();
  command->add_flag("--no-verify", flags->unverified, "Do not compare digests.");
  command->add_flag("--allow-missing-templates", flags->allow_missing_templates,
                    "Accept packages whose templates are absent.");
  add_network_options(*command, flags->network);
  command->add_flag("--json", flags->json, "Print a JSON array of objects with package and problems.");
  command->footer(
      "EXAMPLES\n"
      "  kernelpack validate ./my-package\n"
      "  kernelpack validate ~/kernels --json\n");
  return {command, [flags] { return validate(*flags); }};
}

}  // namespace kernelpack::cli
