#!/usr/bin/env python3
"""BiasSoftmax of this repository beside ONNX Runtime (Add + Softmax), oneDNN, NumPy, plain C++ and a plain copy.

Every candidate computes the same tensors in the same process; candidates take turns within a round. A round is a
few milliseconds of calls of each; the table shows medians over rounds, and rounds during which other processes took
more than --load of a processor are dropped as long as enough are left. Times of ONNX Runtime include its Python
binding with bound tensors, a few microseconds a call.
"""

import argparse
import ctypes
import glob
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper

MEBI = 1 << 20
PLACES = {"L2": MEBI // 4, "L3": 4 * MEBI, "memory": 64 * MEBI}
COLUMNS = [8, 24, 49, 64, 77, 128, 197, 384, 1025, 4096, 8192, 32000, 50257, 65536, 1 << 20]


def cases(size):
    """(name, data shape, bias shape, rows that follow each other with the same bias row)"""
    yield "attention [8,12,384,384] + mask", (8, 12, 384, 384), (8, 1, 1, 384), 12 * 384
    yield "outer [256,512,512]", (1, 256, 512, 512), (1, 1, 512, 512), 1
    yield "decode [1,32,1,4096]", (1, 32, 1, 4096), (1, 1, 1, 4096), 32
    yield "small [1,12,1,64]", (1, 12, 1, 64), (1, 1, 1, 64), 12
    for place, nbytes in PLACES.items():
        for columns in COLUMNS:
            rows = nbytes // size // columns
            if rows >= 2:
                yield f"{place} [{rows},{columns}]", (1, 1, rows, columns), (1, 1, 1, columns), rows
    yield "one row [1,8388608]", (1, 1, 1, 1 << 23), (1, 1, 1, 1 << 23), 1


def write_model(dtype, data_shape, bias_shape, folder):
    kind = TensorProto.FLOAT if dtype == np.float32 else TensorProto.FLOAT16
    graph = helper.make_graph(
        [helper.make_node("Add", ["data", "bias"], ["sum"]), helper.make_node("Softmax", ["sum"], ["output"], axis=-1)],
        "bias_softmax",
        [helper.make_tensor_value_info("data", kind, data_shape), helper.make_tensor_value_info("bias", kind, bias_shape)],
        [helper.make_tensor_value_info("output", kind, data_shape)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    path = os.path.join(folder, "model.onnx")
    onnx.save(model, path)
    return path


def make_session(dtype, data_shape, bias_shape, threads, folder):
    path = write_model(dtype, data_shape, bias_shape, folder)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def busy_seconds():
    """Processor time of all processes and of this one."""
    with open("/proc/stat", encoding="ascii") as stat:
        fields = [int(field) for field in stat.readline().split()[1:]]
    total = (sum(fields[:3]) + sum(fields[5:8])) / os.sysconf("SC_CLK_TCK")
    own = os.times()
    return total, own.user + own.system


def candidates(library, dtype, data, bias, output, repeat, threads, folder):
    rows, columns = data.size // data.shape[-1], data.shape[-1]
    bias_rows = bias.size // columns
    half = int(dtype == np.float16)
    pointer = lambda array: ctypes.c_void_p(array.ctypes.data)
    integer = ctypes.c_int64
    shape = (integer(rows), integer(columns), integer(bias_rows), integer(repeat))
    buffers = (pointer(data), pointer(bias), pointer(output))

    yield "ours", 0.0, lambda times: library.kernelpack_peers_ours(half, *shape, *buffers, threads, times)
    yield "copy", 0.0, lambda times: library.kernelpack_peers_copy(
        integer(data.nbytes), pointer(data), pointer(output), threads, times)

    session = make_session(dtype, data.shape, bias.shape, threads, folder)
    binding = session.io_binding()
    binding.bind_ortvalue_input("data", onnxruntime.OrtValue.ortvalue_from_numpy(data))
    binding.bind_ortvalue_input("bias", onnxruntime.OrtValue.ortvalue_from_numpy(bias))
    binding.bind_ortvalue_output("output", onnxruntime.OrtValue.ortvalue_from_numpy(np.empty_like(data)))

    def run_session(times):
        for _ in range(times):
            session.run_with_iobinding(binding)

    # Its idle threads poll for some time after a call; they must not take processors from the next candidate.
    yield "onnxruntime", 0.06 if threads > 1 else 0.0, run_session
    if dtype == np.float32:
        yield "plain C++", 0.0, lambda times: library.kernelpack_peers_plain(*shape, *buffers, threads, times)
    if dtype == np.float32 and hasattr(library, "kernelpack_peers_onednn_prepare"):
        if library.kernelpack_peers_onednn_prepare(*shape, *buffers, threads):
            yield "oneDNN", 0.006 if threads > 1 else 0.0, (
                lambda times: library.kernelpack_peers_onednn_run(times))
    if threads == 1 and data.nbytes <= 4 * MEBI and repeat == rows:

        def run_numpy(times):
            for _ in range(times):
                terms = data + bias
                terms -= terms.max(axis=-1, keepdims=True)
                np.exp(terms, out=terms)
                terms /= terms.sum(axis=-1, keepdims=True)

        yield "numpy", 0.0, run_numpy


def measure(library, dtype, case, threads, rounds, load):
    name, data_shape, bias_shape, repeat = case
    random = np.random.default_rng(1)
    data = (random.standard_normal(data_shape, dtype=np.float32) * 2).astype(dtype)
    bias = (random.standard_normal(bias_shape, dtype=np.float32) * 0.3).astype(dtype)
    output = np.empty_like(data)
    with tempfile.TemporaryDirectory() as folder:
        entries = []
        for label, rest, run in candidates(library, dtype, data, bias, output, repeat, threads, folder):
            start = time.perf_counter()
            run(1)
            run(1)
            once = (time.perf_counter() - start) / 2
            # Bursts: with several threads at least 20 calls, so that the pools of all candidates are awake.
            times = max(20 if threads > 1 and once < 1e-3 else 1, min(2000, int(2.5e-3 / once)))
            entries.append((label, rest, run, times, []))
        quiet = []
        for _ in range(rounds):
            busy, own = busy_seconds()
            begin = time.perf_counter()
            for label, rest, run, times, taken in entries:
                run(1)
                start = time.perf_counter()
                run(times)
                taken.append((time.perf_counter() - start) / times)
                time.sleep(rest)
            busy_after, own_after = busy_seconds()
            others = (busy_after - busy) - (own_after - own)
            quiet.append(others / (time.perf_counter() - begin) <= load)
        kept = [i for i in range(rounds) if quiet[i]] if sum(quiet) >= 4 else list(range(rounds))
    medians = {label: statistics.median(taken[i] for i in kept) for label, _, _, _, taken in entries}
    ratios = {
        label: statistics.median(taken[i] / entries[0][4][i] for i in kept) for label, _, _, _, taken in entries[1:]
    }
    return {"dtype": np.dtype(dtype).name, "threads": threads, "case": name, "columns": data_shape[-1],
            "bytes": 2 * data.nbytes, "rounds": len(kept), "quiet": sum(quiet), "seconds": medians, "ratios": ratios}


def draw(results, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(12, 5), sharey=True)
    for axis, dtype in zip(axes, ("float32", "float16")):
        for label in ("copy", "ours", "onnxruntime", "plain C++"):
            points = sorted((r["columns"], r["bytes"] / r["seconds"][label] / 1e9) for r in results
                            if r["dtype"] == dtype and r["threads"] == 1 and r["case"].startswith("memory")
                            and label in r["seconds"])
            if points:
                axis.loglog(*zip(*points), marker="o", label=label)
        axis.set_title(f"{dtype}, one thread, 64 MiB of data")
        axis.set_xlabel("row length")
        axis.grid(True, which="both", alpha=0.3)
    axes[0].set_ylabel("GB/s (data read and output written)")
    axes[0].legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def small_call(program):
    """Kernel::run of [1,12,1,64] beside OrtApi::Run; the exit code of the program that measures them."""
    runtime = glob.glob(os.path.join(os.path.dirname(onnxruntime.__file__), "capi", "libonnxruntime.so.*"))
    if not runtime:
        print("This onnxruntime has no library of its own", file=sys.stderr)
        return 1
    package = os.path.join(os.path.dirname(__file__), "..", "..", "packages", "com.microsoft.BiasSoftmax")
    with tempfile.TemporaryDirectory() as folder:
        model = write_model(np.float32, (1, 12, 1, 64), (1, 1, 1, 64), folder)
        return subprocess.run([program, runtime[0], model, package], check=False).returncode


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", help="path of libkernelpack_peers.so")
    parser.add_argument("--dtype", choices=["float32", "float16"], action="append")
    parser.add_argument("--threads", type=int, action="append")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--load", type=float, default=0.12, help="processors that others may use in a round that counts")
    parser.add_argument("--only", default="", help="measure the cases whose name contains this")
    parser.add_argument("--json", help="write the results to this file")
    parser.add_argument("--png", help="draw bytes per second against row length (needs matplotlib)")
    parser.add_argument("--small-call", metavar="PROGRAM", help="instead: one small call by both C++ interfaces, by this "
                        "program (build/bin/kernelpack_small_call)")
    arguments = parser.parse_args()
    if arguments.small_call:
        return small_call(arguments.small_call)

    library = ctypes.CDLL(arguments.library)
    results = []
    print(f"onnxruntime {onnxruntime.__version__}, numpy {np.__version__}, {platform.processor() or platform.machine()}, "
          f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    for dtype_name in arguments.dtype or ["float32", "float16"]:
        dtype = np.dtype(dtype_name).type
        for threads in arguments.threads or [1, 2]:
            for case in cases(np.dtype(dtype).itemsize):
                if arguments.only not in case[0]:
                    continue
                result = measure(library, dtype, case, threads, arguments.rounds, arguments.load)
                results.append(result)
                ratios = "  ".join(f"{label} {ratio:.2f}" for label, ratio in result["ratios"].items())
                print(f"{dtype_name} {threads} thread{'s' if threads > 1 else ' '} {result['case']:34s} "
                      f"{result['seconds']['ours'] * 1e6:10.1f} us; time of others over ours: {ratios}  "
                      f"({result['rounds']} rounds, {result['quiet']} quiet)", flush=True)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    if arguments.png:
        draw(results, arguments.png)
    return 0


if __name__ == "__main__":
    sys.exit(main())
