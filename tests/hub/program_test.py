"""Drives the program `kernelpack` with packages of a Hub on the loopback.

usage: program_test.py PROGRAM
"""

import fcntl
import json
import math
import os
import pathlib
import pty
import shutil
import struct
import subprocess
import sys
import termios
import time
import unittest

import hub_server as server
from hub_case import FOREIGN, REPO, HubCase, run_tests, tree
from hub_server import small_package

LEAST_TESTS = 20


class ProgramCase(HubCase):
    def kernelpack(self, *arguments, code=0, note="", environment=None):
        """Standard output; what stderr holds must be `note`, or one line that is returned if `code` is not 0."""
        result = self.run_program(*arguments, environment=environment)
        self.assertEqual(result.returncode, code, (arguments, result.stdout, result.stderr))
        if code == 0:
            self.assertEqual(bool(result.stderr), bool(note), result.stderr)
            self.assertIn(note, result.stderr)
            return result.stdout
        return result.stderr


class Program(ProgramCase):
    def test_fetch(self):
        text = self.kernelpack("fetch", REPO + "@v1")
        self.assertEqual(text, f"{REPO}@v1  commit {self.commit[:12]}  5 files fetched  "
                               f"{self.snapshot().parent.parent}\n")
        self.assertIn("from the cache", self.kernelpack("fetch", f"{REPO}@{self.commit}"))
        report, = json.loads(self.kernelpack("fetch", "--json", REPO + "@v1"))
        self.assertEqual(report, {"source": REPO + "@v1", "op": "ai.onnx.Small", "commit": self.commit,
                                  "folder": str(self.snapshot().parent.parent), "filesFetched": 1, "note": ""})

    def test_fetch_several(self):
        self.hub.publish("webgpu-kernels/ai.onnx.Other", small_package("ai.onnx.Other", templates=1))
        url = self.hub.put("/x/ai.onnx.Small", self.files)
        text = self.kernelpack("fetch", "--trust-remote-code", REPO + "@v1", url, "--all-of", "webgpu-kernels")
        lines = text.splitlines()
        self.assertEqual([line.split("  ")[0] for line in lines[:-1]],
                         [REPO + "@v1", url, "webgpu-kernels/ai.onnx.Other@v1", REPO + "@v1"])
        self.assertRegex(lines[-1], r"^4 packages, \d+ files fetched, 0 failed$")
        for source in (REPO, "webgpu-kernels/ai.onnx.Other"):
            self.assertIn("from the cache", self.kernelpack("fetch", "--offline", source + "@v1"))

    def test_one_of_several_fails(self):
        gone = "webgpu-kernels/ai.onnx.Gone@v1"
        result = self.run_program("fetch", gone, REPO + "@v1", FOREIGN + "@v1")
        self.assertEqual(result.returncode, 1, result)
        self.assertIn("3 packages, 5 files fetched, 2 failed", result.stdout)
        kinds = sorted(line.split(": ")[1] for line in result.stderr.splitlines())
        self.assertEqual(kinds, ["io", "trust"])
        result = self.run_program("fetch", "--json", gone, REPO + "@v1")
        self.assertEqual([entry.get("error", {}).get("kind") for entry in json.loads(result.stdout)], ["io", None])

    def test_wrong_flags(self):
        for arguments in (["fetch"], ["fetch", "ai.onnx.Small"], ["fetch", "./x"], ["cache"], ["cache", "burn"],
                          ["cache", "list", "--dry-run"], ["cache", "verify", "--detached"],
                          ["fetch", "--all-of"], ["list", "--org"]):
            with self.subTest(arguments):
                self.assertTrue(self.kernelpack(*arguments, code=2).startswith("kernelpack: usage: "))
        self.assertEqual(self.hub.take(), [])

    def test_refusals(self):
        for arguments, kind in ((["fetch", REPO], "contract"), (["fetch", REPO + "@main"], "contract"),
                                (["fetch", FOREIGN + "@v1"], "trust"), (["inspect", FOREIGN + "@v1"], "trust"),
                                (["inspect", self.hub.url + "/x"], "trust"), (["list", "--org", "../x"], "contract"),
                                (["fetch", "--all-of", "../x"], "contract"),
                                (["inspect", "--offline", REPO + "@v1"], "io"),
                                (["validate", FOREIGN + "@v1"], "trust"),
                                (["list", "--org", "webgpu-kernels", "--offline"], "io")):
            with self.subTest(arguments):
                line = self.kernelpack(*arguments, code=1)
                self.assertTrue(line.startswith(f"kernelpack: {kind}: "), line)
                self.assertEqual(line.count("\n"), 1)
        self.assertEqual(self.hub.take(), [])

    def test_every_verb_takes_a_package_of_the_hub(self):
        request = ["--input", "x=float32:2x3"]
        url = self.hub.put("/x/ai.onnx.Small", self.files)
        for source in ([REPO + "@v1"], [f"{REPO}@{self.commit}"], ["--trust-remote-code", url]):
            for command in (["inspect"], ["validate"], ["plan", *request], ["explain", *request], ["render", *request]):
                with self.subTest(command=command, source=source):
                    arguments = [command[0], *source, *command[1:]]
                    self.assertTrue(self.kernelpack(*arguments))
                    self.assertTrue(self.kernelpack(*arguments, "--offline"))
        self.assertIn("ai.onnx.Small", self.kernelpack("inspect", REPO + "@v1"))
        # What runs at all depends on the machine: the package was found and asked for in any case.
        self.hub.take()
        self.run_program("bench", REPO + "@v1", "--against", f"{REPO}@{self.commit}")
        self.assertEqual([path for _, path, _ in self.hub.take()], [self.resolve("v1", "metadata.json")])
        # There is no CPU kernel for this op: the package was found and bound all the same.
        self.write_array("x.npy", (1,), [0.0])
        line = self.kernelpack("run", REPO + "@v1", "--input", "x=x.npy", code=3)
        self.assertIn("no CPU kernel for ai.onnx.Small", line)

    def write_array(self, name, shape, values):
        header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
        (self.folder / name).write_bytes(b"\x93NUMPY\x01\x00\x76\x00" + header + struct.pack(f"<{len(values)}f", *values))

    def test_run_of_a_package_of_the_hub(self):
        """The package of this repository, published: numbers come out, and the same without a network."""
        shipped = pathlib.Path(__file__).resolve().parents[2] / "packages/com.microsoft.BiasSoftmax"
        files = {path.name: path.read_bytes() for path in (shipped / "build/webgpu").iterdir()}
        repo = "webgpu-kernels/com.microsoft.BiasSoftmax"
        commit = self.hub.publish(repo, files)
        data, bias = [0.5, 1.0, -2.0, 3.0, 0.0, 0.25, 4.0, -1.0], [0.0, 1.0, 2.0, -1.0, 0.5, 0.0, -3.0, 1.0]
        self.write_array("data.npy", (2, 4), data)
        self.write_array("bias.npy", (2, 4), bias)
        expected = []
        for row in (slice(0, 4), slice(4, 8)):
            powers = [math.exp(x + y) for x, y in zip(data[row], bias[row])]
            expected += [power / sum(powers) for power in powers]
        request = ["--input", "data=data.npy", "--input", "bias=bias.npy", "--attr", "axis=1", "--attr",
                   "is_inner_broadcast=1", "--output", "output=out.npy"]
        outputs = set()
        for source in ([repo + "@v1"], [f"{repo}@{commit}", "--offline"], [repo + "@v1", "--offline"], [shipped]):
            with self.subTest(source=source):
                self.kernelpack("run", *source, *request)
                content = (self.folder / "out.npy").read_bytes()
                outputs.add(content)
                for actual, wanted in zip(struct.unpack("<8f", content[-32:]), expected, strict=True):
                    self.assertLess(abs(actual - wanted), 1e-6)
        self.assertEqual(len(outputs), 1)
        templates = [name for name in files if name.endswith(".jinja")]
        self.assertEqual(sorted(self.paths()), sorted([self.resolve("v1", "metadata.json", repo)] + [
            self.resolve(commit, name, repo) for name in ("manifest.json", *templates)]))

    def test_note_about_a_cached_copy(self):
        self.kernelpack("fetch", REPO + "@v1")
        self.hub.script("/v1/", server.status(500), forever=True)
        for command in ("fetch", "inspect", "validate"):
            self.kernelpack(command, REPO + "@v1", note="kernelpack: note: The cached commit " + self.commit[:12])

    def test_list(self):
        self.hub.publish("webgpu-kernels/ai.onnx.Abs", self.files)
        self.assertEqual(self.kernelpack("list", "--org", "webgpu-kernels"), f"webgpu-kernels/ai.onnx.Abs\n{REPO}\n")
        self.assertEqual(json.loads(self.kernelpack("list", "--org", "webgpu-kernels", "--json")),
                         [{"op": "ai.onnx.Abs", "source": "webgpu-kernels/ai.onnx.Abs"},
                          {"op": "ai.onnx.Small", "source": REPO}])
        self.assertEqual(self.kernelpack("list", "--org", "nobody"), "The organisation nobody publishes no package.\n")
        self.hub.take()
        self.assertNotIn(REPO, self.kernelpack("list", "--json"))
        self.assertEqual(self.hub.take(), [])

    def test_token(self):
        url = self.hub.put("/x/ai.onnx.Small", self.files)
        self.kernelpack("inspect", "--trust-remote-code", "--token", "hf_given", url, environment={"HF_TOKEN": "hf_x"})
        self.assertEqual({headers.get("authorization") for _, _, headers in self.hub.take()}, {"Bearer hf_given"})
        self.hub.script("/v1/", server.status(401))
        line = self.kernelpack("inspect", "--token", "hf_secret", REPO + "@v1", code=1)
        self.assertNotIn("hf_secret", line)

    def test_hostile_bytes_in_reports(self):
        self.hub.script("t1.wgsl", server.body(self.files["t1.wgsl.jinja"], {"ETag": "\"\x1b[2J\xff\""}),
                        forever=True)
        result = self.run_program("fetch", "--json", REPO + "@v1")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(json.loads(result.stdout)[0]["error"]["kind"], "io")
        self.assertNotIn("\x1b", result.stderr + result.stdout)
        self.assertEqual(result.stderr.count("\n"), 1)

    def test_no_progress_elsewhere(self):
        self.hub.script("wgsl", server.late(0.05), forever=True)
        for arguments in (["fetch", REPO + "@v1"], ["fetch", "--all-of", "webgpu-kernels"]):
            self.assertNotIn("\r", self.kernelpack(*arguments))

    def test_progress_on_a_terminal(self):
        self.hub.script("wgsl", server.late(0.05), forever=True)
        columns = 40
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        result = subprocess.run([self.program, "fetch", REPO + "@v1"], env=self.environment, stderr=slave,
                                stdout=subprocess.PIPE, timeout=60, check=False)
        os.close(slave)
        shown = b""
        try:
            while chunk := os.read(master, 65536):
                shown += chunk
        except OSError:
            pass
        os.close(master)
        self.assertEqual(result.returncode, 0)
        self.assertIn(b"5/5 ", shown)
        lines = [line.removesuffix(b"\x1b[K") for line in shown.split(b"\r")]
        self.assertLess(max(len(line) for line in lines), columns)
        self.assertEqual(max(len(line) for line in lines), columns - 1)
        self.assertTrue(shown.endswith(b"\r\x1b[K"), shown[-20:])


class Cache(ProgramCase):
    def age(self):
        """As if everything were two hours old."""
        old = time.time() - 7200
        for path in self.folder.rglob("*"):
            os.utime(path, (old, old), follow_symlinks=False)

    def test_list_of_the_cache(self):
        self.assertEqual(self.kernelpack("cache", "list"), "0 packages, 0 bytes\n")
        url = self.hub.put("/x/ai.onnx.Small", self.files)
        self.kernelpack("fetch", "--trust-remote-code", REPO + "@v1", url)
        newer = self.hub.publish(REPO, small_package(mark="newer"))
        self.kernelpack("fetch", f"{REPO}@{newer}")
        (self.cache / "models--a--b/snapshots/x").mkdir(parents=True)
        (self.cache / "kernels--a--b/snapshots" / ("0" * 40) / "build/torch").mkdir(parents=True)
        self.hub.take()
        entries = json.loads(self.kernelpack("cache", "list", "--json"))
        self.assertEqual([(entry["kind"], entry["source"], entry["branches"], entry["files"]) for entry in entries],
                         sorted([("url", url, [], 5), ("hub", REPO, ["v1"] if self.commit < newer else [], 5),
                                 ("hub", REPO, [] if self.commit < newer else ["v1"], 5)],
                                key=lambda entry: entry[1]))
        self.assertEqual({entry["commit"] for entry in entries if entry["kind"] == "hub"}, {self.commit, newer})
        self.assertRegex(self.kernelpack("cache", "list"), REPO + r"@v1 +" + self.commit[:12])
        self.assertEqual(self.hub.take(), [])

    def test_verify(self):
        url = self.hub.put("/x/ai.onnx.Small", self.files)
        self.kernelpack("fetch", "--trust-remote-code", REPO + "@v1", url)
        self.assertEqual(self.kernelpack("cache", "verify"), "2 packages, 0 damaged files\n")
        copy, = (self.folder / "kp/packages").iterdir()
        for place in (self.snapshot().resolve(), copy / "build/webgpu"):
            for name in ("metadata.json", "manifest.json", "t1.wgsl.jinja"):
                with self.subTest(place=place, name=name):
                    path = (place / name).resolve()
                    path.write_bytes(b"{}")
                    result = self.run_program("cache", "verify", "--json")
                    self.assertEqual((result.returncode, result.stderr), (1, ""))
                    faults = [fault for entry in json.loads(result.stdout) for fault in entry["faults"]]
                    self.assertEqual(len(faults), 1, faults)
                    self.assertIn(name, faults[0])
                    path.write_bytes(self.files[name])
        self.assertEqual(self.kernelpack("cache", "verify"), "2 packages, 0 damaged files\n")

    def pruned(self, *flags):
        return [(pathlib.Path(entry["path"]).name, entry["reason"])
                for entry in json.loads(self.kernelpack("cache", "prune", "--json", *flags))]

    def test_prune(self):
        url = self.hub.put("/x/ai.onnx.Small", self.files)
        self.kernelpack("fetch", "--trust-remote-code", REPO + "@v1", url)
        copy, = (self.folder / "kp/packages").iterdir()
        self.age()
        self.assertEqual(self.pruned(), [])
        blobs = self.repository() / "blobs"
        blob = os.path.basename(os.readlink(self.snapshot() / "t1.wgsl.jinja"))
        leftovers = [blobs / "aa.12345678.incomplete", blobs / "unused", self.repository() / "refs/v1.12345678.tmp",
                     copy / "build/webgpu/t0.wgsl.jinja.12345678.incomplete", copy.parent.parent / "urls/x.incomplete"]
        for path in leftovers:
            path.write_bytes(b"part")
        # A repository of another kind of kernels is none of our business.
        other = self.cache / "kernels--a--b/blobs"
        other.mkdir(parents=True)
        (other / "aa.12345678.incomplete").write_bytes(b"part")
        self.assertEqual(self.pruned(), [])
        self.age()
        (blobs / blob).write_bytes(b"garbage")
        self.age()
        expected = sorted([(path.name, "unused blob" if path.name == "unused" else "unfinished download")
                           for path in leftovers] + [(blob, "damaged file"), ("t1.wgsl.jinja", "damaged file")])
        self.assertEqual(sorted(self.pruned("--dry-run")), expected)
        self.assertTrue(all(path.exists() for path in leftovers))
        self.assertEqual(sorted(self.pruned()), expected)
        self.assertFalse(any(path.exists() for path in leftovers))
        self.assertTrue((other / "aa.12345678.incomplete").exists())
        self.assertEqual(self.pruned(), [])
        self.hub.take()
        self.kernelpack("fetch", f"{REPO}@{self.commit}")
        self.assertEqual([path for _, path, _ in self.hub.take()], [self.resolve(self.commit, "t1.wgsl.jinja")])

    def test_prune_stays_in_the_cache(self):
        """Nothing behind a link is removed, whatever it looks like."""
        url = self.hub.put("/x/ai.onnx.Small", self.files)
        self.kernelpack("fetch", "--trust-remote-code", REPO + "@v1", url)
        outside = self.folder / "outside"
        shutil.copytree(self.cache, outside / "hub", symlinks=True)
        shutil.copytree(self.folder / "kp", outside / "kp", symlinks=True)
        root = self.repository()
        theirs = outside / "hub" / root.name
        copy, = (self.folder / "kp/packages").iterdir()
        for place in (theirs / "blobs", theirs / "refs", outside / "kp/urls",
                      outside / "kp/packages" / copy.name / "build/webgpu"):
            (place / "notes").write_text("precious")
            (place / "x.12345678.incomplete").write_text("precious")
        (outside / "kp/packages" / copy.name / "build/webgpu/manifest.json").write_text("damaged, yet not ours")
        blob = (theirs / f"snapshots/{self.commit}/build/webgpu/t1.wgsl.jinja").resolve()
        blob.write_text("damaged, yet not ours")
        (theirs / "refs/v1").unlink()
        for ours, other in ((root, theirs), (root / "blobs", theirs / "blobs"), (root / "refs", theirs / "refs"),
                            (root / "snapshots", theirs / "snapshots"),
                            (root / "snapshots" / self.commit, theirs / "snapshots" / self.commit),
                            (copy, outside / "kp/packages" / copy.name),
                            (copy / "build", outside / "kp/packages" / copy.name / "build"),
                            (copy.parent, outside / "kp/packages"), (copy.parent.parent / "urls", outside / "kp/urls")):
            with self.subTest(str(ours.relative_to(self.folder))):
                kept = self.folder / "kept"
                ours.rename(kept)
                ours.symlink_to(other)
                self.age()
                before = tree(outside)
                self.kernelpack("cache", "prune", "--detached")
                self.assertEqual(tree(outside), before)
                ours.unlink()
                kept.rename(ours)
                self.kernelpack("fetch", "--trust-remote-code", REPO + "@v1", url)

    def test_prune_and_a_download_at_once(self):
        """Old content that a download wants again stays, and so does what it mends."""
        self.kernelpack("fetch", REPO + "@v1")
        blob = (self.snapshot() / "t1.wgsl.jinja").resolve()
        lock = self.cache / ".locks" / self.repository().name / (blob.name + ".lock")
        (self.snapshot() / "t1.wgsl.jinja").unlink()
        self.age()
        with open(lock, "w", encoding="ascii") as taken:
            fcntl.flock(taken, fcntl.LOCK_EX)
            self.assertEqual(self.pruned(), [])
        self.assertEqual(self.pruned("--dry-run"), [(blob.name, "unused blob")])
        self.kernelpack("fetch", f"{REPO}@{self.commit}")
        self.assertLess(time.time() - blob.stat().st_mtime, 600)
        for turn in range(6):
            self.age()
            blob.write_text(f"damage {turn}")
            os.utime(blob, (1, 1))
            processes = [subprocess.Popen([self.program, *arguments], env=self.environment, stdout=subprocess.PIPE,
                                          stderr=subprocess.PIPE)
                         for arguments in (["cache", "prune"], ["fetch", REPO + "@v1"], ["cache", "prune"])]
            for process in processes:
                self.assertEqual((process.communicate()[1], process.returncode), (b"", 0))
            self.kernelpack("fetch", "--offline", REPO + "@v1")

    def test_commits_in_use_are_young(self):
        self.kernelpack("fetch", f"{REPO}@{self.commit}")
        self.age()
        self.assertEqual(len(self.pruned("--detached", "--dry-run")), 10)
        self.kernelpack("inspect", f"{REPO}@{self.commit}")
        self.assertEqual(self.pruned("--detached"), [])

    def test_prune_detached(self):
        self.kernelpack("fetch", REPO + "@v1")
        newer = self.hub.publish(REPO, small_package(mark="newer"))
        self.kernelpack("fetch", REPO + "@v1")
        url = self.hub.put("/x/ai.onnx.Small", self.files)
        self.kernelpack("fetch", "--trust-remote-code", url)
        self.hub.put("/x/ai.onnx.Small", small_package(mark="newer"))
        self.kernelpack("fetch", "--trust-remote-code", url)
        self.age()
        self.assertEqual(self.pruned(), [])
        reasons = [reason for _, reason in self.pruned("--detached")]
        self.assertEqual((reasons.count("detached commit"), reasons.count("copy without a URL")), (5, 5))
        self.assertEqual(reasons.count("unused blob"), 5)
        self.assertFalse(self.snapshot().exists())
        self.kernelpack("fetch", "--offline", "--trust-remote-code", f"{REPO}@{newer}", REPO + "@v1", url)
        self.assertIn("2 packages", self.kernelpack("cache", "list"))


if __name__ == "__main__":
    sys.exit(run_tests(LEAST_TESTS, "tests of the program"))
