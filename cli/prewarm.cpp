#include "kernelpack/prewarm.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench_device.hpp"
#include "figures.hpp"
#include "gpu_choice.hpp"
#include "json.hpp"
#include "request.hpp"
#include "verb.hpp"

namespace kernelpack::cli {
namespace {

struct PrewarmFlags {
  RequestFlags request;
  std::vector<std::string> files;
  std::string device = "gpu";
  std::string library;
  std::string shader_cache;
  bool json = false;
};

struct Outcome {
  std::string device;
  std::size_t requests = 0;
  std::size_t pipelines = 0;
  double seconds = 0;
  std::optional<ShaderCacheState> cache;
};

bool says_request(const RequestFlags& flags) {
  return !flags.variant.empty() || !flags.inputs.empty() || !flags.destinations.empty() ||
         !flags.wanted.empty() || !flags.aliases.empty() || !flags.attributes.empty() ||
         !flags.arguments.empty() || !flags.tunables.empty();
}

std::vector<Call> bind_all(const PrewarmFlags& flags, const Kernel& kernel) {
  std::vector<Call> calls;
  for (const std::string& file : flags.files)
    calls.push_back(read_request(file, kernel.package()).bind(kernel.package()));
  if (flags.files.empty() || says_request(flags.request)) {
    const StatedRequest stated = understand(flags.request);
    TensorReader reader;
    calls.push_back(kernel.bind(input_specs(stated, reader), stated.options));
  }
  return calls;
}

Outcome prewarm_all(const PrewarmFlags& flags) {
  const Kernel kernel = get_kernel(flags.request.package);
  const std::vector<Call> calls = bind_all(flags, kernel);
  const bool halves = std::any_of(calls.begin(), calls.end(), [](const Call& call) {
    return std::any_of(call.inputs.begin(), call.inputs.end(),
                       [](const BoundTensor& input) { return input.dtype == DType::float16; });
  });
  GpuOptions options = gpu_options(flags.device, flags.library, halves);
  options.shader_cache = flags.shader_cache;
  const Device device = failing_with(ExitCode::environment, [&] { return Device::open(options); });
  Outcome outcome{device.description(), calls.size(), 0, 0, {}};
  std::unique_ptr<StepLine> line;
  const auto start = std::chrono::steady_clock::now();
  prewarm(kernel, calls, device, [&](std::size_t done, std::size_t total) {
    if (line == nullptr) line = std::make_unique<StepLine>(total);
    line->show(done, "pipelines");
    outcome.pipelines = total;
  });
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  outcome.cache = shader_cache(device);
  return outcome;
}

Json to_json(const Outcome& outcome) {
  Json cache;
  if (outcome.cache)
    cache = {{"folder", outcome.cache->folder},
             {"loaded", outcome.cache->counts.loaded},
             {"missed", outcome.cache->counts.missed},
             {"stored", outcome.cache->counts.stored},
             {"ignored", outcome.cache->counts.ignored}};
  return {{"device", outcome.device},
          {"requests", outcome.requests},
          {"pipelines", outcome.pipelines},
          {"seconds", outcome.seconds},
          {"shaderCache", cache}};
}

std::string to_text(const Outcome& outcome) {
  std::string text =
      fmt::format("device        {}\nrequests      {}\npipelines     {} in {}\n", outcome.device,
                  outcome.requests, outcome.pipelines, duration_text(outcome.seconds));
  if (!outcome.cache) return text + "shader cache  none\n";
  const ShaderCacheCounts& counts = outcome.cache->counts;
  return text + fmt::format("shader cache  {} ({} loaded, {} missed, {} stored, {} damaged)\n",
                            outcome.cache->folder, counts.loaded, counts.missed, counts.stored,
                            counts.ignored);
}

ExitCode run(const PrewarmFlags& flags) {
  const Outcome outcome = prewarm_all(flags);
  print(flags.json ? document(to_json(outcome)) : to_text(outcome));
  return ExitCode::ok;
}

}  // namespace

Verb add_prewarm(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "prewarm",
      "compile a package's shaders ahead\n"
      "Plans the requests for the device, compiles what they need, several pipelines at a time, and says how "
      "long that took. With Dawn the results stay in the shader cache for later processes; the Vulkan driver "
      "keeps a cache of its own with either library. Nothing runs.");
  auto flags = std::make_shared<PrewarmFlags>();
  add_request_options(*command, flags->request);
  command
      ->add_option("--request", flags->files,
                   "Read a request from a JSON file, as for kernelpack plan. May be given several times.")
      ->allow_extra_args(false)
      ->type_name("FILE");
  add_device_option(*command, flags->device, false,
                    "gpu (the default), or gpu:NAME for the adapter that has NAME in its name.");
  command
      ->add_option("--library", flags->library,
                   "The WebGPU library: dawn, wgpu-native, or a file. By default the value of "
                   "KERNELPACK_WEBGPU, else the first that offers what the inputs need.")
      ->type_name("LIBRARY");
  command
      ->add_option("--shader-cache", flags->shader_cache,
                   "The folder of the shader cache, or none. Default: KERNELPACK_SHADER_CACHE, else the "
                   "folder shaders in kernelpack's cache.")
      ->type_name("FOLDER");
  command->add_flag("--json", flags->json, "Print JSON.");
  command->footer(
      "EXAMPLES\n"
      "  kernelpack prewarm com.microsoft.BiasSoftmax \\\n"
      "      --input data=float32:8x12x48x48 --input bias=float32:8x1x1x48 \\\n"
      "      --attr axis=3 --attr is_inner_broadcast=1\n"
      "  kernelpack prewarm ./my-package --request a.json --request b.json --json\n");
  return {command, [flags] { return run(*flags); }};
}

}  // namespace kernelpack::cli
