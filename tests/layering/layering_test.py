"""Runs tools/layering.py on the tree, which must be clean, and on each fixture tree, whose violations are listed."""

import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LEAST_FILES = 100
LEAST_FIXTURES = 8


def check(root):
    """The exit code and the lines."""
    result = subprocess.run([sys.executable, ROOT / "tools/layering.py", root], capture_output=True, text=True,
                            check=False)
    assert not result.stderr, result.stderr
    return result.returncode, result.stdout.splitlines()


def main():
    failures = []
    code, lines = check(ROOT)
    files = int(re.fullmatch(r"layering: (\d+) files, \d+ violations", lines[-1]).group(1))
    if code != 0:
        failures += lines[:-1]
    if files < LEAST_FILES:
        failures.append(f"only {files} files are checked, at least {LEAST_FILES} are expected")

    fixtures = sorted(folder for folder in (HERE / "fixtures").iterdir() if folder.is_dir())
    for fixture in fixtures:
        expected = (fixture / "expected.txt").read_text(encoding="utf-8").splitlines()
        code, lines = check(fixture)
        if sorted(lines[:-1]) != sorted(expected) or code != (1 if expected else 0):
            failures.append(f"{fixture.name}: exit code {code}, expected {expected}, got {lines[:-1]}")
    if len(fixtures) < LEAST_FIXTURES:
        failures.append(f"only {len(fixtures)} fixtures are found, at least {LEAST_FIXTURES} are expected")

    print(f"{files} files and {len(fixtures)} fixture trees are checked")
    print("\n".join(failures), end="\n" if failures else "")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
