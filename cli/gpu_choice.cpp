#include "gpu_choice.hpp"

#include <string_view>

#include "kernelpack/error.hpp"

namespace kernelpack::cli {
namespace {
constexpr std::string_view kNamed = "gpu:";
}

bool is_gpu_choice(const std::string& value) {
  return value == "gpu" || (value.starts_with(kNamed) && value.size() > kNamed.size());
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
