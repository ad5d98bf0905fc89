"""Runs Hugging Face WebGPU kernel packages on the CPU and on any GPU.

    import kernelpack

    kernel = kernelpack.get_kernel("com.microsoft.BiasSoftmax")
    out = kernel(data=scores, bias=mask, axis=3, is_inner_broadcast=1)
    probabilities = out["output"]

    probabilities = kernelpack.bias_softmax(scores, mask)      # the same, with shapes as NumPy broadcasts them
"""

from __future__ import annotations

import collections.abc

from . import _interpreter  # before the module, which must not be loaded in a sub-interpreter
from . import _kernelpack
from ._adoption import wrap_buffer
from ._errors import (ContractError, DeviceError, Error, ExpressionError, IntegrityError, InternalError, IoError,
                      LimitError, NoVariantError, PackageError, ShaderError, TemplateError, TrustError,
                      UnsupportedError)
from ._kernelpack import Device, DeviceTensor, Kernel, Outputs, get_kernel, shipped_packages, to_device
from ._libraries import gpu_libraries
from ._reports import Contract, Explanation, Plan
from ._softmax import bias_softmax

__all__ = [
    "Contract", "ContractError", "Device", "DeviceError", "DeviceTensor", "Error", "Explanation", "ExpressionError",
    "IntegrityError", "InternalError", "IoError", "Kernel", "LimitError", "NoVariantError", "Outputs", "PackageError",
    "Plan", "ShaderError", "TemplateError", "TrustError", "UnsupportedError", "__version__", "bias_softmax",
    "get_kernel", "gpu_libraries", "shipped_packages", "to_device", "wrap_buffer",
]

del _interpreter
__version__ = _kernelpack._version()
collections.abc.Mapping.register(Outputs)
