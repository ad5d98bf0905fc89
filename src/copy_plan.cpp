#include <algorithm>

#include "kernelpack/timing.hpp"

namespace kernelpack {
namespace {

constexpr const char* kCopy =
    "@group(0) @binding(0) var<storage, read> source: array<vec4<f32>>;\n"
    "@group(0) @binding(1) var<storage, read_write> target_: array<vec4<f32>>;\n"
    "@compute @workgroup_size(256)\n"
    "fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {\n"
    "  let i = id.y * groups.x * 256u + id.x;\n"
    "  if (i < arrayLength(&source)) {\n"
    "    target_[i] = source[i];\n"
    "  }\n"
    "}\n";

BoundTensor tensor(std::string name, std::uint64_t vectors) {
  BoundTensor bound;
  bound.name = std::move(name);
  bound.shape = {static_cast<std::int64_t>(vectors * 4)};
  return bound;
}

PlannedBinding binding(std::uint32_t index, std::string name, std::string target, BufferKind kind) {
  PlannedBinding made;
  made.name = std::move(name);
  made.target = std::move(target);
  made.buffer = kind;
  made.index = index;
  made.element_type = "vec4<f32>";
  return made;
}

}  // namespace

Plan copy_plan(std::uint64_t bytes) {
  const std::uint64_t vectors = std::max<std::uint64_t>(1, (bytes + 31) / 32);
  const std::uint64_t groups = (vectors + 255) / 256;
  const std::uint64_t rows = (groups + 32767) / 32768;
  Plan plan;
  plan.op = "kernelpack.Copy";
  plan.variant = "vec4";
  plan.tensors = {tensor("from", vectors), tensor("to", vectors)};
  PlannedPass pass;
  pass.id = "copy";
  pass.name = "Copy";
  pass.shader = "copy";
  pass.wgsl = kCopy;
  pass.bindings = {binding(0, "source", "from", BufferKind::read_only_storage),
                   binding(1, "target_", "to", BufferKind::storage)};
  pass.workgroups = {static_cast<std::uint32_t>((groups + rows - 1) / rows), static_cast<std::uint32_t>(rows),
                     1};
  plan.passes = {std::move(pass)};
  return plan;
}

}  // namespace kernelpack
