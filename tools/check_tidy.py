#!/usr/bin/env python3
"""usage: tools/check_tidy.py BUILD_FOLDER [SOURCE...]

Runs clang-tidy with .clang-tidy over the sources that a build folder (made with clang) compiles, or over those given.
Tests and benchmarks are left to the compilers and sanitizers. Exit code 1 if anything is found.
"""

import concurrent.futures
import json
import os
import subprocess
import sys


def main():
    build, chosen = sys.argv[1], [os.path.abspath(name) for name in sys.argv[2:]]
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        sources = sorted({entry["file"] for entry in json.load(file)})
    sources = [name for name in sources if not name.endswith(("_test.cpp", "_bench.cpp"))]
    if chosen:
        sources = [name for name in sources if name in chosen]

    def check(source):
        return source, subprocess.run(["clang-tidy", "-p", build, "--quiet", "--warnings-as-errors=*", source],
                                      capture_output=True, text=True, errors="replace", check=False)

    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for source, result in pool.map(check, sources):
            if result.returncode != 0:
                failed += 1
                print(result.stdout.strip() or f"{source}: {result.stderr.strip()}", flush=True)
    print(f"clang-tidy: {len(sources)} sources, {failed} with findings")
    return 1 if failed or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
