"""Drives the commands of `kernelpack` that measure, on the software driver with both libraries: what they print and write,
never how long anything takes.

usage: bench_test.py PROGRAM WEBGPU_FOLDER
"""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OP = "com.microsoft.BiasSoftmax"
PROGRAM = ""
LIBRARIES = ("dawn", "wgpu-native")
ENVIRONMENT = dict(os.environ)
SHORT = ("--milliseconds", 0.1, "--load-milliseconds", 0, "--rounds", 1)


def uniform(dtype, shape, seed):
    return {"dtype": dtype, "shape": shape, "fill": {"kind": "uniform", "low": -4, "high": 4, "seed": seed}}


def case(name, dtype, rows, columns, **more):
    return {"id": name, "inputs": {"data": uniform(dtype, [rows, columns], 1), "bias": uniform(dtype, [1, columns], 2)},
            "attributes": {"axis": 1, "is_inner_broadcast": 1}, **more}


def document(cases, tunables=None):
    return {"schema": "kernelpack/1", "kind": "benchmarks", "tunables": tunables or {}, "cases": cases}


class Measuring(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.environment = {**ENVIRONMENT, "XDG_CACHE_HOME": str(self.folder / "cache"),
                            "KERNELPACK_PACKAGES": str(ROOT / "packages")}

    def kernelpack(self, *arguments):
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=240,
                              env=self.environment)

    def write(self, name, content):
        path = self.folder / name
        path.write_text(json.dumps(content), encoding="utf-8")
        return path

    def refuse(self, code, kind, text, *arguments):
        ran = self.kernelpack(*arguments)
        self.assertEqual(ran.returncode, code, ran.stderr)
        first = ran.stderr.splitlines()[0]
        self.assertTrue(first.startswith(f"kernelpack: {kind}: "), first)
        self.assertIn(text, first)
        self.assertEqual(ran.stdout, "")


class Bench(Measuring):
    def test_measures_checks_and_compares(self):
        file = self.write("cases.json", document([case("short_float32", "float32", 40, 24),
                                                  case("odd_float16", "float16", 16, 77)]))
        for library in LIBRARIES:
            report = self.folder / "bench.json"
            picture = self.folder / "bench.png"
            ran = self.kernelpack("bench", OP, "--file", file, "--library", library, "--milliseconds", 0.5,
                                  "--load-milliseconds", 1, "--rounds", 3,
                                  "--check", "--against", ROOT / "packages/generations/1.0" / OP, "--json", report,
                                  "--plot", picture)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            self.assertEqual(ran.stderr, "")
            self.assertIn("A software driver: these are no figures of a GPU.", ran.stdout)
            self.assertIn("short_float32", ran.stdout)
            self.assertTrue(picture.read_bytes().startswith(b"\x89PNG\r\n"))
            told = json.loads(report.read_text(encoding="utf-8"))
            self.assertTrue(told["valid"])
            self.assertEqual(told["method"]["clock"], "GPU timestamps around one compute pass")
            self.assertEqual(len(told["cases"]), 2)
            self.assertEqual([each["bytes"] for each in told["cases"]], [(2 * 40 + 1) * 24 * 4, (2 * 16 + 1) * 77 * 2])
            self.assertEqual([each["columns"] for each in told["cases"]], [24, 77])
            for each in told["cases"]:
                self.assertEqual(len(each["results"]), 2)
                for result in each["results"]:
                    self.assertNotIn("failure", result)
                    self.assertEqual(len(result["seconds"]["rounds"]), 3)
                    self.assertGreater(result["seconds"]["median"], 0)
                    self.assertGreater(result["ofCopy"], 0)
                    self.assertGreater(result["singleCallSeconds"]["cold"], 0)
                    self.assertLessEqual(result["dispatches"] * result["calls"], 1500)
                    self.assertLessEqual(result["errorOfAllowed"], 1)
                self.assertEqual(len(each["copy"]["seconds"]["rounds"]), 3)

    def test_takes_the_cases_that_are_asked_for(self):
        file = self.write("cases.json", document([case("one", "float32", 4, 8), case("two", "float32", 4, 8)]))
        ran = self.kernelpack("bench", OP, "--file", file, *SHORT, "--cases", "wo")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertNotIn("one", [line.split()[0] for line in ran.stdout.splitlines() if line.strip()])
        self.refuse(2, "usage", "The value of --cases (three) is part of no case's id", "bench", OP, "--file", file,
                    "--cases", "three")

    def test_goes_on_after_a_case_that_a_package_refuses(self):
        file = self.write("cases.json", document([case("taken", "float32", 4, 8)]))
        ran = self.kernelpack("bench", OP, "--file", file, *SHORT, "--against",
                              ROOT / "tests/packages/broadcast_add")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("contract: ", ran.stdout)

    def test_goes_on_after_a_case_that_does_not_fit(self):
        file = self.write("cases.json", document([case("large", "float32", 1 << 20, 64), case("wrong", "float32", 4, 8),
                                                  case("small", "float32", 4, 8)]))
        cases = json.loads(file.read_text(encoding="utf-8"))
        cases["cases"][1]["inputs"]["bias"]["shape"] = [1, 7]
        file.write_text(json.dumps(cases), encoding="utf-8")
        report = self.folder / "bench.json"
        ran = self.kernelpack("bench", OP, "--file", file, *SHORT, "--library", "dawn", "--json", report)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        large, wrong, small = json.loads(report.read_text(encoding="utf-8"))["cases"]
        self.assertTrue(large["skipped"].startswith("limit: "), large)
        self.assertTrue(wrong["results"][0]["failure"].startswith("no_variant: "), wrong)
        self.assertGreater(small["results"][0]["seconds"]["median"], 0)

    def test_refuses_other_schemas(self):
        file = self.write("cases.json", {"schema": "other/1", "cases": []})
        self.refuse(1, "unsupported", "The schema of cases.json (other/1) is not kernelpack/1", "bench", OP, "--file", file)

    def test_says_that_a_package_has_no_cases(self):
        self.refuse(1, "io", "has no benchmark cases", "bench", ROOT / "tests/packages/broadcast_add")


class Tune(Measuring):
    REQUEST = ("--input", "data=float32:16x96", "--input", "bias=float32:1x96", "--attr", "axis=1", "--attr",
               "is_inner_broadcast=1", "--device", "gpu")

    def profile(self):
        found = list((self.folder / "cache/kernelpack/tuning").glob("*.json"))
        self.assertEqual(len(found), 1)
        return found[0]

    def test_keeps_a_profile_that_runs_use_and_explain_shows(self):
        file = self.write("cases.json", document([case("one", "float32", 16, 96, tune=["LANES_PER_ROW", "SPLIT_GROUP"])],
                                                 {"LANES_PER_ROW": [0, 4, 32], "SPLIT_GROUP": [32, 64]}))
        report = self.folder / "tune.json"
        exported = self.folder / "exported.json"
        ran = self.kernelpack("tune", OP, "--file", file, *SHORT, "--json", report, "--export", exported)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(ran.stderr, "")
        told = json.loads(report.read_text(encoding="utf-8"))
        lanes, split = told["searches"]
        self.assertEqual([trial["value"] for trial in lanes["trials"]], [4, 32])
        self.assertEqual([len(trial["ratios"]) for trial in lanes["trials"]], [1, 1])
        # A tunable that changes nothing is not measured, and never taken.
        self.assertEqual(split["trials"], [{"value": 32, "ratios": [1.0], "taken": False}])
        self.assertEqual(self.profile().read_bytes(), exported.read_bytes())

        text = json.loads(exported.read_text(encoding="utf-8"))
        text["tunables"] = {"LANES_PER_ROW": 4}
        exported.write_text(json.dumps(text), encoding="utf-8")
        ran = self.kernelpack("tune", OP, "--import", exported)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        ran = self.kernelpack("explain", OP, *self.REQUEST)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("device profile (kernelpack tune)\n  LANES_PER_ROW = 4\n", ran.stdout)

        self.profile().write_text(json.dumps({**text, "tunables": {"LANES_PER_ROW": 5}}), encoding="utf-8")
        ran = self.kernelpack("explain", OP, *self.REQUEST)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertNotIn("device profile", ran.stdout)
        self.assertEqual(ran.stderr, "kernelpack: note: The value of tunable LANES_PER_ROW in the profile (5) is "
                                     "ignored: bench.json does not list it\n")
        self.profile().write_text("{", encoding="utf-8")
        ran = self.kernelpack("explain", OP, *self.REQUEST)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("is ignored", ran.stderr)

    def test_plans_for_a_device_or_for_facts(self):
        facts = self.write("facts.json", {"features": []})
        self.refuse(2, "usage", "The options --facts and --device exclude each other", "explain", OP, *self.REQUEST,
                    "--facts", facts)
        self.refuse(2, "usage", "The option --library needs --device", "explain", OP, *self.REQUEST[:-2], "--library",
                    "dawn")

    def test_refuses_profiles_of_others_and_other_schemas(self):
        other = self.write("other.json", {"schema": "kernelpack-tuning/1", "package": "0", "device": {}, "tunables": {}})
        self.refuse(1, "contract", "The profile belongs to another package", "tune", OP, "--import", other)
        file = self.write("cases.json", {"cases": []})
        self.refuse(1, "unsupported", "The schema of cases.json (none) is not kernelpack/1", "tune", OP, "--file", file)


class GpuTool(Measuring):
    """What tools/gpu makes for the machine with the GPU can be read here."""

    def test_cases_are_well_formed_and_cover_every_residue(self):
        loader = importlib.machinery.SourceFileLoader("gpu_tool", str(ROOT / "tools/gpu"))
        tool = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_tool", loader))
        sys.dont_write_bytecode = True
        loader.exec_module(tool)
        for name, made in (("check.json", tool.check_cases()), ("sweep.json", tool.sweep_cases())):
            self.refuse(2, "usage", "is part of no case's id", "bench", OP, "--file", self.write(name, made), "--cases",
                        "no_such_case")
            for dtype in ("float32", "float16"):
                lengths = {each["inputs"]["data"]["shape"][1] for each in made["cases"] if each["id"].endswith(dtype)}
                self.assertLessEqual(set(range(1, 41)), lengths)
                self.assertEqual({length % 8 for length in lengths if 40 < length <= 520}, set(range(8)), name)
                self.assertGreater(max(lengths), 40000)


class RunProfile(Measuring):
    def run_profile(self, rows, columns, *options):
        values = struct.pack(f"<{rows * columns}f", *(((7 * i) % 31) / 8 for i in range(rows * columns)))
        for name, shape, part in (("data", (rows, columns), values), ("bias", (1, columns), values[:4 * columns])):
            header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
            header += b" " * (63 - (len(header) + 10) % 64) + b"\n"
            start = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header))
            (self.folder / f"{name}.npy").write_bytes(start + header + part)
        return self.kernelpack("run", OP, "--input", f"data={self.folder / 'data.npy'}", "--input",
                               f"bias={self.folder / 'bias.npy'}", "--attr", "axis=1", "--attr",
                               "is_inner_broadcast=1", "--profile", *options)

    def test_times_each_pass(self):
        for library in LIBRARIES:
            ran = self.run_profile(2, 70000, "--device", "gpu", "--library", library, "--json")
            self.assertEqual(ran.returncode, 0, ran.stderr)
            told = json.loads(ran.stdout)["profile"]
            self.assertEqual(told["clock"], "GPU timestamps")
            self.assertEqual(len(told["passes"]), 2)
            self.assertEqual(told["copy"]["bytes"], 5 * 70000 * 4)
            for each in told["passes"]:
                self.assertGreater(each["seconds"], 0)
                self.assertGreater(each["bytes"], 3 * 70000 * 4)
        ran = self.run_profile(2, 24, "--device", "gpu")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("each pass in a compute pass of its own", " ".join(ran.stdout.split()))

    def test_needs_a_gpu(self):
        ran = self.run_profile(2, 24)
        self.assertEqual(ran.returncode, 2)
        self.assertEqual(ran.stderr, "kernelpack: usage: The option --profile needs a GPU: --device gpu\n")


def main():
    global PROGRAM
    PROGRAM = sys.argv[1]
    folder = pathlib.Path(sys.argv[2])
    driver = folder / "lavapipe/lvp_icd.json"
    libraries = [folder / "lib" / name for name in ("libwebgpu_dawn.so", "libwgpu_native.so")]
    missing = [str(path) for path in (driver, *libraries) if not path.exists()]
    required = os.environ.get("CI") == "true" or os.environ.get("KERNELPACK_REQUIRE_GPU") == "1"
    if missing and not required:
        print("skipped: tools/webgpu/fetch has not brought " + ", ".join(missing))
        sys.exit(77)
    ENVIRONMENT["VK_DRIVER_FILES"] = str(driver)
    unittest.main(argv=sys.argv[:1], verbosity=2)


if __name__ == "__main__":
    main()
