"""Drives `kernelpack prewarm` on the software driver: what it prints, and that a second process loads what the first
compiled.

usage: prewarm_test.py PROGRAM WEBGPU_FOLDER
"""

import json
import os
import pathlib
import pty
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PACKAGES = ROOT / "tests/packages"
# Three variants of one package, the third with several passes.
REQUESTS = [
    {"x": {"shape": [512, 16], "dtype": "float32"}, "bias": {"shape": [16], "dtype": "float32"}},
    {"x": {"shape": [4, 8192], "dtype": "float32"}, "bias": {"shape": [8192], "dtype": "float32"}},
    {"x": {"shape": [2, 131072], "dtype": "float32"}, "bias": {"shape": [131072], "dtype": "float32"}},
]
PROGRAM = ""
ENVIRONMENT = dict(os.environ)


def has(library):
    return bool(list((pathlib.Path(sys.argv[2]) / "lib").glob(f"lib{library}.*")))


class Prewarming(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.cache = self.folder / "shaders"
        self.files = []
        for number, tensors in enumerate(REQUESTS):
            self.files.append(self.folder / f"request{number}.json")
            self.files[-1].write_text(json.dumps({"tensors": tensors}))

    def command(self, *more, library="dawn", package=PACKAGES / "planbench"):
        return [PROGRAM, "prewarm", str(package), "--library", library, "--shader-cache", str(self.cache),
                *map(str, more)]

    def requests(self):
        return [word for file in self.files for word in ("--request", file)]

    def run_json(self, *more, **options):
        done = subprocess.run(self.command(*more, "--json", **options), env=ENVIRONMENT, capture_output=True, text=True,
                              check=False, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr, "")
        return json.loads(done.stdout)

    def blobs(self):
        return sorted(self.cache.rglob("*.blob"))


@unittest.skipUnless(has("webgpu_dawn") if len(sys.argv) > 2 else False, "there is no Dawn")
class ShaderCache(Prewarming):
    def test_a_second_process_loads_every_blob(self):
        first = self.run_json(*self.requests())
        print("first process:", json.dumps(first["shaderCache"]))
        self.assertEqual((first["requests"], first["pipelines"]), (3, 4))
        self.assertGreaterEqual(first["shaderCache"]["stored"], first["pipelines"])
        self.assertEqual(first["shaderCache"]["loaded"], 0)
        self.assertEqual(len(self.blobs()), first["shaderCache"]["stored"])
        second = self.run_json(*self.requests())
        print("second process:", json.dumps(second["shaderCache"]))
        self.assertEqual(second["shaderCache"]["loaded"], first["shaderCache"]["stored"])
        self.assertEqual(second["shaderCache"] | {"loaded": 0, "folder": ""},
                         {"folder": "", "loaded": 0, "missed": 0, "stored": 0, "ignored": 0})

    def test_a_flipped_byte_is_ignored_and_replaced(self):
        first = self.run_json(*self.requests())["shaderCache"]
        for blob in self.blobs():
            content = bytearray(blob.read_bytes())
            content[len(content) // 2] ^= 0x10
            blob.write_bytes(content)
        second = self.run_json(*self.requests())["shaderCache"]
        self.assertEqual((second["loaded"], second["ignored"], second["stored"]),
                         (0, first["stored"], first["stored"]))
        third = self.run_json(*self.requests())["shaderCache"]
        self.assertEqual((third["loaded"], third["ignored"], third["stored"]), (first["stored"], 0, 0))

    def test_two_writers_at_once_do_no_harm(self):
        writers = [subprocess.Popen(self.command(*self.requests(), "--json"), env=ENVIRONMENT, stdout=subprocess.PIPE,
                                    text=True) for _ in range(2)]
        for writer in writers:
            output, _ = writer.communicate(timeout=120)
            self.assertEqual(writer.returncode, 0)
            self.assertEqual(json.loads(output)["shaderCache"]["ignored"], 0)
        after = self.run_json(*self.requests())["shaderCache"]
        self.assertEqual((after["loaded"], after["missed"]), (len(self.blobs()), 0))

    def test_results_are_the_same_with_a_warm_cache(self):
        # The check of `run` compares with the CPU's values.
        example = ROOT / "examples/minilm-attention"
        command = [PROGRAM, "run", "com.microsoft.BiasSoftmax", "--input", f"data={example / 'scores.npy'}", "--input",
                   f"bias={example / 'mask.npy'}", "--attr", "axis=3", "--attr", "is_inner_broadcast=1", "--device",
                   "gpu", "--library", "dawn", "--check", str(example / "probs.npy")]
        for _ in range(2):
            done = subprocess.run(command, env=ENVIRONMENT | {"KERNELPACK_SHADER_CACHE": str(self.cache)},
                                  capture_output=True, text=True, check=False, timeout=120)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertTrue(self.blobs())

    def test_none_keeps_nothing(self):
        self.cache = "none"
        done = self.run_json(*self.requests())
        self.assertIsNone(done["shaderCache"])
        self.assertEqual(list(self.folder.rglob("*.blob")), [])

    def test_a_progress_line_on_a_terminal_and_none_in_a_pipe(self):
        leader, follower = pty.openpty()
        done = subprocess.run(self.command(*self.requests()), env=ENVIRONMENT, stdout=subprocess.PIPE, stderr=follower,
                              text=True, check=False, timeout=120)
        os.close(follower)
        shown = os.read(leader, 65536).decode()
        os.close(leader)
        self.assertEqual(done.returncode, 0)
        self.assertIn("4/4 pipelines", shown)
        self.assertTrue(shown.endswith("\r\033[K"), repr(shown))
        self.assertRegex(done.stdout, r"pipelines     4 in [0-9.]+ .?s\n")
        self.assertRegex(done.stdout, r"shader cache  .*/shaders \([0-9]+ loaded, ")


@unittest.skipUnless(has("wgpu_native") if len(sys.argv) > 2 else False, "there is no wgpu-native")
class Native(Prewarming):
    def test_compiles_and_has_no_cache(self):
        done = self.run_json(*self.requests(), library="wgpu-native")
        self.assertEqual((done["requests"], done["pipelines"]), (3, 4))
        self.assertIsNone(done["shaderCache"])

    def test_takes_a_request_in_flags(self):
        done = self.run_json("--input", "x=float32:40", library="wgpu-native", package=PACKAGES / "total")
        self.assertEqual((done["requests"], done["pipelines"]), (1, 2))

    def test_says_what_is_wrong(self):
        def failure(*words):
            done = subprocess.run([PROGRAM, "prewarm", *map(str, words)], env=ENVIRONMENT, capture_output=True, text=True,
                                  check=False, timeout=60)
            return done.returncode, done.stderr
        code, text = failure(PACKAGES / "total", "--library", "wgpu-native")
        self.assertEqual((code, text.split(": ")[1]), (1, "contract"))
        code, text = failure(PACKAGES / "total", "--input", "x=float32:40", "--library", "/nowhere/lib.so")
        self.assertEqual((code, text.split(": ")[1]), (3, "device"))
        code, text = failure(PACKAGES / "total", "--device", "cpu")
        self.assertEqual((code, text.split(": ")[1]), (2, "usage"))


def main():
    global PROGRAM
    PROGRAM = sys.argv[1]
    folder = pathlib.Path(sys.argv[2])
    driver = folder / "lavapipe" / "lvp_icd.json"
    if not driver.is_file():
        required = os.environ.get("CI") == "true" or os.environ.get("KERNELPACK_REQUIRE_GPU") == "1"
        print(f"skipped: there is no software driver in {folder}; run tools/webgpu/fetch")
        sys.exit(1 if required else 77)
    ENVIRONMENT.setdefault("VK_DRIVER_FILES", str(driver))
    ENVIRONMENT["KERNELPACK_PACKAGES"] = str(ROOT / "packages")
    unittest.main(argv=sys.argv[:1])


if __name__ == "__main__":
    main()
