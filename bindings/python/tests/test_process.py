"""What a process may do with the package: many calls, forks, sub-interpreters, exits with threads at work."""

import os
import pathlib
import signal
import subprocess
import sys

import numpy
import pytest

import kernelpack


def resident_pages():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1])


def test_many_calls_do_not_grow(kernel):
    data = numpy.zeros((1, 12, 1, 64), numpy.float32)
    bias = numpy.zeros((1, 1, 1, 64), numpy.float32)
    out = numpy.empty_like(data)
    strided = numpy.zeros((1, 12, 1, 128), numpy.float32)[..., ::2]
    capsules = memoryview(data)
    attributes = {"axis": 3, "is_inner_broadcast": 1}

    def calls(count):
        for _ in range(count):
            kernel(data=data, bias=bias, **attributes)
            kernel(data=data, bias=bias, out=out, **attributes)
            kernel(data=strided, bias=bias, **attributes)
            kernel.run({"data": capsules, "bias": bias}, attributes)
            kernelpack.bias_softmax(data, bias).__dlpack__()

    def faults(count):
        for index in range(count):
            with pytest.raises(kernelpack.ContractError):
                kernel(data=data, bias=bias, axis=index, is_inner_broadcast=1.5 + index)

    calls(2000)
    faults(200)
    before = resident_pages()
    calls(20000)  # 100k calls
    faults(2000)
    grown = (resident_pages() - before) * os.sysconf("SC_PAGE_SIZE")
    # One pointer lost a call would be 800 kB.
    assert grown < 600_000, f"{grown} bytes more after 100k calls"


def test_kernels_and_devices_do_not_grow():
    def rounds(count):
        for _ in range(count):
            kernelpack.get_kernel("com.microsoft.BiasSoftmax").contract
            kernelpack.Device.cpu(threads=1)
    rounds(20)
    before = resident_pages()
    rounds(60)
    grown = (resident_pages() - before) * os.sysconf("SC_PAGE_SIZE")
    assert grown < 3_000_000, f"{grown} bytes more after 60 packages"


def run(code):
    result = subprocess.run([sys.executable, "-X", "faulthandler", "-c", code], capture_output=True, text=True,
                            timeout=60)
    return result.returncode, result.stdout, result.stderr


PREPARE = """
import numpy, os, sys, threading, kernelpack
kernel = kernelpack.get_kernel("com.microsoft.BiasSoftmax")
data = numpy.ones((64, 1024), numpy.float32)
def call():
    out = kernel(data=data, bias=data, axis=1, is_inner_broadcast=1)["output"]
    assert abs(float(out.sum()) - 64) < 1e-2, out.sum()
call()
"""


def test_fork_after_use():
    code = PREPARE + """
children = []
for _ in range(4):
    child = os.fork()
    if child == 0:
        call(); call()
        os._exit(7)
    children.append(child)
call()
assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [7] * 4
print("done")
"""
    assert run(code) == (0, "done\n", "")


def test_multiprocessing_by_fork():
    code = PREPARE + """
import multiprocessing
def work(scale):
    return float(kernelpack.bias_softmax(data * scale, data[0])[0, 0])
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(len(pool.map(work, range(8))))
"""
    assert run(code) == (0, "8\n", "")


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the module _xxsubinterpreters is that of 3.11")
def test_sub_interpreters_do_not_crash():
    code = PREPARE + """
import _xxsubinterpreters as interpreters
for _ in range(2):
    other = interpreters.create()
    try:
        interpreters.run_string(other, "import kernelpack")
        print("imported")
    except interpreters.RunFailedError as error:
        print("refused" if "ImportError" in str(error) else error)
    interpreters.destroy(other)
call()
print("done")
"""
    status, output, errors = run(code)
    assert status == 0, errors
    assert output.splitlines()[-1] == "done" and set(output.splitlines()[:-1]) <= {"refused", "imported"}, output


def test_exit_while_threads_call():
    code = PREPARE + """
for _ in range(3):
    threading.Thread(target=lambda: [call() for _ in range(10**6)], daemon=True).start()
call()
sys.exit(3)
"""
    status, _, errors = run(code)
    assert status == 3, errors


def test_interrupt_between_calls():
    code = PREPARE + """
import signal
signal.setitimer(signal.ITIMER_REAL, 0.2)
def stop(*_): raise KeyboardInterrupt
signal.signal(signal.SIGALRM, stop)
try:
    while True: call()
except KeyboardInterrupt:
    print("stopped")
"""
    assert signal.SIGALRM and run(code) == (0, "stopped\n", "")


def test_module_leaks_nothing_at_exit():
    status, output, errors = run(PREPARE + "kernel.plan(data=data, bias=data, axis=1, is_inner_broadcast=1); del kernel")
    assert (status, output) == (0, "") and "leak" not in errors, errors
