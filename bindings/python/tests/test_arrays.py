"""Inputs of every sort: NumPy, the buffer protocol, DLPack, and what is refused."""

import array
import ctypes
import gc
import sys

import numpy
import pytest

import kernelpack
from conftest import softmax


def run(kernel, data, **more):
    return kernel(data=data, bias=numpy.zeros((1, 4), numpy.float32), axis=1, is_inner_broadcast=0, **more)["output"]


VALUES = numpy.arange(8, dtype=numpy.float32).reshape(2, 4) / 3


class Exchanged:
    """An array that speaks DLPack and nothing else, as tensors of other libraries do."""

    def __init__(self, values, device=(1, 0), fault=None, versioned=True):
        self.values, self.device, self.fault, self.versioned = values, device, fault, versioned

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        if self.fault:
            raise self.fault
        if options and not self.versioned:
            raise TypeError("unexpected keyword argument 'max_version'")
        return self.values.__dlpack__(**options)


def sources():
    flat = (ctypes.c_float * 4 * 2)()
    for i in range(2):
        for j in range(4):
            flat[i][j] = VALUES[i, j]
    yield "numpy", VALUES
    read_only = VALUES.copy()
    read_only.flags.writeable = False
    yield "read-only numpy", read_only
    yield "memoryview", memoryview(VALUES)
    yield "read-only memoryview", memoryview(VALUES.tobytes()).cast("f", (2, 4))
    yield "ctypes array", flat
    yield "DLPack", Exchanged(VALUES)
    yield "unversioned DLPack", Exchanged(VALUES, versioned=False)
    yield "read-only DLPack", Exchanged(read_only)
    yield "pinned memory", Exchanged(VALUES, device=(3, 0))


@pytest.mark.parametrize("data", [each for _, each in sources()], ids=[name for name, _ in sources()])
def test_contiguous_inputs_are_not_copied(kernel, data):
    numpy.testing.assert_allclose(run(kernel, data, copy=False), softmax(VALUES, 0), rtol=1e-6)


def test_array_array_and_bytes_have_one_dimension(kernel):
    values = array.array("f", [1, 2, 3, 4])
    out = kernel(data=values, bias=values, axis=0, is_inner_broadcast=1, copy=False)["output"]
    numpy.testing.assert_allclose(out, softmax([1, 2, 3, 4], [1, 2, 3, 4]), rtol=1e-6)
    with pytest.raises(kernelpack.ContractError, match="uint8"):
        kernel(data=bytes(16), bias=bytes(16), axis=0, is_inner_broadcast=1)


@pytest.mark.parametrize("index", [
    numpy.s_[:, ::2, :], numpy.s_[::-1], numpy.s_[:, :, ::-1], numpy.s_[1:3, 1:, 2:], numpy.s_[:, :, 3],
])
@pytest.mark.parametrize("dtype", [numpy.float32, numpy.float16])
def test_strided_inputs_are_copied_once(kernel, random, index, dtype):
    data = random.standard_normal((4, 5, 6)).astype(dtype)[index]
    zeros = numpy.zeros(data.shape[-1], dtype)
    out = kernel(data=data, bias=zeros, axis=-1, is_inner_broadcast=0)["output"]
    numpy.testing.assert_array_equal(
        out, kernel(data=numpy.ascontiguousarray(data), bias=zeros, axis=-1, is_inner_broadcast=0)["output"])
    if not data.flags.c_contiguous:
        with pytest.raises(kernelpack.ContractError, match="input data is not contiguous, and copy=False"):
            kernel(data=data, bias=zeros, axis=-1, is_inner_broadcast=0, copy=False)


def test_broadcast_views_and_transposes(kernel, random):
    row = random.standard_normal(8, numpy.float32)
    data = numpy.broadcast_to(row, (5, 8))
    numpy.testing.assert_allclose(kernel(data=data, bias=row, axis=1, is_inner_broadcast=0)["output"],
                                  softmax(data, row), rtol=1e-6)
    many = random.standard_normal((3, 4, 5), numpy.float32).transpose(2, 0, 1)
    numpy.testing.assert_allclose(kernel(data=Exchanged(many), bias=row[:4], axis=2, is_inner_broadcast=0)["output"],
                                  softmax(many, row[:4]), rtol=1e-6)


def test_unaligned_inputs_are_copied(kernel):
    data = numpy.frombuffer(b"\0" + VALUES.tobytes(), numpy.float32, offset=1).reshape(2, 4)
    numpy.testing.assert_allclose(run(kernel, data), softmax(VALUES, 0), rtol=1e-6)


def test_empty_inputs(kernel):
    data = numpy.zeros((0, 4), numpy.float32)
    assert kernel(data=data, bias=data, axis=1, is_inner_broadcast=0)["output"].shape == (0, 4)
    with pytest.raises(kernelpack.ContractError, match="is empty, but"):
        kernel(data=data, bias=numpy.zeros((1, 4), numpy.float32), axis=1, is_inner_broadcast=0)


class RequiresGradients(Exchanged):
    requires_grad = True


@pytest.mark.parametrize("data, text", [
    (VALUES.astype(">f4"), r"big-endian \(>f\), but native byte order"),
    (numpy.array(VALUES.tolist(), dtype=object), "no dtype|no readable"),
    (VALUES.astype(numpy.complex64), "no dtype"),
    (VALUES.astype(numpy.uint16), "no dtype"),
    (VALUES.astype(numpy.uint64), "no dtype"),
    (numpy.array(["2026-01-01"], "datetime64[D]"), "buffer"),
    (VALUES.astype(numpy.float64), "float64"),
    (numpy.zeros(4, numpy.dtype([("a", "f4"), ("b", "f4")])), "no dtype"),
    (VALUES.tolist(), "list.*neither the buffer protocol nor DLPack"),
    (1.5, "float.*neither the buffer protocol nor DLPack"),
    (None, "data"),
    (Exchanged(VALUES, device=(2, 0)), "another device.*x.cpu"),
    (RequiresGradients(VALUES), "requires gradients.*detach"),
    (Exchanged(VALUES, fault=BufferError("not today")), "DLPack: not today"),
    (Exchanged(VALUES, fault=RuntimeError("broken")), "DLPack: broken"),
], ids=lambda value: None if isinstance(value, str) else type(value).__name__)
def test_inputs_that_are_refused(kernel, data, text):
    with pytest.raises(kernelpack.ContractError, match=text):
        run(kernel, data)


def test_a_dlpack_object_of_another_dtype(kernel):
    with pytest.raises(kernelpack.ContractError, match="uint16.*no dtype"):
        run(kernel, Exchanged(VALUES.astype(numpy.uint16)))


def test_ctypes_big_endian(kernel):
    with pytest.raises(kernelpack.ContractError, match="big-endian"):
        run(kernel, (ctypes.c_float.__ctype_be__ * 4 * 2)())


def test_inputs_are_released(kernel):
    data = VALUES.copy()
    before = sys.getrefcount(data)
    for source in (data, Exchanged(data), data.T):
        for _ in range(3):
            try:
                run(kernel, source)
            except kernelpack.ContractError:
                pass
    gc.collect()
    assert sys.getrefcount(data) <= before + 2
    buffer = bytearray(VALUES.tobytes())
    kernel(data=memoryview(buffer).cast("f", (2, 4)), bias=numpy.zeros(4, numpy.float32), axis=1,
           is_inner_broadcast=0)
    gc.collect()
    buffer.clear()  # raises BufferError while anybody holds the buffer
