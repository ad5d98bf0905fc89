"""Takes kernelpack into another CMake project in the way README.md shows, and compiles the example there.

Configures the whole and compiles only the example's object: what the target must carry to its users shows there.
usage: consumer_test.py CMAKE CXX-COMPILER
"""

import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BEFORE = """cmake_minimum_required(VERSION 3.25)
project(my_program LANGUAGES CXX)
add_executable(my_program main.cpp)
"""


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"


def main():
    cmake, compiler = sys.argv[1:]
    block = (ROOT / "README.md").read_text(encoding="utf-8").split("```cmake\n")[1].split("```")[0]
    assert "kernelpack::kernelpack" in block, block
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "kernelpack").symlink_to(ROOT)
        (folder / "main.cpp").write_bytes((ROOT / "examples/cpp/bias_softmax.cpp").read_bytes())
        (folder / "CMakeLists.txt").write_text(BEFORE + block, encoding="utf-8")
        run(cmake, "-S", folder, "-B", folder / "build", "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={compiler}")
        run(cmake, "--build", folder / "build", "--target", "CMakeFiles/my_program.dir/main.cpp.o")


if __name__ == "__main__":
    main()
