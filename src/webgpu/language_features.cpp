#include "webgpu/language_features.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "webgpu/gpu_device.hpp"
#include "webgpu/shader_module.hpp"

namespace kernelpack::webgpu {
namespace {

struct Probe {
  std::string_view name;
  std::string_view needs;  ///< a feature of the device
  std::string_view wgsl;   ///< uses what the feature adds; the `requires` directive is put before it
};

constexpr std::array<Probe, 7> kProbes{{
    {"readonly_and_readwrite_storage_textures", "",
     "@group(0) @binding(0) var t: texture_storage_2d<r32uint, read>;\n"
     "@compute @workgroup_size(1) fn main() { _ = textureLoad(t, vec2u(0u)).x; }\n"},
    {"packed_4x8_integer_dot_product", "",
     "@compute @workgroup_size(1) fn main(@builtin(local_invocation_index) i: u32) { _ = dot4U8Packed(i, i); "
     "}\n"},
    {"unrestricted_pointer_parameters", "",
     "var<workgroup> w: array<u32, 4>;\n"
     "fn first(p: ptr<workgroup, array<u32, 4>>) -> u32 { return (*p)[0]; }\n"
     "@compute @workgroup_size(1) fn main() { _ = first(&w); }\n"},
    {"pointer_composite_access", "",
     "@compute @workgroup_size(1) fn main() { var v = vec2u(1u); let p = &v; _ = p.x; }\n"},
    {"uniform_buffer_standard_layout", "",
     "struct U { a: array<u32, 4> }\n@group(0) @binding(0) var<uniform> u: U;\n"
     "@compute @workgroup_size(1) fn main() { _ = u.a[0]; }\n"},
    {"subgroup_id", "subgroups",
     "@compute @workgroup_size(1) fn main(@builtin(subgroup_id) s: u32, @builtin(num_subgroups) n: u32) "
     "{ _ = s + n; }\n"},
    {"subgroup_uniformity", "subgroups",
     "var<workgroup> w: u32;\n@compute @workgroup_size(1) fn main() "
     "{ w = 1u; if (subgroupBroadcastFirst(workgroupUniformLoad(&w)) > 0u) { workgroupBarrier(); } }\n"},
}};

}  // namespace

std::vector<std::string> accepted_language_features(const GpuDevice& device) {
  const auto& features = device.facts().features;
  const auto lock = device.lock();
  std::vector<std::string> accepted;
  for (const Probe& probe : kProbes) {
    if (!probe.needs.empty() && std::find(features.begin(), features.end(), probe.needs) == features.end())
      continue;
    const std::string wgsl = fmt::format(
        "{}requires {};\n{}", probe.needs.empty() ? "" : "enable subgroups;\n", probe.name, probe.wgsl);
    ErrorScope scope(device);
    const auto module = create_module(device, wgsl, probe.name);
    if (!scope.close()) accepted.emplace_back(probe.name);
  }
  return accepted;
}

}  // namespace kernelpack::webgpu
