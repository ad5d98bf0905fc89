#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernelpack/plan.hpp"
#include "webgpu/runtime.hpp"
#include "webgpu/storage.hpp"

namespace kernelpack::webgpu {

inline BoundTensor bound_tensor(std::string name, DType dtype, Shape shape) {
  return {.name = std::move(name), .dtype = dtype, .storage = dtype, .shape = std::move(shape)};
}

inline PlannedBinding tensor_binding(std::uint32_t index, std::string name, BufferKind kind) {
  PlannedBinding binding;
  binding.target = name;
  binding.name = std::move(name);
  binding.buffer = kind;
  binding.index = index;
  return binding;
}
inline PlannedBinding scratch_binding(std::uint32_t index, std::string name, BufferKind kind) {
  PlannedBinding binding = tensor_binding(index, std::move(name), kind);
  binding.resource = PlannedBinding::Resource::scratch;
  return binding;
}
inline PlannedBinding uniform_binding(std::uint32_t index, std::string name,
                                      std::vector<std::uint32_t> words) {
  PlannedBinding binding = tensor_binding(index, std::move(name), BufferKind::uniform);
  binding.resource = PlannedBinding::Resource::uniform;
  binding.words = std::move(words);
  return binding;
}

inline PlannedPass planned_pass(std::string id, std::string wgsl, std::vector<PlannedBinding> bindings,
                                std::array<std::uint32_t, 3> workgroups) {
  PlannedPass pass;
  pass.name = id;
  pass.id = std::move(id);
  pass.shader = "test.wgsl.jinja";
  pass.wgsl = std::move(wgsl);
  pass.bindings = std::move(bindings);
  pass.workgroups = workgroups;
  return pass;
}

/// out[i] = a[i] + b[i] for float32; n is a uniform, rows beyond 65535 workgroups fold into y.
inline Plan add_plan(std::int64_t count) {
  Plan plan;
  plan.op = "test.Add";
  plan.variant = "plain";
  plan.tensors = {bound_tensor("a", DType::float32, {count}), bound_tensor("b", DType::float32, {count}),
                  bound_tensor("out", DType::float32, {count})};
  const auto n = static_cast<std::uint32_t>(count);
  const std::uint32_t groups = (n + 63) / 64;
  plan.passes = {
      planned_pass("main",
                   "struct U { n: u32, p0: u32, p1: u32, p2: u32 };\n"
                   "@group(0) @binding(0) var<storage, read> a: array<f32>;\n"
                   "@group(0) @binding(1) var<storage, read> b: array<f32>;\n"
                   "@group(0) @binding(2) var<storage, read_write> out: array<f32>;\n"
                   "@group(0) @binding(3) var<uniform> u: U;\n"
                   "@compute @workgroup_size(64)\n"
                   "fn main(@builtin(workgroup_id) g: vec3u, @builtin(local_invocation_index) l: u32) {\n"
                   "  let i = (g.x + g.y * 65535u) * 64u + l;\n"
                   "  if (i < u.n) { out[i] = a[i] + b[i]; }\n"
                   "}\n",
                   {tensor_binding(0, "a", BufferKind::read_only_storage),
                    tensor_binding(1, "b", BufferKind::read_only_storage),
                    tensor_binding(2, "out", BufferKind::storage), uniform_binding(3, "u", {n, 0, 0, 0})},
                   {std::min(groups, 65535u), (groups + 65534) / 65535, 1})};
  return plan;
}

/// Copies `in` to `out` as words of the storage layout, so that a round trip shows the layout of a dtype.
inline Plan copy_plan(BoundTensor like) {
  Plan plan;
  plan.op = "test.Copy";
  BoundTensor in = like;
  in.name = "in";
  BoundTensor out = like;
  out.name = "out";
  const auto words = static_cast<std::uint32_t>(buffer_bytes(storage_bytes(like)) / 4);
  plan.tensors = {in, out};
  plan.passes = {planned_pass(
      "main",
      "@group(0) @binding(0) var<storage, read> in: array<u32>;\n"
      "@group(0) @binding(1) var<storage, read_write> out: array<u32>;\n"
      "@compute @workgroup_size(64)\n"
      "fn main(@builtin(global_invocation_id) id: vec3u) {\n"
      "  if (id.x < arrayLength(&out)) { out[id.x] = in[id.x]; }\n"
      "}\n",
      {tensor_binding(0, "in", BufferKind::read_only_storage), tensor_binding(1, "out", BufferKind::storage)},
      {(words + 63) / 64, 1, 1})};
  return plan;
}

}  // namespace kernelpack::webgpu
