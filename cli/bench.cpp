#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "bench_device.hpp"
#include "bench_report.hpp"
#include "json.hpp"
#include "kernelpack/file.hpp"
#include "kernelpack/tuning.hpp"
#include "package_source.hpp"
#include "picture_file.hpp"
#include "result_check.hpp"
#include "verb.hpp"

namespace kernelpack::cli {
namespace {

// Measurements of a case until the copy is as fast as it must be.
constexpr int kAttempts = 3;

struct Flags {
  PackageFlags package;
  BenchFlags bench;
  std::string against;
  std::string json;
  std::string plot;
  bool check = false;
};

/// The outputs that lie on the device against those of the CPU; below 0 where the CPU has no such kernel.
double check(const Device& device, const Kernel& kernel, const BenchmarkCase& benchmark, const Call& call,
             const Contender& ran) {
  // The packages share their outputs.
  run_once(device, ran);
  std::vector<Tensor> inputs;
  std::vector<TensorView> views;
  std::vector<Tensor> outputs;
  std::vector<MutableTensorView> targets;
  for (const BoundTensor& bound : call.inputs)
    for (const CaseInput& input : benchmark.inputs)
      if (input.name == bound.name) inputs.push_back(make_tensor(input));
  for (const Tensor& input : inputs) views.push_back(input.view());
  for (const BoundTensor& bound : call.outputs) outputs.emplace_back(TensorSpec{bound.dtype, bound.shape});
  for (Tensor& output : outputs) targets.push_back(output.mutable_view());
  try {
    kernel.run(call, views, targets, Device::cpu());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported) throw;
    return -1;
  }
  double worst = 0;
  for (std::size_t i = 0; i < call.outputs.size(); ++i)
    for (std::size_t j = 0; j < ran.plan->tensors.size(); ++j)
      if (ran.plan->tensors[j].name == call.outputs[i].name)
        worst = std::max(worst, worst_of(ran.tensors[j].read(), outputs[i]));
  return worst;
}

BenchCaseResult run_case(const Device& device, const std::vector<Kernel>& kernels,
                         const std::vector<std::string>& names, const BenchmarkCase& benchmark,
                         const Flags& flags, bool& device_clock) {
  BenchCaseResult result;
  result.id = benchmark.id;
  result.attributes = benchmark.attributes;
  for (const CaseInput& input : benchmark.inputs) result.inputs.push_back({input.name, input.spec});
  if (!runs_on(device, benchmark)) {
    result.skipped = "The device does not offer shader-f16";
    return result;
  }
  const CaseTensors tensors(device, kernels.front(), benchmark);
  result.bytes = tensors.bytes();
  result.columns = tensors.columns();
  result.copy.measured = tensors.copy();
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    BenchEntry entry;
    entry.measured.name = names[i];
    try {
      const Call call = tensors.bind(kernels[i]);
      entry.measured = tensors.contender(names[i], kernels[i], call);
    } catch (const Error& error) {
      // One shape that a package does not take must not end the run.
      entry.failure = error.line();
    }
    result.entries.push_back(std::move(entry));
  }
  std::vector<Contender*> contenders{&result.copy.measured};
  for (BenchEntry& entry : result.entries)
    if (entry.failure.empty()) contenders.push_back(&entry.measured);
  const double least = least_copy_rate(device.description(), result.bytes);
  Method method = flags.bench.method();
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    for (Contender* contender : contenders) contender->seconds.clear();
    device_clock = measure(device, contenders, method) && device_clock;
    result.valid = static_cast<double>(result.bytes) / result.copy.measured.median() >= least;
    if (result.valid) break;
    method.load_seconds *= 2;
  }
  // Last, since the GPU idles meanwhile and its clocks fall.
  for (std::size_t i = 0; i < kernels.size() && flags.check; ++i) {
    BenchEntry& entry = result.entries[i];
    if (entry.failure.empty())
      entry.error = check(device, kernels[i], benchmark, tensors.bind(kernels[i]), entry.measured);
  }
  // The tensors go with the case, so that one case of the largest sizes fits at a time.
  result.copy.measured.tensors.clear();
  for (BenchEntry& entry : result.entries) entry.measured.tensors.clear();
  return result;
}

ExitCode bench(const Flags& flags) {
  std::vector<Kernel> kernels{get_runnable_kernel(flags.package)};
  std::vector<std::string> names{flags.package.source};
  if (!flags.against.empty()) {
    PackageFlags other = flags.package;
    other.source = flags.against;
    kernels.push_back(get_runnable_kernel(other));
    names.push_back(flags.against);
  }
  const BenchmarkCases cases = bench_cases(flags.bench, kernels.front().package());
  const Device device = open_bench_device(flags.bench, cases.cases);

  BenchResult result;
  result.packages = names;
  result.device = device.description();
  result.driver = device.adapter().description;
  result.software = device.adapter().software;
  Tuning tuning = find_tuning(kernels.front().package(), device);
  for (const std::string& note : tuning.notes) print_note(note);
  result.profile = std::move(tuning.tunables);
  result.method = flags.bench.method();
  {
    StepLine line(cases.cases.size());
    for (const BenchmarkCase& benchmark : cases.cases) {
      line.show(result.cases.size() + 1, benchmark.id);
      try {
        result.cases.push_back(run_case(device, kernels, names, benchmark, flags, result.device_clock));
      } catch (const Error& error) {
        // A case that does not fit the device or the contract must not end the run.
        if (error.kind() != ErrorKind::limit && error.kind() != ErrorKind::contract) throw;
        BenchCaseResult skipped;
        skipped.id = benchmark.id;
        skipped.attributes = benchmark.attributes;
        skipped.skipped = error.line();
        result.cases.push_back(std::move(skipped));
      }
    }
  }
  print(head_text(result) + "\n" + to_text(result));
  failing_with(ExitCode::environment, [&] {
    if (!flags.json.empty()) write_file(flags.json, document(to_json(result)));
    if (!flags.plot.empty()) write_png(flags.plot, draw(result));
  });
  if (!result.valid()) {
    std::fputs("kernelpack: check: The run is not valid: the copy is slower than this device copies\n",
               stderr);
    return ExitCode::check;
  }
  const bool wrong = std::any_of(result.cases.begin(), result.cases.end(), [](const BenchCaseResult& each) {
    return std::any_of(each.entries.begin(), each.entries.end(),
                       [](const BenchEntry& entry) { return entry.error > 1; });
  });
  if (wrong)
    std::fputs("kernelpack: check: A result differs from the CPU's by more than is allowed\n", stderr);
  return wrong ? ExitCode::check : ExitCode::ok;
}

}  // namespace

Verb add_bench(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "bench",
      "time a package on the GPU\n"
      "Runs the cases of the package's bench.json with their tensors on the device and prints for each the "
      "time of "
      "a call, its bytes per second, and the fraction of a copy of the same bytes. Times are the device's "
      "own, of many calls back to back; docs/benchmarks.md says how.");
  auto flags = std::make_shared<Flags>();
  add_package_options(*command, flags->package);
  add_bench_options(*command, flags->bench);
  command
      ->add_option("--against", flags->against,
                   "Another package of the same contract, timed in turn on the same tensors.")
      ->type_name("PACKAGE");
  command->add_option("--json", flags->json, "Write everything that was measured to this file.")
      ->type_name("FILE");
  command->add_option("--plot", flags->plot, "Draw bytes per second against the length of a row.")
      ->type_name("FILE.png");
  command->add_flag("--check", flags->check,
                    "Compare each result with the CPU's; exit code 4 if one is wrong.");
  command->footer(
      "EXAMPLES\n"
      "  kernelpack bench com.microsoft.BiasSoftmax --json bench.json --plot bench.png\n"
      "  kernelpack bench ./mine --against ./theirs --cases rows_8 --library dawn\n");
  return {command, [flags] { return bench(*flags); }};
}

}  // namespace kernelpack::cli
