#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "json.hpp"
#include "kernelpack/hub.hpp"
#include "package_source.hpp"
#include "verb.hpp"

namespace kernelpack::cli {
namespace {

constexpr std::size_t kPackagesAtOnce = 4;

struct FetchFlags {
  std::vector<std::string> sources;
  std::vector<std::string> organisations;
  bool unverified = false;
  NetworkFlags network;
  bool json = false;
};

struct Outcome {
  std::string source;
  std::optional<FetchedPackage> fetched;
  std::optional<Error> error;
};

/// Every package of "ORG" or "ORG@vN", as a source.
std::vector<std::string> sources_of(const std::string& organisation, const GetOptions& options) {
  const std::size_t at = std::min(organisation.find('@'), organisation.size());
  const std::string version = at == organisation.size() ? "@v1" : organisation.substr(at);
  std::vector<std::string> sources;
  for (const std::string& id : list_published(organisation.substr(0, at), options))
    sources.push_back(id + version);
  return sources;
}

std::vector<Outcome> fetch_all(const std::vector<std::string>& sources, GetOptions options) {
  std::vector<Outcome> outcomes(sources.size());
  DownloadBar bar(sources.size());
  options.progress = bar.callback();
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < sources.size(); i = next++) {
      outcomes[i].source = sources[i];
      try {
        outcomes[i].fetched = fetch_package(sources[i], options);
      } catch (const Error& error) {
        outcomes[i].error = error;
      }
      bar.step();
    }
  };
  std::vector<std::jthread> threads;
  try {
    for (std::size_t i = 1; i < std::min(kPackagesAtOnce, sources.size()); ++i) threads.emplace_back(work);
  } catch (const std::system_error&) {
    // Fewer threads than wanted do the same work.
  }
  work();
  threads.clear();
  return outcomes;
}

Json to_json(const Outcome& outcome) {
  Json entry = {{"source", outcome.source}};
  if (outcome.error) {
    entry["error"] = {{"kind", std::string(to_string(outcome.error->kind()))},
                      {"message", outcome.error->message()},
                      {"where", outcome.error->where()}};
    return entry;
  }
  const PackageOrigin& origin = outcome.fetched->origin;
  entry["op"] = outcome.fetched->package.op_id();
  if (!origin.commit.empty()) entry["commit"] = origin.commit;
  entry["folder"] = origin.folder.string();
  entry["filesFetched"] = origin.files_fetched;
  entry["note"] = origin.note;
  return entry;
}

std::string to_line(const Outcome& outcome) {
  const PackageOrigin& origin = outcome.fetched->origin;
  std::string state = origin.commit.empty() ? "" : fmt::format("  commit {}", origin.commit.substr(0, 12));
  const std::string files =
      origin.files_fetched == 0 ? "from the cache" : fmt::format("{} files fetched", origin.files_fetched);
  return fmt::format("{}{}  {}  {}\n", outcome.source, state, files, origin.folder.string());
}

ExitCode fetch(const FetchFlags& flags) {
  if (flags.sources.empty() && flags.organisations.empty())
    throw UsageError("Neither a package nor --all-of is given; see kernelpack fetch --help");
  const GetOptions options = get_options(flags.network, flags.unverified);
  std::vector<std::string> sources;
  for (const std::string& source : flags.sources) {
    const bool remote = failing_with(ExitCode::input, [&] { return is_remote_source(source, options); });
    if (!remote)
      throw UsageError(
          fmt::format("The package ({}) is neither ORG/NAME@vN, ORG/NAME@COMMIT nor a base URL", source));
    sources.push_back(source);
  }
  for (const std::string& organisation : flags.organisations) {
    const auto all = failing_with(ExitCode::input, [&] { return sources_of(organisation, options); });
    sources.insert(sources.end(), all.begin(), all.end());
  }
  const std::vector<Outcome> outcomes = fetch_all(sources, options);

  Json array = Json::array();
  std::string text;
  std::size_t files = 0;
  std::optional<Error> first;
  for (const Outcome& outcome : outcomes) {
    array.push_back(to_json(outcome));
    if (outcome.error) {
      if (first) std::fputs(describe(*outcome.error, false).c_str(), stderr);
      if (!first) first = outcome.error;
      continue;
    }
    files += outcome.fetched->origin.files_fetched;
    print_note(outcome.fetched->origin.note);
    text += to_line(outcome);
  }
  const auto failed =
      std::count_if(outcomes.begin(), outcomes.end(), [](const Outcome& each) { return each.error; });
  if (outcomes.size() != 1)
    text += fmt::format("{} packages, {} files fetched, {} failed\n", outcomes.size(), files, failed);
  if (flags.json) text = document(array);
  if (!first || outcomes.size() > 1 || flags.json) print(text);
  if (first) throw Failure{*first, ExitCode::input};
  return ExitCode::ok;
}

}  // namespace

Verb add_fetch(CLI::App& program) {
  CLI::App* command = program.add_subcommand("fetch",
                                             "bring packages of the Hugging Face Hub into the cache\n"
                                             "Downloads each package unless the cache holds it, checks every "
                                             "file, and prints where it lies. The cache is "
                                             "that of Hugging Face's own tools; base URLs have one of "
                                             "kernelpack's. A commit that was fetched never "
                                             "needs a request again. A branch (vN) and a base URL take one "
                                             "request for metadata.json, and if that fails "
                                             "the cached copy is used, with a note on standard error. "
                                             "Several packages are fetched at the same time; one "
                                             "that fails keeps none of the others back, and the exit code is "
                                             "then 1. A bar on standard error shows the "
                                             "progress where that is a terminal.");
  auto flags = std::make_shared<FetchFlags>();
  command->add_option("SPEC", flags->sources, "ORG/NAME@vN, ORG/NAME@COMMIT, or a base URL.");
  command
      ->add_option("--all-of", flags->organisations,
                   "Every package that an organisation publishes, at version 1 unless @vN follows.")
      ->allow_extra_args(false)
      ->type_name("ORG[@vN]");
  command->add_flag("--no-verify", flags->unverified, "Do not compare digests.");
  add_network_options(*command, flags->network);
  command->add_flag("--json", flags->json, "Print a JSON array with an object for each package.");
  command->footer(
      "ENVIRONMENT\n"
      "  HF_HUB_CACHE, HF_HOME    where the cache is: HF_HUB_CACHE, or HF_HOME/hub\n"
      "  KERNELPACK_CACHE         where base URLs are kept\n"
      "  HF_ENDPOINT              another Hub than https://huggingface.co\n"
      "  HF_TOKEN, HF_TOKEN_PATH  an access token, and a file that holds one\n"
      "  HF_HUB_OFFLINE=1         make no request\n"
      "  SSL_CERT_FILE            certificates to trust\n"
      "  https_proxy, no_proxy    proxies, as libcurl reads them\n\n"
      "EXAMPLES\n"
      "  kernelpack fetch webgpu-kernels/com.microsoft.BiasSoftmax@v1\n"
      "  kernelpack fetch --all-of webgpu-kernels\n"
      "  kernelpack fetch --trust-remote-code \\\n"
      "      https://example.com/kernels/ai.onnx.Softmax\n");
  return {command, [flags] { return fetch(*flags); }};
}

}  // namespace kernelpack::cli
