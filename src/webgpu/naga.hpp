#pragma once

#include <string>
#include <string_view>

namespace kernelpack::webgpu {

/// The WGSL text as naga, the compiler of wgpu-native, takes it: `requires` and `diagnostic` directives, the
/// name `subgroups` of `enable` directives and `@diagnostic` attributes become spaces, so that every line and
/// column stays. Works on tokens: comments are left alone, directives are looked for before the first
/// declaration only.
std::string rewrite_for_naga(std::string_view wgsl);

}  // namespace kernelpack::webgpu
