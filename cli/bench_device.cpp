#include "bench_device.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>

#include "failure.hpp"
#include "gpu_choice.hpp"

namespace kernelpack::cli {
namespace {

bool is_half(const BenchmarkCase& benchmark) {
  return std::any_of(benchmark.inputs.begin(), benchmark.inputs.end(),
                     [](const CaseInput& input) { return input.spec.dtype == DType::float16; });
}

}  // namespace

Method BenchFlags::method() const {
  Method method;
  method.rounds = rounds;
  method.seconds = milliseconds * 1e-3;
  method.load_seconds = load_milliseconds * 1e-3;
  return method;
}

void add_bench_options(CLI::App& command, BenchFlags& flags) {
  add_device_option(command, flags.device, false,
                    "gpu (the default), or gpu:NAME for the adapter that has NAME in its name.");
  command
      .add_option(
          "--library", flags.library,
          "The WebGPU library: dawn, wgpu-native, or a file. By default the value of KERNELPACK_WEBGPU, else "
          "the first that offers float16 where a case needs it.")
      ->type_name("LIBRARY");
  command
      .add_option("--cases", flags.cases,
                  "Only the cases whose id contains one of these texts, separated by commas.")
      ->type_name("TEXT,...");
  command
      .add_option("--file", flags.file, "Read the cases from this file instead of the package's bench.json.")
      ->type_name("FILE");
  command.add_option("--rounds", flags.rounds, "Measurements of each case (5).")
      ->type_name("N")
      ->check(CLI::Range(1, 1000).description(""));
  command
      .add_option("--milliseconds", flags.milliseconds,
                  "The least length of a measurement (15), unless 1500 dispatches take less.")
      ->type_name("M")
      ->check(CLI::Range(0.001, 10000.0).description(""));
  command
      .add_option("--load-milliseconds", flags.load_milliseconds,
                  "How long the device works before the first round (1000), to raise its clocks.")
      ->type_name("M")
      ->check(CLI::Range(0.0, 60000.0).description(""));
}

Device open_bench_device(const BenchFlags& flags, const std::vector<BenchmarkCase>& cases) {
  return failing_with(ExitCode::environment, [&] {
    GpuOptions options = gpu_options(flags.device, flags.library, false);
    options.profiling = true;
    return open_preferring_halves(options, std::any_of(cases.begin(), cases.end(), is_half));
  });
}

BenchmarkCases bench_cases(const BenchFlags& flags, const Package& package) {
  BenchmarkCases read = failing_with(ExitCode::input, [&] {
    return flags.file.empty() ? read_benchmark_cases(package)
                              : read_benchmark_cases(std::filesystem::path(flags.file));
  });
  if (flags.cases.empty()) return read;
  std::vector<std::string> wanted;
  std::string_view rest = flags.cases;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (comma > 0) wanted.emplace_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  std::erase_if(read.cases, [&](const BenchmarkCase& each) {
    return std::none_of(wanted.begin(), wanted.end(),
                        [&](const std::string& text) { return each.id.find(text) != std::string::npos; });
  });
  if (read.cases.empty())
    throw UsageError(fmt::format("The value of --cases ({}) is part of no case's id", flags.cases));
  return read;
}

bool runs_on(const Device& device, const BenchmarkCase& benchmark) {
  return !is_half(benchmark) || device.facts().has_feature("shader-f16");
}

StepLine::StepLine(std::size_t total) : total_(total), visible_(isatty(STDERR_FILENO) != 0) {}

StepLine::~StepLine() {
  if (visible_) std::fputs("\r\033[K", stderr);
}

void StepLine::show(std::size_t done, const std::string& what) {
  if (visible_) std::fputs(fmt::format("\r{}/{} {}\033[K", done, total_, single_line(what)).c_str(), stderr);
}

}  // namespace kernelpack::cli
