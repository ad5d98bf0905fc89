"""The wheel: built by pip, repaired by auditwheel, and used from a folder of its own.

Building takes minutes, so ./test leaves these tests out and ./test --all does them: KERNELPACK_TEST_WHEEL is "build", or
a wheel that pip has built already.
"""

import os
import pathlib
import subprocess
import sys
import zipfile

import numpy
import pytest

import kernelpack
from conftest import ROOT

PACKAGES = [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if "python_packages" in folder]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A repaired wheel. The options are those of the preset release, so that ccache has most objects."""
    asked = os.environ.get("KERNELPACK_TEST_WHEEL")
    if not asked:
        pytest.skip("KERNELPACK_TEST_WHEEL is not set")
    folder = tmp_path_factory.mktemp("wheel")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(PACKAGES),
                   "PATH": os.pathsep.join([f"{PACKAGES[0]}/bin", os.environ["PATH"]])}

    def run(*command):
        result = subprocess.run([sys.executable, "-m", *map(str, command)], capture_output=True, text=True,
                                env=environment, cwd=folder)
        assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
        return result.stdout

    if asked == "build":
        run("pip", "wheel", ROOT, "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir", folder / "built",
            "-C", "cmake.define.CMAKE_CXX_COMPILER=g++", "-C", "cmake.define.CMAKE_C_COMPILER=gcc",
            "-C", "cmake.define.KERNELPACK_WERROR=ON")
        built, = (folder / "built").glob("*.whl")
    else:
        built = pathlib.Path(asked).resolve()
    assert built.name.startswith(f"kernelpack-{kernelpack.__version__}-cp311-abi3-linux_")
    run("auditwheel", "repair", "--wheel-dir", folder / "repaired", built)
    repaired, = (folder / "repaired").glob("*.whl")
    assert "-cp311-abi3-manylinux_" in repaired.name
    return repaired


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Runs a Python with the wheel and nothing of the build tree."""
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    for program in (folder / "kernelpack" / "bin").iterdir():
        program.chmod(0o755)  # as pip does for what the archive marks executable

    def run(*arguments):
        environment = {key: value for key, value in os.environ.items() if not key.startswith("KERNELPACK_")}
        environment["PYTHONPATH"] = os.pathsep.join([str(folder), *PACKAGES])
        return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=environment, cwd=folder)
    return run


def test_contents(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = archive.read(f"kernelpack-{kernelpack.__version__}.dist-info/METADATA").decode()
        modes = {entry.filename: entry.external_attr >> 16 for entry in archive.infolist()}
    package = "kernelpack/share/kernelpack/packages/com.microsoft.BiasSoftmax/build/webgpu/"
    shipped = ROOT / "packages" / "com.microsoft.BiasSoftmax" / "build" / "webgpu"
    assert {package + file.name for file in shipped.iterdir()} <= names
    assert {"kernelpack/_kernelpack.abi3.so", "kernelpack/_kernelpack.pyi", "kernelpack/py.typed"} <= names
    assert modes["kernelpack/bin/kernelpack"] & 0o111
    assert not [name for name in names if name.startswith(("include/", "lib/", "share/", "bin/"))]
    for line in ("Requires-Dist: numpy", "Requires-Dist: nanobind-backend", 'wgpu==0.32.0; extra == "gpu"'):
        assert line in metadata
    assert pathlib.Path(wheel).stat().st_size < 40 << 20


def test_use(installed, tmp_path):
    result = installed("-c", "import numpy, kernelpack as kp; x = numpy.ones((2, 4), 'f4'); "
                             "print(kp.__file__.startswith(kp.get_kernel('com.microsoft.BiasSoftmax').folder[:20]), "
                             "kp.bias_softmax(x, x)[0, 0], kp.shipped_packages())")
    assert (result.stdout, result.stderr) == ("True 0.25 ['com.microsoft.BiasSoftmax']\n", "")


def test_program(installed, tmp_path):
    data = numpy.ones((2, 4), numpy.float32)
    numpy.save(tmp_path / "data.npy", data)
    result = installed("-m", "kernelpack", "run", "com.microsoft.BiasSoftmax", "--input", f"data={tmp_path}/data.npy",
                       "--input", f"bias={tmp_path}/data.npy", "--attr", "axis=1", "--attr", "is_inner_broadcast=1",
                       "--output", f"output={tmp_path}/probs.npy")
    assert result.returncode == 0, result.stderr
    assert numpy.array_equal(numpy.load(tmp_path / "probs.npy"), data / 4)
    assert installed("-m", "kernelpack", "run", "absent").returncode == 1


def test_no_folder_of_the_build_is_in_it(wheel):
    with zipfile.ZipFile(wheel) as archive:
        for name in ("kernelpack/_kernelpack.abi3.so", "kernelpack/bin/kernelpack"):
            assert str(ROOT).encode() not in archive.read(name), name
