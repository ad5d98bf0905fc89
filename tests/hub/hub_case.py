"""What the test programs of this folder share: a fresh Hub, fresh caches, a clean environment."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from hub_server import Hub, small_package

REPO = "webgpu-kernels/ai.onnx.Small"
FOREIGN = "somebody/ai.onnx.Small"


def tree(folder):
    """Names and contents below a folder; links by their target."""
    return {str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_bytes()
            for path in pathlib.Path(folder).rglob("*") if path.is_symlink() or path.is_file()}


def clean_environment(folder, endpoint):
    """No variable of the caller reaches what is tested, proxies and tokens least of all."""
    environment = {name: value for name, value in os.environ.items()
                   if name in ("PATH", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LANG")}
    environment.update(HOME=str(folder / "home"), HF_HOME=str(folder / "hf"), KERNELPACK_CACHE=str(folder / "kp"),
                       HF_ENDPOINT=endpoint, KERNELPACK_PACKAGES=str(folder / "shipped"))
    return environment


class HubCase(unittest.TestCase):
    program = ""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name).resolve()
        self.hubs = []
        self.hub = self.start()
        self.environment = clean_environment(self.folder, self.hub.url)
        self.cache = self.folder / "hf/hub"
        self.files = small_package()
        self.commit = self.hub.publish(REPO, self.files)

    def start(self, certificate=None):
        hub = Hub(certificate)
        self.hubs.append(hub)
        self.addCleanup(hub.close)
        return hub

    def run_program(self, *arguments, environment=None, **options):
        settings = {**self.environment, **(environment or {})}
        settings = {name: value for name, value in settings.items() if value is not None}
        result = subprocess.run([self.program, *map(str, arguments)], env=settings, text=True, timeout=120,
                                check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder,
                                **options)
        for hub in self.hubs:
            hub.settle()
        return result

    def probe(self, *arguments, environment=None, **options):
        """One result for each source."""
        result = self.run_program(*arguments, environment=environment, **options)
        self.assertEqual((result.returncode, result.stderr), (0, ""), arguments)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def get(self, *arguments, **options):
        result, = self.probe(*arguments, **options)
        self.assertNotIn("error", result, result)
        return result

    def refuse(self, kind, *arguments, words=(), **options):
        result, = self.probe(*arguments, **options)
        self.assertEqual(result.get("error"), kind, result)
        for word in words:
            self.assertIn(word, result["message"] + " " + result["where"], result)
        return result

    def paths(self, hub=None):
        """The paths of the requests since the last time, in order; all are GET."""
        taken = (hub or self.hub).take()
        self.assertEqual({method for method, _, _ in taken} - {"GET"}, set())
        return [path for _, path, _ in taken]

    def resolve(self, revision, file, repo=REPO):
        return f"/kernels/{repo}/resolve/{revision}/build/webgpu/{file}"

    def repository(self, repo=REPO):
        return self.cache / ("kernels--" + repo.replace("/", "--"))

    def snapshot(self, commit=None, repo=REPO):
        return self.repository(repo) / "snapshots" / (commit or self.commit) / "build/webgpu"

    def all_paths(self, commit=None, templates=3):
        """What a first download asks for."""
        commit = commit or self.commit
        return [self.resolve("v1", "metadata.json"), self.resolve(commit, "manifest.json"),
                *(self.resolve(commit, f"t{i}.wgsl.jinja") for i in range(templates))]


def run_tests(least, what):
    """The exit code of a test program whose first argument is the program to test."""
    HubCase.program = str(pathlib.Path(sys.argv.pop(1)).resolve())
    outcome = unittest.main(exit=False, argv=sys.argv).result
    print(f"{outcome.testsRun} {what} ran")
    if outcome.testsRun < least and len(sys.argv) == 1:
        print(f"at least {least} are expected")
        return 1
    return 0 if outcome.wasSuccessful() else 1
