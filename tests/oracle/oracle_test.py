"""usage: oracle_test.py NODE_MODULES

Regenerates the corpora of tests/fixtures with the oracle and compares them byte by byte with what is committed. Exit
code 77: node or the oracle is absent.
"""

import pathlib
import shutil
import subprocess
import sys


def main():
    modules = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1] else None
    node = shutil.which("node")
    if node is None:
        print("skipped: node is not installed")
        return 77
    if modules is None or not (modules / "@huggingface" / "jinja").is_dir():
        print("skipped: KERNELPACK_ORACLE_MODULES names no folder with @huggingface/jinja")
        return 77
    generator = pathlib.Path(__file__).with_name("generate.mjs")
    return subprocess.run([node, str(generator), "--modules", str(modules), "--check"]).returncode


if __name__ == "__main__":
    sys.exit(main())
