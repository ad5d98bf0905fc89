#pragma once

#include "kernelpack/package.hpp"
#include "package/model.hpp"
#include "package/reader.hpp"

namespace kernelpack::package {

/// Reads the template files that the variants use into `model.templates`: each must exist and, when
/// verifying, be listed in metadata.json and match its digest. Faults point to the first pass that names the
/// file.
void load_templates(const Node& manifest, const LoadOptions& options, Model& model);

}  // namespace kernelpack::package
