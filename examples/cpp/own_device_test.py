"""Runs the example of a device of the caller and checks that docs/gpu.md shows the same text.

usage: own_device_test.py PROGRAM WEBGPU_FOLDER
"""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def main():
    source = (ROOT / "examples/cpp/own_device.cpp").read_text(encoding="utf-8")
    blocks = (ROOT / "docs/gpu.md").read_text(encoding="utf-8").split("```cpp\n")[1:]
    assert source in [block.split("```")[0] for block in blocks], "docs/gpu.md does not show own_device.cpp as it is"

    environment = dict(os.environ)
    driver = pathlib.Path(sys.argv[2]) / "lavapipe/lvp_icd.json"
    if driver.is_file():
        environment.setdefault("VK_DRIVER_FILES", str(driver))
    result = subprocess.run([sys.argv[1]], env=environment, capture_output=True, text=True, check=False, timeout=60)
    if result.returncode == 77 and "1" != os.environ.get("KERNELPACK_REQUIRE_GPU") and os.environ.get("CI") != "true":
        print("skipped: there is no adapter")
        sys.exit(77)
    assert result.returncode == 0, result
    assert result.stderr == "", result.stderr
    assert result.stdout == "0.032 0.087 0.237 0.644\n0.644 0.237 0.087 0.032\n", result.stdout


if __name__ == "__main__":
    main()
