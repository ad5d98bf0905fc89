#include "webgpu/pipeline_build.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "webgpu/shader_module.hpp"

namespace kernelpack::webgpu {
namespace {

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

// The layouts of a pass; errors land in the caller's scope.
std::shared_ptr<Pipeline> make_layouts(const GpuDevice& device, const PipelineRequest& request) {
  const Functions& f = device.functions();
  const PlannedPass& pass = *request.pass;
  auto made = std::make_shared<Pipeline>();
  made->dynamic_uniforms = request.dynamic_uniforms;
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
      entry.buffer.hasDynamicOffset =
          request.dynamic_uniforms && binding.buffer == BufferKind::uniform ? 1 : 0;
      entries.push_back(entry);
    }
    WGPUBindGroupLayoutDescriptor descriptor{};
    descriptor.entryCount = entries.size();
    descriptor.entries = entries.data();
    made->groups.emplace_back(f.DeviceCreateBindGroupLayout(device.get(), &descriptor),
                              f.BindGroupLayoutRelease);
    raw_groups.push_back(made->groups.back().get());
  }
  WGPUPipelineLayoutDescriptor layout{};
  layout.bindGroupLayoutCount = raw_groups.size();
  layout.bindGroupLayouts = raw_groups.data();
  made->layout = Handle<WGPUPipelineLayout>(f.DeviceCreatePipelineLayout(device.get(), &layout),
                                            f.PipelineLayoutRelease);
  return made;
}

WGPUComputePipelineDescriptor describe(const PlannedPass& pass, const Pipeline& made,
                                       const Handle<WGPUShaderModule>& module) {
  WGPUComputePipelineDescriptor descriptor{};
  descriptor.label = view(pass.id);
  descriptor.layout = made.layout.get();
  descriptor.compute.module = module.get();
  descriptor.compute.entryPoint = view(pass.entry_point);
  return descriptor;
}

Error refusal(const GpuDevice& device, const CapturedError& captured, const PlannedPass& pass) {
  return shader_error(device, captured, *pass.wgsl, pass.shader, pass.id);
}

Handle<WGPUShaderModule> checked_module(const GpuDevice& device, const PlannedPass& pass) {
  ErrorScope scope(device);
  auto module = create_module(device, *pass.wgsl, pass.shader);
  if (const auto refused = scope.close()) throw refusal(device, *refused, pass);
  return module;
}

// What a compilation under way in Dawn reports; shared with the callback, which may come late.
struct Pending : Completion {
  const Functions* functions = nullptr;
  WGPUCreatePipelineAsyncStatus status = WGPUCreatePipelineAsyncStatus_InternalError;
  Handle<WGPUComputePipeline> pipeline;
  std::string message;
};

struct AsyncBuild {
  std::shared_ptr<Pipeline> made;
  std::shared_ptr<Pending> pending;
  WGPUFuture future{};
};

AsyncBuild start(const GpuDevice& device, const PipelineRequest& request) {
  const Functions& f = device.functions();
  const PlannedPass& pass = *request.pass;
  const auto lock = device.lock();
  device.require_alive();
  const auto module = checked_module(device, pass);
  AsyncBuild build;
  ErrorScope scope(device);
  build.made = make_layouts(device, request);
  if (const auto refused = scope.close()) throw refusal(device, *refused, pass);
  build.pending = std::make_shared<Pending>();
  build.pending->functions = &f;
  WGPUCreateComputePipelineAsyncCallbackInfo callback{};
  callback.mode = device.callback_mode();
  callback.userdata1 = new std::shared_ptr<Pending>(build.pending);
  callback.callback = [](WGPUCreatePipelineAsyncStatus status, WGPUComputePipeline pipeline,
                         WGPUStringView message, void* user, void*) noexcept {
    const std::unique_ptr<std::shared_ptr<Pending>> owned(static_cast<std::shared_ptr<Pending>*>(user));
    Pending& pending = **owned;
    pending.status = status;
    pending.pipeline = Handle<WGPUComputePipeline>(pipeline, pending.functions->ComputePipelineRelease);
    pending.message = text_of(message);
    pending.done.store(true, std::memory_order_release);
  };
  const WGPUComputePipelineDescriptor descriptor = describe(pass, *build.made, module);
  build.future = f.DeviceCreateComputePipelineAsync(device.get(), &descriptor, callback);
  return build;
}

std::shared_ptr<const Pipeline> finish(const GpuDevice& device, AsyncBuild build, const PlannedPass& pass) {
  {
    std::unique_lock<std::mutex> lock;
    if (device.waits_need_lock()) lock = device.lock();
    device.wait(build.future, *build.pending);
  }
  Pending& pending = *build.pending;
  if (pending.status != WGPUCreatePipelineAsyncStatus_Success || !pending.pipeline) {
    device.require_alive();
    throw refusal(device, {WGPUErrorType_Validation, pending.message}, pass);
  }
  build.made->pipeline = std::move(pending.pipeline);
  return std::move(build.made);
}

template <class Step>
PipelineResult result_of(const Step& step) {
  try {
    return step();
  } catch (const Error& error) {
    return error;
  }
}

void build_async(const GpuDevice& device, std::span<const PipelineRequest> requests,
                 const std::function<void(std::size_t, PipelineResult)>& done) {
  std::vector<std::pair<std::size_t, AsyncBuild>> started;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    try {
      started.emplace_back(i, start(device, requests[i]));
    } catch (const Error& error) {
      done(i, error);
    }
  }
  for (auto& entry : started) {
    const std::size_t i = entry.first;
    done(i, result_of([&] { return finish(device, std::move(entry.second), *requests[i].pass); }));
  }
}

// Errors land in the caller's scope.
std::shared_ptr<const Pipeline> build_unchecked(const GpuDevice& device, const PipelineRequest& request) {
  const Functions& f = device.functions();
  const auto module = create_module(device, *request.pass->wgsl, request.pass->shader);
  auto made = make_layouts(device, request);
  const WGPUComputePipelineDescriptor descriptor = describe(*request.pass, *made, module);
  made->pipeline = Handle<WGPUComputePipeline>(f.DeviceCreateComputePipeline(device.get(), &descriptor),
                                               f.ComputePipelineRelease);
  return made;
}

std::shared_ptr<const Pipeline> build_here(const GpuDevice& device, const PipelineRequest& request) {
  const Functions& f = device.functions();
  const auto lock = device.lock();
  device.require_alive();
  const auto module = checked_module(device, *request.pass);
  ErrorScope scope(device, {WGPUErrorFilter_Validation, WGPUErrorFilter_Internal});
  auto made = make_layouts(device, request);
  const WGPUComputePipelineDescriptor descriptor = describe(*request.pass, *made, module);
  made->pipeline = Handle<WGPUComputePipeline>(f.DeviceCreateComputePipeline(device.get(), &descriptor),
                                               f.ComputePipelineRelease);
  if (const auto refused = scope.close()) throw refusal(device, *refused, *request.pass);
  return made;
}

// One scope catches the errors of all threads, so a chunk with an error is built again one by one to learn
// whose it is.
std::vector<std::shared_ptr<const Pipeline>> build_chunk(const GpuDevice& device,
                                                         std::span<const PipelineRequest> requests,
                                                         std::size_t threads) {
  std::vector<std::shared_ptr<const Pipeline>> made(requests.size());
  const auto lock = device.lock();
  device.require_alive();
  ErrorScope scope(device, {WGPUErrorFilter_Validation, WGPUErrorFilter_Internal});
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  const auto work = [&]() noexcept {
    try {
      for (std::size_t i = next++; i < requests.size(); i = next++)
        made[i] = build_unchecked(device, requests[i]);
    } catch (...) {
      failed = true;
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < std::min(threads, requests.size()); ++i) helpers.emplace_back(work);
    work();
  }
  if (scope.close() || failed) return {};
  return made;
}

void build_on_threads(const GpuDevice& device, std::span<const PipelineRequest> requests,
                      const std::function<void(std::size_t, PipelineResult)>& done) {
  const std::size_t threads = std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 16);
  const std::size_t chunk = requests.size() < 2 || threads < 2 ? 1 : 2 * threads;
  for (std::size_t begin = 0; begin < requests.size(); begin += chunk) {
    const auto part = requests.subspan(begin, std::min(chunk, requests.size() - begin));
    std::vector<std::shared_ptr<const Pipeline>> made;
    if (part.size() > 1) made = build_chunk(device, part, threads);
    for (std::size_t i = 0; i < part.size(); ++i)
      done(begin + i, made.empty() ? result_of([&] { return build_here(device, part[i]); })
                                   : PipelineResult(std::move(made[i])));
  }
}

}  // namespace

void build_pipelines(const GpuDevice& device, std::span<const PipelineRequest> requests,
                     const std::function<void(std::size_t, PipelineResult)>& done) {
  if (device.library().is_dawn()) {
    build_async(device, requests, done);
  } else {
    build_on_threads(device, requests, done);
  }
}

}  // namespace kernelpack::webgpu
