"""For programs that use PyTorch on the CPU; needs torch, which kernelpack itself does not."""

from __future__ import annotations

import typing

import torch

from ._kernelpack import Device
from ._softmax import bias_softmax as _bias_softmax


def bias_softmax(data: torch.Tensor, bias: torch.Tensor, axis: int = -1, inner: bool | None = None, *,
                 expand: bool = False, device: Device | None = None) -> torch.Tensor:
    """softmax(data + bias) of tensors on the CPU, as kernelpack.bias_softmax, without copies.

    device: where to compute, by default the CPU with all its processors.

    Computes no gradients: tensors that require them are refused.
    """
    result = torch.empty(data.shape, dtype=data.dtype)
    _bias_softmax(data, bias, axis, inner, expand=expand, out=result, device=device)
    return result


class BiasSoftmax(torch.nn.Module):  # type: ignore[misc, unused-ignore]
    """softmax(data + bias) as a module, to stand where a model adds a mask to scores and takes the softmax."""

    def __init__(self, axis: int = -1, inner: bool | None = None, *, expand: bool = False,
                 device: Device | None = None) -> None:
        super().__init__()
        self.axis = axis
        self.inner = inner
        self.expand = expand
        self.device = device

    def forward(self, data: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        """The probabilities, of the shape of data."""
        return bias_softmax(data, bias, self.axis, self.inner, expand=self.expand, device=self.device)

    def extra_repr(self) -> typing.Any:
        return f"axis={self.axis}, inner={self.inner}, expand={self.expand}"
