"""bias_softmax: the flagship operator with shapes as NumPy broadcasts them."""

from __future__ import annotations

import functools
import typing

import numpy

from . import _kernelpack
from ._errors import ContractError


@functools.cache
def _kernel() -> _kernelpack.Kernel:
    return _kernelpack.get_kernel("com.microsoft.BiasSoftmax")


def _refuse(message: str, where: str) -> typing.NoReturn:
    raise ContractError(f"contract: {message} ({where})", message, where)


def _shape(array: typing.Any) -> tuple[int, ...]:
    shape = getattr(array, "shape", None)
    return tuple(memoryview(array).shape or () if shape is None else shape)


def _as_numpy(array: typing.Any) -> numpy.ndarray[typing.Any, typing.Any]:
    if isinstance(array, _kernelpack.DeviceTensor):
        _refuse("A bias on a GPU cannot be expanded; expand it before it is uploaded", "input bias")
    if isinstance(array, numpy.ndarray) or not hasattr(array, "__dlpack__"):
        return numpy.asarray(array)
    return numpy.from_dlpack(array)


@functools.lru_cache(maxsize=256)
def _broadcast(data: tuple[int, ...], bias: tuple[int, ...], axis: int) -> tuple[int, tuple[int, ...]]:
    """is_inner_broadcast, and the smallest shape that the bias must have for it."""
    rank = len(data)
    if not -rank <= axis < rank:
        _refuse(f"The axis ({axis}) is outside the dimensions of data {list(data)}", "attribute axis")
    axis %= rank
    padded = (1,) * (rank - len(bias)) + bias
    if len(bias) > rank or any(b not in (1, d) for b, d in zip(padded, data)):
        _refuse(f"The shape of bias {list(bias)} does not broadcast to that of data {list(data)}", "input bias")
    rows = data[axis:]
    # Dimensions before the axis that the bias really has; others repeat it.
    present = [i for i in range(axis) if padded[i] != 1 and data[i] != 1]
    inner = data[:present[-1] + 1] + (1,) * (axis - present[-1] - 1) if present else (1,) * axis
    outer = (1,) * present[0] + data[present[0]:axis] if present else (1,) * axis
    if numpy.prod(inner, dtype=object) <= numpy.prod(outer, dtype=object):
        return 1, inner + rows
    return 0, outer + rows


def bias_softmax(data: typing.Any, bias: typing.Any, axis: int = -1, inner: bool | None = None, *,
                 expand: bool = False, out: typing.Any = None, device: _kernelpack.Device | None = None,
                 copy: bool = True) -> typing.Any:
    """softmax(data + bias) over all dimensions from `axis` on: the heart of attention.

    data: scores, float32 or float16. bias: of the same dtype, such as a mask.
    inner: None takes the bias as NumPy broadcasts it, and works out which of the operator's two broadcasts that is:
    a bias of [8, 1, 1, 42] repeats inner rows of data [8, 12, 42, 42], one of [42, 42] repeats outer ones. True or
    False says it instead, as the operator's is_inner_broadcast; the shape of the bias then only counts rows.
    expand: allow a bias that neither expresses to be copied to the smallest shape that one of them does; without it
    that is an error.
    out, device, copy: as for a call of a Kernel.

    Returns the probabilities: a NumPy array, `out`, or a DeviceTensor if an input is one. Rows whose sums are all
    minus infinity become zeros. Raises ContractError for shapes and dtypes that do not fit.
    """
    if inner is None:
        shape = _shape(bias)
        data_shape = _shape(data)
        mode, needed = _broadcast(data_shape, shape, axis)
        if (1,) * (len(needed) - len(shape)) + shape != needed:
            if not expand:
                _refuse(f"The bias {list(shape)} repeats neither inner nor outer rows of data {list(data_shape)}; "
                        f"expand=True copies it to {list(needed)}", "input bias")
            bias = numpy.ascontiguousarray(numpy.broadcast_to(_as_numpy(bias), needed))
    else:
        mode = int(inner)
    return _kernel()(data=data, bias=bias, axis=axis, is_inner_broadcast=mode, out=out, device=device,
                     copy=copy)["output"]
