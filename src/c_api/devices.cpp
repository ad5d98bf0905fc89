#include <cstdlib>
#include <limits>
#include <new>

#include "c_api/failure.hpp"
#include "c_api/handles.hpp"
#include "c_api/options.hpp"
#include "kernelpack/gpu.hpp"
#include "kernelpack/json.hpp"
#include "kernelpack/webgpu_interop.hpp"

namespace kernelpack::c_api {
namespace {

/// Threads of a C program.
class CallerThreads final : public TaskRunner {
 public:
  CallerThreads(void (*run_tasks)(void*, std::int32_t, kernelpack_task, void*), void* user_data) noexcept
      : run_tasks_(run_tasks), user_data_(user_data) {}
  void run(int count, void (*task)(void* context, int index), void* context) override {
    run_tasks_(user_data_, count, task, context);
  }

 private:
  void (*run_tasks_)(void*, std::int32_t, kernelpack_task, void*);
  void* user_data_;
};

Device open_cpu(const kernelpack_cpu_options& given) {
  CpuOptions options{.threads = given.threads, .target = text_or_empty(given.target)};
  if (given.spin_microseconds != 0)
    options.spin_microseconds = given.spin_microseconds < 0 ? 0 : given.spin_microseconds;
  if (given.run_tasks != nullptr)
    options.runner = std::make_shared<CallerThreads>(given.run_tasks, given.user_data);
  return Device::cpu(options);
}

Device open_gpu(const kernelpack_gpu_options& given) {
  GpuOptions options{.adapter = text_or_empty(given.adapter),
                     .library = text_or_empty(given.library),
                     .software = given.software != 0,
                     .raise_all_limits = given.raise_all_limits != 0,
                     .profiling = given.profiling != 0,
                     .shader_cache = text_or_empty(given.shader_cache)};
  switch (given.power) {
    case KERNELPACK_POWER_HIGH:
      options.power = Power::high;
      break;
    case KERNELPACK_POWER_LOW:
      options.power = Power::low;
      break;
    default:
      throw Misuse{fmt::format("The power of options ({}) is no constant of kernelpack_power", given.power)};
  }
  if (given.required_feature_count != 0)
    require_pointer(given.required_features, "options->required_features");
  for (std::size_t i = 0; i < given.required_feature_count; ++i)
    options.required_features.emplace_back(
        &require(given.required_features[i], "options->required_features"));
  return Device::open(options);
}

Device adopt(const kernelpack_adopted_device& given) {
  require_pointer(given.device, "adopted->device");
  return adopt_device({.get_proc_address = given.get_proc_address,
                       .library = text_or_empty(given.library),
                       .instance = static_cast<WGPUInstanceImpl*>(given.instance),
                       .device = static_cast<WGPUDeviceImpl*>(given.device)});
}

}  // namespace

char* copy_text(const std::string& text) {
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace kernelpack::c_api

using namespace kernelpack::c_api;

void kernelpack_free_text(char* text) noexcept {
  std::free(text);
}

kernelpack_status kernelpack_open_cpu(const kernelpack_cpu_options* options,
                                      kernelpack_device** device) noexcept {
  return guard(__func__, [&] {
    auto& result = require_result(device, "device");
    result = make_handle<kernelpack_device>(open_cpu(read_options(options, "options")));
  });
}

kernelpack_status kernelpack_open_gpu(const kernelpack_gpu_options* options,
                                      kernelpack_device** device) noexcept {
  return guard(__func__, [&] {
    auto& result = require_result(device, "device");
    result = make_handle<kernelpack_device>(open_gpu(read_options(options, "options")));
  });
}

kernelpack_status kernelpack_adopt_device(const kernelpack_adopted_device* adopted,
                                          kernelpack_device** device) noexcept {
  return guard(__func__, [&] {
    auto& result = require_result(device, "device");
    result = make_handle<kernelpack_device>(adopt(read_options(&require(adopted, "adopted"), "adopted")));
  });
}

const char* kernelpack_get_device_description(const kernelpack_device* device) noexcept {
  return value_or<const char*>(__func__, nullptr,
                               [&] { return require(device, "device").device.description().c_str(); });
}

int32_t kernelpack_is_gpu(const kernelpack_device* device) noexcept {
  return value_or<int32_t>(__func__, -1, [&] { return require(device, "device").device.is_gpu() ? 1 : 0; });
}

kernelpack_status kernelpack_get_device_facts(const kernelpack_device* device, char** json) noexcept {
  return guard(__func__, [&] {
    auto& result = require_result(json, "json");
    result = copy_text(require(device, "device").device.facts().to_json());
  });
}

kernelpack_status kernelpack_list_gpus(const char* library, char** json) noexcept {
  return guard(__func__, [&] {
    auto& result = require_result(json, "json");
    result = copy_text(kernelpack::to_json(kernelpack::gpu_libraries(text_or_empty(library))));
  });
}

kernelpack_status kernelpack_close_device(const kernelpack_device* device) noexcept {
  return guard(__func__, [&] { require(device, "device").device.close(); });
}

void kernelpack_free_device(kernelpack_device* device) noexcept {
  delete device;
}
