#include "gpu_choice.hpp"

#include <string_view>

#include <fmt/format.h>

#include "kernelpack/error.hpp"

namespace kernelpack::cli {
namespace {
constexpr std::string_view kNamed = "gpu:";
constexpr int kMostThreads = 256;  // as Device::cpu() takes

bool is_gpu_choice(const std::string& value) {
  return value == "gpu" || (value.starts_with(kNamed) && value.size() > kNamed.size());
}

}  // namespace

void add_device_option(CLI::App& command, std::string& device, bool cpu, const std::string& about) {
  command.add_option("--device", device, about)
      ->type_name("DEVICE")
      ->check(CLI::Validator(
          [cpu](const std::string& value) {
            if (is_gpu_choice(value) || (cpu && value == "cpu")) return std::string();
            return fmt::format("({}) is not {}gpu or gpu:NAME", value, cpu ? "cpu, " : "");
          },
          ""));
}

void add_threads_option(CLI::App& command, int& threads) {
  command
      .add_option("--threads", threads, "Threads to use on the CPU; 0, the default: one for each processor.")
      ->type_name("N")
      ->check(CLI::Range(0, kMostThreads).description(""));
}

GpuOptions gpu_options(const std::string& device, const std::string& library, bool halves) {
  GpuOptions options{.library = library};
  if (device != "gpu") options.adapter = device.substr(kNamed.size());
  if (halves) options.required_features.emplace_back("shader-f16");
  return options;
}

Device open_preferring_halves(GpuOptions options, bool halves) {
  if (halves) {
    options.required_features.emplace_back("shader-f16");
    try {
      return Device::open(options);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::device) throw;
      options.required_features.pop_back();
    }
  }
  return Device::open(options);
}

}  // namespace kernelpack::cli
