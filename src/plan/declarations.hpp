#pragma once

#include <string>
#include <vector>

#include "kernelpack/plan.hpp"
#include "package/model.hpp"

namespace kernelpack::plan {

/// `env.wgsl.resourceDeclarations` of a pass (format.md 10.1): one line per distinct uniform struct, then one
/// per binding, joined by line feeds. `planned` are the bindings of `pass` in the same order, element types
/// resolved.
std::string resource_declarations(const package::Pass& pass, const std::vector<PlannedBinding>& planned);

}  // namespace kernelpack::plan
