#pragma once

#include <string>
#include <string_view>

namespace kernelpack::jinja {

/// Whether WGSL needs `enable f16;` before it (format.md 9.5): outside comments it has the word f16 or a
/// number literal with the suffix h, and no line that enables f16.
bool needs_enable_f16(std::string_view wgsl);

/// `wgsl`, with "enable f16;\n" before it where that is needed.
std::string with_f16_enabled(std::string wgsl);

}  // namespace kernelpack::jinja
