#pragma once

#include <nanobind/nanobind.h>

namespace kernelpack::python {

/// Kernel and Outputs.
void bind_kernels(nanobind::module_& module);

}  // namespace kernelpack::python
