#include "webgpu/shader_module.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/source.hpp"
#include "webgpu/naga.hpp"

namespace kernelpack::webgpu {
namespace {

// Dawn writes ":12:7 error: ...", naga "wgsl:12:7": the first ":LINE:COLUMN" of the text.
std::optional<LineColumn> find_place(std::string_view text) {
  for (std::size_t at = text.find(':'); at != std::string_view::npos; at = text.find(':', at + 1)) {
    LineColumn place;
    const char* end = text.data() + text.size();
    const auto line = std::from_chars(text.data() + at + 1, end, place.line);
    if (line.ec != std::errc() || line.ptr == end || *line.ptr != ':') continue;
    const auto column = std::from_chars(line.ptr + 1, end, place.column);
    if (column.ec == std::errc() && place.line > 0 && place.column > 0) return place;
  }
  return std::nullopt;
}

std::optional<std::size_t> offset_of(std::string_view text, LineColumn place) {
  std::size_t begin = 0;
  for (std::size_t line = 1; line < place.line; ++line) {
    begin = text.find('\n', begin);
    if (begin == std::string_view::npos) return std::nullopt;
    ++begin;
  }
  return std::min(begin + place.column - 1, text.size());
}

// The line that says what is wrong: Dawn's ends with "error: ...", naga's begins with "error:" or is the
// deepest cause.
std::string gist(std::string_view text) {
  const std::size_t error = text.find("error: ");
  if (error == std::string_view::npos) return one_line(std::string(text.substr(0, 300)));
  const std::size_t begin = error + 7;
  return one_line(std::string(text.substr(begin, text.find('\n', begin) - begin)));
}

}  // namespace

Handle<WGPUShaderModule> create_module(const GpuDevice& device, std::string_view wgsl,
                                       std::string_view label) {
  const std::string rewritten = device.library().is_dawn() ? std::string() : rewrite_for_naga(wgsl);
  WGPUShaderSourceWGSL source{};
  source.chain.sType = WGPUSType_ShaderSourceWGSL;
  source.code = view(device.library().is_dawn() ? wgsl : std::string_view(rewritten));
  WGPUShaderModuleDescriptor descriptor{};
  descriptor.nextInChain = &source.chain;
  descriptor.label = view(label);
  const Functions& f = device.functions();
  return Handle<WGPUShaderModule>(f.DeviceCreateShaderModule(device.get(), &descriptor),
                                  f.ShaderModuleRelease);
}

Error shader_error(const GpuDevice& device, const CapturedError& captured, std::string_view wgsl,
                   std::string_view shader, std::string_view pass) {
  const std::string_view compiler = device.library().is_dawn() ? "Dawn" : "naga, the compiler of wgpu-native";
  Error error(ErrorKind::shader, fmt::format("The shader of pass {} does not compile with {}: {}", pass,
                                             compiler, gist(captured.message)));
  if (const auto place = find_place(captured.message)) {
    error.set_where(
        fmt::format("{}, line {}, column {} of the rendered text", shader, place->line, place->column));
    if (const auto offset = offset_of(wgsl, *place)) error.set_excerpt(excerpt(wgsl, {*offset, *offset + 1}));
  } else {
    error.set_where(std::string(shader));
  }
  for (std::size_t begin = 0; begin < captured.message.size();) {
    const std::size_t end = std::min(captured.message.find('\n', begin), captured.message.size());
    if (end > begin) error.add_context(captured.message.substr(begin, end - begin));
    begin = end + 1;
  }
  return error;
}

}  // namespace kernelpack::webgpu
