#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "json.hpp"
#include "kernelpack/hub.hpp"
#include "verb.hpp"

namespace kernelpack::cli {
namespace {

struct CacheFlags {
  std::string action;
  bool dry_run = false;
  bool detached = false;
  bool json = false;
};

std::string name_of(const CachedPackage& cached) {
  std::string name = cached.source.empty() ? "(no URL)" : cached.source;
  for (const std::string& branch : cached.branches) name += '@' + branch;
  return name;
}

Json to_json(const CachedPackage& cached) {
  return {{"source", cached.source},
          {"commit", cached.commit},
          {"kind", cached.kind == PackageOrigin::Kind::url ? "url" : "hub"},
          {"branches", cached.branches},
          {"folder", cached.folder.string()},
          {"files", cached.files},
          {"bytes", cached.bytes}};
}

ExitCode list(const CacheFlags& flags, const std::vector<CachedPackage>& packages) {
  Json array = Json::array();
  std::string text;
  std::size_t width = 0;
  std::uint64_t bytes = 0;
  for (const CachedPackage& cached : packages) width = std::max(width, name_of(cached).size());
  for (const CachedPackage& cached : packages) {
    array.push_back(to_json(cached));
    bytes += cached.bytes;
    text += fmt::format("{:<{}}  {}  {} files  {} bytes\n", single_line(name_of(cached)), width,
                        cached.commit.substr(0, 12), cached.files, cached.bytes);
  }
  text += fmt::format("{} packages, {} bytes\n", packages.size(), bytes);
  print(flags.json ? document(array) : text);
  return ExitCode::ok;
}

ExitCode verify(const CacheFlags& flags, const std::vector<CachedPackage>& packages) {
  Json array = Json::array();
  std::string text;
  std::size_t damaged = 0;
  for (const CachedPackage& cached : packages) {
    Json entry = to_json(cached);
    entry["faults"] = Json::array();
    for (const Error& error : verify_cached(cached)) {
      ++damaged;
      entry["faults"].push_back(error.line());
      text += single_line(error.line()) + '\n';
    }
    array.push_back(std::move(entry));
  }
  text += fmt::format("{} packages, {} damaged files\n", packages.size(), damaged);
  print(flags.json ? document(array) : text);
  return damaged == 0 ? ExitCode::ok : ExitCode::input;
}

ExitCode prune(const CacheFlags& flags) {
  PruneOptions options;
  options.dry_run = flags.dry_run;
  options.detached = flags.detached;
  const std::vector<PrunedFile> removed =
      failing_with(ExitCode::environment, [&] { return prune_cache(options); });
  Json array = Json::array();
  std::string text;
  std::uint64_t bytes = 0;
  for (const PrunedFile& file : removed) {
    array.push_back({{"path", file.path.string()}, {"reason", file.reason}, {"bytes", file.bytes}});
    text += fmt::format("{}  {}\n", file.reason, single_line(file.path.string()));
    bytes += file.bytes;
  }
  text += fmt::format("{} files, {} bytes {}\n", removed.size(), bytes,
                      flags.dry_run ? "would be removed" : "removed");
  print(flags.json ? document(array) : text);
  return ExitCode::ok;
}

ExitCode run(const CacheFlags& flags) {
  if (flags.action != "prune" && (flags.dry_run || flags.detached))
    throw UsageError("The options --dry-run and --detached belong to kernelpack cache prune");
  if (flags.action == "prune") return prune(flags);
  const auto packages = failing_with(ExitCode::input, [] { return cached_packages(); });
  return flags.action == "list" ? list(flags, packages) : verify(flags, packages);
}

}  // namespace

Verb add_cache(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("cache",
                             "list, check or tidy the cached packages\n"
                             "list prints the packages in the hub cache of Hugging Face's "
                             "tools (HF_HOME, HF_HUB_CACHE) and in kernelpack's "
                             "own cache of base URLs (KERNELPACK_CACHE). verify compares "
                             "every file with what vouches for it. prune removes "
                             "unfinished downloads, damaged files and content that no commit "
                             "uses; what changed within the last hour may "
                             "belong to a running download and stays. Repositories without a "
                             "WebGPU package, and what lies behind a "
                             "symbolic link, are left alone. verify exits with 1 if a file is "
                             "damaged; the next use of the package fetches "
                             "that file again. No request is made.");
  auto flags = std::make_shared<CacheFlags>();
  command->add_option("ACTION", flags->action, "list, verify or prune.")
      ->required()
      ->check(CLI::IsMember({"list", "verify", "prune"}));
  command->add_flag("--dry-run", flags->dry_run, "prune: only print what would be removed.");
  command->add_flag(
      "--detached", flags->detached,
      "prune: also remove commits that no branch leads to, those fetched by commit included, and "
      "copies that no base URL leads to, unless they were used within the last hour.");
  command->add_flag(
      "--json", flags->json,
      "Print a JSON array: for list and verify an object for each package (source, commit, kind, "
      "branches, folder, files, bytes, and faults), for prune one for each file (path, reason, "
      "bytes).");
  command->footer(
      "EXAMPLES\n"
      "  kernelpack cache list\n"
      "  kernelpack cache verify\n"
      "  kernelpack cache prune --dry-run\n");
  return {command, [flags] { return run(*flags); }};
}

}  // namespace kernelpack::cli
