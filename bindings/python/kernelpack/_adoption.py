"""Devices and buffers of the packages wgpu and wgpudawn.

Their handles are private attributes, so the releases are pinned in pyproject.toml and each handle is checked.
"""

from __future__ import annotations

import importlib
import typing

from . import _kernelpack
from ._errors import ContractError, DeviceError


def _package_of(thing: typing.Any) -> str:
    """'wgpu' or 'wgpudawn', or '' for an object of neither."""
    for kind in type(thing).__mro__:
        root = kind.__module__.partition(".")[0]
        if root in ("wgpu", "wgpudawn"):
            return root
    return ""


def _address(ffi: typing.Any, thing: typing.Any) -> int:
    handle = getattr(thing, "_internal", None)
    if handle is None or (address := int(ffi.cast("uintptr_t", handle))) == 0:
        message = f"The object ({type(thing).__name__}) has no WebGPU handle; it may be destroyed"
        raise DeviceError(f"device: {message}", message)
    return address


def adopt(device: typing.Any, library: str | None) -> _kernelpack.Device:
    """Device.adopt."""
    if isinstance(device, int):
        if not library:
            message = "The library of a device that is given by its address is not named"
            raise DeviceError(f"device: {message}", message)
        return _kernelpack._adopt(device, 0, 0, library, False, None)
    package = _package_of(device)
    if not package or not hasattr(device, "create_buffer"):
        message = f"The device to adopt ({type(device).__name__}) is none of the packages wgpu and wgpudawn"
        raise DeviceError(f"device: {message}", message)
    if package == "wgpudawn":
        dawn = importlib.import_module("wgpudawn._lib")
        helpers = importlib.import_module("wgpudawn.backends.dawn._helpers")
        instance = int(dawn.ffi.cast("uintptr_t", helpers.get_wgpu_instance()))
        find = int(dawn.ffi.cast("uintptr_t", dawn.ffi.addressof(dawn.lib, "wgpuGetProcAddress")))
        # Without this feature Dawn's devices are for one thread at a time, which the GIL grants.
        keeps_gil = "implicit-device-synchronization" not in device.features
        return _kernelpack._adopt(_address(dawn.ffi, device), instance, find, "", keeps_gil, device)
    native = importlib.import_module("wgpu.backends.wgpu_native._ffi")
    return _kernelpack._adopt(_address(native.ffi, device), 0, 0, native.lib_path, False, device)


def wrap_buffer(device: _kernelpack.Device, buffer: typing.Any, dtype: typing.Any, shape: typing.Sequence[int], *,
                offset: int = 0, storage: str | None = None, packed: bool = False,
                saturating: bool = False) -> _kernelpack.DeviceTensor:
    """A tensor in a buffer of an adopted device; nothing is copied, and the buffer stays its owner's.

    buffer: a GPUBuffer of wgpu or wgpudawn with the usage STORAGE (and COPY_SRC or COPY_DST to be read or written by
    us), or the address of a WGPUBuffer. It must hold the values of `dtype` and `shape` from byte `offset` on, rounded
    up to 4 bytes. storage, packed, saturating: as for to_device.

    Raises ContractError for a buffer that is too small, lacks a usage or is of another device.
    """
    if isinstance(buffer, int):
        address = buffer
    elif package := _package_of(buffer):
        backend = "wgpudawn._lib" if package == "wgpudawn" else "wgpu.backends.wgpu_native._ffi"
        address = _address(importlib.import_module(backend).ffi, buffer)
    else:
        message = f"The buffer ({type(buffer).__name__}) is none of the packages wgpu and wgpudawn"
        raise ContractError(f"contract: {message}", message)
    return _kernelpack._wrap_buffer(device, address, dtype, list(shape), offset, storage, packed, saturating, buffer)
