#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "json.hpp"
#include "kernelpack/device.hpp"
#include "layout.hpp"
#include "verb.hpp"

namespace kernelpack::cli {
namespace {

constexpr const char* kShownLimits[] = {
    "maxBufferSize",
    "maxStorageBufferBindingSize",
    "maxStorageBuffersPerShaderStage",
    "maxComputeWorkgroupStorageSize",
    "maxComputeInvocationsPerWorkgroup",
};

Json to_json(const GpuAdapter& adapter) {
  Json limits = Json::object();
  for (const auto& [name, value] : adapter.facts.limits) limits[name] = value;
  Json object{{"name", adapter.name},
              {"description", adapter.description},
              {"backend", adapter.backend},
              {"type", adapter.type},
              {"software", adapter.software},
              {"vendor", adapter.facts.vendor},
              {"architecture", adapter.facts.architecture},
              {"features", adapter.facts.features},
              {"limits", limits}};
  if (adapter.facts.subgroup_min_size) object["subgroupMinSize"] = *adapter.facts.subgroup_min_size;
  if (adapter.facts.subgroup_max_size) object["subgroupMaxSize"] = *adapter.facts.subgroup_max_size;
  if (!adapter.float16_missing.empty()) object["float16Missing"] = adapter.float16_missing;
  return object;
}

Json to_json(const GpuLibrary& library) {
  Json adapters = Json::array();
  for (const GpuAdapter& adapter : library.adapters) adapters.push_back(to_json(adapter));
  Json object{{"library", library.name},
              {"path", library.path},
              {"complete", library.complete},
              {"adapters", adapters}};
  if (!library.problem.empty()) object["problem"] = library.problem;
  return object;
}

std::string text_of(const GpuAdapter& adapter) {
  std::string text = fmt::format("  {} ({}, {})\n", adapter.name, adapter.backend, adapter.type);
  if (!adapter.description.empty()) text += fmt::format("    driver     {}\n", adapter.description);
  text +=
      fmt::format("    vendor     {}{}{}\n", adapter.facts.vendor.empty() ? "unknown" : adapter.facts.vendor,
                  adapter.facts.architecture.empty() ? "" : ", ", adapter.facts.architecture);
  text +=
      fmt::format("    features   {}\n", adapter.facts.features.empty()
                                             ? "none that packages use"
                                             : fmt::format("{}", fmt::join(adapter.facts.features, ", ")));
  if (adapter.facts.subgroup_min_size && adapter.facts.subgroup_max_size)
    text += fmt::format("    subgroups  {} to {} invocations\n", *adapter.facts.subgroup_min_size,
                        *adapter.facts.subgroup_max_size);
  for (const char* name : kShownLimits)
    if (const auto found = adapter.facts.limits.find(name); found != adapter.facts.limits.end())
      text += fmt::format("    limit      {} {:.0f}\n", name, found->second);
  if (!adapter.float16_missing.empty()) text += wrapped("No float16: " + adapter.float16_missing + ".", 4);
  return text;
}

std::string text_of(const GpuLibrary& library) {
  std::string text = fmt::format("{}{}{}\n", library.name, library.path.empty() ? "" : "  ", library.path);
  if (!library.problem.empty()) text += wrapped(library.problem + ".", 2);
  for (const GpuAdapter& adapter : library.adapters) text += text_of(adapter);
  if (!library.complete && !library.adapters.empty())
    text += wrapped("This library cannot enumerate: the list may lack adapters.", 2);
  return text;
}

ExitCode devices(bool as_json, const std::string& library) {
  const std::vector<GpuLibrary> libraries = gpu_libraries(library);
  if (as_json) {
    Json array = Json::array();
    for (const GpuLibrary& each : libraries) array.push_back(to_json(each));
    print(document(Json{{"cpu", Device::cpu().description()}, {"libraries", array}}));
    return ExitCode::ok;
  }
  std::string text = Device::cpu().description() + "\n";
  for (const GpuLibrary& each : libraries) text += "\n" + text_of(each);
  if (libraries.empty()) text += "\nThis kernelpack was built without WebGPU.\n";
  print(text);
  return ExitCode::ok;
}

}  // namespace

Verb add_devices(CLI::App& program) {
  CLI::App* options = program.add_subcommand(
      "devices",
      "print where kernels can run\n"
      "The CPU, then each WebGPU library that is found with its adapters, their features and limits, and why "
      "float16 is missing where it is. Limits are those of the adapter; a device takes WebGPU's defaults for "
      "most.");
  auto as_json = std::make_shared<bool>(false);
  auto library = std::make_shared<std::string>();
  options->add_flag("--json", *as_json, "Print a JSON object with cpu and libraries.");
  options->add_option("--library", *library, "Ask only this library: dawn, wgpu-native, or a file.")
      ->type_name("LIBRARY");
  options->footer(
      "EXAMPLES\n"
      "  kernelpack devices\n"
      "  kernelpack devices --library dawn --json\n");
  return {options, [as_json, library] { return devices(*as_json, *library); }};
}

}  // namespace kernelpack::cli
