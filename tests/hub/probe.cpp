// Fetches packages as the library does and prints one JSON object a line, so that a test can look at one
// process.
//     hub_probe [--OPTION VALUE ...] SOURCE...
// Options hold for all sources that follow them.
#include <chrono>
#include <cstdio>
#include <exception>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "base/json.hpp"
#include "kernelpack/kernelpack.hpp"

namespace {

namespace kp = kernelpack;
using std::chrono::milliseconds;

struct Run {
  kp::GetOptions options;
  milliseconds cancel_after{0};
  int threads = 1;
  bool count_progress = false;
};

std::string json_text(std::string_view text) {
  return kp::json::quote(text);
}

void print(const std::string& line) {
  std::fputs((line + '\n').c_str(), stdout);
  std::fflush(stdout);
}

std::string describe(const kp::Kernel& kernel, std::size_t calls, std::size_t overlaps) {
  const kp::PackageOrigin& origin = kernel.origin();
  const int kind = static_cast<int>(origin.kind);
  return fmt::format(
      R"({{"op": {}, "description": {}, "kind": {}, "source": {}, "branch": {}, "commit": {}, "folder": {}, )"
      R"("fetched": {}, "note": {}, "verified": {}, "progressCalls": {}, "progressOverlaps": {}}})",
      json_text(kernel.package().op_id()), json_text(kernel.package().describe().description), kind,
      json_text(origin.source), json_text(origin.branch), json_text(origin.commit),
      json_text(origin.folder.string()), origin.files_fetched, json_text(origin.note),
      kernel.package().verified(), calls, overlaps);
}

std::string describe(const kp::Error& error, double seconds) {
  std::string context;
  for (const std::string& line : error.context()) context += (context.empty() ? "" : ", ") + json_text(line);
  return fmt::format(R"({{"error": {}, "message": {}, "where": {}, "context": [{}], "seconds": {:.3f}}})",
                     json_text(kp::to_string(error.kind())), json_text(error.message()),
                     json_text(error.where()), context, seconds);
}

std::string get(const std::string& source, const Run& run) {
  const auto start = std::chrono::steady_clock::now();
  kp::GetOptions options = run.options;
  std::stop_source stop;
  options.cancel = stop.get_token();
  std::size_t calls = 0;
  std::size_t inside = 0;
  std::size_t overlap = 0;
  if (run.count_progress)
    options.progress = [&](const kp::FetchProgress& progress) {
      if (++inside > 1) ++overlap;
      ++calls;
      if (progress.files_done > progress.files_wanted)
        throw std::runtime_error("more files are done than wanted");
      --inside;
    };
  std::jthread timer;
  if (run.cancel_after.count() > 0)
    timer = std::jthread([&](const std::stop_token& over) {
      const auto end = start + run.cancel_after;
      while (!over.stop_requested() && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(milliseconds(5));
      stop.request_stop();
    });
  try {
    const kp::Kernel kernel = kp::Kernel::get(source, options);
    return describe(kernel, calls, overlap);
  } catch (const kp::Error& error) {
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    return describe(error, time.count());
  }
}

void run_source(const std::string& source, const Run& run) {
  std::vector<std::string> lines(static_cast<std::size_t>(run.threads));
  {
    std::vector<std::jthread> threads;
    for (std::string& line : lines) threads.emplace_back([&] { line = get(source, run); });
  }
  for (const std::string& line : lines) print(line);
}

void set_option(Run& run, const std::string& name, const std::string& value) {
  kp::GetOptions& options = run.options;
  const auto time = [&] { return milliseconds(std::stoi(value)); };
  if (name == "--version")
    options.version = std::stoi(value);
  else if (name == "--revision")
    options.revision = value;
  else if (name == "--expect")
    options.expected_op_id = value;
  else if (name == "--trust")
    options.trust_remote_code = value == "1";
  else if (name == "--verify")
    options.verify = value == "1";
  else if (name == "--token")
    options.token = value;
  else if (name == "--offline")
    options.offline = value == "1";
  else if (name == "--cache")
    options.cache_dir = value;
  else if (name == "--url-cache")
    options.url_cache_dir = value;
  else if (name == "--endpoint")
    options.endpoint = value;
  else if (name == "--connect")
    options.limits.connect = time();
  else if (name == "--stall")
    options.limits.stall = time();
  else if (name == "--branch-limit")
    options.limits.branch = time();
  else if (name == "--attempts")
    options.limits.attempts = std::stoi(value);
  else if (name == "--backoff")
    options.limits.backoff = time();
  else if (name == "--longest-wait")
    options.limits.longest_wait = time();
  else if (name == "--parallel")
    options.limits.parallel = static_cast<std::size_t>(std::stoi(value));
  else if (name == "--cancel-after")
    run.cancel_after = time();
  else if (name == "--threads")
    run.threads = std::stoi(value);
  else if (name == "--progress")
    run.count_progress = value == "1";
  else
    throw std::invalid_argument("unknown option " + name);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Run run;
    run.options.limits.backoff = milliseconds(20);
    const std::vector<std::string> words(argv + 1, argv + argc);
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (words[i] == "--list") {
        try {
          std::string ids;
          for (const std::string& id : kp::list_published(words.at(++i), run.options))
            ids += (ids.empty() ? "" : ", ") + json_text(id);
          print("[" + ids + "]");
        } catch (const kp::Error& error) {
          print(describe(error, 0));
        }
      } else if (words[i].starts_with("--")) {
        set_option(run, words[i], words.at(i + 1));
        ++i;
      } else {
        run_source(words[i], run);
      }
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hub_probe: %s\n", error.what());
    return 2;
  }
}
