"""The stub of the module is the one that its signatures give, and the package and programs with it pass mypy."""

import importlib.util
import pathlib
import subprocess
import sys

import pytest

from conftest import ROOT

PACKAGE = ROOT / "bindings" / "python" / "kernelpack"


def test_stub_is_current(tmp_path):
    nanobind = pathlib.Path(importlib.util.find_spec("nanobind").origin).parent
    made = tmp_path / "_kernelpack.pyi"
    subprocess.run([sys.executable, nanobind / "stubgen.py", "-q", "-P", "-m", "kernelpack._kernelpack", "-o", made],
                   check=True)
    assert made.read_text() == (PACKAGE / "_kernelpack.pyi").read_text(), \
        "python -m nanobind.stubgen -P -m kernelpack._kernelpack -o bindings/python/kernelpack/_kernelpack.pyi"


def mypy(tmp_path, *files):
    result = subprocess.run([sys.executable, "-m", "mypy", "--config-file", ROOT / "pyproject.toml", "--cache-dir",
                             tmp_path / "cache", *files], capture_output=True, text=True, cwd=ROOT)
    return result.stdout


GOOD = """
import numpy
import kernelpack

def run(scores: numpy.typing.NDArray[numpy.float32]) -> str:
    kernel = kernelpack.get_kernel("com.microsoft.BiasSoftmax", verify=True)
    device: kernelpack.Device = kernelpack.Device(power="low", required_features=["shader-f16"])
    out: kernelpack.Outputs = kernel(data=scores, bias=scores, axis=3, device=device, copy=False)
    tensor = kernelpack.to_device(scores, device)
    for name in out:
        print(out[name], name.upper(), tensor.shape[0] + 1)
    try:
        print(kernel.explain(data=tensor).data["plan"])
    except kernelpack.NoVariantError as error:
        print(error.reasons[0][2].upper(), error.where.upper())
    return kernel.plan(data=("float32", (2, 3))).variant
"""
BAD = {
    "kernelpack.get_kernel(3)": "arg-type",
    "kernelpack.Device(strength=3)": "call-arg",
    "kernelpack.Device.cpu(threads='all')": "arg-type",
    "kernelpack.get_kernel('x').plan().variants": "attr-defined",
    "len(kernelpack.bias_softmax)": "arg-type",
}


def test_package_and_users(tmp_path):
    good = tmp_path / "good.py"
    good.write_text(GOOD)
    bad = tmp_path / "bad.py"
    bad.write_text("import kernelpack\n" + "\n".join(BAD) + "\n")
    output = mypy(tmp_path, PACKAGE, good, bad)
    errors = [line for line in output.splitlines() if ": error:" in line]
    assert [line for line in errors if "bad.py" not in line] == [], output
    for number, code in enumerate(BAD.values(), start=2):
        assert any(f"bad.py:{number}: " in line and code in line for line in errors), output
    assert len(errors) == len(BAD), output
