#include "kernelpack/prewarm.hpp"

#include "webgpu/engine.hpp"

namespace kernelpack::webgpu {

void prewarm(Engine& engine, std::span<const std::shared_ptr<const Plan>> plans,
             const PrewarmProgress& progress) {
  std::vector<const PlannedPass*> passes;
  for (const auto& plan : plans)
    for (const PlannedPass& pass : plan->passes)
      if (runs(pass)) passes.push_back(&pass);
  engine.pipelines().get_all(passes, progress);
  for (const auto& plan : plans) engine.program(plan);
}

std::optional<ShaderCacheState> shader_cache(const Engine& engine) {
  const BlobCache* cache = engine.device().shader_cache();
  if (cache == nullptr) return std::nullopt;
  return ShaderCacheState{cache->folder().string(), cache->counts()};
}

}  // namespace kernelpack::webgpu
