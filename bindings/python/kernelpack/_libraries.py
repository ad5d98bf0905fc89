"""Where WebGPU libraries are: besides the places that the library itself searches, in importable packages."""

from __future__ import annotations

import importlib
import importlib.util
import os
import pathlib
import typing

from . import _kernelpack
from ._errors import DeviceError

_ADVICE = "pip install 'kernelpack[gpu]' brings a WebGPU library"


def native_file() -> str | None:
    """The library wgpu-native in the package wgpu, which is not imported; None if it is absent."""
    spec = importlib.util.find_spec("wgpu")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        for file in sorted((pathlib.Path(folder) / "resources").glob("*wgpu_native*")):
            if file.suffix in (".so", ".dylib", ".dll"):
                return str(file)
    return None


def dawn_address() -> int | None:
    """The address of wgpuGetProcAddress in the package wgpudawn, which is imported; None if it is absent."""
    if importlib.util.find_spec("wgpudawn") is None:
        return None
    library = importlib.import_module("wgpudawn._lib")
    return int(library.ffi.cast("uintptr_t", library.ffi.addressof(library.lib, "wgpuGetProcAddress")))


def candidates(library: str) -> typing.Iterator[tuple[str, int]]:
    """Libraries to try, best first, as names or files with addresses of wgpuGetProcAddress."""
    named = library or os.environ.get("KERNELPACK_WEBGPU", "")
    if named not in ("wgpu", "wgpudawn"):
        yield named, 0
    if named in ("", "dawn", "wgpudawn") and (address := dawn_address()):
        yield "", address
    if named in ("", "wgpu-native", "wgpu") and (file := native_file()):
        yield file, 0


def open_device(power: str, adapter: str, library: str, software: bool, raise_all_limits: bool,
                required_features: list[str], shader_cache: str) -> _kernelpack.Device:
    """Opens a GPU with the first library that does; the first fault is raised if none does."""
    first: DeviceError | None = None
    for name, address in candidates(library):
        try:
            return _kernelpack._open_device(power, adapter, name, address, software, raise_all_limits,
                                            required_features, shader_cache)
        except DeviceError as error:
            first = first or error
    if first is None:
        message = f"The Python package asked for ({library}) is not installed"
        first = DeviceError(f"device: {message}", message)
    first.add_note(_ADVICE)
    raise first


def gpu_libraries(library: str = "") -> list[dict[str, typing.Any]]:
    """The WebGPU libraries on this machine with their adapters, as data; opens no device.

    library: 'dawn', 'wgpu-native', 'wgpu' or a file; '' lists all. The Dawn of wgpudawn is not listed.
    """
    found: list[dict[str, typing.Any]] = []
    for name, address in candidates(library):
        if not address:
            found += _kernelpack._gpu_libraries(name)
    return found
