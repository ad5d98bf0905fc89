"""What the documents and examples show works, and tells the truth."""

import re
import subprocess
import sys

import numpy
import pytest

from conftest import ROOT


@pytest.mark.parametrize("document", ["README.md", "docs/python.md"])
def test_code_of_a_document(document, tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), re.S)
    assert blocks
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for block in blocks:
        result = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, cwd=tmp_path)
        assert result.returncode == 0, result.stderr
    expected = numpy.load(ROOT / "examples" / "minilm-attention" / "probs.npy")
    numpy.testing.assert_allclose(numpy.load(tmp_path / "probs.npy"), expected, rtol=0, atol=1e-6)


def test_attention_weights():
    result = subprocess.run([sys.executable, ROOT / "examples" / "python" / "attention_weights.py"], capture_output=True,
                            text=True)
    assert result.returncode == 0, result.stderr
    first, *rows = result.stdout.splitlines()
    assert first.startswith("weights float32[8, 12, 42, 42]") and float(first.split()[-1]) < 1e-6
    assert len(rows) == 11 and all(row.count(",") >= 2 for row in rows)


def test_torch_attention_says_what_it_needs():
    pytest.importorskip("torch")
    result = subprocess.run([sys.executable, ROOT / "examples" / "python" / "torch_attention.py", "--rounds", "2"],
                            capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert all(float(value) < 1e-5 for value in re.findall(r"outputs (\S+)", result.stdout))
