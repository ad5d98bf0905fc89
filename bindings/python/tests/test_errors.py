"""Errors have the class of their kind and the text of the library, which the program prints, too."""

import inspect
import json
import re
import shutil
import subprocess
import sys

import numpy
import pytest

import kernelpack
from conftest import ROOT

KINDS = ["package", "integrity", "trust", "expression", "template", "contract", "no_variant", "limit", "device", "shader",
         "io", "unsupported", "internal"]


def test_every_kind_has_a_class():
    classes = {each.kind: each for each in kernelpack.Error.__subclasses__()}
    assert sorted(classes) == sorted(KINDS)
    for kind, each in classes.items():
        assert getattr(kernelpack, each.__name__) is each
        assert each.__name__ == "".join(part.title() for part in kind.split("_")) + "Error"
    header = (ROOT / "include" / "kernelpack" / "error.hpp").read_text()
    assert all(kind in header for kind in KINDS) and header.count(",  ") + header.count(",    ") >= len(KINDS) - 1


def program(*arguments):
    result = subprocess.run([sys.executable, "-m", "kernelpack", *arguments], capture_output=True, text=True)
    assert result.returncode != 0
    return result.stderr.splitlines()[0].removeprefix("kernelpack: ")


def broken(kernel, tmp_path, name, change):
    """A copy of a package with one file changed."""
    folder = tmp_path / "package"
    shutil.copytree(kernel.folder, folder)
    file = folder / name
    file.write_text(change(file.read_text()))
    return str(folder)


def other_backend(text):
    return re.sub('"type": *"webgpu"', '"type": "metal"', text)


@pytest.mark.parametrize("kind, name, change", [
    ("IntegrityError", "manifest.json", lambda text: text[:-3]),
    ("PackageError", "metadata.json", lambda text: "{}"),
    ("IntegrityError", "bias-softmax.wgsl.jinja", lambda text: text + "\n"),
    ("UnsupportedError", "metadata.json", other_backend),
])
def test_packages_with_faults(kernel, tmp_path, kind, name, change):
    folder = broken(kernel, tmp_path, name, change)
    with pytest.raises(getattr(kernelpack, kind)) as caught:
        kernelpack.get_kernel(folder)
    error = caught.value
    assert str(error) == program("inspect", folder)
    assert str(error) == f"{error.kind}: {error.message}" + (f" ({error.where})" if error.where else "")
    assert name in error.where and error.report().startswith(str(error)) and isinstance(error.context, list)


def test_excerpt_shows_the_place(kernel, tmp_path):
    folder = broken(kernel, tmp_path, "metadata.json", other_backend)
    with pytest.raises(kernelpack.UnsupportedError) as caught:
        kernelpack.get_kernel(folder)
    assert "metal" in caught.value.excerpt and "^" in caught.value.excerpt
    assert caught.value.excerpt in caught.value.report()


def test_missing_folder(tmp_path):
    with pytest.raises(kernelpack.IoError, match="exist") as caught:
        kernelpack.get_kernel(str(tmp_path / "absent"))
    assert isinstance(caught.value, OSError)


def test_requests_have_the_text_of_the_program(kernel, tmp_path):
    data = numpy.zeros((2, 4), numpy.float32)
    numpy.save(tmp_path / "data.npy", data)
    numpy.save(tmp_path / "bias.npy", data[0, :3])
    common = ["run", kernel.op_id, "--input", f"data={tmp_path}/data.npy"]
    with pytest.raises(kernelpack.ContractError) as caught:
        kernel(data=data, bias=data[0, :3], axis=1, is_inner_broadcast=1)
    assert str(caught.value) == program(*common, "--input", f"bias={tmp_path}/bias.npy", "--attr", "axis=1", "--attr",
                                        "is_inner_broadcast=1")
    with pytest.raises(kernelpack.ContractError) as caught:
        kernel(data=data, axis=1, is_inner_broadcast=1)
    assert str(caught.value) == program(*common, "--attr", "axis=1", "--attr", "is_inner_broadcast=1")
    with pytest.raises(kernelpack.ContractError) as caught:
        kernel(data=data, bias=data, axis=1)
    assert str(caught.value) == program(*common, "--input", f"bias={tmp_path}/data.npy", "--attr", "axis=1")
    assert caught.value.where and isinstance(caught.value, ValueError)


def test_unknown_names(kernel):
    data = numpy.zeros((2, 4), numpy.float32)
    with pytest.raises(kernelpack.ContractError, match=r"input bais is unknown; did you mean \(bias\)"):
        kernel(data=data, bais=data, axis=1, is_inner_broadcast=1)
    with pytest.raises(kernelpack.ContractError, match="axes"):
        kernel(data=data, bias=data, axes=1, is_inner_broadcast=1)
    with pytest.raises(TypeError):
        kernel(data, data, axis=1)


def test_no_variant_has_reasons(kernel):
    spec = ("float32", (8, 64))
    with pytest.raises(kernelpack.NoVariantError) as caught:
        kernel.plan(data=spec, bias=spec, axis=1, is_inner_broadcast=1,
                    device={"limits": {"maxStorageBuffersPerShaderStage": 1}})
    assert caught.value.reasons and all(len(reason) == 3 for reason in caught.value.reasons)
    assert caught.value.kind == "no_variant"


def test_plan_and_explanation(kernel):
    spec = ("float32", (8, 64))
    plan = kernel.plan(data=spec, bias=numpy.zeros((8, 64), numpy.float32), axis=1, is_inner_broadcast=1)
    assert plan.variant in str(plan) and plan.data["variant"] == plan.variant
    assert plan.variant in plan._repr_html_() and "@compute" in plan._repr_html_()
    facts = {"features": ["shader-f16"], "limits": {}, "adapterInfo": {"vendor": "nvidia"}}
    half = ("float16", (8, 64))
    for device in (facts, json.dumps(facts)):
        assert kernel.plan(data=half, bias=half, axis=1, is_inner_broadcast=1, device=device).variant
    explanation = kernel.explain(data=half, bias=half, axis=1, is_inner_broadcast=1,
                                 device={"limits": {"maxStorageBuffersPerShaderStage": 1}})
    assert explanation.variant is None and explanation.data["refusal"]["message"][:20] in explanation._repr_html_()
    explanation = kernel.explain(data=half, bias=half, axis=1, is_inner_broadcast=1, device=facts,
                                 tunables={"WORKGROUP_SIZE": 128})
    assert explanation.variant and explanation.data["call"]["tunables"]
    assert "@compute" in explanation.text_with_shaders and "<table>" in explanation._repr_html_()
    with pytest.raises(kernelpack.DeviceError):
        kernel.plan(data=half, bias=half, axis=1, is_inner_broadcast=1, device="{")
    with pytest.raises(kernelpack.ContractError, match="int"):
        kernel.plan(data=half, bias=half, axis=1, is_inner_broadcast=1, device=3)
    with pytest.raises(kernelpack.ContractError, match="neither an array nor a pair"):
        kernel.plan(data=3, bias=half, axis=1, is_inner_broadcast=1)
    with pytest.raises(kernelpack.ContractError, match="complex64"):
        kernel.plan(data=("complex64", (3,)), bias=half, axis=1, is_inner_broadcast=1)


def test_everything_public_has_a_docstring():
    for name in kernelpack.__all__:
        thing = getattr(kernelpack, name)
        if name.startswith("_"):
            continue
        assert inspect.getdoc(thing), name
        if inspect.isclass(thing):
            for member, value in vars(thing).items():
                if not member.startswith("_") and callable(value):
                    assert inspect.getdoc(value), f"{name}.{member}"


def test_the_program():
    result = subprocess.run([sys.executable, "-m", "kernelpack", "--version"], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == f"kernelpack {kernelpack.__version__}"
    result = subprocess.run([sys.executable, "-m", "kernelpack", "list"], capture_output=True, text=True, check=True)
    assert "com.microsoft.BiasSoftmax" in result.stdout
