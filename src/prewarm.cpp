#include "kernelpack/prewarm.hpp"

#include <memory>
#include <vector>

#include "trusted_files.hpp"
#include "webgpu/runtime.hpp"

namespace kernelpack {

void prewarm(const Kernel& kernel, std::span<const Call> calls, const Device& device,
             const PrewarmProgress& progress) {
  if (!device.is_gpu()) return;
  require_trusted_files(kernel.package().model());
  std::vector<std::shared_ptr<const Plan>> plans;
  for (const Call& call : calls) plans.push_back(kernel.plan(call, device));
  webgpu::prewarm(device.engine(), plans, progress);
}

void prewarm(const Kernel& kernel, std::span<const Request> requests, const Device& device,
             const PrewarmProgress& progress) {
  std::vector<Call> calls;
  for (const Request& request : requests) calls.push_back(request.bind(kernel.package()));
  prewarm(kernel, calls, device, progress);
}

std::optional<ShaderCacheState> shader_cache(const Device& device) {
  return device.is_gpu() ? webgpu::shader_cache(device.engine()) : std::nullopt;
}

}  // namespace kernelpack
