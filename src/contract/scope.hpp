#pragma once

#include "expr/scope.hpp"
#include "expr/value.hpp"
#include "kernelpack/call.hpp"
#include "kernelpack/plan.hpp"
#include "package/model.hpp"

namespace kernelpack::contract {

/// `device` of format.md 5.2: features and wgslLanguageFeatures with `has` and `size`, limits with WebGPU's
/// defaults for those that are not reported, adapterInfo. `DeviceFacts{}` stands for inference: defaults, no
/// features.
expr::Value device_value(const DeviceFacts& facts);

/// `tunables`: the package's own, then the chosen variant's (may be null), then those of the device profile,
/// then the caller's; the last one of a name wins.
expr::Value tunables_value(const package::Model& model, const package::Variant* variant,
                           const NamedValues& profile, const Call& call);

/// The namespaces of format.md 5.1 that hold before a variant is chosen, on top of the functions: attrs,
/// args, shapes, ranks, tensorDtypes, dtypes, logicalDtypes, present, tunables, repeat (empty), derive
/// (empty), device, DISPATCH_FOLD_WIDTH. Layers for derives, variant and pass stand on it. `device` is what
/// `device_value` gave for facts with or without the feature shader-f16.
expr::Scope base_scope(const package::Model& model, const Call& call, const expr::Value& device,
                       bool shader_f16, const NamedValues& profile = {});

/// The functions that a package of that generation may call: those of 4.9, and `rank`, `cols` and
/// `f16Allowed` for manifest 1.0.
const expr::Scope& package_functions(package::Generation generation, bool shader_f16);

}  // namespace kernelpack::contract
