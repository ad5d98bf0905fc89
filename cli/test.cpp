#include <fnmatch.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench_device.hpp"
#include "case_run.hpp"
#include "gpu_choice.hpp"
#include "package_source.hpp"
#include "verb.hpp"

namespace kernelpack::cli {
namespace {

struct TestFlags {
  PackageFlags package;
  std::string device;  ///< empty: the CPU, and a GPU if there is one
  std::string library;
  std::vector<std::string> cases;
  std::string file;
  int threads = 0;
  bool json = false;
};

TestCases test_cases(const TestFlags& flags, const Package& package) {
  TestCases read = failing_with(ExitCode::input, [&] {
    return flags.file.empty() ? read_test_cases(package)
                              : read_test_cases(std::filesystem::path(flags.file), package);
  });
  const auto matches = [](const std::string& pattern, const TestCase& each) {
    return fnmatch(pattern.c_str(), each.id.c_str(), 0) == 0;
  };
  for (const std::string& pattern : flags.cases)
    if (std::none_of(read.cases.begin(), read.cases.end(),
                     [&](const TestCase& each) { return matches(pattern, each); }))
      throw UsageError(fmt::format("The value of --case ({}) is the id of no case", pattern));
  if (!flags.cases.empty())
    std::erase_if(read.cases, [&](const TestCase& each) {
      return std::none_of(flags.cases.begin(), flags.cases.end(),
                          [&](const std::string& pattern) { return matches(pattern, each); });
    });
  return read;
}

/// The GPU. Where none is asked for, nothing and a note if there is none.
std::optional<Device> open_gpu(const TestFlags& flags, const TestCases& cases, TestReport& report) {
  const bool halves = std::any_of(cases.cases.begin(), cases.cases.end(), [](const TestCase& each) {
    return std::any_of(each.inputs.begin(), each.inputs.end(),
                       [](const CaseInput& input) { return input.spec.dtype == DType::float16; });
  });
  const auto open = [&] {
    return open_preferring_halves(
        gpu_options(flags.device.empty() ? "gpu" : flags.device, flags.library, false), halves);
  };
  if (!flags.device.empty() || !flags.library.empty()) return failing_with(ExitCode::environment, open);
  try {
    return open();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::device) throw;
    report.notes.push_back("Nothing runs on a GPU: " + error.message());
    return std::nullopt;
  }
}

ExitCode test(const TestFlags& flags) {
  const Kernel kernel = get_runnable_kernel(flags.package);
  const TestCases cases = test_cases(flags, kernel.package());
  TestReport report;
  report.package = flags.package.source;
  report.op = kernel.package().op_id();
  report.cases = cases.cases.size();
  for (const PackageSummary::Variant& variant : kernel.package().describe().variants)
    report.variants.push_back(variant.id);
  if (!has_reference(report.op))
    report.notes.push_back(
        fmt::format("No result is compared: this program has no reference of {}", report.op));

  std::optional<Device> cpu;
  std::optional<Device> gpu;
  if (flags.device.empty() || flags.device == "cpu") cpu = Device::cpu({.threads = flags.threads});
  if (flags.device != "cpu") gpu = open_gpu(flags, cases, report);
  if (cpu) report.devices.push_back({"cpu", cpu->description(), {}, false});
  if (gpu)
    report.devices.push_back(
        {"gpu", gpu->description(), gpu->adapter().description, gpu->adapter().software});

  CaseRunner runner(kernel, cases, std::move(cpu), std::move(gpu));
  {
    StepLine line(cases.cases.size());
    for (std::size_t i = 0; i < cases.cases.size(); ++i) {
      line.show(i + 1, cases.cases[i].id);
      runner.run(cases.cases[i], report.rows);
    }
  }
  if (!runner.cpu_missing().empty()) {
    report.notes.push_back("Nothing runs on the CPU: " + runner.cpu_missing());
    std::erase_if(report.devices, [](const TestedDevice& device) { return device.name == "cpu"; });
  }
  for (const std::string& note : report.notes) print_note(note);
  print(flags.json ? document(to_json(report)) : to_text(report));
  const std::size_t failed = report.count(TestOutcome::failed);
  if (failed == 0) return ExitCode::ok;
  std::fputs(fmt::format("kernelpack: check: Cases of {} fail ({} of {} results)\n", single_line(report.op),
                         failed, report.rows.size())
                 .c_str(),
             stderr);
  return ExitCode::check;
}

}  // namespace

Verb add_test(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "test",
      "run a package's own tests\n"
      "Runs the cases of the package's test.json on the CPU and on a GPU, and holds every result against the "
      "operator's definition in double precision, with the tolerance of the file. Where a case says which "
      "variant runs on which device, that is planned for each of these devices; nothing runs there. Exit "
      "code "
      "4 if a case fails.");
  auto flags = std::make_shared<TestFlags>();
  add_package_options(*command, flags->package);
  add_device_option(*command, flags->device, true,
                    "Only cpu, gpu, or gpu:NAME, the adapter that has NAME in its name. By default the CPU "
                    "and, if there is one, a GPU.");
  command
      ->add_option("--library", flags->library,
                   "The WebGPU library: dawn, wgpu-native, or a file. By default the value of "
                   "KERNELPACK_WEBGPU, else the first that offers float16 where a case needs it.")
      ->type_name("LIBRARY");
  command
      ->add_option("--case", flags->cases,
                   "Only the cases of this id; * stands for any letters, ? for one. May be given several "
                   "times.")
      ->allow_extra_args(false)
      ->type_name("ID");
  command
      ->add_option("--file", flags->file, "Read the cases from this file instead of the package's test.json.")
      ->type_name("FILE");
  add_threads_option(*command, flags->threads);
  command->add_flag("--json", flags->json, "Print JSON.");
  command->footer(
      "EXAMPLES\n"
      "  kernelpack test com.microsoft.BiasSoftmax\n"
      "  kernelpack test ./my-package --device gpu --library wgpu-native \\\n"
      "      --case 'masked_*' --case one_column_float16\n");
  return {command, [flags] { return test(*flags); }};
}

}  // namespace kernelpack::cli
