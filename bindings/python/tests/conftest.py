"""What the tests of the Python package share."""

import ctypes
import os
import pathlib
import typing

import numpy
import pytest

import kernelpack

ROOT = pathlib.Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def kernel() -> kernelpack.Kernel:
    return kernelpack.get_kernel("com.microsoft.BiasSoftmax")


@pytest.fixture()
def random() -> numpy.random.Generator:
    return numpy.random.default_rng(7)


def softmax(data: typing.Any, bias: typing.Any, axis: int = -1) -> numpy.ndarray:
    """The operator in float64, with shapes as NumPy broadcasts them."""
    data = numpy.asarray(data, dtype=numpy.float64)
    sums = data + numpy.asarray(bias, dtype=numpy.float64)
    rows = tuple(range(axis % data.ndim, data.ndim))
    powers = numpy.exp(sums - sums.max(axis=rows, keepdims=True))
    return powers / powers.sum(axis=rows, keepdims=True)


def require_gpu(reason: str) -> typing.NoReturn:
    """Skips the test, or fails where a GPU is required."""
    if os.environ.get("CI") == "true" or os.environ.get("KERNELPACK_REQUIRE_GPU") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def use_software_driver() -> None:
    """Makes the driver that tools/webgpu/fetch brought the only one of this process."""
    folder = pathlib.Path(os.environ.get("KERNELPACK_WEBGPU_DIR", ROOT / "build" / "webgpu"))
    if (folder / "lavapipe" / "lvp_icd.json").is_file():
        os.environ["VK_DRIVER_FILES"] = str(folder / "lavapipe" / "lvp_icd.json")
    try:
        ctypes.CDLL("libvulkan.so.1")
    except OSError:
        # Later requests for the loader, which libraries make by this name, find the one that is there.
        if (folder / "lib" / "libvulkan.so.1").is_file():
            ctypes.CDLL(str(folder / "lib" / "libvulkan.so.1"))
