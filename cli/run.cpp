#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "arguments.hpp"
#include "comparison.hpp"
#include "execution.hpp"
#include "gpu_choice.hpp"
#include "json.hpp"
#include "kernelpack/kernel.hpp"
#include "kernelpack/tuning.hpp"
#include "profile.hpp"
#include "request.hpp"
#include "run_report.hpp"
#include "tensor_file.hpp"
#include "verb.hpp"

namespace kernelpack::cli {
namespace {

struct RunFlags {
  RequestFlags request;
  std::vector<std::string> outputs;
  std::vector<std::string> checks;
  std::string device = "cpu";
  std::string library;
  int threads = 0;
  std::string target;
  int repeat = 1;
  bool profile = false;
  Tolerance tolerance;
  bool json = false;
};

/// The flags, understood but not yet held against a package.
struct RunRequest {
  StatedRequest stated;
  std::vector<TensorTarget> targets;
  std::vector<std::pair<std::string, TensorFile>> checks;  ///< an empty name: the only output
};

RunRequest understand(const RunFlags& flags) {
  if (flags.profile && flags.device == "cpu")
    throw UsageError("The option --profile needs a GPU: --device gpu");
  RunRequest request{understand(flags.request), {}, {}};
  for (const auto& [name, source] : request.stated.inputs) {
    if (!std::holds_alternative<TensorFile>(source)) {
      throw UsageError(
          fmt::format("The option --input gives {} a dtype and a shape, but running takes a file", name));
    }
  }
  for (const Assignment& output : parse_assignments("--output", flags.outputs)) {
    request.targets.push_back({output.name, parse_tensor_file("--output", output.value)});
  }
  require_distinct(request.targets);
  for (const std::string& check : flags.checks) {
    if (is_assignment(check)) {
      const Assignment named = parse_assignment("--check", check);
      request.checks.emplace_back(named.name, parse_tensor_file("--check", named.value));
    } else {
      request.checks.emplace_back("", parse_tensor_file("--check", check));
    }
  }
  if (!flags.target.empty()) {
    std::vector<std::string_view> names;
    for (const CpuTarget& target : cpu_targets()) names.push_back(target.name);
    if (std::find(names.begin(), names.end(), flags.target) == names.end()) {
      throw UsageError(fmt::format("The value of --cpu-target ({}) is unknown; there are {}", flags.target,
                                   fmt::join(names, ", ")));
    }
  }
  return request;
}

/// Gives the checks without a name that of the only output, and refuses outputs that the package does not
/// have.
void resolve_outputs(const PackageSummary& package, RunRequest& request) {
  const auto require_output = [&](const std::string& name) {
    std::vector<std::string> names;
    for (const PackageSummary::Port& port : package.outputs) names.push_back(port.name);
    if (std::find(names.begin(), names.end(), name) != names.end()) return;
    throw Error(ErrorKind::contract,
                fmt::format("The package {} has no output of that name; it has {}", package.op_id,
                            fmt::join(names, ", ")),
                "output " + name);
  };
  for (const TensorTarget& target : request.targets) require_output(target.name);
  std::vector<std::string> checked;
  for (auto& [name, file] : request.checks) {
    if (name.empty()) {
      if (package.outputs.size() != 1) {
        throw UsageError(fmt::format("The package {} has several outputs ({}), so --check takes NAME=FILE",
                                     package.op_id, package.outputs.size()));
      }
      name = package.outputs.front().name;
    }
    require_output(name);
    if (std::find(checked.begin(), checked.end(), name) != checked.end()) {
      throw UsageError(fmt::format("The option --check names the output {} twice", name));
    }
    checked.push_back(name);
  }
}

/// Those that --want names, and those that are written or checked.
std::vector<WantedOutput> optional_outputs(const PackageSummary& package, const RunRequest& request) {
  std::vector<WantedOutput> wanted = request.stated.options.wanted;
  for (const PackageSummary::Port& port : package.outputs) {
    const auto named = [&](const auto& list, auto name_of) {
      return std::any_of(list.begin(), list.end(),
                         [&](const auto& each) { return name_of(each) == port.name; });
    };
    if (named(wanted, [](const WantedOutput& each) { return each.name; })) continue;
    if (port.optional && (named(request.targets, [](const TensorTarget& each) { return each.name; }) ||
                          named(request.checks, [](const auto& each) { return each.first; }))) {
      wanted.push_back({port.name, std::nullopt});
    }
  }
  return wanted;
}

/// The last line of a program that exits with code 4.
std::string failed_check_message(const Check& check) {
  return fmt::format("kernelpack: check: The output {} differs from the expected values ({})\n", check.output,
                     single_line(check.file));
}

std::string file_text(const TensorFile& file) {
  return file.path.string() + (file.entry.empty() ? "" : ":" + file.entry);
}

Device open_device(const RunFlags& flags, const std::vector<NamedSpec>& inputs) {
  if (flags.device == "cpu") return Device::cpu({.threads = flags.threads, .target = flags.target});
  const bool halves = std::any_of(inputs.begin(), inputs.end(),
                                  [](const NamedSpec& input) { return input.spec.dtype == DType::float16; });
  GpuOptions options = gpu_options(flags.device, flags.library, halves);
  options.profiling = flags.profile;
  return Device::open(options);
}

ExitCode run(const RunFlags& flags) {
  RunRequest request = understand(flags);
  const Kernel kernel = get_kernel(flags.request.package);
  const PackageSummary package = kernel.package().describe();
  resolve_outputs(package, request);
  TensorReader reader;
  Inputs inputs;
  std::vector<NamedSpec> specs;
  for (const auto& [name, source] : request.stated.inputs) {
    inputs.push_back({name, reader.read(std::get<TensorFile>(source))});
    specs.push_back({name, inputs.back().tensor.spec()});
  }
  std::vector<TensorView> expected;
  for (const auto& [name, file] : request.checks) expected.push_back(reader.read(file));

  request.stated.options.wanted = optional_outputs(package, request);
  Call call = kernel.bind(specs, request.stated.options);
  const Device device = failing_with(ExitCode::environment, [&] { return open_device(flags, specs); });
  if (device.is_gpu())
    for (const std::string& note : find_tuning(kernel.package(), device).notes) print_note(note);
  const Execution execution =
      execute(kernel, device, std::move(call), inputs, request.stated.buffers, flags.repeat);
  const auto output_named = [&](const std::string& name) -> const Tensor& {
    for (std::size_t i = 0; i < execution.outputs.size(); ++i) {
      if (execution.call.outputs[i].name == name) return execution.outputs[i];
    }
    throw Error(ErrorKind::contract, "The request produces no output of that name", "output " + name);
  };

  std::vector<Check> checks;
  for (std::size_t i = 0; i < request.checks.size(); ++i) {
    const auto& [name, file] = request.checks[i];
    const std::string place = file_text(file);
    checks.push_back({name, place, compare(output_named(name), expected[i], flags.tolerance, place)});
  }
  std::vector<TensorView> results;
  for (const TensorTarget& target : request.targets) results.push_back(output_named(target.name));
  failing_with(ExitCode::environment, [&] { write_tensors(request.targets, results); });

  const RunReport report{device.description(), execution, request.targets, checks};
  Json json = flags.json ? to_json(report) : Json();
  std::string text = flags.json ? std::string() : to_text(report);
  if (flags.profile) {
    const Profile profiled = profile(device, kernel, execution.call, inputs);
    if (flags.json)
      json["profile"] = to_json(profiled);
    else
      text += to_text(profiled);
  }
  print(flags.json ? document(json) : text);
  ExitCode code = ExitCode::ok;
  for (const Check& check : checks) {
    if (check.comparison.passed) continue;
    if (code == ExitCode::ok) std::fputs(failed_check_message(check).c_str(), stderr);
    code = ExitCode::check;
  }
  return code;
}

}  // namespace

Verb add_run(CLI::App& program) {
  CLI::App* command =
      program.add_subcommand("run",
                             "run a kernel on tensors from files\n"
                             "Reads the inputs, binds them to the contract of the package, runs the kernel, "
                             "writes the outputs and prints "
                             "shapes, dtypes, time and throughput. Nothing is written before every input was "
                             "read and the request was "
                             "found to fit the contract. An output file appears whole or not at all.");
  auto flags = std::make_shared<RunFlags>();
  // Not CLI::Range, which lets NaN pass.
  const CLI::Validator tolerance(
      [](std::string& text) {
        double value = 0;
        const bool fits = CLI::detail::lexical_cast(text, value) && value >= 0 && std::isfinite(value);
        return fits ? std::string() : fmt::format("({}) is not a finite number from 0 on", text);
      },
      "");
  const auto many = [&](const char* name, std::vector<std::string>& into, const char* type,
                        const char* about) {
    command->add_option(name, into, about)->allow_extra_args(false)->type_name(type);
  };
  add_request_options(*command, flags->request);
  command->get_option("--input")
      ->type_name("NAME=FILE")
      ->description("The tensor of input NAME: FILE.npy or FILE.safetensors:TENSOR. Once for each input.");
  many("--output", flags->outputs, "NAME=FILE",
       "Where output NAME goes: FILE.npy, or FILE.safetensors:TENSOR (outputs of one file are collected). "
       "Without "
       "it a summary of the values is printed. Naming an optional output asks for it.");
  many("--check", flags->checks, "[NAME=]FILE",
       "Compare an output with the tensor in FILE, which may be float64. A name is needed if there are "
       "several "
       "outputs. float32: |got - expected| <= atol + rtol * |expected|; float16: both as float16, at most "
       "--ulp "
       "steps apart; other dtypes: equal. NaN matches only NaN. Prints the worst element.");
  command->add_option("--atol", flags->tolerance.absolute, "Absolute tolerance of --check (1e-7).")
      ->type_name("X")
      ->check(tolerance);
  command->add_option("--rtol", flags->tolerance.relative, "Relative tolerance of --check (5e-6).")
      ->type_name("X")
      ->check(tolerance);
  command->add_option("--ulp", flags->tolerance.steps, "float16 steps that --check allows (1).")
      ->type_name("N")
      ->check(CLI::Range(0, 65536).description(""));
  add_device_option(*command, flags->device, true,
                    "Where to run: cpu (the default), gpu, or gpu:NAME for the adapter that has NAME in its "
                    "name; see kernelpack "
                    "devices.");
  command
      ->add_option("--library", flags->library,
                   "The WebGPU library of a GPU: dawn, wgpu-native, or a file. By default the value of "
                   "KERNELPACK_WEBGPU, else the first that offers what the inputs need.")
      ->type_name("LIBRARY");
  add_threads_option(*command, flags->threads);
  command
      ->add_option(
          "--cpu-target", flags->target,
          "Instruction set to use, for tests and comparisons: one of avx3, avx2, sse4, scalar (x86-64), "
          "neon, scalar (AArch64). Default: the best of this machine.")
      ->type_name("NAME");
  command->add_option("--repeat", flags->repeat, "Run N times (1) and print the fastest and the median time.")
      ->type_name("N")
      ->check(CLI::Range(1, 10000000).description(""));
  command->add_flag(
      "--profile", flags->profile,
      "Time each pass on the GPU, too, in a compute pass of its own, beside a copy of the call's "
      "bytes.");
  command->add_flag("--json", flags->json, "Print JSON.");
  command->footer(
      "EXAMPLES\n"
      "  kernelpack run com.microsoft.BiasSoftmax \\\n"
      "      --input data=scores.npy --input bias=mask.npy \\\n"
      "      --attr axis=3 --attr is_inner_broadcast=1 --output output=probs.npy\n"
      "  kernelpack run ./my-package --input data=layer.safetensors:scores \\\n"
      "      --input bias=layer.safetensors:mask --attr axis=-1 \\\n"
      "      --attr is_inner_broadcast=0 --repeat 100 --check expected.npy\n");
  return {command, [flags] { return run(*flags); }};
}

}  // namespace kernelpack::cli
