"""Drives `kernelpack plan`, `explain`, `render` and `validate`.
usage: plan_cli_test.py PROGRAM SHARED
"""

import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BENCH = ROOT / "tests/packages/planbench"
DESKTOP = ROOT / "tests/devices/desktop.json"
PROGRAM = ""
SHARED = pathlib.Path()
LEAST_PLANS = 342
PACKED = ["--input", "x=float32:512x16", "--input", "bias=float32[16]"]


def kernelpack(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=120)


class Answers(unittest.TestCase):
    def test_every_row_of_the_stored_answers(self):
        hub = SHARED / "hub"
        if not (hub / "answers.json").is_file():
            self.assertNotEqual(os.environ.get("CI"), "true", f"{hub} is absent, which CI does not allow")
            self.skipTest(f"there is no {hub}")
        answers = json.loads((hub / "answers.json").read_text())
        with tempfile.TemporaryDirectory() as folder:
            def run(numbered):
                number, row = numbered
                op, spec = row["package"].split("@")
                request_file = pathlib.Path(folder) / f"{number}.json"
                request_file.write_text(json.dumps(answers["requests"][op][row["request"]]))
                return row, kernelpack("plan", hub / (f"{op}-{spec}" if spec.startswith("1") else op),
                                       "--request", request_file, "--facts", hub / "devices" / f"{row['device']}.json",
                                       "--json", "--allow-missing-templates")

            with concurrent.futures.ThreadPoolExecutor(4) as pool:
                results = list(pool.map(run, enumerate(answers["rows"])))
        compared = 0
        for row, result in results:
            label = f"{row['package']} {row['request']} {row['device']}: {result.stderr}"
            printed = json.loads(result.stdout)
            if "error" in row:
                self.assertEqual(result.returncode, 1, label)
                self.assertEqual(list(printed), ["error", "message", "reasons"], label)
                self.assertEqual(printed["error"], row["error"], label)
                self.assertTrue(printed["reasons"], label)
                self.assertEqual(result.stderr.count("\n"), 1, label)
            else:
                self.assertEqual(result.returncode, 0, label)
                for planned in printed["passes"]:
                    self.assertIsNone(planned.pop("wgsl"), label)
                expected = {key: row[key] for key in row if key not in ("package", "request", "device")}
                self.assertEqual(printed, expected, label)
            compared += 1
        print(f"{compared} plans printed as their answers")
        self.assertGreaterEqual(compared, LEAST_PLANS)


class Requests(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)

    def plan(self, *arguments):
        return json.loads(kernelpack("plan", BENCH, "--json", *arguments).stdout)

    def test_flags_and_json_say_the_same(self):
        flags = self.plan("--facts", DESKTOP, "--input", "x=float32:4x64", "--input", "bias=float32[64]",
                          "--destination", "y=float32:4x64", "--attr", "axis=1", "--tunable", "WORKGROUP_SIZE=128",
                          "--variant", "rows")
        request = self.folder / "request.json"
        request.write_text(json.dumps({
            "tensors": {"x": {"shape": [4, 64], "dtype": "float32"}, "bias": {"shape": [64], "dtype": "float32"},
                        "y": {"shape": [4, 64], "dtype": "float32"}},
            "attrs": {"axis": 1}, "tunables": {"WORKGROUP_SIZE": 128}, "variant": "rows"}))
        self.assertEqual(flags, self.plan("--facts", DESKTOP, "--request", request))
        self.assertEqual(flags["variant"], "rows")
        self.assertIn("const LANES: u32 = 128u;", flags["passes"][0]["wgsl"])

    def test_aliases_are_one_buffer(self):
        result = kernelpack("plan", BENCH, *PACKED, "--alias", "x,y", "--json")
        self.assertEqual(result.returncode, 1)
        printed = json.loads(result.stdout)
        self.assertEqual(printed["error"], "contract")
        self.assertEqual(printed["reasons"], [])
        self.assertIn("share the buffer", printed["message"])

    def test_a_refusal_lists_every_variant(self):
        result = kernelpack("plan", BENCH, "--input", "x=float16:4x64", "--input", "bias=float16:64", "--json")
        self.assertEqual(result.returncode, 1)
        printed = json.loads(result.stdout)
        self.assertEqual(printed["error"], "no-variant")
        self.assertEqual([reason["variant"] for reason in printed["reasons"]], ["split", "packed", "rows"])
        self.assertEqual({reason["kind"] for reason in printed["reasons"]}, {"when-false"})
        self.assertTrue(result.stderr.startswith("kernelpack: no_variant: "))
        self.assertEqual(result.stderr.count("\n"), 1)

    def test_bad_flags(self):
        for arguments in (["--input", "x=float32:4y4"], ["--input", "x=float32[4"], ["--input", "x=float32:4x"],
                          ["--destination", "y=file.npy"], ["--want", "y=4"], ["--alias", "x"], ["--alias", "x,"],
                          ["--input", "x=float32:4", "--request", "r.json"]):
            result = kernelpack("plan", BENCH, *arguments)
            self.assertEqual((result.returncode, result.stdout), (2, ""), arguments)
            self.assertTrue(result.stderr.startswith("kernelpack: usage: "), result.stderr)

    def test_bad_files(self):
        malformed = self.folder / "malformed.json"
        malformed.write_text('{"limits": {"maxBufferSize": true}}')
        for arguments in (["--facts", malformed], ["--facts", self.folder / "absent.json"], ["--facts", self.folder],
                          ["--request", malformed], ["--request", self.folder / "absent.json"]):
            extra = PACKED if arguments[0] == "--facts" else []
            result = kernelpack("plan", BENCH, *extra, *arguments)
            self.assertEqual((result.returncode, result.stdout), (1, ""), (arguments, result.stderr))
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            self.assertIn(pathlib.Path(arguments[1]).name, result.stderr)


class Explain(unittest.TestCase):
    def test_why_a_variant_runs(self):
        result = kernelpack("explain", BENCH, "--facts", DESKTOP, *PACKED)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for text in ("packed (priority 20): chosen", "split (priority 30): refused", "columnCount = 16",
                     "rows (priority 10): not reached", "params.rowCount     u32  512",
                     "2 workgroups before folding", "runs 2 x 1 x 1 workgroups"):
            self.assertIn(text, result.stdout)
        self.assertNotIn("@compute", result.stdout)

    def test_shaders_have_line_numbers(self):
        result = kernelpack("explain", BENCH, "--facts", DESKTOP, *PACKED, "--wgsl")
        self.assertIn("   1 | struct Params {", result.stdout)

    def test_a_refused_request_is_explained(self):
        result = kernelpack("explain", BENCH, "--input", "x=float16:4x64", "--input", "bias=float16:64")
        self.assertEqual(result.returncode, 1)
        self.assertIn("when   false  f16Ok(dtypes.T)", result.stdout)
        self.assertIn("Refused", result.stdout)
        self.assertEqual(result.stderr.count("\n"), 1)


class Render(unittest.TestCase):
    def test_one_pass_is_printed_exactly(self):
        plan = json.loads(kernelpack("plan", BENCH, "--facts", DESKTOP, *PACKED, "--json").stdout)
        result = kernelpack("render", BENCH, "--variant", "packed", "--facts", DESKTOP, *PACKED)
        self.assertEqual(result.stdout, plan["passes"][0]["wgsl"])

    def test_several_passes(self):
        request = ["--input", "x=float32:2x100000", "--input", "bias=float32:100000", "--variant", "split"]
        plan = json.loads(kernelpack("plan", BENCH, *request, "--json").stdout)
        result = kernelpack("render", BENCH, *request)
        self.assertEqual(result.stdout.count("// pass "), 2)
        one = kernelpack("render", BENCH, *request, "--pass", "write")
        self.assertEqual(one.stdout, plan["passes"][1]["wgsl"])
        listed = json.loads(kernelpack("render", BENCH, *request, "--json").stdout)
        self.assertEqual([entry["pass"] for entry in listed], ["blocks", "write"])
        unknown = kernelpack("render", BENCH, *request, "--pass", "third")
        self.assertEqual((unknown.returncode, unknown.stdout), (1, ""))

    def test_a_variant_that_refuses(self):
        result = kernelpack("render", BENCH, "--variant", "split", *PACKED)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("columnCount >= 65536", result.stderr)


class Validate(unittest.TestCase):
    def test_good_packages(self):
        result = kernelpack("validate", BENCH)
        self.assertEqual((result.returncode, result.stdout), (0, "1 package without problems\n"))
        self.assertEqual(kernelpack("validate", ROOT / "tests/packages").returncode, 0)

    def test_all_problems_of_a_tree(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder)
            manifest = json.loads((BENCH / "build/webgpu/manifest.json").read_text())
            manifest["variants"][0]["priorty"] = 1
            manifest["derive"]["axis"] = "1 +"
            for name, content in (("a", manifest), ("b/c", manifest)):
                (tree / name).mkdir(parents=True)
                (tree / name / "manifest.json").write_text(json.dumps(content))
            result = kernelpack("validate", tree, "--allow-missing-templates")
            self.assertEqual(result.returncode, 1, result.stderr)
            for name in ("a", "b/c"):
                self.assertIn(f"{tree / name}: ", result.stdout)
            self.assertIn("/variants/0/priorty", result.stdout)
            self.assertIn("/derive/axis", result.stdout)
            self.assertIn("2 packages, 2 of them with problems (4 problems)", result.stdout)
            listed = json.loads(kernelpack("validate", tree, "--allow-missing-templates", "--json").stdout)
            self.assertEqual([len(entry["problems"]) for entry in listed], [2, 2])

    def test_what_is_no_package(self):
        with tempfile.TemporaryDirectory() as folder:
            for argument in (folder, folder + "/absent", "no.such.Op"):
                result = kernelpack("validate", argument)
                self.assertEqual((result.returncode, result.stdout), (1, ""))
                self.assertEqual(result.stderr.count("\n"), 1)


if __name__ == "__main__":
    PROGRAM, SHARED = sys.argv[1], pathlib.Path(sys.argv[2])
    unittest.main(argv=sys.argv[:1], verbosity=1)
