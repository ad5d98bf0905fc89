"""GPUs: tensors that stay there, and devices and buffers of the packages wgpu and wgpudawn, on the software driver."""

import gc
import importlib.util
import re
import shutil
import subprocess
import sys
import threading

import numpy
import pytest

import kernelpack
from conftest import require_gpu, softmax, use_software_driver

use_software_driver()
LIBRARIES = [name for name in ("dawn", "wgpu-native", "wgpu", "wgpudawn")
             if name in ("dawn", "wgpu-native") or importlib.util.find_spec(name)]


@pytest.fixture(scope="module", params=LIBRARIES)
def gpu(request):
    try:
        return kernelpack.Device(library=request.param, software=True)
    except kernelpack.DeviceError as error:
        require_gpu(str(error))


def bound(data, bias):
    """The bound of design.md for the GPU, as tolerances of assert_allclose."""
    return {"rtol": 2e-6 + 3e-7 * float(numpy.ptp(data + bias)), "atol": 1.2e-38}


def attention(random, shape=(2, 3, 5, 16)):
    data = random.standard_normal(shape, numpy.float32)
    bias = random.standard_normal((shape[0], 1, 1, shape[-1]), numpy.float32)
    return data, bias


ATTRIBUTES = {"axis": 3, "is_inner_broadcast": 1}


def test_arrays_of_the_host(kernel, gpu, random):
    data, bias = attention(random)
    out = kernel(data=data, bias=bias, device=gpu, **ATTRIBUTES)["output"]
    numpy.testing.assert_allclose(out, softmax(data, bias), **bound(data, bias))
    mine = numpy.empty_like(data)
    assert kernelpack.bias_softmax(data, bias, device=gpu, out=mine) is mine
    assert numpy.array_equal(mine, out)
    assert gpu.is_gpu and gpu.description in repr(gpu) and "limits" in gpu.facts


def test_plan_of_a_gpu(kernel, gpu):
    spec = ("float32", (8, 64))
    request = {"data": spec, "bias": spec, "axis": 1, "is_inner_broadcast": 1}
    assert kernel.plan(device=gpu, **request).variant == kernel.explain(device=gpu, **request).variant


def test_results_stay_on_the_device_and_chain(kernel, gpu, random):
    data, bias = attention(random)
    on_gpu = kernelpack.to_device(data, gpu)
    first = kernel(data=on_gpu, bias=bias, **ATTRIBUTES)
    assert isinstance(first["output"], kernelpack.DeviceTensor) and "DeviceTensor float32" in repr(first["output"])
    second = kernelpack.bias_softmax(first["output"], kernelpack.to_device(bias, gpu))
    once = softmax(data, bias)
    numpy.testing.assert_allclose(second.numpy(), softmax(once, bias), rtol=5e-6)
    numpy.testing.assert_allclose(numpy.asarray(first), once, **bound(data, bias))
    assert second.shape == data.shape and second.dtype == numpy.float32 and second.device is gpu
    with pytest.raises(ValueError):
        numpy.array(second, copy=False)


def test_tensors_of_a_device_are_written(kernel, gpu, random):
    data, bias = attention(random)
    target = kernelpack.to_device(numpy.zeros_like(data), gpu)
    source = kernelpack.to_device(data, gpu)
    assert kernel(data=source, bias=bias, out=target, **ATTRIBUTES)["output"] is target
    numpy.testing.assert_allclose(target.numpy(), softmax(data, bias), **bound(data, bias))
    source.write(bias + numpy.zeros_like(data))
    assert numpy.array_equal(source.numpy(), bias + numpy.zeros_like(data))
    with pytest.raises(kernelpack.ContractError):
        source.write(data[0])


def test_what_does_not_lie_together(kernel, gpu, random):
    data, bias = attention(random)
    on_gpu = kernelpack.to_device(data, gpu)
    with pytest.raises(kernelpack.ContractError, match="another device"):
        kernel(data=on_gpu, bias=bias, device=kernelpack.Device.cpu(), **ATTRIBUTES)
    with pytest.raises(kernelpack.ContractError, match="DeviceTensor"):
        kernel(data=on_gpu, bias=bias, out=numpy.empty_like(data), **ATTRIBUTES)
    with pytest.raises(kernelpack.ContractError, match="no input lies there"):
        kernel(data=data, bias=bias, out=on_gpu, **ATTRIBUTES)
    with pytest.raises(kernelpack.ContractError, match="upload"):
        kernelpack.bias_softmax(on_gpu, kernelpack.to_device(bias[:, :, :, :1], gpu), expand=True)
    with pytest.raises(kernelpack.DeviceError):
        kernelpack.to_device(data, kernelpack.Device.cpu())
    with pytest.raises(kernelpack.ContractError):
        kernelpack.to_device(data, gpu, storage="float17")
    with pytest.raises(kernelpack.ContractError, match="str"):
        kernelpack.to_device(data, "gpu")
    with pytest.raises(TypeError):
        kernelpack.to_device(data, None)


def test_threads_share_a_device(kernel, gpu, random):
    data, bias = attention(random)
    faults = []

    def work():
        try:
            for _ in range(5):
                out = kernel(data=kernelpack.to_device(data, gpu), bias=bias, **ATTRIBUTES)["output"].numpy()
                numpy.testing.assert_allclose(out, softmax(data, bias), **bound(data, bias))
        except Exception as fault:
            faults.append(fault)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []


def test_a_manifest_name_that_is_also_our_keyword(kernel, gpu, tmp_path, random):
    # On a GPU, because the CPU's kernel looks for the names of the operator.
    folder = tmp_path / "package"
    shutil.copytree(kernel.folder, folder)
    for file in [folder / "manifest.json", *folder.glob("*.jinja")]:
        file.write_text(re.sub(r"(?<![-\w])bias(?![-\w])", "copy", file.read_text()))
    renamed = kernelpack.get_kernel(str(folder), verify=False)
    assert [each["name"] for each in renamed.contract["inputs"]] == ["data", "copy"]
    data = random.standard_normal((5, 7), numpy.float32)
    attributes = {"axis": 1, "is_inner_broadcast": 0}
    out = renamed.run({"data": data, "copy": data[0]}, attributes, device=gpu)["output"]
    numpy.testing.assert_allclose(out, softmax(data, data[0]), **bound(data, data[0]))
    # As a keyword of a call it is ours, so that input is missing.
    with pytest.raises(kernelpack.ContractError, match="copy"):
        renamed(data=data, copy=True, device=gpu, **attributes)


def test_closed_device(kernel, random):
    data, bias = attention(random)
    try:
        device = kernelpack.Device(software=True)
    except kernelpack.DeviceError as error:
        require_gpu(str(error))
    tensor = kernelpack.to_device(data, device)
    device.close()
    with pytest.raises(kernelpack.DeviceError):
        kernel(data=tensor, bias=bias, **ATTRIBUTES)


def test_devices_that_cannot_be_opened():
    with pytest.raises(kernelpack.DeviceError) as caught:
        kernelpack.Device(library="/no/such/library.so")
    assert any("kernelpack[gpu]" in note for note in caught.value.__notes__)
    with pytest.raises(kernelpack.DeviceError):
        kernelpack.Device(adapter="an adapter that nobody has")
    with pytest.raises(kernelpack.ContractError, match="power"):
        kernelpack.Device(power="medium")
    with pytest.raises(TypeError):
        kernelpack.Device("high")


def test_libraries_are_listed():
    for each in kernelpack.gpu_libraries():
        assert {"name", "path", "problem", "adapters"} <= set(each)
    assert kernelpack.gpu_libraries("/no/such/library.so")[0]["problem"]


@pytest.fixture(params=["wgpu", "wgpudawn", "wgpudawn synchronized"])
def owned(request):
    """A package with a device of its own."""
    name, _, synchronized = request.param.partition(" ")
    package = pytest.importorskip(name)
    try:
        adapter = package.gpu.request_adapter_sync()
        device = adapter.request_device_sync(
            required_features=["implicit-device-synchronization"] if synchronized else [])
    except Exception as error:  # each package has its own
        require_gpu(f"{name}: {error}")
    yield package, device
    gc.collect()


def test_adopted_device(kernel, owned, random):
    package, device = owned
    gpu = kernelpack.Device.adopt(device)
    assert gpu._keeps_gil == (package.__name__ == "wgpudawn" and
                              "implicit-device-synchronization" not in device.features)
    data, bias = attention(random)
    usage = package.BufferUsage.STORAGE | package.BufferUsage.COPY_SRC | package.BufferUsage.COPY_DST
    source = device.create_buffer_with_data(data=data, usage=usage)
    target = device.create_buffer(size=data.nbytes, usage=usage)
    out = kernel(data=kernelpack.wrap_buffer(gpu, source, "float32", data.shape), bias=bias,
                 out=kernelpack.wrap_buffer(gpu, target, numpy.float32, data.shape), **ATTRIBUTES)
    read = numpy.frombuffer(device.queue.read_buffer(target), numpy.float32).reshape(data.shape)
    numpy.testing.assert_allclose(read, softmax(data, bias), **bound(data, bias))
    assert numpy.array_equal(out["output"].numpy(), read)
    # The device outlives everything of ours.
    gpu.close()
    del out, gpu
    gc.collect()
    again = device.create_buffer_with_data(data=data, usage=usage)
    assert bytes(device.queue.read_buffer(again)) == data.tobytes()


def test_adopted_device_beside_its_owners_thread(kernel, owned, random):
    package, device = owned
    gpu = kernelpack.Device.adopt(device)
    data, bias = attention(random)
    usage = package.BufferUsage.STORAGE | package.BufferUsage.COPY_SRC
    stop, faults = threading.Event(), []

    def owner():
        while not stop.is_set():
            buffer = device.create_buffer_with_data(data=data, usage=usage)
            if bytes(device.queue.read_buffer(buffer)) != data.tobytes():
                faults.append("wrong values")
    thread = threading.Thread(target=owner)
    thread.start()
    for _ in range(10):
        out = kernel(data=data, bias=bias, device=gpu, **ATTRIBUTES)["output"]
        numpy.testing.assert_allclose(out, softmax(data, bias), **bound(data, bias))
    stop.set()
    thread.join()
    assert faults == []


def test_buffers_that_do_not_fit(owned):
    package, device = owned
    gpu = kernelpack.Device.adopt(device)
    buffer = device.create_buffer(size=64, usage=package.BufferUsage.STORAGE)
    with pytest.raises(kernelpack.ContractError, match="64 bytes"):
        kernelpack.wrap_buffer(gpu, buffer, "float32", (17,))
    with pytest.raises(kernelpack.ContractError, match="no multiple"):
        kernelpack.wrap_buffer(gpu, buffer, "float32", (1,), offset=4)
    with pytest.raises(kernelpack.ContractError, match="int8|dtype"):
        kernelpack.wrap_buffer(gpu, buffer, "complex64", (1,))
    with pytest.raises(kernelpack.ContractError, match="list"):
        kernelpack.wrap_buffer(gpu, [], "float32", (1,))
    buffer.destroy()
    with pytest.raises(kernelpack.Error):
        kernelpack.wrap_buffer(gpu, object(), "float32", (1,))


def test_what_cannot_be_adopted():
    for thing in (3, object(), numpy.zeros(3)):
        with pytest.raises(kernelpack.DeviceError):
            kernelpack.Device.adopt(thing)


def test_import_needs_no_gpu():
    code = ("import sys, kernelpack; assert not {'wgpu', 'wgpudawn', 'torch'} & set(sys.modules); "
            "maps = open('/proc/self/maps').read(); assert 'webgpu' not in maps and 'vulkan' not in maps")
    subprocess.run([sys.executable, "-c", code], check=True)
