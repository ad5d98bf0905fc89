#include "webgpu/pipelines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace kernelpack::webgpu {
namespace {

std::size_t uniform_count(const PlannedPass& pass) {
  return static_cast<std::size_t>(
      std::count_if(pass.bindings.begin(), pass.bindings.end(),
                    [](const PlannedBinding& binding) { return binding.buffer == BufferKind::uniform; }));
}

std::string key_of(const PlannedPass& pass, bool dynamic_uniforms) {
  std::string key = fmt::format("{}\n{}", pass.entry_point, dynamic_uniforms ? 'd' : 'p');
  for (const PlannedBinding& binding : pass.bindings)
    key += fmt::format(" {}.{}.{}", binding.group, binding.index, static_cast<int>(binding.buffer));
  key += '\n';
  key += *pass.wgsl;
  return key;
}

void require(std::uint64_t count, std::uint64_t limit, std::string_view what, std::string_view name,
             const PlannedPass& pass) {
  if (count > limit)
    throw Error(ErrorKind::limit, fmt::format("The number of {} of pass {} ({}) exceeds the device's {} ({})",
                                              what, pass.id, count, name, limit));
}

}  // namespace

void PipelineCache::require_limits(const PlannedPass& pass) const {
  const WGPULimits& limits = device_.limits();
  const std::size_t uniforms = uniform_count(pass);
  require(pass.bindings.size() - uniforms, limits.maxStorageBuffersPerShaderStage, "storage buffers",
          "maxStorageBuffersPerShaderStage", pass);
  require(uniforms, limits.maxUniformBuffersPerShaderStage, "uniform buffers",
          "maxUniformBuffersPerShaderStage", pass);
  for (const PlannedBinding& binding : pass.bindings) {
    if (binding.group >= limits.maxBindGroups)
      throw Error(ErrorKind::limit,
                  fmt::format("The group of binding {} of pass {} ({}) is beyond the device's "
                              "maxBindGroups ({})",
                              binding.name, pass.id, binding.group, limits.maxBindGroups));
    if (binding.index >= limits.maxBindingsPerBindGroup)
      throw Error(ErrorKind::limit,
                  fmt::format("The number of binding {} of pass {} ({}) is beyond the device's "
                              "maxBindingsPerBindGroup ({})",
                              binding.name, pass.id, binding.index, limits.maxBindingsPerBindGroup));
  }
}

PipelineRequest PipelineCache::request_of(const PlannedPass& pass) const {
  return {&pass, uniform_count(pass) <= device_.limits().maxDynamicUniformBuffersPerPipelineLayout};
}

std::shared_ptr<PipelineCache::Entry> PipelineCache::entry_of(const PlannedPass& pass) {
  if (!pass.wgsl)
    throw Error(ErrorKind::template_,
                fmt::format("Pass {} has no shader text: its template ({}) is absent from the package",
                            pass.id, pass.shader));
  std::string key = key_of(pass, request_of(pass).dynamic_uniforms);
  const std::lock_guard lock(mutex_);
  auto& slot = entries_[std::move(key)];
  if (slot == nullptr) slot = std::make_shared<Entry>();
  return slot;
}

void PipelineCache::count_one() {
  const std::lock_guard lock(mutex_);
  ++compiled_;
}

std::shared_ptr<const Pipeline> PipelineCache::get(const PlannedPass& pass) {
  const std::shared_ptr<Entry> entry = entry_of(pass);
  const std::lock_guard lock(entry->mutex);
  if (entry->pipeline == nullptr) {
    require_limits(pass);
    const PipelineRequest request = request_of(pass);
    build_pipelines(device_, std::span(&request, 1), [&](std::size_t, PipelineResult result) {
      if (auto* error = std::get_if<Error>(&result)) throw *error;
      entry->pipeline = std::get<0>(std::move(result));
    });
    count_one();
  }
  return entry->pipeline;
}

void PipelineCache::get_all(std::span<const PlannedPass* const> passes, const PipelineProgress& progress) {
  struct Missing {
    const PlannedPass* pass;
    std::shared_ptr<Entry> entry;
  };
  std::vector<std::shared_ptr<Entry>> known;
  std::vector<Missing> missing;
  std::vector<PipelineRequest> requests;
  for (const PlannedPass* pass : passes) {
    std::shared_ptr<Entry> entry = entry_of(*pass);
    if (std::find(known.begin(), known.end(), entry) != known.end()) continue;
    known.push_back(entry);
    const std::lock_guard lock(entry->mutex);
    if (entry->pipeline != nullptr) continue;
    require_limits(*pass);
    missing.push_back({pass, std::move(entry)});
    requests.push_back(request_of(*pass));
  }
  std::size_t done = known.size() - missing.size();
  if (progress) progress(done, known.size());
  // No entry is locked meanwhile: `progress` may use the device. Who compiled the same pass in between keeps
  // its pipeline.
  std::optional<std::pair<std::size_t, Error>> first;
  build_pipelines(device_, requests, [&](std::size_t index, PipelineResult result) {
    if (auto* error = std::get_if<Error>(&result)) {
      if (!first || index < first->first) first.emplace(index, std::move(*error));
      return;
    }
    {
      Entry& entry = *missing[index].entry;
      const std::lock_guard lock(entry.mutex);
      if (entry.pipeline == nullptr) entry.pipeline = std::get<0>(std::move(result));
    }
    count_one();
    if (progress) progress(++done, known.size());
  });
  if (first) throw first->second;
}

std::uint64_t PipelineCache::compiled() const {
  const std::lock_guard lock(mutex_);
  return compiled_;
}

}  // namespace kernelpack::webgpu
