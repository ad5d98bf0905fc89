#include "webgpu/pipelines.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "webgpu/shader_module.hpp"

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

WGPUBufferBindingType binding_type(BufferKind kind) {
  switch (kind) {
    case BufferKind::read_only_storage:
      return WGPUBufferBindingType_ReadOnlyStorage;
    case BufferKind::storage:
      return WGPUBufferBindingType_Storage;
    case BufferKind::uniform:
      break;
  }
  return WGPUBufferBindingType_Uniform;
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

std::shared_ptr<const Pipeline> PipelineCache::get(const PlannedPass& pass) {
  if (!pass.wgsl)
    throw Error(ErrorKind::template_,
                fmt::format("Pass {} has no shader text: its template ({}) is absent from the package",
                            pass.id, pass.shader));
  const bool dynamic = uniform_count(pass) <= device_.limits().maxDynamicUniformBuffersPerPipelineLayout;
  std::shared_ptr<Entry> entry;
  {
    const std::lock_guard lock(mutex_);
    auto& slot = entries_[key_of(pass, dynamic)];
    if (slot == nullptr) slot = std::make_shared<Entry>();
    entry = slot;
  }
  const std::lock_guard lock(entry->mutex);
  if (entry->pipeline == nullptr) {
    require_limits(pass);
    entry->pipeline = compile(pass, dynamic);
    const std::lock_guard count_lock(mutex_);
    ++compiled_;
  }
  return entry->pipeline;
}

std::shared_ptr<const Pipeline> PipelineCache::compile(const PlannedPass& pass, bool dynamic_uniforms) const {
  const Functions& f = device_.functions();
  const auto lock = device_.lock();
  device_.require_alive();
  auto made = std::make_shared<Pipeline>();
  made->dynamic_uniforms = dynamic_uniforms;

  ErrorScope module_scope(device_);
  const auto module = create_module(device_, *pass.wgsl, pass.shader);
  if (const auto refused = module_scope.close())
    throw shader_error(device_, *refused, *pass.wgsl, pass.shader, pass.id);

  ErrorScope scope(device_, {WGPUErrorFilter_Validation, WGPUErrorFilter_Internal});
  std::uint32_t groups = 0;
  for (const PlannedBinding& binding : pass.bindings) groups = std::max(groups, binding.group + 1);
  std::vector<WGPUBindGroupLayout> raw_groups;
  for (std::uint32_t group = 0; group < groups; ++group) {
    std::vector<WGPUBindGroupLayoutEntry> entries;
    for (const PlannedBinding& binding : pass.bindings) {
      if (binding.group != group) continue;
      WGPUBindGroupLayoutEntry entry{};
      entry.binding = binding.index;
      entry.visibility = WGPUShaderStage_Compute;
      entry.buffer.type = binding_type(binding.buffer);
      entry.buffer.hasDynamicOffset = dynamic_uniforms && binding.buffer == BufferKind::uniform ? 1 : 0;
      entries.push_back(entry);
    }
    WGPUBindGroupLayoutDescriptor descriptor{};
    descriptor.entryCount = entries.size();
    descriptor.entries = entries.data();
    made->groups.emplace_back(f.DeviceCreateBindGroupLayout(device_.get(), &descriptor),
                              f.BindGroupLayoutRelease);
    raw_groups.push_back(made->groups.back().get());
  }
  WGPUPipelineLayoutDescriptor layout{};
  layout.bindGroupLayoutCount = raw_groups.size();
  layout.bindGroupLayouts = raw_groups.data();
  made->layout = Handle<WGPUPipelineLayout>(f.DeviceCreatePipelineLayout(device_.get(), &layout),
                                            f.PipelineLayoutRelease);
  WGPUComputePipelineDescriptor descriptor{};
  descriptor.label = view(pass.id);
  descriptor.layout = made->layout.get();
  descriptor.compute.module = module.get();
  descriptor.compute.entryPoint = view(pass.entry_point);
  made->pipeline = Handle<WGPUComputePipeline>(f.DeviceCreateComputePipeline(device_.get(), &descriptor),
                                               f.ComputePipelineRelease);
  if (const auto refused = scope.close())
    throw shader_error(device_, *refused, *pass.wgsl, pass.shader, pass.id);
  return made;
}

std::uint64_t PipelineCache::compiled() const {
  const std::lock_guard lock(mutex_);
  return compiled_;
}

}  // namespace kernelpack::webgpu
