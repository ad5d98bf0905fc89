#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "webgpu/pipelines.hpp"
#include "webgpu/uniforms.hpp"

namespace kernelpack::webgpu {

/// More bindings than devices allow in one stage; keeps recording free of allocations.
inline constexpr std::size_t kMaxGroupEntries = 64;

/// A storage binding of a compiled pass.
struct StorageBinding {
  std::uint32_t binding = 0;
  bool scratch = false;      ///< else a tensor
  std::uint32_t target = 0;  ///< index into Program::tensors or Program::scratch
  bool writes = false;
  std::string name;
  std::uint64_t required_bytes = 0;
};

/// A uniform binding with its values in place.
struct UniformBinding {
  std::uint32_t binding = 0;
  std::uint64_t bytes = 0;
  UniformSlots slots;
};

/// One bind group of a pass.
struct PassGroup {
  std::uint32_t index = 0;
  std::vector<StorageBinding> storage;
  std::vector<UniformBinding> uniforms;        ///< by binding number
  std::vector<std::uint32_t> dynamic_offsets;  ///< of `uniforms`; empty where offsets are plain
};

struct ProgramPass {
  std::string id;
  std::shared_ptr<const Pipeline> pipeline;
  std::vector<PassGroup> groups;
  std::array<std::uint32_t, 3> workgroups{};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> view_aliases;  ///< tensors (input, output)
  bool submit_after = false;
};

struct ProgramScratch {
  std::string id;
  std::uint64_t bytes = 0;
  bool zero_init = false;
};

/// A tensor of a program: its bytes as stored and as a bound range.
struct ProgramTensor {
  BoundTensor bound;
  std::uint64_t bytes = 0;
  std::uint64_t range_bytes = 0;
};

/// A plan compiled for a device: pipelines, binding targets by index, uniforms in place. Immutable; can be
/// encoded any number of times. Skipped passes are gone.
struct Program {
  std::string op;
  std::string variant;
  std::vector<ProgramTensor> tensors;
  std::vector<ProgramScratch> scratch;  ///< used ones only
  std::vector<ProgramPass> passes;
  bool submits_between = false;  ///< a pass asks for submitAfter
};

/// Whether the pass has anything to dispatch.
bool runs(const PlannedPass& pass) noexcept;

/// Compiles the plan. Checks every limit that does not depend on the caller's buffers. Throws limit, shader,
/// contract (a sized binding larger than its tensor, one tensor bound for reading and writing in one pass) or
/// device.
std::shared_ptr<const Program> compile(const GpuDevice& device, PipelineCache& pipelines,
                                       UniformStore& uniforms, const Plan& plan);

}  // namespace kernelpack::webgpu
