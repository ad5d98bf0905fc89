#pragma once

#include <span>
#include <string>

#include "kernelpack/call.hpp"
#include "kernelpack/explanation.hpp"
#include "kernelpack/gpu.hpp"
#include "kernelpack/kernel.hpp"
#include "kernelpack/plan.hpp"

namespace kernelpack {

// What the program prints with --json and the C interface returns: compact JSON of one line in well-formed
// UTF-8 (other bytes, of file names, become U+FFFD). NaN and infinities are the texts "NaN", "Infinity" and
// "-Infinity". Members are only ever added.

/// The contract, variants and files of the package as `PackageSummary` holds them, and its origin.
std::string to_json(const Kernel& kernel);

/// `{op, inputs, outputs, types, attributes, arguments, tunables, variant}`; each tensor with `name`,
/// `dtype`, `storageDtype`, `shape`, `packed`, `inout` and `saturating`.
std::string to_json(const Call& call);

/// `{variant, rejected, outputs, scratch, passes}`: docs/cli.md.
std::string to_json(const Call& call, const Plan& plan);

/// `{call, device, derives, variants, tunables, variantDerives, passes, plan, refusal}` with the fields of
/// `Explanation`; `plan` is null if there is none, `refusal` if there is one.
std::string to_json(const Explanation& explanation);

/// An array of `{name, path, problem, complete, adapters}`; each adapter with its facts.
std::string to_json(std::span<const GpuLibrary> libraries);

}  // namespace kernelpack
