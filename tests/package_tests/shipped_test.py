"""Runs the tests that a shipped package carries and wants all of them right and every variant reached.

usage: shipped_test.py PROGRAM WEBGPU_FOLDER PACKAGE cpu|dawn|wgpu-native
"""

import json
import os
import pathlib
import subprocess
import sys

LEAST_CASES = 140


def main():
    program, webgpu, package, device = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4]
    environment = dict(os.environ)
    options = ["--device", "cpu"]
    if device != "cpu":
        driver = webgpu / "lavapipe/lvp_icd.json"
        library = webgpu / "lib" / {"dawn": "libwebgpu_dawn.so", "wgpu-native": "libwgpu_native.so"}[device]
        missing = [str(path) for path in (driver, library) if not path.exists()]
        if missing and os.environ.get("CI") != "true" and os.environ.get("KERNELPACK_REQUIRE_GPU") != "1":
            print("skipped: tools/webgpu/fetch has not brought " + ", ".join(missing))
            sys.exit(77)
        environment["VK_DRIVER_FILES"] = str(driver)
        options = ["--device", "gpu", "--library", device]
    ran = subprocess.run([program, "test", package, *options, "--json"], env=environment, capture_output=True,
                         text=True, check=False, timeout=580)
    if ran.returncode not in (0, 4):
        sys.exit(f"exit code {ran.returncode}: {ran.stderr}")
    report = json.loads(ran.stdout)
    rows = report["results"]
    for row in rows:
        if row["result"] != "ok":
            print(json.dumps(row))
    problems = []
    if ran.returncode != 0 or report["summary"]["ok"] != len(rows):
        problems.append(f"results that are not ok: {report['summary']}")
    if report["cases"] < LEAST_CASES or len({row["case"] for row in rows}) != report["cases"]:
        problems.append(f"cases: {report['cases']}, in the results: {len({row['case'] for row in rows})}")
    which = "planned" if device == "cpu" else "ran"
    for variant in report["variants"]:
        if variant[which] == 0:
            problems.append(f"no case reaches the variant {variant['id']} ({which})")
    compared = [row for row in rows if "ofTolerance" in row]
    expected = [row for row in rows if row["device"] == options[1] and "seconds" in row]
    if len(compared) < LEAST_CASES - 6 or len(compared) != len(expected):
        problems.append(f"compared results: {len(compared)} of {len(expected)} that ran")
    if problems:
        sys.exit("\n".join(problems))
    print(f"{report['devices'][0]['description']}: {report['cases']} cases, {len(compared)} results compared, the "
          f"worst at {max(row['ofTolerance'] for row in compared):.3f} of its tolerance")


if __name__ == "__main__":
    main()
