#!/usr/bin/env python3
"""What a call costs from Python, beside C++ and ONNX Runtime.

usage: python_call.py CALL_TIME [--rounds N] [--threads N]

CALL_TIME is build/bin/call_time. Candidates take turns, so that load hits all of them; printed are the least and the
median over the rounds of each one's least time. The interpreter must be able to import kernelpack and NumPy, and
onnxruntime and onnx for the comparison with them:

    python3 -m venv build/python_call && build/python_call/bin/pip install onnxruntime==1.32.0 onnx kernelpack-*.whl
"""

import argparse
import os
import statistics
import subprocess
import time

import numpy

import kernelpack

SMALL = (1, 12, 1, 64)
LARGE = (8, 12, 512, 512)


def least(call, budget):
    """Seconds of a call: the least of batches that share the budget."""
    call()
    batch, taken = 1, 0.0
    while taken < 1e-3:
        begin = time.perf_counter()
        for _ in range(batch):
            call()
        taken = time.perf_counter() - begin
        batch *= 2
    best, end = 1e9, time.perf_counter() + budget
    while True:
        begin = time.perf_counter()
        for _ in range(batch):
            call()
        now = time.perf_counter()
        best = min(best, (now - begin) / batch)
        if now > end:
            return best


def session_of(shape, threads):
    """An ONNX Runtime session of Add and Softmax, or None without onnxruntime and onnx."""
    try:
        import onnx
        import onnxruntime
    except ImportError:
        return None
    tensor = onnx.helper.make_tensor_value_info
    bias = [shape[0], *[1] * (len(shape) - 2), shape[-1]]
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Add", ["data", "bias"], ["sum"]),
         onnx.helper.make_node("Softmax", ["sum"], ["output"], axis=-1)],
        "bias_softmax", [tensor("data", 1, shape), tensor("bias", 1, bias)], [tensor("output", 1, shape)])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def candidates(shape, threads, program, budget):
    """Names with functions that give the seconds of a call, or of three."""
    generator = numpy.random.default_rng(1)
    data = generator.standard_normal(shape, numpy.float32)
    bias = generator.standard_normal((shape[0], *[1] * (len(shape) - 2), shape[-1]), numpy.float32)
    out = numpy.empty_like(data)
    kernel = kernelpack.get_kernel("com.microsoft.BiasSoftmax")
    device = kernelpack.Device.cpu(threads=threads)
    axis = len(shape) - 1

    def native():
        command = [program, str(threads), str(3 * budget), *map(str, shape)]
        environment = {**os.environ, "KERNELPACK_PACKAGES": os.path.join(kernel.folder, "..", "..", "..")}
        return [float(line) for line in subprocess.run(command, capture_output=True, text=True, check=True,
                                                       env=environment).stdout.split()]
    yield ("C++ bound call, out", "C++ request, out", "C++ request"), native
    yield "Python call, out=", lambda: least(
        lambda: kernel(data=data, bias=bias, axis=axis, is_inner_broadcast=1, out=out, device=device), budget)
    yield "Python call", lambda: least(
        lambda: kernel(data=data, bias=bias, axis=axis, is_inner_broadcast=1, device=device), budget)
    yield "Python bias_softmax", lambda: least(lambda: kernelpack.bias_softmax(data, bias, device=device), budget)
    if session := session_of(list(shape), threads):
        feeds = {"data": data, "bias": bias}
        numpy.testing.assert_allclose(session.run(None, feeds)[0], kernelpack.bias_softmax(data, bias), rtol=1e-4,
                                      atol=1e-7)
        yield "ONNX Runtime session.run", lambda: least(lambda: session.run(None, feeds), budget)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    for shape, budget in ((SMALL, 0.05), (LARGE, 0.3)):
        times = {}
        measured = list(candidates(shape, options.threads, options.program, budget))
        for _ in range(options.rounds):
            for names, measure in measured:
                seconds = measure()
                for name, value in zip(names, seconds) if isinstance(names, tuple) else ((names, seconds),):
                    times.setdefault(name, []).append(value * 1e6)
        print(f"float32{list(shape)}, {options.threads} thread(s), {options.rounds} rounds, us")
        for name, values in times.items():
            print(f"  {name:<26}{min(values):10.2f} min {statistics.median(values):10.2f} median")
        for ours, theirs in (("Python call, out=", "C++ bound call, out"), ("Python call", "C++ request")):
            ratios = [a / b for a, b in zip(times[ours], times[theirs])]
            print(f"  {ours} / {theirs}: {min(times[ours]) / min(times[theirs]):.3f} of minima, "
                  f"{statistics.median(ratios):.3f} median of rounds")


if __name__ == "__main__":
    main()
