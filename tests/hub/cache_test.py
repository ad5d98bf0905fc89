"""Looks at what the cache holds, and what becomes of it when something goes wrong.

usage: cache_test.py PROBE
"""

import fcntl
import hashlib
import json
import os
import pathlib
import resource
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time

import hub_server as server
from hub_case import REPO, HubCase, run_tests, tree
from hub_server import small_package

LEAST_TESTS = 18


class Cache(HubCase):
    def test_layout(self):
        self.get(REPO + "@v1")
        root = self.repository()
        self.assertEqual((root / "refs/v1").read_bytes(), self.commit.encode())
        expected = {}
        for name, content in self.files.items():
            if name != "test.json":
                blob = "blobs/" + server.git_sha1(content)
                expected[blob] = content
                expected[f"snapshots/{self.commit}/build/webgpu/{name}"] = "../../../../" + blob
        expected["refs/v1"] = self.commit.encode()
        self.assertEqual(tree(root), expected)
        locks = self.cache / ".locks" / root.name
        self.assertEqual({path.name for path in locks.iterdir()},
                         {server.git_sha1(content) + ".lock" for name, content in self.files.items()
                          if name != "test.json"})
        for lock in locks.iterdir():
            self.assertEqual(stat.S_IMODE(lock.stat().st_mode), 0o664)
        tag = (self.cache / "CACHEDIR.TAG").read_bytes()
        self.assertTrue(tag.startswith(b"Signature: 8a477f597d28d172789f06886806bc55"), tag)

    def test_places(self):
        folder = self.folder
        for environment, place in (({"HF_HUB_CACHE": str(folder / "a")}, "a"),
                                   ({"HUGGINGFACE_HUB_CACHE": str(folder / "b")}, "b"),
                                   ({"HF_HOME": str(folder / "c")}, "c/hub"),
                                   ({"HF_HOME": None, "XDG_CACHE_HOME": str(folder / "d")}, "d/huggingface/hub"),
                                   ({"HF_HOME": None}, "home/.cache/huggingface/hub"),
                                   ({"HF_HUB_CACHE": "~/e"}, "home/e"),
                                   ({"HF_HUB_CACHE": "${HOME}/f/$HF_HUB_OFFLINE"}, "home/f/$HF_HUB_OFFLINE")):
            with self.subTest(place):
                result = self.get(REPO + "@v1", environment=environment)
                self.assertTrue(result["folder"].startswith(str(folder / place) + "/kernels--"), result)
        url = self.hub.put("/x/ai.onnx.Small", self.files)
        for environment, place in (({"KERNELPACK_CACHE": str(folder / "g")}, "g"),
                                   ({"KERNELPACK_CACHE": None, "XDG_CACHE_HOME": str(folder / "h")}, "h/kernelpack"),
                                   ({"KERNELPACK_CACHE": None}, "home/.cache/kernelpack")):
            result = self.get("--trust", 1, url, environment=environment)
            self.assertTrue(result["folder"].startswith(str(folder / place / "packages")), result)

    def test_two_processes_at_once(self):
        self.hub.publish(REPO, small_package(templates=8))
        self.hub.script("wgsl", server.late(0.05), forever=True)
        results = []
        threads = [threading.Thread(target=lambda: results.append(self.get(REPO + "@v1"))) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(results), 6)
        self.assertEqual(len({result["commit"] for result in results}), 1)
        self.assertFalse(list(self.cache.rglob("*.incomplete")) + list(self.cache.rglob("*.tmp")))
        self.hub.take()
        self.assertEqual(self.get("--offline", 1, REPO + "@v1")["fetched"], 0)

    def test_two_processes_at_one_base_url(self):
        url = self.hub.put("/x/ai.onnx.Small", small_package(templates=8))
        self.hub.script("wgsl", server.late(0.05), forever=True)
        results = []
        threads = [threading.Thread(target=lambda: results.append(self.get("--trust", 1, url))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([result["op"] for result in results], ["ai.onnx.Small"] * 4)
        self.assertFalse(list((self.folder / "kp").rglob("*.incomplete")))
        self.assertEqual(self.get("--trust", 1, "--offline", 1, url)["fetched"], 0)

    def test_lock_of_another_process(self):
        """A lock that never goes free delays, and nothing more."""
        name = server.git_sha1(self.files["manifest.json"]) + ".lock"
        locks = self.cache / ".locks" / self.repository().name
        locks.mkdir(parents=True)
        with open(locks / name, "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            start = time.monotonic()
            self.get(REPO + "@v1")
            self.assertGreater(time.monotonic() - start, 0.9)
            self.assertLess(time.monotonic() - start, 30)

    def test_killed_in_the_middle(self):
        """At many moments; what a killed process leaves is never taken for whole."""
        self.hub.publish(REPO, small_package(templates=6))
        self.hub.script("wgsl", server.late(0.02), forever=True)
        killed = 0
        for pause in [0.01 * i for i in range(12)]:
            process = subprocess.Popen([self.program, "--parallel", "2", REPO + "@v1"], env=self.environment,
                                       stdout=subprocess.DEVNULL)
            time.sleep(pause)
            process.send_signal(signal.SIGKILL)
            killed += process.wait() == -signal.SIGKILL
            for blob in (self.repository() / "blobs").glob("*"):
                if not blob.name.endswith(".incomplete"):
                    self.assertEqual(server.git_sha1(blob.read_bytes()), blob.name)
        self.assertGreater(killed, 0)
        result = self.get(REPO + "@v1")
        self.assertEqual(result["note"], "")
        self.hub.take()
        self.assertEqual(self.get("--offline", 1, REPO + "@v1")["fetched"], 0)

    def test_killed_while_a_body_arrives(self):
        self.hub.script("t1.wgsl", server.half())
        process = subprocess.Popen([self.program, REPO + "@v1"], env=self.environment, stdout=subprocess.DEVNULL)
        end = time.monotonic() + 20
        others = [self.snapshot() / name for name in ("t0.wgsl.jinja", "t2.wgsl.jinja")]
        while not (all(path.exists() for path in others) and self.hub.active) and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        self.assertEqual(process.wait(), -signal.SIGKILL)
        self.assertFalse((self.snapshot() / "t1.wgsl.jinja").exists())
        self.assertFalse((self.repository() / "refs/v1").exists())
        self.refuse("io", "--offline", 1, f"{REPO}@{self.commit}", words=["t1.wgsl.jinja"])
        self.assertLess(self.get(REPO + "@v1")["fetched"], 5)

    def test_killed_while_writing(self):
        """A limit on the size of files kills the process inside write()."""
        content = self.files["manifest.json"]

        def limit():
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (len(content) // 2, len(content) // 2))
        self.cache.mkdir(parents=True)
        result = self.run_program(f"{REPO}@{self.commit}", preexec_fn=limit)
        self.assertEqual(result.returncode, -signal.SIGXFSZ)
        left, = (self.repository() / "blobs").glob("*.incomplete")
        self.assertRegex(left.name, r"^[0-9a-f]{40}\.[0-9a-f]{8}\.incomplete$")
        self.refuse("io", "--offline", 1, f"{REPO}@{self.commit}", words=["offline"])
        self.assertEqual(self.get(f"{REPO}@{self.commit}")["commit"], self.commit)
        blobs = [path for path in (self.repository() / "blobs").iterdir() if path != left]
        self.assertEqual(len(blobs), 5)
        for blob in blobs:
            self.assertEqual(server.git_sha1(blob.read_bytes()), blob.name)

    def test_full_disk(self):
        """As a limit on the size of files stands in for it: writing fails in the same place."""
        files = small_package()
        big = b"// " + b"x" * 100000 + b"\n" + files["t1.wgsl.jinja"]
        files["t1.wgsl.jinja"] = big
        metadata = json.loads(files["metadata.json"])
        metadata["digest"]["files"]["t1.wgsl.jinja"] = server.digest(big)
        files["metadata.json"] = json.dumps(metadata).encode()
        commit = self.hub.publish(REPO, files)

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (50000, 50000))
        result = self.refuse("io", REPO + "@v1", words=["cannot be written", "File too large"], preexec_fn=limit)
        self.assertEqual(result["context"], [])
        self.assertFalse(list(self.cache.rglob("*.incomplete")))
        self.assertFalse((self.repository() / "refs/v1").exists())
        self.assertEqual(self.get(REPO + "@v1")["commit"], commit)

    def test_full_device(self):
        if os.geteuid() != 0:
            self.skipTest("a small file system can be mounted by root only")
        place = self.folder / "small"
        place.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", place], capture_output=True,
                                 check=False)
        if mounted.returncode != 0:
            self.skipTest("this environment lets nobody mount a file system")
        self.addCleanup(subprocess.run, ["umount", place], check=True)
        with self.assertRaises(OSError), open(place / "fill", "wb", buffering=0) as fill:
            while True:
                fill.write(b"x" * 4096)
        os.truncate(place / "fill", os.path.getsize(place / "fill") - 4096)
        self.refuse("io", "--cache", place, REPO + "@v1", words=["cannot be written", "No space left"])

    def test_read_only_cache(self):
        if os.geteuid() == 0:
            self.run_as_nobody()
        else:
            self.read_only()

    def run_as_nobody(self):
        def become_nobody():
            os.setgid(65534)
            os.setuid(65534)
        for path in (self.folder, *self.folder.parents):
            if not path.stat().st_mode & 0o001 and path != self.folder:
                self.skipTest("the folder for temporary files is closed to other users")
        program = pathlib.Path(self.program)
        readable = subprocess.run([program], preexec_fn=become_nobody, capture_output=True, check=False,
                                  cwd="/").returncode if os.access(program, os.X_OK) else 1
        if readable != 0:
            self.skipTest("the program cannot be run by another user")
        self.folder.chmod(0o755)
        self.read_only(preexec_fn=become_nobody)

    def read_only(self, **options):
        self.get(REPO + "@v1")
        for path in [self.folder / "hf", *(self.folder / "hf").rglob("*")]:
            if not path.is_symlink():
                path.chmod(0o555 if path.is_dir() else 0o444)
        try:
            before = tree(self.cache)
            for arguments in ((f"{REPO}@{self.commit}",), (REPO + "@v1",), ("--offline", 1, REPO + "@v1")):
                result = self.get(*arguments, **options)
                self.assertEqual((result["commit"], result["note"]), (self.commit, ""))
            self.assertEqual(tree(self.cache), before)
            newer = self.hub.publish(REPO, small_package(mark="newer"))
            result = self.get(REPO + "@v1", **options)
            self.assertEqual(result["commit"], self.commit)
            self.assertIn("cannot be written", result["note"])
            self.refuse("io", f"{REPO}@{newer}", words=["cannot be written", "Permission denied"], **options)
        finally:
            for path in [self.folder / "hf", *(self.folder / "hf").rglob("*")]:
                if path.is_dir():
                    path.chmod(0o755)

    def test_files_in_the_way(self):
        self.cache.parent.mkdir(parents=True)
        self.cache.write_text("a file where the cache should be")
        self.refuse("io", REPO + "@v1", words=["cannot be written"])

    def test_anything_in_the_way(self):
        """A file or folder where something else belongs: one clear error, or it does not matter."""
        root, locks = self.repository(), self.cache / ".locks"
        blob = root / "blobs" / server.git_sha1(self.files["t1.wgsl.jinja"])
        commit = root / "snapshots" / self.commit
        hard = [(root, "file"), (root / "blobs", "file"), (root / "snapshots", "file"), (commit, "file"),
                (commit / "build", "file"), (commit / "build/webgpu", "file"), (blob, "folder"),
                (self.snapshot() / "metadata.json", "folder"), (self.snapshot() / "t1.wgsl.jinja", "folder")]
        soft = [(root / "refs", "file"), (root / "refs/v1", "folder"), (locks, "file"), (locks / root.name, "file"),
                (locks / root.name / (blob.name + ".lock"), "folder"), (self.cache / "CACHEDIR.TAG", "folder"),
                (blob, "file"), (self.snapshot() / "t1.wgsl.jinja", "file"),
                (self.snapshot() / "metadata.json", "file"), (root / "refs/v1", "file")]
        for place, kind in hard + soft:
            with self.subTest(str(place.relative_to(self.cache)), kind=kind):
                shutil.rmtree(self.cache, ignore_errors=True)
                place.parent.mkdir(parents=True, exist_ok=True)
                if kind == "file":
                    place.write_bytes(b"in the way")
                else:
                    (place / "full").mkdir(parents=True)
                if (place, kind) in soft:
                    self.assertEqual(self.get(REPO + "@v1")["commit"], self.commit)
                    self.assertEqual(self.get("--offline", 1, f"{REPO}@{self.commit}")["fetched"], 0)
                else:
                    result, = self.probe(REPO + "@v1")
                    self.assertEqual(result.get("error"), "io", result)
                    self.assertFalse((root / "refs/v1").exists())
                    self.assertFalse(list(self.cache.rglob("*.incomplete")) + list(self.cache.rglob("*.tmp")))

    def test_links_in_the_cache(self):
        """What a link leads to is read, if it is sound, and never written."""
        outside = self.folder / "outside"
        outside.mkdir()
        (outside / "precious").write_text("precious")
        os.mkfifo(outside / "pipe")
        self.get(REPO + "@v1")
        blob = (self.snapshot() / "t1.wgsl.jinja").resolve()
        for target in ("precious", "pipe", "absent", "/dev/zero", "/dev/null", "/", "/proc/self/mem"):
            with self.subTest(target):
                blob.unlink()
                blob.symlink_to(outside / target)
                self.refuse_or_get(offline=True)
                self.assertEqual(self.get(f"{REPO}@{self.commit}")["fetched"], 1)
                self.assertFalse(blob.is_symlink())
                self.assertEqual(blob.read_bytes(), self.files["t1.wgsl.jinja"])
        reference = self.repository() / "refs/v1"
        reference.unlink()
        reference.symlink_to(outside / "precious")
        self.get(REPO + "@v1")
        self.assertEqual(reference.read_text(), self.commit)
        lock = self.cache / ".locks" / self.repository().name / (blob.name + ".lock")
        lock.unlink()
        lock.symlink_to(outside / "made")
        blob.unlink()
        self.get(f"{REPO}@{self.commit}")
        place = self.snapshot() / "t1.wgsl.jinja"
        place.unlink()
        place.symlink_to(place.name)
        self.assertEqual(self.get(f"{REPO}@{self.commit}")["fetched"], 1)
        self.assertEqual(sorted(path.name for path in outside.iterdir()), ["pipe", "precious"])
        self.assertEqual((outside / "precious").read_text(), "precious")

    def refuse_or_get(self, offline):
        result, = self.probe("--offline", int(offline), f"{REPO}@{self.commit}")
        self.assertIn(result.get("error"), ("io", "integrity"), result)

    def test_locks_whatever_the_mask(self):
        self.get(REPO + "@v1", umask=0o077)
        locks = list((self.cache / ".locks").rglob("*.lock"))
        self.assertEqual({stat.S_IMODE(lock.stat().st_mode) for lock in locks}, {0o664})
        self.assertEqual(len(locks), 5)

    def test_relative_places(self):
        result = self.get(REPO + "@v1", environment={"HF_HOME": "some/where"})
        self.assertEqual(result["folder"],
                         str(self.folder / "some/where/hub" / self.repository().name / "snapshots" / self.commit))
        self.get("--offline", 1, REPO + "@v1", environment={"HF_HOME": str(self.folder / "some/where")})

    def test_damaged_refs(self):
        self.get(REPO + "@v1")
        for content in (b"", b"garbage", b"../../../etc", b"\0" * 40, b"x" * 100000):
            (self.repository() / "refs/v1").write_bytes(content)
            self.refuse("io", "--offline", 1, REPO + "@v1", words=["offline"])
            self.get(REPO + "@v1")
            self.assertEqual((self.repository() / "refs/v1").read_bytes(), self.commit.encode())
        # Other tools write it with a newline at times.
        (self.repository() / "refs/v1").write_text(self.commit + "\n")
        self.get("--offline", 1, REPO + "@v1")

    def test_damaged_base_url_copies(self):
        url = self.hub.put("/x/ai.onnx.Small", self.files)
        folder = pathlib.Path(self.get("--trust", 1, url)["folder"]) / "build/webgpu"
        for name in ("metadata.json", "manifest.json", "t0.wgsl.jinja"):
            (folder / name).write_bytes(b"garbage")
            self.refuse("integrity", "--offline", 1, "--trust", 1, url, words=[name])
            self.get("--trust", 1, url)
            self.assertEqual((folder / name).read_bytes(), self.files[name])
        entry, = (self.folder / "kp/urls").iterdir()
        self.assertEqual(entry.read_text(), f"{folder.parent.parent.name}\n{url}\n")
        self.assertEqual(folder.parent.parent.name, hashlib.sha256(self.files["metadata.json"]).hexdigest())


if __name__ == "__main__":
    sys.exit(run_tests(LEAST_TESTS, "tests of the cache"))
