"""Runs the C++ example on the data of examples/ and checks that README.md shows the same text."""

import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    source = (ROOT / "examples/cpp/bias_softmax.cpp").read_text(encoding="utf-8")
    blocks = (ROOT / "README.md").read_text(encoding="utf-8").split("```cpp\n")[1:]
    shown = [block.split("```")[0] for block in blocks]
    assert source in shown, "README.md does not show examples/cpp/bias_softmax.cpp as it is"

    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "examples").symlink_to(ROOT / "examples")
        result = subprocess.run([program], cwd=folder, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result
        assert result.stdout == "float32[8, 12, 42, 42]\n", result.stdout
        written = sorted(file.name for file in pathlib.Path(folder).iterdir())
        assert written == ["examples", "probs.npy"], written
        expected = ROOT / "examples/minilm-attention/probs.npy"
        size = (pathlib.Path(folder) / "probs.npy").stat().st_size
        assert size == expected.stat().st_size, size


if __name__ == "__main__":
    main()
