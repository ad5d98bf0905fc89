"""Drives `kernelpack test`: right and wrong packages, bad files, what it prints.

usage: verb_test.py PROGRAM WEBGPU_FOLDER
"""

import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
OP = "com.microsoft.BiasSoftmax"
PROGRAM = ""
LIBRARIES = []
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "VK_ADD_DRIVER_FILES"}

# The operator for rows of one finite value, each of which gives 1. The output is written in words of two halves.
ONES = {
    "domain": "com.microsoft", "name": "BiasSoftmax", "sinceVersion": 1,
    "inputs": {"data": {"dtype": "T"}, "bias": {"dtype": "T"}},
    "outputs": {"output": {"dtype": "T", "shape": "shapes.data"}},
    "attributes": {"axis": {"default": 1}, "is_inner_broadcast": {}},
    "attributeConstraints": {"is_inner_broadcast": {"required": True}},
    "typeConstraints": {"T": ["float32", "float16"]},
    "derive": {"word": "\"u32\" if dtypes.T == \"f16\" else \"f32\""},
    "bindings": {"data": {}, "bias": {}, "output": {"elementType": "$word"}},
    "variants": [
        {"id": "chosen", "priority": 2, "when": ["dim(shapes.data, 1) == 1"],
         "passes": [{"id": "main", "shader": "ones.wgsl.jinja", "bindings": ["output"], "dispatch": {"x": "1"}}]},
        {"id": "other", "priority": 1, "when": ["dim(shapes.data, 1) <= 2"],
         "passes": [{"id": "main", "shader": "ones.wgsl.jinja", "bindings": ["output"], "dispatch": {"x": "1"}}]}],
}
SHADER = """{{ env.wgsl.resourceDeclarations }}
@compute @workgroup_size(1)
fn main() {
  for (var i = 0u; i < arrayLength(&output); i++) {
    output[i] = {{ "0x3C003C00u" if dtypes.T == "f16" else "1.0" }};
  }
}
"""


def case(name, shape=(4, 1), dtype="float16", **more):
    fill = {"kind": "ramp", "start": 0, "step": 0.5}
    return {"id": name, "inputs": {"data": {"dtype": dtype, "shape": list(shape), "fill": fill},
                                   "bias": {"dtype": dtype, "shape": [min(1, shape[0]), shape[1]], "fill": fill}},
            "attributes": {"axis": 1, "is_inner_broadcast": 1}, **more}


def document(*cases, devices=None, **more):
    return {"schema": "kernelpack/1", "kind": "tests",
            "tolerance": {"float32": {"relative": 2e-6, "relativePerDistance": 3e-7, "floor": 1.2e-38},
                          "float16": {"steps": 1}},
            "devices": {"plain": {}} if devices is None else devices, "cases": list(cases), **more}


class Testing(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.package = self.folder / "package"
        self.package.mkdir()
        self.environment = {**ENVIRONMENT, "XDG_CACHE_HOME": str(self.folder / "cache"),
                            "KERNELPACK_PACKAGES": str(ROOT / "packages")}
        self.write(ONES, SHADER)

    def write(self, manifest, shader):
        """A package without metadata.json: it is run with --no-verify."""
        (self.package / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        (self.package / "ones.wgsl.jinja").write_text(shader, encoding="utf-8")

    def carry(self, tests):
        text = tests if isinstance(tests, str) else json.dumps(tests)
        (self.package / "test.json").write_text(text, encoding="utf-8")

    def kernelpack(self, *arguments, **more):
        return subprocess.run([PROGRAM, "test", *map(str, arguments), "--no-verify"], text=True, check=False,
                              timeout=240, env={**self.environment, **more}, capture_output=True)

    def report(self, code, *arguments, package=None, **more):
        ran = self.kernelpack(package or self.package, *arguments, "--json", **more)
        self.assertEqual(ran.returncode, code, ran.stdout + ran.stderr)
        self.errors = ran.stderr
        return json.loads(ran.stdout)

    def refuse(self, code, kind, text, *arguments):
        ran = self.kernelpack(*arguments)
        self.assertEqual(ran.returncode, code, ran.stderr)
        self.assertEqual(ran.stdout, "")
        first = ran.stderr.splitlines()[0]
        self.assertTrue(first.startswith(f"kernelpack: {kind}: "), first)
        self.assertIn(text, first)


class OnTheCpu(Testing):
    def test_a_right_package(self):
        self.carry(document(case("one", variant="chosen"), case("two", (3, 2), variant={"plain": "other"}),
                            case("wide", (5, 7), "float32"), case("none", (0, 1), "float32", exact=True)))
        ran = self.kernelpack(self.package, "--device", "cpu", "--threads", 1)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertTrue(ran.stdout.startswith("com.microsoft.BiasSoftmax, 4 cases\ncpu: cpu ("), ran.stdout)
        self.assertRegex(ran.stdout, r"\n  one   plan    chosen   -          - +ok\n")
        self.assertRegex(ran.stdout, r"\n  one   cpu     -        0\.000      [0-9.]+ .s +ok\n")
        self.assertIn("Variants that planning chose (2 of 2): chosen, other.\n", ran.stdout)
        self.assertTrue(ran.stdout.endswith("\n6 ok\n"), ran.stdout)

    def test_what_json_tells(self):
        self.carry(document(case("one", variant="chosen")))
        report = self.report(0, "--device", "cpu")
        self.assertEqual(list(report), ["schema", "package", "op", "devices", "notes", "cases", "results", "variants",
                                        "summary"])
        self.assertEqual((report["schema"], report["package"], report["op"], report["cases"], report["notes"]),
                         ("kernelpack-test/1", str(self.package), OP, 1, []))
        self.assertEqual([device["name"] for device in report["devices"]], ["cpu"])
        planned, ran = report["results"]
        self.assertEqual(planned, {"case": "one", "device": "plan", "variants": ["chosen"], "pinned": False,
                                   "result": "ok"})
        self.assertGreater(ran.pop("seconds"), 0)
        self.assertEqual(ran, {"case": "one", "device": "cpu", "variants": [], "pinned": False, "result": "ok",
                               "ofTolerance": 0.0})
        self.assertEqual(report["variants"], [{"id": "chosen", "planned": 1, "ran": 0},
                                              {"id": "other", "planned": 0, "ran": 0}])
        self.assertEqual(report["summary"], {"ok": 2, "failed": 0, "skipped": 0, "unchecked": 0})

    def test_a_variant_that_is_not_chosen_fails(self):
        self.carry(document(case("one", variant="other"), case("two", (2, 3), variant="other"), case("three")))
        report = self.report(4, "--device", "cpu")
        self.assertEqual([row["result"] for row in report["results"]], ["failed", "ok", "failed", "ok", "ok"])
        self.assertEqual(report["results"][0]["reason"],
                         "On plain the variant chosen is chosen, but the case expects other")
        self.assertTrue(report["results"][2]["reason"].startswith("On plain: no_variant: "), report)
        self.assertEqual(self.errors, f"kernelpack: check: Cases of {OP} fail (2 of 5 results)\n")

    def test_pins_are_planned_in_turn(self):
        self.carry(document(case("both", pin=["chosen", "other"]), case("wrong", (2, 2), pin=["other", "chosen"])))
        both, _, wrong, _ = self.report(4, "--device", "cpu")["results"]
        self.assertEqual((both["variants"], both["pinned"], both["result"]), (["chosen", "other"], True, "ok"))
        self.assertEqual((wrong["variants"], wrong["result"]), (["other"], "failed"))
        self.assertTrue(wrong["reason"].startswith("On plain: no_variant: "), wrong)

    def test_a_pin_that_no_device_can_take_fails(self):
        manifest = json.loads(json.dumps(ONES))
        manifest["variants"][1]["requires"] = {"features": ["subgroups"]}
        self.write(manifest, SHADER)
        self.carry(document(case("one", pin=["other"])))
        self.assertEqual(self.report(4, "--device", "cpu")["results"][0]["reason"],
                         "No device of the file has what the pinned variant other requires")
        self.carry(document(case("one", pin=["other"]), devices={"plain": {}, "wide": {"features": ["subgroups"]}}))
        self.assertEqual(self.report(0, "--device", "cpu")["results"][0]["variants"], ["other"])

    def test_expected_errors(self):
        unknown = case("unknown_attribute", error="contract")
        unknown["attributes"]["mode"] = 1
        self.carry(document(unknown, case("too_wide", (2, 3), error="no_variant")))
        report = self.report(0, "--device", "cpu")
        self.assertEqual([(row["case"], row["device"], row["result"]) for row in report["results"]],
                         [("unknown_attribute", "plan", "ok"), ("too_wide", "plan", "ok")])

    def test_errors_that_do_not_come_fail(self):
        unknown = case("unknown_attribute", error="no_variant")
        unknown["attributes"]["mode"] = 1
        self.carry(document(case("good", error="contract"), case("fits", error="no_variant"), unknown))
        good, fits, unknown = self.report(4, "--device", "cpu")["results"]
        self.assertEqual(good["reason"], "The request is bound, but the case expects an error of kind contract")
        self.assertEqual(fits["reason"], "The variant chosen accepts the call on plain, but the case expects an error "
                                         "of kind no_variant")
        start = "The case expects an error of kind no_variant: contract: "
        self.assertTrue(unknown["reason"].startswith(start), unknown)

    def test_a_request_that_is_refused_fails(self):
        refused = case("refused", variant="chosen")
        del refused["attributes"]["is_inner_broadcast"]
        self.carry(document(refused, case("good")))
        first, second = self.report(4, "--device", "cpu")["results"]
        self.assertEqual((first["device"], first["result"]), ("plan", "failed"))
        self.assertTrue(first["reason"].startswith("contract: "), first)
        self.assertEqual(second["result"], "ok")

    def test_the_tolerance_is_that_of_the_file(self):
        tests = document(case("wide", (40, 33), "float32"))
        tests["tolerance"]["float32"] = {"relative": 0}
        self.carry(tests)
        row, = self.report(4, "--device", "cpu")["results"]
        self.assertEqual((row["result"], row["ofTolerance"]), ("failed", "Infinity"))
        self.assertRegex(row["reason"], r"^\d+ of 1320 elements of output are wrong, the worst at \[\d+, \d+\]: "
                                        r"[0-9.e-]+ where [0-9.e-]+ is expected$")
        self.carry(document(case("wide", (40, 33), "float32", exact=True)))
        self.assertEqual(self.report(4, "--device", "cpu")["results"][0]["result"], "failed")

    def test_a_case_that_is_too_large_fails(self):
        self.carry(document(case("large", (1 << 27, 1), "float32"), case("good")))
        large, good = self.report(4, "--device", "cpu")["results"]
        self.assertEqual(large["reason"],
                         "limit: The tensors of the case have more elements than a test may have (268435456)")
        self.assertEqual(good["result"], "ok")

    def test_cases_by_id(self):
        self.carry(document(case("one"), case("one_more"), case("two")))
        ids = lambda *words: [row["case"] for row in self.report(0, "--device", "cpu", *words)["results"]]
        self.assertEqual(ids("--case", "one"), ["one"])
        self.assertEqual(ids("--case", "one*"), ["one", "one_more"])
        self.assertEqual(ids("--case", "t?o", "--case", "one"), ["one", "two"])
        self.refuse(2, "usage", "The value of --case (three) is the id of no case", self.package, "--case", "three")
        self.refuse(2, "usage", "The value of --case (three*) is the id of no case", self.package, "--case", "one",
                    "--case", "three*")

    def test_an_operator_without_reference(self):
        shutil.copytree(ROOT / "tests/packages/broadcast_add/build/webgpu", self.package, dirs_exist_ok=True)
        fill = {"kind": "ramp", "start": 0, "step": 1}
        inputs = {"a": {"dtype": "float32", "shape": [2, 3], "fill": fill},
                  "b": {"dtype": "float32", "shape": [3], "fill": fill}}
        uneven = {**inputs, "b": {"dtype": "float32", "shape": [4], "fill": fill}}
        self.carry(document({"id": "sums", "inputs": inputs, "variant": "plain"},
                            {"id": "missing", "inputs": {"a": inputs["a"]}, "error": "contract"},
                            {"id": "uneven", "inputs": uneven, "error": "no_variant"}))
        report = self.report(0, "--device", "cpu")
        self.assertEqual(report["notes"],
                         ["No result is compared: this program has no reference of test.BroadcastAdd",
                          "Nothing runs on the CPU: This build has no CPU kernel for test.BroadcastAdd"])
        self.assertEqual(self.errors, "".join(f"kernelpack: note: {note}\n" for note in report["notes"]))
        self.assertEqual([(row["case"], row["device"], row["result"]) for row in report["results"]],
                         [("sums", "plan", "ok"), ("missing", "plan", "ok"), ("uneven", "plan", "ok")])
        for library in LIBRARIES:
            report = self.report(0, "--device", "gpu", "--library", library)
            self.assertEqual([(row["case"], row["device"], row["result"]) for row in report["results"]],
                             [("sums", "plan", "ok"), ("sums", "gpu", "unchecked"), ("missing", "plan", "ok"),
                              ("uneven", "plan", "ok"), ("uneven", "gpu", "ok")])

    def test_bad_files(self):
        self.refuse(1, "io", f"The package {OP} has no test cases", self.package)
        self.carry({"schema": "other/1", "cases": []})
        self.refuse(1, "unsupported", "The schema of test.json (other/1) is not kernelpack/1", self.package)
        self.carry(document(case("one", speed=3)))
        self.refuse(1, "package", "(test.json:/cases/0/speed", self.package)
        self.carry(document(case("one", variant="chosne")))
        self.refuse(1, "package", "did you mean (chosen)", self.package)
        self.carry("{")
        self.refuse(1, "package", "test.json", self.package)
        self.refuse(1, "package", "names no shipped package", "com.microsoft.NoSuch")
        self.refuse(1, "io", "The file does not exist", OP, "--file", self.folder / "absent.json")
        self.refuse(2, "usage", "is not cpu, gpu or gpu:NAME", OP, "--device", "tpu")

    def test_files_that_cannot_be_verified(self):
        self.carry(document(case("one")))
        for verb in ("test", "bench", "tune"):
            ran = subprocess.run([PROGRAM, verb, str(self.package)], text=True, check=False, timeout=60,
                                 capture_output=True, env=self.environment)
            self.assertEqual((ran.returncode, ran.stdout), (1, ""))
            self.assertEqual(ran.stderr.splitlines()[0],
                             f"kernelpack: integrity: The package of {OP} has no metadata.json, so its files cannot be "
                             f"verified; it runs only with --no-verify ({self.package})")

    def test_a_file_in_place_of_the_packages(self):
        file = self.folder / "mine.json"
        file.write_text(json.dumps(document(case("mine", (3, 5), "float32"))), encoding="utf-8")
        report = self.report(0, "--device", "cpu", "--file", file, package=OP)
        self.assertEqual([row["case"] for row in report["results"]], ["mine"])

    def test_says_that_there_is_no_gpu(self):
        self.carry(document(case("one")))
        report = self.report(0, VK_DRIVER_FILES="/nowhere.json")
        self.assertEqual([device["name"] for device in report["devices"]], ["cpu"])
        self.assertEqual(len(report["notes"]), 1)
        self.assertTrue(report["notes"][0].startswith("Nothing runs on a GPU: "), report["notes"])
        self.assertIn("kernelpack: note: Nothing runs on a GPU: ", self.errors)
        for options in (("--device", "gpu"), ("--library", "/nowhere/lib.so")):
            ran = self.kernelpack(self.package, *options, VK_DRIVER_FILES="/nowhere.json")
            self.assertEqual((ran.returncode, ran.stdout), (3, ""))
            self.assertIn("kernelpack: device: ", ran.stderr)

    def test_a_progress_line_on_a_terminal(self):
        self.carry(document(case("one"), case("two")))
        leader, follower = pty.openpty()
        ran = subprocess.run([PROGRAM, "test", str(self.package), "--no-verify", "--device", "cpu"], timeout=60,
                             env=self.environment, stdout=subprocess.PIPE, stderr=follower, text=True, check=False)
        os.close(follower)
        shown = os.read(leader, 65536).decode()
        os.close(leader)
        self.assertEqual(ran.returncode, 0)
        self.assertIn("2/2 two", shown)
        self.assertTrue(shown.endswith("\r\033[K"), repr(shown))


class OnAGpu(Testing):
    def test_a_right_package(self):
        self.carry(document(case("one", (4, 1)), case("single", (5, 1), "float32", pin=["chosen", "other"]),
                            case("none", (0, 1)), case("too_wide", (2, 3), error="no_variant")))
        for library in LIBRARIES:
            report = self.report(0, "--library", library)
            self.assertEqual([device["name"] for device in report["devices"]], ["cpu", "gpu"])
            self.assertTrue(report["devices"][1]["software"])
            self.assertEqual([(row["case"], row["device"], row["variants"]) for row in report["results"]],
                             [("one", "cpu", []), ("one", "gpu", ["chosen"]),
                              ("single", "plan", ["chosen", "other"]), ("single", "cpu", []),
                              ("single", "gpu", ["chosen"]), ("single", "gpu", ["other"]),
                              ("none", "cpu", []), ("none", "gpu", ["chosen"]),
                              ("too_wide", "plan", []), ("too_wide", "gpu", [])])
            self.assertEqual([variant["ran"] for variant in report["variants"]], [3, 1])
            self.assertEqual({row["result"] for row in report["results"]}, {"ok"})

    def test_a_shader_that_gives_a_wrong_result(self):
        self.write(ONES, SHADER.replace("0x3C003C00u", "0x3C003800u").replace("1.0", "1.0 + f32(i) * 1e-5"))
        self.carry(document(case("half", (4, 1)), case("single", (5, 1), "float32")))
        for library in LIBRARIES:
            ran = self.kernelpack(self.package, "--device", "gpu", "--library", library)
            self.assertEqual(ran.returncode, 4)
            self.assertEqual(ran.stderr, f"kernelpack: check: Cases of {OP} fail (2 of 2 results)\n")
            text = " ".join(ran.stdout.split())
            self.assertRegex(text, r"half gpu chosen 1024\.000 [0-9.]+ .s FAILED 2 of 4 elements of output are wrong, "
                                   r"the worst at \[0, 0\]: 0\.5 where 1 is expected ")
            self.assertRegex(text, r"single gpu chosen 2\d\.\d+ [0-9.]+ .s FAILED 4 of 5 elements of output are wrong, "
                                   r"the worst at \[4, 0\]: 1\.00004\d* where 1 is expected ")
            self.assertTrue(ran.stdout.endswith("\n0 ok, 2 failed\n"), ran.stdout)

    def test_a_shader_that_leaves_elements_out(self):
        self.write(ONES, SHADER.replace("var i = 0u", "var i = 1u"))
        self.carry(document(case("half", (4, 1)), case("single", (5, 1), "float32")))
        for library in LIBRARIES:
            report = self.report(4, "--device", "gpu", "--library", library)
            self.assertEqual([row["reason"].split(":")[0] for row in report["results"]],
                             ["2 of 4 elements of output are wrong, the worst at [0, 0]",
                              "1 of 5 elements of output are wrong, the worst at [0, 0]"])

    def test_a_shader_that_writes_behind_the_output(self):
        self.carry(document(case("odd", (5, 1)), case("single", (5, 1), "float32")))
        for library in LIBRARIES:
            odd, single = self.report(4, "--device", "gpu", "--library", library)["results"]
            self.assertEqual((odd["result"], odd["ofTolerance"], odd["reason"]),
                             ("failed", 0.0, "What lies behind the last element of output is overwritten"))
            self.assertEqual(single["result"], "ok")

    def test_a_shader_that_does_not_compile(self):
        self.write(ONES, SHADER.replace("output[i] =", "output[i] :="))
        self.carry(document(case("one"), case("two", (2, 2), "float32")))
        for library in LIBRARIES:
            report = self.report(4, "--device", "gpu", "--library", library)
            for row in report["results"]:
                self.assertTrue(row["reason"].startswith("shader: "), row)

    def test_what_the_gpu_lacks_is_skipped(self):
        manifest = json.loads(json.dumps(ONES))
        for variant in manifest["variants"]:
            variant["requires"] = {"features": ["chromium-experimental-subgroup-matrix"]}
        self.write(manifest, SHADER)
        able = {"features": ["chromium-experimental-subgroup-matrix"]}
        self.carry(document(case("one", variant="chosen"), case("two", pin=["other"]), devices={"able": able}))
        for library in LIBRARIES:
            report = self.report(0, "--device", "gpu", "--library", library)
            self.assertEqual([(row["device"], row["result"]) for row in report["results"]],
                             [("plan", "ok"), ("gpu", "skipped"), ("plan", "ok"), ("gpu", "skipped")])
        # Where a described device has no more than the GPU, the package must run on the GPU.
        self.carry(document(case("one", variant={"able": "chosen"}), devices={"able": able, "plain": {}}))
        for library in LIBRARIES:
            report = self.report(4, "--device", "gpu", "--library", library)
            self.assertEqual([(row["device"], row["result"]) for row in report["results"]],
                             [("plan", "ok"), ("gpu", "failed")])


def main():
    global PROGRAM
    PROGRAM = sys.argv[1]
    folder = pathlib.Path(sys.argv[2])
    driver = folder / "lavapipe/lvp_icd.json"
    names = {"dawn": "libwebgpu_dawn.so", "wgpu-native": "libwgpu_native.so"}
    LIBRARIES.extend(name for name, file in names.items() if driver.exists() and (folder / "lib" / file).exists())
    if len(LIBRARIES) < len(names):
        if os.environ.get("CI") == "true" or os.environ.get("KERNELPACK_REQUIRE_GPU") == "1":
            sys.exit("tools/webgpu/fetch has not brought both libraries and the software driver")
        print("without a GPU or with one library: tools/webgpu/fetch has not brought all")
    ENVIRONMENT["VK_DRIVER_FILES"] = str(driver)
    unittest.main(argv=sys.argv[:1], verbosity=2)


if __name__ == "__main__":
    main()
