#pragma once

#include "package/model.hpp"

namespace kernelpack {

/// A package whose files nothing vouches for runs only where the caller said so (format.md 14 (a)). Throws
/// integrity.
void require_trusted_files(const package::Model& model);

}  // namespace kernelpack
