"""Checks that a shared library exports exactly the functions of exported.txt, and that kernelpack.h declares the same.

usage: symbols_test.py NM LIBRARY
"""

import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def difference(title, got, expected):
    """Lines that say what is missing from `got` and what is too much."""
    return [f"{title}: {name} is missing" for name in sorted(expected - got)] + \
           [f"{title}: {name} is not in exported.txt" for name in sorted(got - expected)]


def main():
    nm, library = sys.argv[1:]
    listed = (HERE / "exported.txt").read_text(encoding="utf-8").split()
    assert listed == sorted(set(listed)), "exported.txt is not sorted"
    result = subprocess.run([nm, "--dynamic", "--defined-only", "--format=posix", library], capture_output=True,
                            text=True, check=True)
    exported = {line.split()[0] for line in result.stdout.splitlines()}
    header = (ROOT / "include/kernelpack/kernelpack.h").read_text(encoding="utf-8")
    declared = set(re.findall(r"^KERNELPACK_API [^;(]*?(kernelpack_\w+)\(", header, re.MULTILINE))
    faults = difference("the library", exported, set(listed)) + difference("kernelpack.h", declared, set(listed))
    print("\n".join(faults) or f"{len(listed)} functions")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
