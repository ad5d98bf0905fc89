#!/usr/bin/env python3
"""usage: tools/run_ctest.py BUILD_FOLDER [CTEST_OPTION...]

Runs ctest in a build folder and prints what a person wants to know: the output of tests that fail, each skipped
test with its reason, and ctest's summary last. The exit code is ctest's.
"""

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

DONE = re.compile(r"^\s*(\d+)/(\d+) Test\s+#\d+: (\S+)\s.*?(Passed|\*\*\*\S.*?)\s+[\d.]+ sec")
SUMMARY = re.compile(r"^\d+% tests passed")


def skip_reason(output):
    """The text after GoogleTest's "Skipped" line, or the last line of a script's output."""
    lines = [line.strip() for line in output.splitlines()]
    for number, line in enumerate(lines):
        if line.endswith(": Skipped"):
            reason = next((later for later in lines[number + 1:] if later), "")
            return reason or "no reason given"
    spoken = [line for line in lines if line]
    return spoken[-1].removeprefix("skipped: ") if spoken else "no reason given"


def skipped_tests(results):
    """Reason -> names, from a JUnit file."""
    reasons = {}
    for case in ElementTree.parse(results).getroot().iter("testcase"):
        skipped = case.find("skipped")
        if skipped is None:
            continue
        output = case.findtext("system-out") or skipped.get("message") or ""
        reasons.setdefault(skip_reason(output), []).append(case.get("name").split("  # GetParam")[0])
    return reasons


def environment():
    """What ctest runs in: under ThreadSanitizer the libraries that it cannot see into are left out, and an allocation
    that is too large fails as anywhere else; under LeakSanitizer the driver's own leaks are left out, silently."""
    folder = os.path.dirname(os.path.abspath(__file__))
    made = dict(os.environ)
    for name, options in (("TSAN_OPTIONS", f"suppressions={folder}/tsan.supp:allocator_may_return_null=1"),
                          ("LSAN_OPTIONS", f"suppressions={folder}/lsan.supp:print_suppressions=0")):
        made[name] = ":".join(filter(None, [options, os.environ.get(name)]))
    return made


def main():
    build, options = sys.argv[1], sys.argv[2:]
    results = os.path.join(os.path.abspath(build), "test-results.xml")
    if os.path.exists(results):
        os.remove(results)
    command = ["ctest", "--test-dir", build, "--output-on-failure", "--no-tests=error", "--parallel",
               str(os.cpu_count() or 1), "--output-junit", results, *options]
    on_terminal = sys.stdout.isatty()
    summary, showing = [], False
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", env=environment()) as process:
        for line in process.stdout:
            done = DONE.match(line)
            if summary or SUMMARY.match(line):
                summary.append(line)
            elif done:
                showing = done.group(4) != "Passed" and not done.group(4).startswith("***Skipped")
                if on_terminal:
                    print(f"\r\033[K{done.group(1)}/{done.group(2)}", end="", flush=True)
                if showing:
                    print(("\r\033[K" if on_terminal else "") + line, end="")
            elif re.match(r"^\s*Start\s+\d+:", line):
                showing = False
            elif showing:
                print(line, end="", flush=True)
            elif line.startswith(("CMake Error", "No tests were found", "Cannot", "Errors while")):
                print(line, end="")
    if on_terminal:
        print("\r\033[K", end="")
    if os.path.exists(results):
        for reason, names in sorted(skipped_tests(results).items()):
            print(f"Skipped: {reason}")
            for name in names:
                print(f"  {name}")
    print("".join(summary), end="")
    return process.returncode


if __name__ == "__main__":
    sys.exit(main())
