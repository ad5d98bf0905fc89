#pragma once

#include "package/bindings.hpp"
#include "package/model.hpp"
#include "package/reader.hpp"

namespace kernelpack::package {

/// The `variants` of a 2.x manifest, families expanded, into `model`, whose contract part has been read.
void read_variants(const Node& node, const Handles& handles, Model& model);

}  // namespace kernelpack::package
