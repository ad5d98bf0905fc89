"""What the test programs of this folder share: a fresh Hub, fresh caches, a clean environment."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

from hub_server import Hub, small_package

REPO = "webgpu-kernels/ai.onnx.Small"
FOREIGN = "somebody/ai.onnx.Small"


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
        self.hub = self.start()
        self.environment = clean_environment(self.folder, self.hub.url)
        self.cache = self.folder / "hf/hub"
        self.files = small_package()
        self.commit = self.hub.publish(REPO, self.files)

    def start(self, certificate=None):
        hub = Hub(certificate)
        self.addCleanup(hub.close)
        return hub

    def run_program(self, *arguments, environment=None, **options):
        settings = {**self.environment, **(environment or {})}
        settings = {name: value for name, value in settings.items() if value is not None}
        return subprocess.run([self.program, *map(str, arguments)], env=settings, text=True, timeout=120, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.folder, **options)

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
