#include "plan/declarations.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "plan/uniforms.hpp"

namespace kernelpack::plan {
namespace {

/// WGSL wants 16-byte structs in uniform buffers: padded with fields of their own.
std::string struct_line(const package::Binding& binding) {
  std::string line = fmt::format("struct {} {{ ", binding.struct_name);
  std::size_t fields = 0;
  for (const package::Field& field : binding.fields)
    line += fmt::format("{}{}: {}", fields++ == 0 ? "" : ", ", field.name, package::to_string(field.type));
  for (std::size_t number = 0; fields % 4 != 0; ++number) {
    const std::string name = fmt::format("_pad{}", number);
    const bool taken = std::any_of(binding.fields.begin(), binding.fields.end(),
                                   [&](const package::Field& field) { return field.name == name; });
    if (taken) continue;
    line += fmt::format("{}{}: u32", fields++ == 0 ? "" : ", ", name);
  }
  return line + " };";
}

std::string_view access(BufferKind kind) {
  return kind == BufferKind::read_only_storage ? "storage, read" : "storage, read_write";
}

}  // namespace

std::string resource_declarations(const package::Pass& pass, const std::vector<PlannedBinding>& planned) {
  std::vector<std::string> lines;
  std::vector<std::string_view> structs;
  for (const package::Binding& binding : pass.bindings) {
    if (binding.buffer != BufferKind::uniform) continue;
    if (std::find(structs.begin(), structs.end(), binding.struct_name) != structs.end()) continue;
    structs.push_back(binding.struct_name);
    lines.push_back(struct_line(binding));
  }
  for (const PlannedBinding& binding : planned) {
    std::string line = fmt::format("@group({}) @binding({}) var<", binding.group, binding.index);
    if (binding.buffer == BufferKind::uniform)
      line += fmt::format("uniform> {}: {};", binding.name, binding.target);
    else if (binding.length)
      line += fmt::format("{}> {}: array<{}, {}u>;", access(binding.buffer), binding.name,
                          binding.element_type, *binding.length);
    else
      line += fmt::format("{}> {}: array<{}>;", access(binding.buffer), binding.name, binding.element_type);
    lines.push_back(std::move(line));
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace kernelpack::plan
