"""Runs the C example on a device, and with a device that does not exist; checks that docs/c-api.md shows its text.

usage: bias_softmax_test.py PROGRAM cpu|gpu WEBGPU_FOLDER
"""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ROWS = "0.0900 0.2447 0.6652 0.0000\n0.6652 0.2447 0.0900 0.0000\n"


def main():
    program, device, webgpu = sys.argv[1:]
    source = (ROOT / "examples/c/bias_softmax.c").read_text(encoding="utf-8")
    blocks = (ROOT / "docs/c-api.md").read_text(encoding="utf-8").split("```c\n")[1:]
    assert source in [block.split("```")[0] for block in blocks], "docs/c-api.md does not show bias_softmax.c as it is"

    environment = {**os.environ, "KERNELPACK_PACKAGES": str(ROOT / "packages"), "KERNELPACK_SHADER_CACHE": "none"}
    driver = pathlib.Path(webgpu) / "lavapipe/lvp_icd.json"
    if driver.is_file():
        environment.setdefault("VK_DRIVER_FILES", str(driver))

    def run(name):
        return subprocess.run([program, name], env=environment, capture_output=True, text=True, check=False, timeout=60)

    result = run(device)
    if device == "gpu" and result.returncode == 1 and result.stderr.startswith("bias_softmax: device: ") and \
            os.environ.get("KERNELPACK_REQUIRE_GPU") != "1" and os.environ.get("CI") != "true":
        print(f"skipped: {result.stderr.strip()}")
        sys.exit(77)
    assert result.returncode == 0 and result.stderr == "", result
    first, rows = result.stdout.split("\n", 1)
    assert first.startswith("com.microsoft.BiasSoftmax on "), first
    assert ("cpu (" in first) == (device == "cpu"), first
    assert rows == ROWS, rows

    absent = run("gpu:no such adapter")
    assert absent.returncode == 1 and absent.stdout == "", absent
    assert absent.stderr.startswith("bias_softmax: device: "), absent


if __name__ == "__main__":
    main()
