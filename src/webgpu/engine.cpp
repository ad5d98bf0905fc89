#include "webgpu/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace kernelpack::webgpu {
namespace {

// Cheap and good enough to find a plan again; equality decides.
std::uint64_t hash_of(const Plan& plan) {
  std::uint64_t hash = std::hash<std::string>()(plan.op) * 31 + std::hash<std::string>()(plan.variant);
  const auto mix = [&hash](std::uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15u + (hash >> 29);
  };
  for (const BoundTensor& tensor : plan.tensors)
    for (std::int64_t dim : tensor.shape) mix(static_cast<std::uint64_t>(dim));
  for (const PlannedPass& pass : plan.passes) {
    for (std::uint32_t axis : pass.workgroups) mix(axis);
    for (const PlannedBinding& binding : pass.bindings)
      for (std::uint32_t word : binding.words) mix(word);
  }
  return hash;
}

}  // namespace

Engine::Engine(std::shared_ptr<GpuDevice> device)
    : device_(std::move(device)),
      bind_groups_(*device_),
      buffers_(*device_, bind_groups_),
      pipelines_(*device_),
      uniforms_(*device_, buffers_) {}

std::shared_ptr<const Program> Engine::program(const Plan& plan) {
  const std::uint64_t hash = hash_of(plan);
  {
    const std::lock_guard lock(programs_mutex_);
    const auto found = std::find_if(programs_.rbegin(), programs_.rend(), [&](const KnownProgram& known) {
      return known.hash == hash && known.plan == plan;
    });
    if (found != programs_.rend()) {
      std::rotate(std::next(found).base(), found.base(), programs_.end());
      return programs_.back().program;
    }
  }
  auto made = compile(*device_, pipelines_, uniforms_, plan);
  const std::lock_guard lock(programs_mutex_);
  if (programs_.size() >= kPrograms) programs_.erase(programs_.begin());
  programs_.push_back({hash, plan, made});
  return made;
}

std::shared_ptr<const Program> Engine::program(const std::shared_ptr<const Plan>& plan) {
  {
    const std::lock_guard lock(programs_mutex_);
    // A plan that lives at the address of a dead one has another owner, which the expired pointer shows.
    const auto found = by_address_.find(plan.get());
    if (found != by_address_.end() && !found->second.plan.expired()) return found->second.program;
  }
  auto made = program(*plan);
  const std::lock_guard lock(programs_mutex_);
  if (by_address_.size() >= kPrograms) {
    std::erase_if(by_address_, [](const auto& known) { return known.second.plan.expired(); });
    if (by_address_.size() >= kPrograms) by_address_.clear();
  }
  by_address_.insert_or_assign(plan.get(), KnownAddress{plan, made});
  return made;
}

std::shared_ptr<const Program> Engine::compile_once(const Plan& plan) {
  return compile(*device_, pipelines_, uniforms_, plan);
}

void close(Engine& engine) {
  engine.close();
}

const DeviceFacts& facts(const Engine& engine) noexcept {
  return engine.device().facts();
}

const GpuAdapter& adapter(const Engine& engine) noexcept {
  return engine.device().adapter();
}

std::string description(const Engine& engine) {
  const GpuAdapter& adapter = engine.device().adapter();
  return fmt::format("{} ({}, {}{})", adapter.name, adapter.backend, engine.device().library().name(),
                     adapter.software ? ", software" : "");
}

}  // namespace kernelpack::webgpu
