"""python -m kernelpack is the program kernelpack, which lies in this package."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys


def main() -> int:
    """Runs the program with this process's arguments and returns its exit code."""
    program = pathlib.Path(__file__).parent / "bin" / ("kernelpack.exe" if os.name == "nt" else "kernelpack")
    if not program.is_file():
        print("kernelpack: device: The program is not part of this installation", file=sys.stderr)
        return 3
    command = [str(program), *sys.argv[1:]]
    if os.name == "posix":
        os.execv(program, command)
    return subprocess.call(command)


if __name__ == "__main__":
    sys.exit(main())
