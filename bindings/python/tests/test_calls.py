"""Calls on the CPU: what goes in, what comes out."""

import collections.abc
import concurrent.futures
import pathlib

import numpy
import pytest

import kernelpack
from conftest import ROOT, softmax

EXAMPLE = ROOT / "examples" / "minilm-attention"


@pytest.mark.parametrize("suffix, tolerance", [("", 1e-6), ("_f16", 1e-3)])
def test_attention_of_a_real_model(kernel, suffix, tolerance):
    scores = numpy.load(EXAMPLE / f"scores{suffix}.npy")
    mask = numpy.load(EXAMPLE / f"mask{suffix}.npy")
    expected = numpy.load(EXAMPLE / f"probs{suffix}.npy")
    out = kernel(data=scores, bias=mask, axis=3, is_inner_broadcast=1)
    assert out["output"].dtype == scores.dtype
    numpy.testing.assert_allclose(out["output"], expected, rtol=0, atol=tolerance)


def test_outputs_are_a_mapping(kernel, random):
    data = random.standard_normal((2, 3), numpy.float32)
    out = kernel(data=data, bias=data, axis=1, is_inner_broadcast=1)
    assert isinstance(out, collections.abc.Mapping)
    assert list(out) == ["output"] and len(out) == 1 and "output" in out and "bias" not in out and 3 not in out
    assert out.keys() == ["output"] and out.values()[0] is out["output"]
    assert dict(out)["output"] is out.get("output") and out.get("bias") is None and out.get("bias", 4) == 4
    with pytest.raises(KeyError, match="bias"):
        out["bias"]
    assert repr(out) == "Outputs(output: float32[2, 3])"


def test_one_output_is_taken_for_its_array(kernel, random):
    data = random.standard_normal((2, 3), numpy.float32)
    out = kernel(data=data, bias=data, axis=1, is_inner_broadcast=1)
    assert numpy.shares_memory(numpy.asarray(out), out["output"])
    assert numpy.asarray(out, dtype=numpy.float64).dtype == numpy.float64
    assert not numpy.shares_memory(numpy.array(out, copy=True), out["output"])
    assert numpy.shares_memory(numpy.from_dlpack(out), out["output"])
    assert out.__dlpack_device__() == out["output"].__dlpack_device__()


def test_result_owns_aligned_writable_memory(kernel):
    result = kernel(data=numpy.zeros((4, 8), numpy.float32), bias=numpy.zeros(8, numpy.float32), axis=1,
                    is_inner_broadcast=0)["output"]
    assert result.flags.c_contiguous and result.flags.writeable and result.ctypes.data % 64 == 0
    result[:] = 3
    assert result.sum() == 96


def test_out_is_written_and_returned(kernel, random):
    data = random.standard_normal((5, 7), numpy.float32)
    mine = numpy.full((5, 7), numpy.nan, numpy.float32)
    for out in (mine, {"output": mine}):
        mine[:] = numpy.nan
        assert kernel(data=data, bias=data[:1], axis=1, is_inner_broadcast=0, out=out)["output"] is mine
        numpy.testing.assert_allclose(mine, softmax(data, data[:1]), rtol=1e-6)


def test_out_may_be_the_input(kernel, random):
    data = random.standard_normal((5, 7), numpy.float32)
    expected = softmax(data, data[:1])
    kernel(data=data, bias=data[:1].copy(), axis=1, is_inner_broadcast=0, out=data)
    numpy.testing.assert_allclose(data, expected, rtol=1e-6)


@pytest.mark.parametrize("out, text", [
    (numpy.empty((5, 8), numpy.float32), r"\[5, 8\].*\[5, 7\]"),
    (numpy.empty((5, 7), numpy.float64), "float64"),
    (numpy.empty((7, 5), numpy.float32).T, "not contiguous"),
    (b"12345678", "writable"),
    ({"probabilities": numpy.empty((5, 7), numpy.float32)}, "probabilities"),
    ([1, 2], "no array"),
])
def test_out_that_does_not_fit(kernel, out, text):
    data = numpy.zeros((5, 7), numpy.float32)
    with pytest.raises(kernelpack.ContractError, match=text):
        kernel(data=data, bias=data, axis=1, is_inner_broadcast=1, out=out)


def test_read_only_out_is_refused(kernel):
    data = numpy.zeros((5, 7), numpy.float32)
    out = numpy.ones((5, 7), numpy.float32)
    out.flags.writeable = False
    with pytest.raises(kernelpack.ContractError, match="read-only"):
        kernel(data=data, bias=data, axis=1, is_inner_broadcast=1, out=out)
    assert out.min() == 1


def test_run_takes_names_apart(kernel, random):
    data = random.standard_normal((5, 7), numpy.float32)
    attributes = {"axis": 1, "is_inner_broadcast": 0}
    out = kernel.run({"data": data, "bias": data[0]}, attributes)
    numpy.testing.assert_allclose(out["output"], softmax(data, data[0]), rtol=1e-6)
    mine = numpy.empty_like(data)
    kernel.run(inputs={"data": data, "bias": data[0]}, attributes=attributes, out=mine, tunables={"MAX_WIDTH": 4},
               device=kernelpack.Device.cpu(threads=1))
    assert numpy.array_equal(mine, out["output"])
    with pytest.raises(kernelpack.ContractError, match="copy=False"):
        kernel.run({"data": data.T, "bias": data[:, 0]}, attributes, copy=False)
    with pytest.raises(kernelpack.ContractError, match="variant"):
        kernel.run({"data": data, "bias": data}, attributes, variant="no_such_variant")


@pytest.mark.parametrize("attributes", [
    {"axis": 1, "is_inner_broadcast": 1}, {"axis": 1.0, "is_inner_broadcast": 1.0},
    {"axis": numpy.int64(1), "is_inner_broadcast": numpy.uint8(1)},
    {"axis": numpy.float32(1), "is_inner_broadcast": numpy.array(1)},
])
def test_attributes_of_any_number_type(kernel, attributes):
    data = numpy.zeros((2, 4), numpy.float32)
    assert kernel(data=data, bias=data, **attributes)["output"][0, 0] == 0.25


@pytest.mark.parametrize("value, text", [({}, "dict"), (True, "a bool"), (numpy.bool_(True), "a bool"), (2**60, "2\\^53"), ("x", "axis"), (object(), "object")])
def test_attributes_that_are_none(kernel, value, text):
    data = numpy.zeros((2, 4), numpy.float32)
    with pytest.raises(kernelpack.ContractError, match=text):
        kernel(data=data, bias=data, axis=value, is_inner_broadcast=1)


def test_calls_with_other_shapes_and_attributes_are_not_confused(kernel, random):
    data = random.standard_normal((4, 3, 8), numpy.float32)
    for _ in range(3):
        for rows in (1, 2, 4):
            for axis in (1, 2, -1):
                part = data[:rows]
                out = kernel(data=part, bias=numpy.zeros(part.shape, numpy.float32), axis=axis, is_inner_broadcast=1)
                numpy.testing.assert_allclose(out["output"], softmax(part, 0, axis), rtol=1e-6)


def test_device_of_the_cpu(kernel, random):
    data = random.standard_normal((64, 128), numpy.float32)
    device = kernelpack.Device.cpu(threads=1, target="scalar")
    assert not device.is_gpu and "scalar" in device.description and "scalar" in repr(device)
    out = kernel(data=data, bias=data[0], axis=1, is_inner_broadcast=0, device=device)
    numpy.testing.assert_allclose(out["output"], softmax(data, data[0]), rtol=2e-6)
    device.close()
    with pytest.raises(kernelpack.DeviceError):
        device.facts
    with pytest.raises(kernelpack.DeviceError, match="mmx"):
        kernelpack.Device.cpu(target="mmx")
    with pytest.raises(kernelpack.ContractError, match="str"):
        kernel(data=data, bias=data, axis=1, is_inner_broadcast=1, device="cpu")


def test_threads_call_one_kernel(kernel, random):
    data = random.standard_normal((16, 256), numpy.float32)
    def work(seed):
        own = data * (1 + seed % 5)
        for _ in range(50):
            out = kernel(data=own, bias=data[0], axis=1, is_inner_broadcast=0)["output"]
            numpy.testing.assert_allclose(out, softmax(own, data[0]), rtol=1e-5)
        return seed
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(work, range(16))) == list(range(16))


def test_other_threads_run_during_a_call(kernel):
    import sys
    import threading
    import time
    data = numpy.zeros((4096, 2048), numpy.float32)
    out = numpy.empty_like(data)
    device = kernelpack.Device.cpu(threads=1, target="scalar")
    ticks, stop = [], threading.Event()
    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)
    thread = threading.Thread(target=tick)
    thread.start()
    # A thread that holds the GIL gives it up after this at the earliest; a call that does not release it, never.
    sys.setswitchinterval(1e-4)
    begin = time.perf_counter()
    kernel(data=data, bias=data, axis=1, is_inner_broadcast=1, out=out, device=device)
    end = time.perf_counter()
    stop.set()
    thread.join()
    assert sum(begin < moment < end for moment in ticks) >= 2, f"{(end - begin) * 1e3:.1f} ms"


def test_kernel_tells_its_contract(kernel):
    contract = kernel.contract
    assert [each["name"] for each in contract["inputs"]] == ["data", "bias"]
    assert "is_inner_broadcast" in contract._repr_html_()
    assert kernel.op_id == "com.microsoft.BiasSoftmax" and pathlib.Path(kernel.folder, "manifest.json").is_file()
    assert repr(kernel) == "<kernelpack.Kernel com.microsoft.BiasSoftmax(data, bias, axis, is_inner_broadcast)>"
    assert "com.microsoft.BiasSoftmax" in kernelpack.shipped_packages()
    assert kernelpack.__version__.count(".") == 2


def test_folder_and_hub_sources():
    folder = ROOT / "packages" / "generations" / "1.0" / "com.microsoft.BiasSoftmax"
    assert kernelpack.get_kernel(str(folder)).op_id == "com.microsoft.BiasSoftmax"
    with pytest.raises(kernelpack.ContractError):
        kernelpack.get_kernel("com.microsoft.BiasSoftmax", version=1)


def test_hub_source_without_network(tmp_path):
    with pytest.raises(kernelpack.IoError, match="offline|cache"):
        kernelpack.get_kernel("webgpu-kernels/com.microsoft.BiasSoftmax", version=1, offline=True,
                              cache_dir=str(tmp_path))
    with pytest.raises(kernelpack.TrustError):
        kernelpack.get_kernel("someone-else/com.microsoft.BiasSoftmax", version=1, cache_dir=str(tmp_path))
