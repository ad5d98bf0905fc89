"""Drives the program `kernelpack` as a person would: good requests, and every kind of bad one.

A bad request must give the right exit code, exactly one line on stderr that has the right kind and names the culprit,
nothing on stdout, and no new or changed file.
usage: cli_test.py PROGRAM
"""

import json
import os
import pathlib
import re
import stat
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

from tensor_files import npy, npy_header, safetensors

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DATA = ROOT / "examples/minilm-attention"
PROGRAM = ""
OP = "com.microsoft.BiasSoftmax"
LEAST_REFUSALS = 90

ENVIRONMENT = {key: value for key, value in os.environ.items() if key not in ("COLORTERM", "KERNELPACK_PACKAGES")}
ENVIRONMENT["KERNELPACK_PACKAGES"] = str(ROOT / "packages")


def kernelpack(*arguments, cwd=None, stdout=subprocess.PIPE, env=None, shell_prefix=None):
    command = [PROGRAM, *map(str, arguments)]
    if shell_prefix:
        command = ["bash", "-c", shell_prefix + ' exec "$@"', "bash", *command]
    return subprocess.run(command, cwd=cwd, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False,
                          env=env or ENVIRONMENT, timeout=120)


def snapshot(folder):
    """What lies in a folder: names with content; links by their target."""
    return {str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else
            path.read_bytes() if path.is_file() else stat.S_IFMT(path.stat().st_mode)
            for path in folder.rglob("*")}


class Folder(unittest.TestCase):
    """Each test has a fresh folder with small inputs: data float32[2, 3, 4], bias float32[2, 1, 4]."""

    refusals = 0

    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name)
        self.write("data.npy", npy("<f4", (2, 3, 4), [0.5, 1.5, -2.0, 0.25, 3.0]))
        self.write("bias.npy", npy("<f4", (2, 1, 4), [0.0, 1.0, -1.0, 0.5]))
        self.write("half_data.npy", npy("<f2", (2, 3, 4), [0.5, 1.5, -2.0]))
        self.write("half_bias.npy", npy("<f2", (2, 1, 4), [0.0, 1.0]))

    def write(self, name, content):
        (self.folder / name).write_bytes(content)

    def run_op(self, *more, data="data.npy", bias="bias.npy", axis="2", inner="1", op=OP, **options):
        """`run` on the small inputs; None leaves an item out."""
        arguments = ["run", op]
        for flag, name, value in (("--input", "data", data), ("--input", "bias", bias), ("--attr", "axis", axis),
                                  ("--attr", "is_inner_broadcast", inner)):
            if value is not None:
                arguments += [flag, f"{name}={value}"]
        return kernelpack(*arguments, *more, cwd=self.folder, **options)

    def assert_refused(self, result, code, kind, *culprits, before=None):
        Folder.refusals += 1
        shown = f"{result.args}\n{result.stderr}"
        self.assertEqual(result.returncode, code, shown)
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 1, shown)
        self.assertTrue(lines[0].startswith(f"kernelpack: {kind}: "), shown)
        for culprit in culprits:
            self.assertIn(culprit, lines[0], shown)
        self.assertFalse(result.stdout, shown)
        if before is not None:
            self.assertEqual(snapshot(self.folder), before, shown)

    def refuse(self, code, kind, *culprits, more=(), **options):
        """`run` with an output must be refused and must leave the folder as it was."""
        before = snapshot(self.folder)
        result = self.run_op("--output", "output=probs.npy", *more, **options)
        self.assert_refused(result, code, kind, *culprits, before=before)


class Run(Folder):
    def test_float32_on_real_data(self):
        result = kernelpack("run", OP, "--input", f"data={DATA}/scores.npy", "--input", f"bias={DATA}/mask.npy",
                            "--attr", "axis=3", "--attr", "is_inner_broadcast=1", "--output", "output=probs.npy",
                            "--check", f"{DATA}/probs.npy", "--repeat", "3", "--json", cwd=self.folder)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        report = json.loads(result.stdout)
        self.assertEqual(report["op"], OP)
        self.assertEqual(report["outputs"], [{"name": "output", "dtype": "float32", "shape": [8, 12, 42, 42],
                                              "file": "probs.npy"}])
        self.assertEqual(report["attributes"]["axis"], 3)
        self.assertEqual(report["seconds"]["runs"], 3)
        self.assertLessEqual(report["seconds"]["min"], report["seconds"]["median"])
        self.assertGreater(report["rate"]["bytesPerSecond"], 0)
        check, = report["checks"]
        self.assertTrue(check["passed"])
        self.assertLess(check["worst"]["toleranceMultiple"], 1)
        self.assertEqual((self.folder / "probs.npy").stat().st_size, (DATA / "probs.npy").stat().st_size)

    def test_every_other_real_pair_passes(self):
        for scores, mask, probs in (("scores.npy", "mask_inf.npy", "probs.npy"),
                                    ("scores_f16.npy", "mask_f16.npy", "probs_f16.npy")):
            result = kernelpack("run", OP, "--input", f"data={DATA}/{scores}", "--input", f"bias={DATA}/{mask}",
                                "--attr", "axis=-1", "--attr", "is_inner_broadcast=1",
                                "--check", f"output={DATA}/{probs}")
            self.assertEqual((result.returncode, result.stderr), (0, ""), scores)
            self.assertIn("passed", result.stdout)

    def test_text_report(self):
        result = self.run_op("--repeat", "2")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for words in (OP, "data", "float32[2, 3, 4]", "float32[2, 1, 4]", "axis", "min", "median of 2 runs",
                      "elements/s", "max "):
            self.assertIn(words, result.stdout)
        self.assertEqual(set(snapshot(self.folder)), {"data.npy", "bias.npy", "half_data.npy", "half_bias.npy"})

    def test_threads_and_targets(self):
        reports = []
        for more in ([], ["--threads", "1"], ["--threads", "3"], ["--cpu-target", "scalar"], ["--device", "cpu"]):
            result = self.run_op("--output", "output=out.npy", *more)
            self.assertEqual((result.returncode, result.stderr), (0, ""), more)
            reports.append((self.folder / "out.npy").read_bytes())
        self.assertEqual(reports[1], reports[0])
        self.assertEqual(reports[2], reports[0])

    def test_safetensors_in_and_out(self):
        self.assertEqual(self.run_op("--output", "output=plain.npy").returncode, 0)
        floats = {"data.npy": 24, "bias.npy": 8}
        content = {name[:-4]: ("F32", (2, 3, 4) if count == 24 else (2, 1, 4),
                               (self.folder / name).read_bytes()[-4 * count:]) for name, count in floats.items()}
        self.write("both.safetensors", safetensors(content))
        self.write("bias.safetensors", safetensors({"only": content["bias"]}))
        result = self.run_op("--output", "output=out.safetensors:layer.0", "--check", "plain.npy", "--rtol", "0",
                             "--atol", "0", data="both.safetensors:data", bias="bias.safetensors")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        written = (self.folder / "out.safetensors").read_bytes()
        size, = struct.unpack("<Q", written[:8])
        header = json.loads(written[8:8 + size])
        self.assertEqual(header["layer.0"], {"dtype": "F32", "shape": [2, 3, 4], "data_offsets": [0, 96]})
        self.assertEqual(written[8 + size:], (self.folder / "plain.npy").read_bytes()[-96:])

    def test_float16(self):
        result = self.run_op("--output", "output=out.npy", "--json", data="half_data.npy", bias="half_bias.npy")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(json.loads(result.stdout)["outputs"][0]["dtype"], "float16")

    def test_empty_tensors_give_an_empty_result(self):
        self.write("no_data.npy", npy_header("<f4", (0, 3, 4)))
        self.write("no_bias.npy", npy_header("<f4", (0, 1, 4)))
        result = self.run_op("--output", "output=out.npy", data="no_data.npy", bias="no_bias.npy")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("float32[0, 3, 4]", result.stdout)

    def test_package_folder_and_input_as_output(self):
        result = self.run_op("--output", "output=data.npy", op=ROOT / "packages" / OP)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(set(snapshot(self.folder)), {"data.npy", "bias.npy", "half_data.npy", "half_bias.npy"})

    def test_output_through_a_link_and_to_a_device(self):
        self.write("real.npy", b"old")
        (self.folder / "link.npy").symlink_to("real.npy")
        self.assertEqual(self.run_op("--output", "output=link.npy").returncode, 0)
        self.assertTrue((self.folder / "link.npy").is_symlink())
        self.assertTrue((self.folder / "real.npy").read_bytes().startswith(b"\x93NUMPY"))
        self.assertEqual(self.run_op("--output", "output=/dev/null").returncode, 0)
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))

    def test_failed_check(self):
        self.assertEqual(self.run_op("--output", "output=good.npy").returncode, 0)
        good = (self.folder / "good.npy").read_bytes()
        changed = bytearray(good)
        changed[-8 * 4:-7 * 4] = struct.pack("<f", 7.5)
        self.write("changed.npy", bytes(changed))
        nan = bytearray(good)
        nan[-4:] = struct.pack("<f", float("nan"))
        self.write("nan.npy", bytes(nan))
        self.write("shape.npy", npy("<f4", (2, 3, 3), [0.5]))
        for name, words in (("changed.npy", ("[1, 1, 0]", "expected 7.5", "1 of 24")), ("nan.npy", ("expected nan",)),
                            ("shape.npy", ("shape",))):
            result = self.run_op("--check", name)
            self.assertEqual(result.returncode, 4, result)
            line, = result.stderr.splitlines()
            self.assertTrue(line.startswith("kernelpack: check: ") and name in line, line)
            for word in words:
                self.assertIn(word, result.stdout)
        self.assertEqual(self.run_op("--check", "changed.npy", "--atol", "10").returncode, 0)
        report = json.loads(self.run_op("--check", "changed.npy", "--json").stdout)
        self.assertFalse(report["checks"][0]["passed"])
        self.assertEqual(report["checks"][0]["worst"]["index"], [1, 1, 0])

    def test_check_against_float64(self):
        self.assertEqual(self.run_op("--output", "output=good.npy").returncode, 0)
        values = struct.unpack("<24f", (self.folder / "good.npy").read_bytes()[-96:])
        self.write("double.npy", npy("<f8", (2, 3, 4), values))
        self.assertEqual(self.run_op("--check", "double.npy", "--rtol", "0", "--atol", "0").returncode, 0)
        self.write("integers.npy", npy("<i4", (2, 3, 4), [1]))
        self.refuse(1, "contract", "integers.npy", "int32", more=("--check", "integers.npy"))


class BadTensors(Folder):
    """Exit code 1: something is wrong with a named input file."""

    def test_files_that_cannot_be_read(self):
        (self.folder / "folder.npy").mkdir()
        (self.folder / "dangling.npy").symlink_to("nowhere")
        for name in ("missing.npy", "folder.npy", "dangling.npy", "/proc/self/mem", "data.npy/x", "missing.safetensors:a",
                     "folder.npy/none.safetensors"):
            with self.subTest(name):
                self.refuse(1, "io", name.split(":")[0], data=name)
                self.refuse(1, "io", name.split(":")[0], bias=name)
                self.refuse(1, "io", name.split(":")[0], more=("--check", name))

    @unittest.skipIf(os.geteuid() == 0, "root may read every file")
    def test_file_without_permission(self):
        (self.folder / "bias.npy").chmod(0)
        self.refuse(1, "io", "bias.npy")

    def test_names_that_would_forge_a_line(self):
        self.refuse(1, "io", "a?b.npy", data="a\nb.npy")

    def test_corrupt_npy(self):
        good = (self.folder / "data.npy").read_bytes()
        header = npy_header("<f4", (2, 3, 4))
        corrupt = {
            "empty": b"",
            "magic_only": good[:6],
            "version": good[:6] + b"\x09\x00" + good[8:],
            "cut_in_header": good[:40],
            "cut_in_values": good[:-1],
            "no_values": header,
            "trailing": good + b"x",
            "more_than_it_holds": npy_header("<f4", (2, 3, 5)) + good[len(header):],
            "overflow": npy_header("<f4", (2**40, 2**40)) + bytes(96),
            "negative": npy_header("<f4", (-2, 3, 4)) + bytes(96),
            "object": npy_header("|O", (2, 3, 4)) + bytes(192),
            "complex": npy_header("<c8", (2, 3, 4)) + bytes(192),
            "unknown": npy_header("<f3", (2, 3, 4)) + bytes(72),
            "text": b"not a tensor at all, only a text that is long enough to look like one",
            "header_length": good[:8] + b"\xff\xff" + good[10:],
            "no_dictionary": good[:10] + b"[" + good[11:],
        }
        for name, content in corrupt.items():
            with self.subTest(name):
                self.write(f"{name}.npy", content)
                self.refuse(1, "contract", f"{name}.npy", data=f"{name}.npy")

    def test_corrupt_safetensors(self):
        good = safetensors({"a": ("F32", (2, 3, 4), bytes(96))})
        corrupt = {
            "empty": b"",
            "short": good[:7],
            "huge_header": struct.pack("<Q", 2**60) + good[8:],
            "cut": good[:-1],
            "trailing": good + b"x",
            "no_json": good[:8] + b"x" + good[9:],
            "dtype": good.replace(b"F32", b"F99"),
            "shape": good.replace(b"[2, 3, 4]", b"[2, 3, 5]"),
        }
        for name, content in corrupt.items():
            with self.subTest(name):
                self.write(f"{name}.safetensors", content)
                self.refuse(1, "contract", f"{name}.safetensors", data=f"{name}.safetensors:a")
        self.write("good.safetensors", good)
        self.refuse(1, "contract", "b", "good.safetensors", data="good.safetensors:b")
        self.write("two.safetensors", safetensors({"a": ("F32", (1,), bytes(4)), "b": ("F32", (1,), bytes(4))}))
        self.refuse(1, "contract", "two.safetensors", data="two.safetensors")


class BadRequests(Folder):
    """Exit code 1: the request does not fit the contract."""

    def test_inputs(self):
        self.refuse(1, "contract", "bias", bias=None)
        self.refuse(1, "contract", "data", data=None)
        self.refuse(1, "contract", "mask", more=("--input", "mask=bias.npy"))

    def test_dtypes(self):
        self.write("ints.npy", npy("<i4", (2, 3, 4), [1]))
        self.write("doubles.npy", npy("<f8", (2, 3, 4), [1.0]))
        self.refuse(1, "contract", "data", "int32", data="ints.npy")
        self.refuse(1, "contract", "data", "float64", data="doubles.npy")
        self.refuse(1, "contract", "bias", "float16", "float32", bias="half_bias.npy")
        self.refuse(1, "contract", "float16", "float32", data="half_data.npy")

    def test_attributes(self):
        self.refuse(1, "contract", "is_inner_broadcast", inner=None)
        self.refuse(1, "contract", "axes", more=("--attr", "axes=1"))
        for axis in ("3", "-4", "1e9", "text", "1.5", "null", "[1]", "true"):
            with self.subTest(axis=axis):
                self.refuse(1, "contract", "axis", axis=axis)
        for inner in ("inner", "[1]"):
            with self.subTest(inner=inner):
                self.refuse(1, "contract", "is_inner_broadcast", inner=inner)
        self.refuse(1, "contract", "epsilon", more=("--arg", "epsilon=1"))

    def test_aliases(self):
        for culprit, more in (("(foo)", ["--alias", "data,foo"]), ("data", ["--alias", "data,output", "--alias", "data,bias"]),
                              ("bias", ["--alias", "bias,output"])):
            with self.subTest(more):
                self.refuse(1, "contract", culprit, more=more)
        result = self.run_op("--output", "output=in_place.npy", "--alias", "data,output")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(self.run_op("--output", "output=apart.npy").returncode, 0)
        self.assertEqual((self.folder / "in_place.npy").read_bytes(), (self.folder / "apart.npy").read_bytes())

    def test_shapes(self):
        # data has 6 rows of 4.
        for shape in ((4, 4), (2, 1, 5), (5, 4), (2, 3, 3)):
            with self.subTest(shape=shape):
                self.write("misfit.npy", npy("<f4", shape, [1.0]))
                self.refuse(1, "contract", "bias", bias="misfit.npy")
        self.write("scalar.npy", npy("<f4", (), [1.0]))
        self.refuse(1, "contract", "data", data="scalar.npy", axis="0")
        self.write("no_data.npy", npy_header("<f4", (0, 3, 4)))
        self.refuse(1, "contract", "data", data="no_data.npy")
        self.write("no_bias.npy", npy_header("<f4", (0, 4)))
        self.refuse(1, "contract", "bias", bias="no_bias.npy")

    def test_outputs(self):
        self.refuse(1, "contract", "probabilities", more=("--output", "probabilities=p.npy"))
        self.refuse(1, "contract", "probabilities", more=("--check", "probabilities=data.npy"))

    def test_packages(self):
        (self.folder / "nothing").mkdir()
        self.write("manifest.json", b"{}")
        for package, kind in (("com.microsoft.Nothing", None), ("./nothing", None), ("./missing", None),
                              ("./data.npy", None), ("", None), ("../../etc/passwd", None)):
            with self.subTest(package):
                before = snapshot(self.folder)
                result = self.run_op(op=package)
                found = result.stderr.split(": ")[1] if result.stderr.count(": ") else ""
                self.assertIn(found, ("package", "io", "contract"), result.stderr)
                self.assert_refused(result, 1, found, package.lstrip("./"), before=before)
                inspected = kernelpack("inspect", package, cwd=self.folder)
                self.assert_refused(inspected, 1, found, package.lstrip("./"), before=before)

    def test_faults_inside_a_package_show_their_source(self):
        package = self.folder / "broken/build/webgpu"
        package.mkdir(parents=True)
        (package / "manifest.json").write_text('{\n  "domain": "com.microsoft",\n  oops\n}\n')
        (package / "metadata.json").write_text("{}")
        result = kernelpack("inspect", "broken", "--no-verify", cwd=self.folder)
        self.assertEqual(result.returncode, 1)
        first, *rest = result.stderr.splitlines()
        self.assertRegex(first, r"^kernelpack: (package|integrity): .*\(")
        changed = self.folder / "changed"
        for name in ("manifest.json", "metadata.json"):
            source = ROOT / "packages" / OP / "build/webgpu" / name
            (changed / "build/webgpu").mkdir(parents=True, exist_ok=True)
            (changed / "build/webgpu" / name).write_bytes(source.read_bytes() + b" ")
        result = self.run_op(op="./changed")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertTrue(result.stderr.startswith("kernelpack: integrity: "), result.stderr)
        self.assertIn("manifest.json", result.stderr.splitlines()[0])


class BadOutputs(Folder):
    """Exit code 3: an output cannot be written."""

    def test_places_that_take_no_file(self):
        (self.folder / "folder").mkdir()
        for target in ("folder", "missing/out.npy", "data.npy/out.npy", "/dev/full", "/proc/out.npy",
                       "missing/out.safetensors:a", "/dev/full/x.safetensors"):
            with self.subTest(target):
                before = snapshot(self.folder)
                result = self.run_op("--output", f"output={target}")
                self.assert_refused(result, 3, "io", target.split(":")[0], before=before)
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/full").st_mode))

    def test_full_disk(self):
        self.write("old.npy", b"old content")
        self.write("large.npy", npy("<f4", (64, 64, 64), [0.5, 1.0]))
        self.write("large_bias.npy", npy("<f4", (64, 1, 64), [0.5, 1.0]))
        before = snapshot(self.folder)
        for prefix in ("trap '' XFSZ; ulimit -f 8;", "ulimit -f 8;"):
            for target in ("new.npy", "old.npy", "new.safetensors:a"):
                with self.subTest(prefix=prefix, target=target):
                    result = self.run_op("--output", f"output={target}", data="large.npy", bias="large_bias.npy",
                                         shell_prefix=prefix)
                    self.assert_refused(result, 3, "io", target.split(":")[0], before=before)

    def test_closed_streams(self):
        # A file must not take the place of a stream that was closed, and an output is written all the same.
        for closed, code in (("<&-", 0), ("2>&-", 0), (">&-", 3), ("<&- >&- 2>&-", 3)):
            with self.subTest(closed):
                result = self.run_op("--output", "output=out.npy", "--repeat", "2", shell_prefix=f"exec {closed};")
                self.assertEqual(result.returncode, code)
                self.assertTrue((self.folder / "out.npy").read_bytes().startswith(b"\x93NUMPY"))
                (self.folder / "out.npy").unlink()

    def test_standard_output(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            for arguments in (["list"], ["--help"], ["--version"], ["inspect", OP], ["inspect", OP, "--json"]):
                with self.subTest(arguments):
                    result = kernelpack(*arguments, stdout=full)
                    self.assert_refused(result, 3, "io", "standard output")


class BadFlags(Folder):
    """Exit code 2: flags and syntax."""

    def test_flags_of_run(self):
        for more in (["--input", "data"], ["--input", "=x.npy"], ["--input", "data="], ["--input", "da ta=x.npy"],
                     ["--attr", "axis"], ["--attr", "a={}"], ["--attr", "=1"], ["--output", "output"],
                     ["--output", "output="], ["--check", ""], ["--check", "output="], ["--repeat", "0"],
                     ["--repeat", "x"], ["--repeat", "-1"], ["--threads", "-1"], ["--threads", "1.5"],
                     ["--threads", "99999"], ["--cpu-target", "avx1024"], ["--device", "toaster"], ["--ulp", "-1"],
                     ["--atol", "-1"], ["--rtol", "nan"], ["--rtol", "x"], ["--unknown"], ["surplus"], ["--input"],
                     ["--repeat", "2", "--repeat", "3"], ["--output", "output=x.safetensors:"],
                     ["--check", "output=data.npy", "--check", "data.npy"]):
            with self.subTest(more):
                before = snapshot(self.folder)
                self.assert_refused(self.run_op(*more), 2, "usage", before=before)

    def test_names_given_twice(self):
        self.refuse(2, "usage", "--input", "data", more=("--input", "data=bias.npy"))
        self.refuse(2, "usage", "--attr", "axis", more=("--attr", "axis=1"))
        self.refuse(2, "usage", "--output", "output", more=("--output", "output=other.npy"))
        before = snapshot(self.folder)
        same_place = self.run_op("--output", "a=x.npy", "--output", "b=./x.npy")
        self.assert_refused(same_place, 2, "usage", "x.npy", before=before)

    def test_messages_name_the_fault(self):
        for words, manual, arguments in (
                ("No command is given", "", []),
                ("The command (bogus) is unknown; known: run, ", "", ["bogus", OP]),
                ("The option --bogus is unknown", "", ["--bogus"]),
                ("The option --bogus is unknown", "run ", ["run", OP, "--bogus"]),
                ("The argument (more) is not expected", "list ", ["list", "more"]),
                ("PACKAGE is missing", "inspect ", ["inspect"]),
                ("The option --repeat has no value", "run ", ["run", OP, "--repeat"]),
                ("The option --repeat is given more than once", "run ", ["run", OP, "--repeat", "1", "--repeat", "2"]),
                ("The value of --repeat (0) is not in the range 1 to ", "run ", ["run", OP, "--repeat", "0"]),
                ("The value of --threads (257) is not in the range 0 to 256", "run ", ["run", OP, "--threads", "257"]),
                ("The value of --device (tpu) is not cpu, gpu or gpu:NAME", "run ", ["run", OP, "--device", "tpu"]),
                ("The value of --atol (nan) is not a finite number", "run ", ["run", OP, "--atol", "nan"]),
                ("The value of ACTION (burn) is none of list,verify,prune", "cache ", ["cache", "burn"])):
            with self.subTest(arguments):
                result = kernelpack(*arguments, cwd=self.folder)
                self.assert_refused(result, 2, "usage", words, f"; see kernelpack {manual}--help")

    def test_commands(self):
        for arguments in ([], ["unknown"], ["run"], ["inspect"], ["list", "surplus"], ["--unknown"], ["plot"],
                          ["plot", "data.npy"], ["inspect", OP, "--frobnicate"]):
            with self.subTest(arguments):
                self.assert_refused(kernelpack(*arguments, cwd=self.folder), 2, "usage")


class OtherVerbs(Folder):
    def test_list(self):
        result = kernelpack("list")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn(OP, result.stdout)
        entries = {entry["op"]: entry["folder"] for entry in json.loads(kernelpack("list", "--json").stdout)}
        self.assertTrue(pathlib.Path(entries[OP]).is_dir(), entries)

    def test_list_never_looks_into_the_working_directory(self):
        (self.folder / "packages").mkdir()
        (self.folder / "packages" / "org.example.Local").symlink_to(ROOT / "packages" / OP)
        result = kernelpack("list", cwd=self.folder)
        self.assertNotIn("org.example.Local", result.stdout)

    def test_inspect(self):
        result = kernelpack("inspect", OP)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        for words in (OP, "Inputs", "data", "bias", "Outputs", "output", "Attributes", "axis",
                      "is_inner_broadcast", "Types", "float16", "manifest.json", "digest matches"):
            self.assertIn(words, result.stdout)
        report = json.loads(kernelpack("inspect", OP, "--json").stdout)
        self.assertEqual([port["name"] for port in report["inputs"]], ["data", "bias"])
        self.assertEqual([port["name"] for port in report["outputs"]], ["output"])
        attributes = {attribute["name"]: attribute for attribute in report["attributes"]}
        self.assertTrue(attributes["is_inner_broadcast"]["required"])
        self.assertTrue(report["verified"])
        self.assertIn("float32", report["types"][0]["dtypes"])

    def test_requests_from_a_pipe(self):
        request = {"tensors": {"data": {"shape": [2, 8], "dtype": "float32"},
                               "bias": {"shape": [2, 8], "dtype": "float32"}},
                   "attrs": {"axis": 1, "is_inner_broadcast": 0}}
        arguments = [PROGRAM, "plan", OP, "--request", "/dev/stdin", "--json"]
        result = subprocess.run(arguments, input=json.dumps(request), capture_output=True, text=True, check=False,
                                env=ENVIRONMENT, timeout=120)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertTrue(json.loads(result.stdout)["variant"])
        for option in ("--request", "--facts"):
            for name, words in (("missing.json", "does not exist"), (".", "directory"), ("/proc/self/mem", "read"),
                                ("/dev/zero", "limit")):
                spec = [] if option == "--request" else ["--input", "data=float32:2x8"]
                result = kernelpack("plan", OP, *spec, option, name, cwd=self.folder)
                self.assert_refused(result, 1, "io", name, words)

    def test_manuals(self):
        verbs = re.findall(r"^  (\w+) +\w.*$", kernelpack("--help").stdout.split("COMMANDS\n")[1].split("\n\n")[0], re.M)
        self.assertLess({"run", "inspect", "list", "plot", "validate", "plan", "explain", "render"}, set(verbs))
        for verb in [[], *([name] for name in verbs)]:
            result = kernelpack(*verb, "--help")
            self.assertEqual((result.returncode, result.stderr), (0, ""), verb)
            for words in ("USAGE", "DESCRIPTION", "OPTIONS", "--help"):
                self.assertIn(words, result.stdout, verb)
            self.assertLessEqual(max(map(len, result.stdout.splitlines())), 80, verb)
            self.assertEqual("EXIT CODES" in result.stdout, not verb, verb)
            self.assertIn("EXAMPLES", result.stdout, verb)
            self.assertIn("-v, --verbose", result.stdout, verb)
        manual = kernelpack("--help").stdout
        for words in ("EXIT CODES", "EXAMPLES", "run", "inspect", "list", "plot"):
            self.assertIn(words, manual)
        manual = kernelpack("run", "--help").stdout
        for flag in ("--input", "--attr", "--arg", "--output", "--check", "--atol", "--rtol", "--ulp", "--device",
                     "--threads", "--cpu-target", "--repeat", "--json", "--no-verify"):
            self.assertIn(flag, manual)
        self.assertRegex(kernelpack("--version").stdout, r"\Akernelpack \d+\.\d+\.\d+\n\Z")

    def test_verbose_shows_no_less(self):
        plain = self.run_op(bias=None).stderr
        verbose = self.run_op("--verbose", bias=None).stderr
        self.assertTrue(verbose.startswith(plain), verbose)


class Plot(Folder):
    def picture(self, name):
        """Width, height and rows of an RGB picture; checks every chunk."""
        content = (self.folder / name).read_bytes()
        self.assertEqual(content[:8], b"\x89PNG\r\n\x1a\n")
        at, data = 8, b""
        while at < len(content):
            length, = struct.unpack(">I", content[at:at + 4])
            kind, body = content[at + 4:at + 8], content[at + 8:at + 8 + length]
            check, = struct.unpack(">I", content[at + 8 + length:at + 12 + length])
            self.assertEqual(zlib.crc32(kind + body), check)
            if kind == b"IHDR":
                width, height, depth, color = struct.unpack(">IIBB", body[:10])
                self.assertEqual((depth, color), (8, 2))
            data += body if kind == b"IDAT" else b""
            at += 12 + length
        self.assertEqual(len(zlib.decompress(data)), height * (1 + 3 * width))
        return width, height

    def test_picture(self):
        result = kernelpack("plot", DATA / "probs.npy", "--index", "0,3", "--output", "map.png", cwd=self.folder)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("map.png", result.stdout)
        width, height = self.picture("map.png")
        self.assertGreater(width, 600)
        self.assertGreater(height, 600)
        self.assertEqual(stat.S_IMODE((self.folder / "map.png").stat().st_mode) & 0o600, 0o600)
        self.assertEqual(len(list(self.folder.glob(".*"))), 0)

    def test_pictures_go_where_tensors_go(self):
        (self.folder / "link.png").symlink_to("target.png")
        result = kernelpack("plot", "bias.npy", "--index", "1", "--output", "link.png", cwd=self.folder)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertTrue((self.folder / "link.png").is_symlink())
        self.picture("target.png")
        for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            # A pipe: the picture comes first, then the line about it.
            piped = subprocess.run([PROGRAM, "plot", "bias.npy", "--index", "1", "--output", name], cwd=self.folder,
                                   capture_output=True, check=False, env=ENVIRONMENT, timeout=120)
            self.assertEqual((piped.returncode, piped.stderr), (0, b""), name)
            self.assertTrue(piped.stdout.startswith(b"\x89PNG"), name)
        os.mkfifo(self.folder / "pipe")
        with subprocess.Popen(["cat", "pipe"], cwd=self.folder, stdout=subprocess.PIPE) as reader:
            result = kernelpack("plot", "bias.npy", "--index", "1", "--output", "pipe", cwd=self.folder)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertEqual(reader.stdout.read(), (self.folder / "target.png").read_bytes())
        self.assertTrue(stat.S_ISFIFO((self.folder / "pipe").stat().st_mode))
        (self.folder / "one").symlink_to("two")
        (self.folder / "two").symlink_to("one")
        before = snapshot(self.folder)
        result = kernelpack("plot", "bias.npy", "--index", "1", "--output", "one", cwd=self.folder)
        self.assert_refused(result, 3, "io", "(one)", before=before)

    @unittest.skipIf(os.geteuid() == 0, "root may write every file")
    def test_file_without_permission_is_kept(self):
        self.write("kept.png", b"kept")
        (self.folder / "kept.png").chmod(0o444)
        before = snapshot(self.folder)
        result = kernelpack("plot", "bias.npy", "--index", "1", "--output", "kept.png", cwd=self.folder)
        self.assert_refused(result, 3, "io", "kept.png", before=before)

    def test_terminal(self):
        result = kernelpack("plot", "data.npy", "--index", "1", "--terminal", "--range", "-2,3", "--title", "hello",
                            cwd=self.folder)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        title, *rows, legend = result.stdout.splitlines()
        self.assertEqual(title.strip(), "hello")
        self.assertEqual(len(rows), 3)
        self.assertTrue(result.stdout.isascii())
        self.assertTrue(legend.strip().startswith("-2 |"), legend)

    def test_refusals(self):
        before = snapshot(self.folder)
        for code, kind, culprit, arguments in (
                (1, "io", "missing.npy", ["missing.npy", "--output", "m.png"]),
                (1, "contract", "data.npy", ["data.npy", "--output", "m.png"]),
                (1, "contract", "data.npy", ["data.npy", "--index", "2", "--output", "m.png"]),
                (1, "contract", "data.npy", ["data.npy", "--index", "0,0,0", "--output", "m.png"]),
                (2, "usage", "--index", ["data.npy", "--index", "x", "--output", "m.png"]),
                (2, "usage", "--index", ["data.npy", "--index", "1,", "--output", "m.png"]),
                (2, "usage", "--range", ["data.npy", "--index", "1", "--range", "3,1", "--output", "m.png"]),
                (2, "usage", "--output", ["data.npy", "--index", "1"]),
                (3, "io", "none/m.png", ["data.npy", "--index", "1", "--output", "none/m.png"]),
                (3, "io", "/dev/full", ["data.npy", "--index", "1", "--output", "/dev/full"])):
            with self.subTest(arguments):
                result = kernelpack("plot", *arguments, cwd=self.folder)
                self.assert_refused(result, code, kind, culprit, before=before)
        result = kernelpack("plot", DATA / "probs.npy", "--index", "0,3", "--output", "m.png", cwd=self.folder,
                            shell_prefix="ulimit -f 4;")
        self.assert_refused(result, 3, "io", "m.png", before=before)


def main():
    global PROGRAM
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    outcome = unittest.main(exit=False, argv=sys.argv).result
    print(f"{Folder.refusals} refusals are checked")
    if Folder.refusals < LEAST_REFUSALS and len(sys.argv) == 1:
        print(f"at least {LEAST_REFUSALS} are expected")
        return 1
    return 0 if outcome.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
