#!/usr/bin/env python3
"""docs/conformance.md names tests that exist, for each of the 68 points.

    conformance_page_test.py ROOT
"""

import fnmatch
import pathlib
import re
import sys

POINTS = range(1, 69)
CASE = re.compile(r"^TEST(?:_F|_P)?\((\w+),\s*(\w+)\)", re.MULTILINE)


def cases(root):
    """Every test as ctest lists it: the room or folder, the suite, the case."""
    names = set()
    for file in [*root.glob("src/**/*_test.cpp"), *root.glob("tests/**/*_test.cpp")]:
        text = file.read_text(encoding="utf-8")
        names |= {f"{file.relative_to(root).parts[1]}.{suite}.{case}" for suite, case in CASE.findall(text)}
    return names


def main():
    root = pathlib.Path(sys.argv[1])
    page = (root / "docs/conformance.md").read_text(encoding="utf-8")
    known = cases(root)
    problems = []
    covered = set()
    for line in page.splitlines():
        row = re.match(r"\| ([0-9, ]+) \| ", line)
        if row:
            covered |= {int(point) for point in row.group(1).split(",")}
        for pattern in re.findall(r"`(\w+\.[\w*]+(?:\.[\w*]+)?)`", line):
            room = pattern.split(".")[0]
            if pattern.endswith(".json"):
                continue
            if (root / "src" / room).is_dir() or (root / "tests" / room).is_dir():
                if not fnmatch.filter(known, pattern):
                    problems.append(f"no test is named {pattern}")
    problems += [f"point {point} is missing" for point in POINTS if point not in covered]
    for problem in problems:
        print(f"docs/conformance.md: {problem}")
    print(f"{len(covered)} points, {len(known)} tests")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
