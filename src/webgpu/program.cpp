#include "webgpu/program.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "webgpu/storage.hpp"

namespace kernelpack::webgpu {
namespace {

class Compiler {
 public:
  Compiler(const GpuDevice& device, PipelineCache& pipelines, UniformStore& uniforms, const Plan& plan)
      : device_(device),
        pipelines_(pipelines),
        uniforms_(uniforms),
        plan_(plan),
        program_(std::make_shared<Program>()),
        scratch_index_(plan.scratch.size(), kUnused) {}

  std::shared_ptr<const Program> run() {
    program_->op = plan_.op;
    program_->variant = plan_.variant;
    for (const BoundTensor& tensor : plan_.tensors) add_tensor(tensor);
    std::vector<const PlannedPass*> running;
    for (const PlannedPass& pass : plan_.passes) {
      if (!runs(pass)) continue;
      check_pass(pass);
      running.push_back(&pass);
    }
    // Together, so that they compile at the same time; a single one is not worth the detour.
    if (running.size() > 1) pipelines_.get_all(running);
    for (std::size_t i = 0; i < running.size(); ++i) complete_pass(*running[i], program_->passes[i]);
    return std::move(program_);
  }

 private:
  static constexpr std::uint32_t kUnused = 0xFFFFFFFF;

  void add_tensor(const BoundTensor& tensor) {
    const std::uint64_t bytes = storage_bytes(tensor);
    const std::uint64_t range = buffer_bytes(bytes);
    if (range > device_.limits().maxBufferSize)
      throw Error(ErrorKind::limit,
                  fmt::format("The buffer of {} ({} bytes) exceeds the device's maxBufferSize ({} bytes)",
                              tensor.name, range, device_.limits().maxBufferSize));
    program_->tensors.push_back({tensor, bytes, range});
  }

  std::uint32_t tensor_index(const std::string& name, const PlannedPass& pass) const {
    for (std::uint32_t i = 0; i < plan_.tensors.size(); ++i)
      if (plan_.tensors[i].name == name) return i;
    throw Error(ErrorKind::internal,
                fmt::format("Pass {} binds a tensor that the plan lacks ({})", pass.id, name));
  }

  std::uint32_t scratch_index(const std::string& id, const PlannedPass& pass) {
    for (std::size_t i = 0; i < plan_.scratch.size(); ++i) {
      const PlannedScratch& scratch = plan_.scratch[i];
      if (scratch.id != id) continue;
      if (scratch_index_[i] == kUnused) {
        scratch_index_[i] = static_cast<std::uint32_t>(program_->scratch.size());
        program_->scratch.push_back({id, buffer_bytes(scratch.bytes), scratch.zero_init});
      }
      return scratch_index_[i];
    }
    throw Error(ErrorKind::internal,
                fmt::format("Pass {} binds scratch that the plan lacks ({})", pass.id, id));
  }

  static std::vector<const PlannedBinding*> sorted_bindings(const PlannedPass& pass) {
    std::vector<const PlannedBinding*> bindings;
    for (const PlannedBinding& binding : pass.bindings) bindings.push_back(&binding);
    std::stable_sort(bindings.begin(), bindings.end(), [](const PlannedBinding* a, const PlannedBinding* b) {
      return std::pair(a->group, a->index) < std::pair(b->group, b->index);
    });
    return bindings;
  }

  // Everything that needs no compiled pipeline.
  void check_pass(const PlannedPass& pass) {
    const std::uint32_t limit = std::min(device_.limits().maxComputeWorkgroupsPerDimension, 65535u);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (pass.workgroups[axis] > limit)
        throw Error(ErrorKind::limit,
                    fmt::format("The workgroups of pass {} along {} ({}) exceed the device's "
                                "maxComputeWorkgroupsPerDimension ({})",
                                pass.id, "xyz"[axis], pass.workgroups[axis], limit));
    }
    ProgramPass made;
    made.id = pass.id;
    made.workgroups = pass.workgroups;
    made.submit_after = pass.submit_after;
    program_->submits_between |= pass.submit_after;
    for (const auto& [input, output] : pass.view_aliases)
      made.view_aliases.emplace_back(tensor_index(input, pass), tensor_index(output, pass));
    for (const PlannedBinding* binding : sorted_bindings(pass)) {
      if (binding->resource == PlannedBinding::Resource::uniform) continue;
      group(made, binding->group).storage.push_back(storage_binding(*binding, pass));
    }
    require_no_conflict(made);
    for (const PassGroup& one : made.groups) require_entries(one, pass);
    program_->passes.push_back(std::move(made));
  }

  void complete_pass(const PlannedPass& pass, ProgramPass& made) {
    made.pipeline = pipelines_.get(pass);
    const auto lock = device_.lock();
    for (const PlannedBinding* binding : sorted_bindings(pass)) {
      if (binding->resource != PlannedBinding::Resource::uniform) continue;
      PassGroup& target = group(made, binding->group);
      target.uniforms.push_back({binding->index, binding->words.size() * 4, uniforms_.store(binding->words)});
      if (made.pipeline->dynamic_uniforms)
        target.dynamic_offsets.push_back(static_cast<std::uint32_t>(target.uniforms.back().slots.offset()));
    }
    // A pipeline layout with a gap wants an empty group there.
    for (std::uint32_t index = 0; index < made.pipeline->groups.size(); ++index) group(made, index);
  }

  static PassGroup& group(ProgramPass& pass, std::uint32_t index) {
    for (PassGroup& known : pass.groups)
      if (known.index == index) return known;
    pass.groups.push_back({index, {}, {}, {}});
    return pass.groups.back();
  }

  StorageBinding storage_binding(const PlannedBinding& binding, const PlannedPass& pass) {
    StorageBinding made;
    made.binding = binding.index;
    made.name = binding.name;
    made.writes = binding.buffer == BufferKind::storage;
    made.required_bytes = binding.required_bytes;
    made.scratch = binding.resource == PlannedBinding::Resource::scratch;
    made.target = made.scratch ? scratch_index(binding.target, pass) : tensor_index(binding.target, pass);
    const std::uint64_t range =
        made.scratch ? program_->scratch[made.target].bytes : program_->tensors[made.target].range_bytes;
    if (range > device_.limits().maxStorageBufferBindingSize)
      throw Error(ErrorKind::limit,
                  fmt::format("The range bound to {} of pass {} ({} bytes of {}) exceeds the device's "
                              "maxStorageBufferBindingSize ({} bytes)",
                              binding.name, pass.id, range, binding.target,
                              device_.limits().maxStorageBufferBindingSize));
    if (range < binding.required_bytes)
      throw Error(ErrorKind::contract,
                  fmt::format("The range bound to {} of pass {} ({} bytes of {}) is smaller than "
                              "its sized array ({} bytes)",
                              binding.name, pass.id, range, binding.target, binding.required_bytes));
    return made;
  }

  static void require_entries(const PassGroup& group, const PlannedPass& pass) {
    const std::size_t count = static_cast<std::size_t>(
        std::count_if(pass.bindings.begin(), pass.bindings.end(),
                      [&](const PlannedBinding& binding) { return binding.group == group.index; }));
    if (count > kMaxGroupEntries)
      throw Error(ErrorKind::limit,
                  fmt::format("The number of bindings in group {} of pass {} ({}) exceeds the number "
                              "that kernelpack records ({})",
                              group.index, pass.id, count, kMaxGroupEntries));
  }

  // Hazards that show without buffers: one tensor or scratch twice in a pass, at least once written.
  static void require_no_conflict(const ProgramPass& pass) {
    std::vector<const StorageBinding*> seen;
    for (const PassGroup& group : pass.groups) {
      for (const StorageBinding& binding : group.storage) {
        for (const StorageBinding* other : seen)
          if (other->scratch == binding.scratch && other->target == binding.target &&
              (other->writes || binding.writes))
            throw Error(ErrorKind::contract,
                        fmt::format("Pass {} binds one buffer twice ({} and {}) and writes to it", pass.id,
                                    other->name, binding.name));
        seen.push_back(&binding);
      }
    }
  }

  const GpuDevice& device_;
  PipelineCache& pipelines_;
  UniformStore& uniforms_;
  const Plan& plan_;
  std::shared_ptr<Program> program_;
  std::vector<std::uint32_t> scratch_index_;
};

}  // namespace

bool runs(const PlannedPass& pass) noexcept {
  return pass.skip == PlannedPass::Skip::none &&
         std::find(pass.workgroups.begin(), pass.workgroups.end(), 0u) == pass.workgroups.end();
}

std::shared_ptr<const Program> compile(const GpuDevice& device, PipelineCache& pipelines,
                                       UniformStore& uniforms, const Plan& plan) {
  return Compiler(device, pipelines, uniforms, plan).run();
}

}  // namespace kernelpack::webgpu
