#include <fmt/format.h>

#include "webgpu/engine.hpp"

namespace kernelpack {

std::vector<GpuLibrary> gpu_libraries(std::string_view library) {
  std::vector<GpuLibrary> result;
  for (const webgpu::FoundLibrary& found : webgpu::find_libraries(library)) {
    GpuLibrary entry;
    entry.name = found.word.empty() ? webgpu::named_library(library) : found.word;
    entry.problem = found.library == nullptr ? found.problem : std::string();
    if (found.library != nullptr) {
      entry.path = found.library->origin();
      entry.complete = !found.library->is_dawn();
      try {
        const auto instance = webgpu::Instance::of(found.library);
        for (webgpu::Adapter& adapter : webgpu::list_adapters(*instance))
          entry.adapters.push_back(std::move(adapter.description));
        if (entry.adapters.empty()) entry.problem = "The library finds no adapter";
      } catch (const Error& error) {
        entry.problem = error.message();
      }
    }
    result.push_back(std::move(entry));
  }
  return result;
}

namespace webgpu {
namespace {

std::shared_ptr<Engine> open_with(const std::shared_ptr<const Library>& library, const GpuOptions& options,
                                  bool null_backend) {
  auto instance = Instance::of(library);
  Adapter adapter =
      null_backend ? null_adapter(*instance) : choose_adapter(list_adapters(*instance), options, *library);
  return std::make_shared<Engine>(GpuDevice::open(std::move(instance), std::move(adapter), options));
}

}  // namespace

std::shared_ptr<Engine> open_engine(const GpuOptions& options, bool null_backend) {
  if (options.get_proc_address != nullptr)
    return open_with(Library::behind(options.get_proc_address), options, null_backend);
  // Named libraries are never replaced. Otherwise the first library serves, and the next ones are asked only
  // if it finds no adapter or a required feature is missing.
  if (!named_library(options.library).empty())
    return open_with(find_library(options.library), options, null_backend);
  std::optional<Error> first;
  for (const FoundLibrary& found : find_libraries({})) {
    if (found.library == nullptr) continue;
    try {
      return open_with(found.library, options, null_backend);
    } catch (const Error& error) {
      if (!first) first = error;
    }
  }
  if (first) throw *first;
  find_library({});
  throw Error(ErrorKind::device, "No WebGPU library opens a device");
}

std::shared_ptr<Engine> open(const GpuOptions& options) {
  return open_engine(options, false);
}

}  // namespace webgpu
}  // namespace kernelpack
