from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy
import numpy.typing

import kernelpack._reports


class _ResultMemory:
    """Memory of a result, which a NumPy array borrows."""

class Device:
    """
    Where calls run: a GPU, or the CPU with options. Cheap to copy, safe to use from several
    threads. Device(...) opens a GPU; Device.cpu() and Device.adopt() are the other ways.
    """

    def __init__(self, *, power: str = 'high', adapter: str = '', library: str = '', software: bool = False, raise_all_limits: bool = False, required_features: Sequence[str] = [], shader_cache: str = '') -> None:
        """
        Opens a GPU.

        power: 'high' or 'low'. adapter: a part of its name. software: take a software adapter.
        library: 'dawn', 'wgpu-native', 'wgpudawn' or 'wgpu' (the Python packages), or a file; '' is what
        KERNELPACK_WEBGPU names, else the first that opens a device. required_features: such as 'shader-f16'.
        raise_all_limits: ask for all limits of the adapter and not only for those that a browser raises.
        shader_cache: a folder for compiled shaders, or 'none'.

        Raises DeviceError, saying what is missing.
        """

    @staticmethod
    def adopt(device: Any, *, library: str | None = None) -> Device:
        """
        Takes a device that the package wgpu or wgpudawn made. It stays its owner's: kernelpack holds a
        reference and never destroys it.

        device: a wgpu.GPUDevice or wgpudawn.GPUDevice, or the address of a WGPUDevice of the library that is
        loaded from the file `library` (wgpu-native).

        With a Dawn device that lacks the feature implicit-device-synchronization, calls keep the GIL.
        """

    @staticmethod
    def cpu(*, threads: int = 0, target: str = '', spin_microseconds: int = 1000) -> Device:
        """
        The CPU.

        threads: that share the work of one call, the caller's included; 0 is one per processor.
        target: an instruction set, 'avx3', 'avx2', 'sse4', 'scalar' or 'neon'; '' is the best.
        spin_microseconds: how long idle threads poll for the next call before they sleep, at most 1000.

        Raises DeviceError for an unknown target, UnsupportedError for one that the machine lacks.
        """

    @property
    def description(self) -> str:
        """
        A line such as 'cpu (avx3, 2 threads)' or 'NVIDIA H200 (vulkan, Dawn)'.
        """

    @property
    def is_gpu(self) -> bool:
        """Whether this is a GPU."""

    @property
    def facts(self) -> dict[str, Any]:
        """
        What planning knows of the GPU: features, limits, adapterInfo. Raises DeviceError for the CPU.
        """

    def close(self) -> None:
        """
        Waits for what was submitted and ends the use of a GPU: later calls on it and its tensors raise
        DeviceError. A device that was adopted stays as it is. The CPU ignores it.
        """

    def __repr__(self) -> str: ...

    @property
    def _keeps_gil(self) -> bool: ...

def _open_device(power: str, adapter: str, library: str, get_proc_address: int, software: bool, raise_all_limits: bool, required_features: Sequence[str], shader_cache: str) -> Device: ...

def _adopt(device: int, instance: int, get_proc_address: int, library: str, keeps_gil: bool, owner: object | None) -> Device: ...

def _gpu_libraries(library: str) -> list[dict[str, Any]]: ...

def _wrap_buffer(device: object, buffer: int, dtype: object, shape: Sequence[int], offset: int, storage: str | None, packed: bool, saturating: bool, owner: object | None) -> DeviceTensor: ...

class DeviceTensor:
    """
    A tensor in a buffer of a GPU. Calls that get one run there and leave their results there. Made by
    to_device, by calls, and from buffers by wrap_buffer.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions."""

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """NumPy's dtype."""

    @property
    def device(self) -> Device:
        """The Device that it lies on."""

    def numpy(self) -> numpy.typing.NDArray[Any]:
        """
        Waits for what was submitted so far and returns the values as a new NumPy array.
        """

    def write(self, array: Any) -> None:
        """Replaces the values by those of an array of the same dtype and shape."""

    def __array__(self, dtype: Any = None, *, copy: bool | None = None) -> Any: ...

    def __repr__(self) -> str: ...

def to_device(array: Any, device: Device, *, storage: str | None = None, packed: bool = False, saturating: bool = False) -> DeviceTensor:
    """
    Puts an array on a GPU and returns a DeviceTensor.

    storage: 'int32' or 'uint32' for int64 values that a package projects to 32 bits; saturating clamps
    values outside its range, which are an error otherwise. packed: uint8 values lie four to a word.

    Raises ContractError, LimitError or DeviceError.
    """

class Outputs:
    """
    The results of a call: a mapping of output names to arrays, in the order of the contract.
    With one output it is also taken for that array: by NumPy, and by whatever reads DLPack.
    """

    def __getitem__(self, name: str) -> Any: ...

    def __len__(self) -> int: ...

    def __contains__(self, arg: object, /) -> bool: ...

    def keys(self) -> list[str]:
        """The names."""

    def values(self) -> list[Any]:
        """The arrays."""

    def items(self) -> list[tuple[str, Any]]:
        """Pairs of name and array."""

    def get(self, name: str, default: Any = None) -> Any:
        """The array of that name, or `default`."""

    def __iter__(self) -> Iterator[str]: ...

    def __array__(self, dtype: Any = None, *, copy: bool | None = None) -> numpy.typing.NDArray[Any]: ...

    def __dlpack__(self, **options: Any) -> Any: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...

    def __repr__(self) -> str: ...

class Kernel:
    """
    A package ready to be called. Immutable, safe to use from several threads; see get_kernel.
    """

    def __call__(self, *, out: Any = None, device: Device | None = None, tunables: dict[str, Any] | None = None, copy: bool = True, **tensors_and_attributes: Any) -> Outputs:
        """
        Runs the kernel. Keywords are the names of the contract: inputs, scalars and attributes.

        Inputs are NumPy arrays, or whatever offers the buffer protocol or DLPack on the CPU, or DeviceTensors.
        They are only read and never converted; contiguous ones are not copied, others once.

        out: an array to write the only output to, or a dict of names and arrays.
        device: where to run; by default the CPU, or the GPU where the inputs lie.
        tunables: overrides of the package's. copy: False makes it an error that an input must be copied.

        Returns Outputs: NumPy arrays, those of `out`, or DeviceTensors if an input is one. Raises ContractError
        for a request that does not fit, and what running raises: NoVariantError, LimitError, DeviceError, ...
        """

    def run(self, inputs: dict[str, Any], attributes: dict[str, Any] | None = None, *, arguments: dict[str, Any] | None = None, outputs: Iterable[str] | None = None, tunables: dict[str, Any] | None = None, variant: str = '', out: Any = None, device: Device | None = None, copy: bool = True) -> Outputs:
        """
        Runs the kernel as a call does, with inputs, attributes and scalar arguments in dicts of their own: for
        names that are also our keywords, and for what a call does not say.

        outputs: names of optional outputs to produce. variant: the id of the only variant to consider.
        """

    def plan(self, *, device: Device | dict[str, Any] | str | None = None, tunables: dict[str, Any] | None = None, **tensors_and_attributes: Any) -> kernelpack._reports.Plan:
        """
        How a call runs on a GPU; keywords as for a call. An input may be a pair (dtype, shape) instead.

        device: a GPU, or facts of one as JSON text or a dict, as Device.facts has them; by default a GPU with
        WebGPU's default limits and no features. Nothing runs, and no GPU is needed.

        Raises NoVariantError with every variant's reason, and ContractError.
        """

    def explain(self, *, device: Device | dict[str, Any] | str | None = None, tunables: dict[str, Any] | None = None, **tensors_and_attributes: Any) -> kernelpack._reports.Explanation:
        """
        Why a call is planned as it is, or why it cannot be; arguments as for plan.
        """

    @property
    def contract(self) -> kernelpack._reports.Contract:
        """
        What the package says of its operator: op, inputs, outputs, attributes, tunables, variants, files.
        """

    @property
    def op_id(self) -> str:
        """The operator, such as 'com.microsoft.BiasSoftmax'."""

    @property
    def folder(self) -> str:
        """The folder that holds manifest.json."""

    def __repr__(self) -> str: ...

def get_kernel(source: str, *, version: int | None = None, revision: str = '', verify: bool = True, trust_remote_code: bool = False, offline: bool = False, token: str = '', cache_dir: str = '', allow_missing_templates: bool = False) -> Kernel:
    """
    Loads and verifies a package.

    source: the op id of a shipped package ('com.microsoft.BiasSoftmax'), a folder, a package of the
    Hugging Face Hub ('ORG/NAME' with version or revision, or 'ORG/NAME@v1'), or a base URL.
    verify: check every used file against its digest. trust_remote_code: accept publishers other than
    webgpu-kernels. offline: make no request. cache_dir: Hugging Face's cache, by default where its own
    tools have it. allow_missing_templates: load a package that can be planned, but not run on a GPU.

    Raises PackageError, IntegrityError, TrustError, IoError, ...
    """

def _version() -> str: ...

def shipped_packages() -> list[str]:
    """The op ids of the packages that are installed with kernelpack, sorted."""
