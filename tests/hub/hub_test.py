"""Fetches packages from a Hub on the loopback that misbehaves in every way it can.

usage: hub_test.py PROBE
"""

import fcntl
import hashlib
import json
import os
import pathlib
import resource
import signal
import socket
import stat
import subprocess
import sys
import threading
import time
import unittest

import hub_server as server
from hub_case import FOREIGN, REPO, HubCase
from hub_server import small_package

LEAST_TESTS = 60


def tree(folder):
    """Names and contents below a folder; links by their target."""
    return {str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_bytes()
            for path in pathlib.Path(folder).rglob("*") if path.is_symlink() or path.is_file()}


class Sources(HubCase):
    def test_branch(self):
        result = self.get(REPO + "@v1")
        self.assertEqual((result["op"], result["branch"], result["commit"]), ("ai.onnx.Small", "v1", self.commit))
        self.assertEqual((result["fetched"], result["note"], result["verified"]), (5, "", True))
        self.assertEqual(result["folder"], str(self.snapshot().parent.parent))
        paths = self.paths()
        self.assertEqual(paths[:2], self.all_paths()[:2])
        self.assertEqual(sorted(paths), sorted(self.all_paths()))

    def test_commit(self):
        for text in (self.commit, self.commit.upper()):
            result = self.get(f"{REPO}@{text}")
            self.assertEqual((result["branch"], result["commit"]), ("", self.commit))
        self.assertFalse((self.repository() / "refs").exists())

    def test_version_and_revision_as_options(self):
        self.assertEqual(self.get("--version", 1, REPO)["branch"], "v1")
        self.assertEqual(self.get("--revision", "v1", REPO)["branch"], "v1")
        self.assertEqual(self.get("--revision", self.commit, REPO)["commit"], self.commit)

    def test_base_url(self):
        url = self.hub.put("/some/where/ai.onnx.Small", self.files)
        result = self.get("--trust", 1, url + "/")
        self.assertEqual((result["op"], result["source"], result["commit"]), ("ai.onnx.Small", url, ""))
        self.assertTrue(result["folder"].startswith(str(self.folder / "kp/packages")), result)
        prefix = "/some/where/ai.onnx.Small/build/webgpu/"
        self.assertEqual(sorted(self.paths()), sorted(
            prefix + name for name in self.files if name != "test.json"))

    def test_folder_and_shipped_package_never_ask(self):
        for place in ("plain", "shipped/ai.onnx.Small", "a/b"):
            package = self.folder / place / "build/webgpu"
            package.mkdir(parents=True)
            for name, content in self.files.items():
                (package / name).write_bytes(content)
        for source in ("./plain", self.folder / "plain", "ai.onnx.Small", "a/b"):
            self.assertEqual(self.get(source)["fetched"], 0)
        self.assertEqual(self.get("a/b")["kind"], 0)
        self.assertEqual(self.get("ai.onnx.Small")["kind"], 1)
        for source in ("./plain", self.folder / "plain", "ai.onnx.Small", "./a/b"):
            self.refuse("contract", "--version", 1, source, words=["version", "source"])
            self.refuse("contract", "--revision", "v1", source, words=["revision", "source"])
        self.assertEqual(self.paths(), [])

    def test_sources_that_can_only_be_mistakes(self):
        url = self.hub.put("/x/ai.onnx.Small", self.files)
        for arguments, words in (
                ((REPO,), ["version", "@v1"]),
                ((REPO + "@main",), ["main", "v1"]),
                ((REPO + "@v0",), ["v0"]),
                ((REPO + "@v01",), ["v01"]),
                ((REPO + "@v99999999999",), ["v99999999999"]),
                ((REPO + "@" + self.commit[:39],), [self.commit[:39]]),
                ((REPO + "@",), ["revision"]),
                (("--revision", "main", REPO), ["main"]),
                (("--version", 0, REPO), ["0"]),
                (("--version", -1, REPO), ["-1"]),
                (("--version", 1, REPO + "@v1"), ["version"]),
                (("--revision", "v1", REPO + "@v1"), ["revision"]),
                (("--version", 1, "--revision", "v1", REPO), ["version", "revision"]),
                (("--trust", 1, "--version", 1, url), ["version", "base URL"]),
                (("--trust", 1, "--revision", "v1", url), ["revision", "base URL"]),
                (("--trust", 1, "ftp://127.0.0.1/x"), ["ftp"]),
                (("--trust", 1, "file:///etc"), ["file"]),
                (("--trust", 1, url + "?x=1"), ["query"]),
                (("--trust", 1, url + "#x"), ["fragment"]),
                (("--trust", 1, "http://"), ["http"]),
                (("--trust", 1, url.replace("//", "//user:secret@")), ["user name"]),
                (("--trust", 1, url + "/a b"), ["space"])):
            with self.subTest(arguments):
                result = self.refuse("contract", *arguments, words=words)
                self.assertNotIn("secret", str(result))
        self.assertEqual(self.paths(), [])

    def test_trust(self):
        self.hub.publish(FOREIGN, self.files)
        url = self.hub.put("/x/ai.onnx.Small", self.files)
        self.refuse("trust", FOREIGN + "@v1", words=["somebody", "webgpu-kernels"])
        self.refuse("trust", "WebGPU-Kernels/ai.onnx.Small@v1")
        self.refuse("trust", url, words=["base URL"])
        self.refuse("trust", "webgpu-kernels.evil/ai.onnx.Small@v1")
        self.assertEqual(self.paths(), [])
        self.assertEqual(self.get("--trust", 1, FOREIGN + "@v1")["op"], "ai.onnx.Small")
        self.refuse("trust", FOREIGN + "@v1")

    def test_expected_op_id(self):
        self.assertEqual(self.get("--expect", "ai.onnx.Small", REPO + "@v1")["op"], "ai.onnx.Small")
        self.refuse("package", "--expect", "ai.onnx.Other", REPO + "@v1", words=["ai.onnx.Small", "ai.onnx.Other"])

    def test_version_of_the_metadata(self):
        self.hub.publish(REPO, small_package(version=1), "v2")
        self.refuse("package", REPO + "@v2", words=["1", "v2"])

    def test_file_names_are_escaped(self):
        files = small_package(templates=1)
        text = files["manifest.json"].replace(b"t0.wgsl", b"a %23\\u00e9?.wgsl")
        again = small_package(templates=1)
        metadata = json.loads(again["metadata.json"])
        template = again.pop("t0.wgsl.jinja")
        name = "a %23é?.wgsl.jinja"
        again["manifest.json"], again[name] = text, template
        metadata["webgpu"]["variants"] = {"v0": [name]}
        metadata["digest"]["files"] = {file: server.digest(again[file]) for file in ("manifest.json", name)}
        again["metadata.json"] = json.dumps(metadata).encode()
        commit = self.hub.publish(REPO, again)
        self.get(REPO + "@v1")
        self.assertIn(self.resolve(commit, "a%20%2523%C3%A9%3F.wgsl.jinja"), self.paths())

    def test_listing(self):
        self.hub.publish("webgpu-kernels/ai.onnx.Abs", self.files)
        self.hub.publish(FOREIGN, self.files)
        listing, = self.probe("--list", "webgpu-kernels")
        self.assertEqual(listing, ["webgpu-kernels/ai.onnx.Abs", REPO])
        self.assertEqual(self.paths(), ["/api/kernels?author=webgpu-kernels&limit=500"])

    def test_listing_in_pages(self):
        pages = {1: b'[{"id": "webgpu-kernels/b"}]', 2: b'[{"id": "webgpu-kernels/a"}, {"id": "evil/../../x"}]'}
        second = f"{self.hub.url}/api/kernels?cursor=2"
        self.hub.script("limit=500", server.status(200, {"Link": f'<{second}>; rel="next"'}, pages[1]))
        self.hub.script("cursor=2", server.status(200, {}, pages[2]))
        self.assertEqual(self.probe("--list", "webgpu-kernels"), [["webgpu-kernels/a", "webgpu-kernels/b"]])

    def test_bad_listings(self):
        other = self.start()
        for answer, headers, kind in ((b"{}", {}, "io"), (b"[1]", {}, "io"), (b"[", {}, "io"), (b"[{}]", {}, "io"),
                                      (b'[{"id": 1}]', {}, "io"), (b"[" * 5000, {}, "limit"),
                                      (b"[]", {"Link": f'<{other.url}/api/kernels>; rel="next"'}, "io"),
                                      (b"[]", {"Link": f'<{self.hub.url}/api/x?limit=500>; rel="next"'}, "limit")):
            with self.subTest(answer[:20]):
                self.hub.scripts.clear()
                self.hub.script("/api/", server.status(200, headers, answer), forever=True)
                self.refuse(kind, "--token", "hf_x", "--list", "webgpu-kernels")
        self.assertEqual(self.paths(other), [])
        self.refuse("contract", "--list", "../x")
        self.refuse("io", "--offline", 1, "--list", "webgpu-kernels", words=["offline"])


class Pinning(HubCase):
    def test_all_files_are_of_one_commit(self):
        """The branch moves while the package is fetched."""
        newer = small_package(mark="newer")

        def move(_):
            self.hub.publish(REPO, newer)
            return False
        self.hub.script(self.commit, move)
        result = self.get(REPO + "@v1")
        self.assertEqual((result["commit"], result["description"]), (self.commit, "small "))
        for name, content in self.files.items():
            if name != "test.json":
                self.assertEqual((self.snapshot() / name).read_bytes(), content)
        result = self.get(REPO + "@v1")
        self.assertEqual((result["commit"], result["description"]), (server.commit_of(newer), "small newer"))
        self.assertEqual((self.repository() / "refs/v1").read_bytes(), server.commit_of(newer).encode())

    def test_moved_branch_keeps_unchanged_files(self):
        self.get(REPO + "@v1")
        self.hub.take()
        commit = self.hub.publish(REPO, small_package(templates=4))
        result = self.get(REPO + "@v1")
        self.assertEqual(result["commit"], commit)
        self.assertEqual(os.readlink(self.snapshot(commit) / "t0.wgsl.jinja"),
                         os.readlink(self.snapshot() / "t0.wgsl.jinja"))

    def test_commit_header_is_required(self):
        for commit in (None, "main", "0" * 39, "../../../../x", "A" * 40):
            headers = {"X-Repo-Commit": commit} if commit else {}
            with self.subTest(commit):
                self.hub.scripts.clear()
                self.hub.script("metadata.json", server.status(200, headers, self.files["metadata.json"]))
                self.refuse("io", REPO + "@v1", words=["X-Repo-Commit"])
        self.assertFalse(self.cache.exists())

    def test_the_first_hop_that_carries_headers_wins(self):
        """As a redirect inside the endpoint, whose target does not know commit and ETag."""
        def moved(handler):
            if handler.path.startswith("/moved"):
                return False
            body, headers = handler.content()
            handler.hub.plain["/moved" + handler.path] = body
            handler.send(307, b"", {**headers, "Location": "/moved" + handler.path})
            return True
        self.hub.script("/kernels/", moved, forever=True)
        result = self.get(REPO + "@v1")
        self.assertEqual((result["commit"], result["fetched"]), (self.commit, 5))
        link = os.readlink(self.snapshot() / "metadata.json")
        self.assertEqual(link, "../../../../blobs/" + server.git_sha1(self.files["metadata.json"]))

    def test_linked_etag_wins_over_etag(self):
        content = self.files["t1.wgsl.jinja"]
        sha256 = hashlib.sha256(content).hexdigest()
        self.hub.script("t1.wgsl", server.status(200, {"ETag": '"storage-1"', "X-Linked-Etag": f'"{sha256}"'}, content))
        self.hub.script("t2.wgsl", server.status(200, {"ETag": 'W/"weak-2"'}, self.files["t2.wgsl.jinja"]))
        self.get(REPO + "@v1")
        self.assertEqual(os.readlink(self.snapshot() / "t1.wgsl.jinja"), "../../../../blobs/" + sha256)
        self.assertEqual(os.readlink(self.snapshot() / "t2.wgsl.jinja"), "../../../../blobs/weak-2")

    def test_an_etag_that_is_no_file_name(self):
        for etag in ("../../../../../evil", "a/b", ".hidden", "x.incomplete", "a b"):
            with self.subTest(etag):
                self.hub.scripts.clear()
                self.hub.script("t1.wgsl", server.body(self.files["t1.wgsl.jinja"], {"ETag": f'"{etag}"'}))
                self.refuse("io", REPO + "@v1", words=["ETag"])
        self.assertFalse(list(self.folder.rglob("evil")))
        self.hub.scripts.clear()
        self.hub.script("t1.wgsl", server.status(200, {}, self.files["t1.wgsl.jinja"]))
        self.get(REPO + "@v1")
        self.assertEqual((self.repository() / "blobs" / server.git_sha1(self.files["t1.wgsl.jinja"])).read_bytes(),
                         self.files["t1.wgsl.jinja"])


class Integrity(HubCase):
    def assert_not_kept(self, content):
        for path in self.folder.rglob("*"):
            if path.is_file():
                self.assertNotEqual(path.read_bytes(), content, path)

    def test_wrong_digest(self):
        for name in ("manifest.json", "t0.wgsl.jinja", "t2.wgsl.jinja"):
            with self.subTest(name):
                self.hub.scripts.clear()
                wrong = self.files[name] + b" "
                self.hub.script(name, server.body(wrong))
                self.refuse("integrity", REPO + "@v1", words=[name, "digest"])
                self.assert_not_kept(wrong)
        self.assertFalse((self.repository() / "refs").exists())
        self.get(REPO + "@v1")

    def test_wrong_metadata(self):
        wrong = self.files["metadata.json"].replace(b"Apache-2.0", b"Apache-3.0")
        self.hub.script("metadata.json", server.body(wrong))
        self.refuse("integrity", REPO + "@v1", words=["metadata.json", "git SHA-1"])
        self.assert_not_kept(wrong)
        sha256 = hashlib.sha256(b"other").hexdigest()
        self.hub.script("metadata.json", server.body(wrong, {"ETag": sha256}))
        self.refuse("integrity", REPO + "@v1", words=["metadata.json", "SHA-256"])

    def test_unlisted_template(self):
        files = small_package()
        metadata = json.loads(files["metadata.json"])
        del metadata["digest"]["files"]["t1.wgsl.jinja"]
        files["metadata.json"] = json.dumps(metadata).encode()
        commit = self.hub.publish(REPO, files)
        self.refuse("integrity", REPO + "@v1", words=["t1.wgsl.jinja", "not listed"])
        self.assertNotIn(self.resolve(commit, "t1.wgsl.jinja"), self.paths())

    def test_verification_off(self):
        wrong = self.files["t0.wgsl.jinja"] + b"// other\n"
        self.hub.script("t0.wgsl", server.body(wrong))
        result = self.get("--verify", 0, REPO + "@v1")
        self.assertFalse(result["verified"])
        # What was kept without a check is found by the next call that checks.
        self.hub.take()
        self.assertEqual(self.get(REPO + "@v1")["fetched"], 2)
        self.assertIn(self.resolve(self.commit, "t0.wgsl.jinja"), self.paths())
        self.assertEqual((self.snapshot() / "t0.wgsl.jinja").read_bytes(), self.files["t0.wgsl.jinja"])

    def test_bad_metadata(self):
        for content, kind in ((b"", "package"), (b"<html>login</html>", "package"), (b"[]", "package"),
                              (b"{}", "package"), (b"\xff\xfe", "package"), (b"[" * 4000, "limit"),
                              (self.files["metadata.json"].replace(b'"2.1"', b'"9.9"'), "unsupported"),
                              (self.files["metadata.json"].replace(b"sha256", b"sha512"), "integrity"),
                              (self.files["metadata.json"].replace(b"t0.wgsl", b"../t0.wgsl"), "integrity")):
            with self.subTest(content[:30]):
                self.hub.scripts.clear()
                self.hub.script("metadata.json", server.body(content, {"ETag": server.git_sha1(content)}))
                self.refuse(kind, REPO + "@v1")
                self.assertFalse(list(self.folder.rglob("metadata.json")))

    def test_bad_manifest_costs_no_templates(self):
        files = small_package()
        files["manifest.json"] = files["manifest.json"].replace(b'"outputs"', b'"outputz"')
        metadata = json.loads(files["metadata.json"])
        metadata["digest"]["files"]["manifest.json"] = server.digest(files["manifest.json"])
        files["metadata.json"] = json.dumps(metadata).encode()
        self.hub.publish(REPO, files)
        self.refuse("package", REPO + "@v1", words=["outputs"])
        self.assertEqual(len(self.paths()), 2)

    def test_damaged_cached_files_are_fetched_again(self):
        self.get(REPO + "@v1")
        for name in ("metadata.json", "manifest.json", "t1.wgsl.jinja"):
            for damage in (b"", b"garbage", None, self.files[name][:-1], self.files[name].replace(b"small", b"SMALL")
                           if name != "t1.wgsl.jinja" else b"fn main() {}"):
                with self.subTest(name=name, damage=damage):
                    blob = self.snapshot() / name
                    blob = blob.parent / os.readlink(blob)
                    blob.unlink()
                    if damage is not None:
                        blob.write_bytes(damage)
                    self.hub.take()
                    result = self.get(f"{REPO}@{self.commit}")
                    self.assertEqual(result["fetched"], 0 if damage == self.files[name] else 1)
                    self.assertEqual(blob.read_bytes(), self.files[name])
                    self.assertEqual(self.get("--offline", 1, f"{REPO}@{self.commit}")["fetched"], 0)

    def test_damaged_cached_files_offline(self):
        self.get(REPO + "@v1")
        for name in ("metadata.json", "manifest.json", "t1.wgsl.jinja"):
            with self.subTest(name):
                place = (self.snapshot() / name).resolve()
                place.write_bytes(b"garbage")
                before = tree(self.cache)
                self.refuse("integrity", "--offline", 1, REPO + "@v1", words=[name, "damaged", "offline"])
                self.assertEqual(tree(self.cache), before)
                place.write_bytes(self.files[name])

    def test_a_snapshot_without_links(self):
        """As file systems without symbolic links have it."""
        self.get(REPO + "@v1")
        for path in self.snapshot().iterdir():
            content = path.read_bytes()
            path.unlink()
            path.write_bytes(content)
        self.assertEqual(self.get("--offline", 1, REPO + "@v1")["fetched"], 0)
        (self.snapshot() / "metadata.json").write_bytes(b"{")
        self.assertEqual(self.get(f"{REPO}@{self.commit}")["fetched"], 1)


class Requests(HubCase):
    """When a request is made."""

    def test_cached_commit_asks_nothing(self):
        self.get(REPO + "@v1")
        self.hub.take()
        self.assertEqual(self.get(f"{REPO}@{self.commit}")["fetched"], 0)
        self.assertEqual(self.paths(), [])

    def test_commit_not_cached_asks_for_each_file_once(self):
        self.get(f"{REPO}@{self.commit}")
        self.assertEqual(sorted(self.paths()), sorted(
            self.resolve(self.commit, name) for name in self.files if name != "test.json"))

    def test_version_asks_once_a_process_and_package(self):
        self.get(REPO + "@v1")
        self.hub.take()
        self.assertEqual(len(self.probe(REPO + "@v1", REPO + "@v1", "--version", 1, REPO)), 3)
        self.assertEqual(self.paths(), [self.resolve("v1", "metadata.json")])
        other = "webgpu-kernels/ai.onnx.Other"
        self.hub.publish(other, small_package("ai.onnx.Other"))
        self.probe(REPO + "@v1", other + "@v1", REPO + "@v1", other + "@v1")
        asked = [path for path in self.paths() if "/v1/" in path]
        self.assertEqual(asked, [self.resolve("v1", "metadata.json"), self.resolve("v1", "metadata.json", other)])

    def test_threads_share_one_request(self):
        results = self.probe("--threads", 8, REPO + "@v1")
        self.assertEqual({result["commit"] for result in results}, {self.commit})
        self.assertEqual(sorted(self.paths()), sorted(self.all_paths()))

    def test_a_failed_check_of_the_branch_is_not_repeated(self):
        self.get(REPO + "@v1")
        self.hub.take()
        self.hub.script("/v1/", server.status(500), forever=True)
        results = self.probe(REPO + "@v1", REPO + "@v1")
        self.assertEqual(self.paths(), [self.resolve("v1", "metadata.json")])
        for result in results:
            self.assertIn("500", result["note"])

    def test_cached_branch_stands_in(self):
        self.get(REPO + "@v1")
        cases = {"500": server.status(500), "503": server.status(503, {"Retry-After": "60"}),
                 "429": server.status(429), "401": server.status(401), "403": server.status(403),
                 "404": server.status(404), "cut": server.cut, "truncated": server.truncate,
                 "portal": server.status(200, {}, b"<html>"),
                 "other": server.status(418)}
        for name, action in cases.items():
            with self.subTest(name):
                self.hub.scripts.clear()
                self.hub.take()
                self.hub.script("/v1/", action, forever=True)
                result = self.get(REPO + "@v1")
                self.assertEqual((result["commit"], result["fetched"]), (self.commit, 0))
                self.assertIn("cached commit " + self.commit[:12], result["note"])
                self.assertEqual(self.paths(), [self.resolve("v1", "metadata.json")])
                if name.isdigit():
                    self.assertIn(name, result["note"])
        dead = self.environment | {"HF_ENDPOINT": "http://127.0.0.1:1"}
        self.assertIn("cached", self.get(REPO + "@v1", environment=dead)["note"])

    def test_cached_branch_stands_in_after_the_limit(self):
        self.get(REPO + "@v1")
        self.hub.script("/v1/", server.hang(20), server.late(20), forever=True)
        start = time.monotonic()
        result = self.get("--branch-limit", 500, REPO + "@v1")
        self.assertLess(time.monotonic() - start, 5)
        self.assertEqual(result["commit"], self.commit)
        self.assertIn("cached", result["note"])
        start = time.monotonic()
        self.get(REPO + "@v1", environment={"HF_HUB_ETAG_TIMEOUT": "1"})
        self.assertLess(time.monotonic() - start, 5)
        # A server that gives a byte now and then is no better.
        self.hub.scripts.clear()
        self.hub.script("/v1/", server.drip(20))
        self.assertIn("cached", self.get("--branch-limit", 500, REPO + "@v1")["note"])

    def test_the_limit_of_ten_seconds(self):
        self.get(REPO + "@v1")
        self.hub.script("/v1/", server.late(30))
        start = time.monotonic()
        self.assertIn("cached", self.get(REPO + "@v1")["note"])
        self.assertTrue(9 < time.monotonic() - start < 14, time.monotonic() - start)

    def test_connection_lost_after_the_branch_moved(self):
        self.get(REPO + "@v1")
        newer = self.hub.publish(REPO, small_package(mark="newer"))
        self.hub.script("t1.wgsl", server.cut, forever=True)
        result = self.get("--attempts", 1, REPO + "@v1")
        self.assertEqual(result["commit"], self.commit)
        self.assertIn("cached", result["note"])
        self.assertEqual((self.repository() / "refs/v1").read_text(), self.commit)
        self.hub.scripts.clear()
        self.assertEqual(self.get(REPO + "@v1")["commit"], newer)

    def test_wrong_digest_after_the_branch_moved_is_an_error(self):
        self.get(REPO + "@v1")
        self.hub.publish(REPO, small_package(mark="newer"))
        self.hub.script("t1.wgsl", server.body(b"evil"), forever=True)
        self.refuse("integrity", REPO + "@v1", words=["t1.wgsl.jinja"])

    def test_offline(self):
        ways = ({"HF_HUB_OFFLINE": "1"}, {"HF_HUB_OFFLINE": "true"}, {"HF_HUB_OFFLINE": "YES"},
                {"TRANSFORMERS_OFFLINE": "on"})
        url = self.hub.put("/x/ai.onnx.Small", self.files)
        for environment in ways:
            for source in (REPO + "@v1", f"{REPO}@{self.commit}", url):
                self.refuse("io", "--trust", 1, source, words=["offline"], environment=environment)
        self.refuse("io", "--offline", 1, REPO + "@v1", words=["offline", REPO])
        self.assertEqual(self.paths(), [])
        self.get(REPO + "@v1")
        self.get("--trust", 1, url)
        self.hub.take()
        for environment in ways:
            for source in (REPO + "@v1", f"{REPO}@{self.commit}", url):
                result = self.get("--trust", 1, source, environment=environment)
                self.assertEqual((result["fetched"], result["note"]), (0, ""))
        self.get("--offline", 1, REPO + "@v1")
        (self.snapshot() / "t1.wgsl.jinja").unlink()
        self.refuse("io", "--offline", 1, REPO + "@v1", words=["t1.wgsl.jinja", "offline"])
        (self.snapshot() / "metadata.json").unlink()
        self.refuse("io", "--offline", 1, REPO + "@v1", words=["metadata.json", "offline"])
        self.assertEqual(self.paths(), [])
        self.assertEqual(self.get(REPO + "@v1", environment={"HF_HUB_OFFLINE": "0"})["fetched"], 2)

    def test_base_url_asks_once_a_process(self):
        url = self.hub.put("/x/ai.onnx.Small", self.files)
        self.get("--trust", 1, url)
        self.hub.take()
        self.probe("--trust", 1, url, url)
        self.assertEqual(self.paths(), ["/x/ai.onnx.Small/build/webgpu/metadata.json"])
        self.hub.script("/x/", server.status(500), forever=True)
        self.assertIn("cached copy", self.get("--trust", 1, url)["note"])
        self.hub.scripts.clear()
        self.hub.put("/x/ai.onnx.Small", small_package(mark="newer"))
        self.assertEqual(self.get("--trust", 1, url)["description"], "small newer")
        self.assertEqual(len(list((self.folder / "kp/packages").iterdir())), 2)

    def test_parallel_with_a_limit(self):
        self.hub.publish(REPO, small_package(templates=12))
        self.hub.script("wgsl", server.late(0.15), forever=True)
        start = time.monotonic()
        self.get("--parallel", 4, REPO + "@v1")
        self.assertLess(time.monotonic() - start, 1.6)
        self.assertEqual(self.hub.most_active, 4)


class Faults(HubCase):
    """Servers that fail."""

    def test_statuses(self):
        for code, words in ((400, ["400"]), (401, ["401", "no token"]), (403, ["403", "no token"]), (404, ["404"]),
                            (418, ["418"]), (429, ["429"]), (500, ["500"]), (502, ["502"]), (503, ["503"]),
                            (204, ["204"]), (206, ["206"]), (304, ["304"])):
            for part in ("/v1/", "manifest.json", "t1.wgsl"):
                with self.subTest(code=code, part=part):
                    self.hub.scripts.clear()
                    self.hub.take()
                    self.hub.script(part, server.status(code, {"X-Error-Code": "SomeWord"}, b""), forever=True)
                    result = self.refuse("io", "--attempts", 3, "--cache", self.folder / f"{code}{part[:1]}{part[1:2]}",
                                         REPO + "@v1", words=[*words, "SomeWord", "127.0.0.1"])
                    tries = sum(part in path for path in self.paths())
                    self.assertEqual(tries, 3 if code == 429 or code >= 500 else 1)
                    self.assertEqual(result["context"], ["After 3 attempts"] if tries == 3 else [])
                    self.assertFalse((self.repository() / "refs").exists())

    def test_retries_succeed(self):
        self.hub.script("/v1/", server.status(500), server.cut, server.status(429))
        self.hub.script("manifest.json", server.truncate, server.status(503))
        self.hub.script("t1.wgsl", server.status(502))
        self.assertEqual(self.get(REPO + "@v1")["fetched"], 5)
        self.assertEqual(len(self.paths()), 5 + 3 + 2 + 1)

    def test_retry_after(self):
        for seconds in ("1", None):
            # A date counts from when it is asked for, in whole seconds.
            value = seconds or time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 3))
            with self.subTest(value):
                self.hub.scripts.clear()
                self.hub.script("/v1/", server.status(429, {"Retry-After": value}))
                start = time.monotonic()
                self.get("--cache", self.folder / value[:1], REPO + "@v1")
                self.assertGreater(time.monotonic() - start, 0.95)
        self.hub.script("/v1/", server.status(429, {"Retry-After": "9999"}))
        start = time.monotonic()
        self.refuse("io", "--cache", self.folder / "other", REPO + "@v1", words=["9999 s", "120 s"])
        self.assertLess(time.monotonic() - start, 2)

    def test_backoff_grows(self):
        self.hub.script("/v1/", server.status(500), forever=True)
        result = self.refuse("io", "--attempts", 4, "--backoff", 200, REPO + "@v1")
        # 200, 400 and 800 ms, each between half and whole.
        self.assertTrue(0.7 <= result["seconds"] < 3, result)

    def test_truncated(self):
        for part in ("/v1/", "manifest.json", "t1.wgsl"):
            with self.subTest(part):
                self.hub.scripts.clear()
                self.hub.script(part, server.truncate, forever=True)
                self.refuse("io", "--attempts", 2, REPO + "@v1")
        self.hub.scripts.clear()
        self.assertEqual(self.get(REPO + "@v1")["commit"], self.commit)

    def test_truncated_without_a_length(self):
        def action(handler):
            content, headers = handler.content()
            handler.send_response(200)
            for name, value in {**headers, "Connection": "close"}.items():
                handler.send_header(name, value)
            handler.end_headers()
            handler.wfile.write(content[:-3])
            handler.close_connection = True
        for part in ("/v1/", "manifest.json", "t1.wgsl"):
            with self.subTest(part):
                self.hub.scripts.clear()
                self.hub.script(part, action)
                self.refuse("integrity", REPO + "@v1")

    def test_dead_and_slow_servers(self):
        for action in (server.hang(20), server.drip(20)):
            self.hub.scripts.clear()
            self.hub.script("manifest.json", action, forever=True)
            start = time.monotonic()
            self.refuse("io", "--stall", 1000, "--attempts", 1, REPO + "@v1")
            self.assertLess(time.monotonic() - start, 6)
        start = time.monotonic()
        self.refuse("io", "--attempts", 1, REPO + "@v1", environment={"HF_HUB_DOWNLOAD_TIMEOUT": "1"})
        self.assertLess(time.monotonic() - start, 6)

    def test_no_server(self):
        gone = {"HF_ENDPOINT": "http://127.0.0.1:1"}
        result = self.refuse("io", "--attempts", 2, REPO + "@v1", environment=gone, words=["127.0.0.1:1"])
        self.assertEqual(result["context"], ["After 2 attempts"])

    def test_no_handshake(self):
        """A server that accepts and then says nothing, not even TLS."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        endpoint = {"HF_ENDPOINT": f"https://127.0.0.1:{listener.getsockname()[1]}"}
        result = self.refuse("io", "--attempts", 1, "--connect", 500, REPO + "@v1", environment=endpoint)
        self.assertLess(result["seconds"], 4)

    def test_budgets(self):
        self.hub.script("t1.wgsl", server.endless(), forever=True)
        self.refuse("limit", REPO + "@v1", words=["4194304"])
        self.hub.scripts.clear()
        self.hub.script("/v1/", server.endless(), forever=True)
        self.refuse("limit", REPO + "@v1", words=["8388608"])

        def stated(handler):
            handler.send_response(200)
            handler.send_header("Content-Length", str(1 << 40))
            handler.end_headers()
            handler.wfile.write(b"x" * 100000)
            time.sleep(5)
            handler.close_connection = True
        self.hub.scripts.clear()
        self.hub.script("manifest.json", stated)
        fresh = ["--cache", self.folder / "fresh"]
        self.assertLess(self.refuse("limit", *fresh, REPO + "@v1", words=["8388608"])["seconds"], 4)

        def headers(handler):
            handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
            for i in range(20000):
                handler.wfile.write(b"X-%d: %s\r\n" % (i, b"y" * 100))
            handler.close_connection = True
        self.hub.scripts.clear()
        self.hub.script("manifest.json", headers)
        self.refuse("limit", *fresh, REPO + "@v1", words=["headers"])

        def endless_refusal(handler):
            handler.send_response(404)
            handler.end_headers()
            while True:
                handler.wfile.write(b"z" * 65536)
        self.hub.scripts.clear()
        self.hub.script("manifest.json", endless_refusal)
        self.refuse("io", *fresh, REPO + "@v1", words=["404"])

    def test_no_http(self):
        def noise(handler):
            handler.wfile.write(b"220 mail.example.org ESMTP\r\n")
            handler.close_connection = True
        self.hub.script("/v1/", noise, forever=True)
        self.refuse("io", "--attempts", 1, REPO + "@v1")

    def test_cancel(self):
        self.hub.script("t1.wgsl", server.hang(20), forever=True)
        result = self.refuse("io", "--cancel-after", 300, REPO + "@v1", words=["cancelled"])
        self.assertLess(result["seconds"], 3)
        self.hub.scripts.clear()
        self.hub.script("/v1/", server.status(429, {"Retry-After": "20"}))
        result = self.refuse("io", "--cancel-after", 300, REPO + "@v1", words=["cancelled"])
        self.assertLess(result["seconds"], 3)
        self.get(REPO + "@v1")
        self.hub.script("/v1/", server.hang(20))
        self.refuse("io", "--cancel-after", 300, REPO + "@v1", words=["cancelled"])

    def test_progress(self):
        self.hub.publish(REPO, small_package(templates=12))
        result = self.get("--progress", 1, REPO + "@v1")
        self.assertGreaterEqual(result["progressCalls"], 14)
        self.assertEqual(result["progressOverlaps"], 0)


class Redirects(HubCase):
    def test_followed(self):
        other = self.start()
        for name, content in self.files.items():
            other.plain["/cdn/" + name] = content
        headers = {"X-Repo-Commit": self.commit}
        for code in (301, 302, 303, 307, 308):
            with self.subTest(code):
                self.hub.scripts.clear()
                self.hub.script("/kernels/", server.redirect(
                    lambda handler: f"{other.url}/cdn/{handler.path.rsplit('/', 1)[1]}?signature=x", code, headers),
                    forever=True)
                result = self.get("--cache", self.folder / str(code), REPO + "@v1")
                self.assertEqual((result["commit"], result["fetched"]), (self.commit, 5))

    def test_endless(self):
        self.hub.script("/v1/", server.redirect(lambda handler: handler.path), forever=True)
        self.refuse("io", REPO + "@v1", words=["redirects", "10"])
        self.assertEqual(len(self.paths()), 11)

    def test_to_elsewhere(self):
        for target in ("file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://x/", "http://", ""):
            with self.subTest(target):
                self.hub.scripts.clear()
                self.hub.script("/v1/", server.redirect(target))
                self.refuse("io", "--attempts", 1, REPO + "@v1")

    def test_secrets_in_a_redirect_are_not_shown(self):
        other = self.start()
        self.hub.script("/v1/", server.redirect(f"{other.url}/gone?signature=secret"))
        result = self.refuse("io", REPO + "@v1", words=["404", "/gone"])
        self.assertNotIn("secret", str(result))


class Tokens(HubCase):
    def tokens(self, hub=None):
        return {headers.get("authorization") for _, _, headers in (hub or self.hub).take()}

    def test_sources_of_the_token(self):
        home = self.folder / "hf"
        home.mkdir()
        (home / "token").write_text("hf_file\n")
        (self.folder / "named").write_text(" hf_named ")
        for environment, arguments, expected in (
                ({}, [], "hf_file"), ({"HF_TOKEN_PATH": str(self.folder / "named")}, [], "hf_named"),
                ({"HF_TOKEN": "hf_variable"}, [], "hf_variable"), ({"HF_TOKEN": " hf_variable\n"}, [], "hf_variable"),
                ({"HUGGING_FACE_HUB_TOKEN": "hf_old"}, [], "hf_old"),
                ({"HF_TOKEN": "hf_variable"}, ["--token", "hf_option"], "hf_option"),
                ({"HF_TOKEN": "hf_variable", "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"}, [], None),
                ({"HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"}, ["--token", "hf_option"], "hf_option")):
            with self.subTest(environment=environment, arguments=arguments):
                self.get(*arguments, "--cache", self.folder / "fresh" / os.urandom(4).hex(), REPO + "@v1",
                         environment=environment)
                self.assertEqual(self.tokens(), {expected and "Bearer " + expected})

    def test_tokens_that_no_header_may_hold(self):
        for token in ("a\r\nX-Evil: 1", "a b", "é", "x" * 5000):
            result = self.refuse("contract", "--token", token, REPO + "@v1")
            self.assertNotIn(token, str(result))
        self.assertEqual(self.paths(), [])

    def test_never_along_a_redirect_to_another_host(self):
        other = self.start()
        for name, content in self.files.items():
            other.plain["/" + name] = content
        self.hub.script("/kernels/", server.redirect(
            lambda handler: f"{other.url}/{handler.path.rsplit('/', 1)[1]}", 302, {"X-Repo-Commit": self.commit}),
            forever=True)
        self.get("--token", "hf_secret", REPO + "@v1")
        self.assertEqual(self.tokens(), {"Bearer hf_secret"})
        taken = other.take()
        self.assertEqual(len(taken), 5)
        for _, path, headers in taken:
            self.assertNotIn("hf_secret", str(headers) + path)

    def test_never_to_another_name_port_or_scheme(self):
        """127.0.0.1 and localhost are two hosts; a redirect back to the endpoint may carry it again."""
        localhost = self.hub.url.replace("127.0.0.1", "localhost")
        self.hub.script("/v1/", server.redirect(lambda handler: localhost + handler.path.replace("/v1/", "/hop/")))
        self.hub.script("/hop/", server.redirect(
            lambda handler: self.hub.url + handler.path.replace("/hop/", f"/{self.commit}/")))
        self.get("--token", "hf_secret", REPO + "@v1")
        taken = self.hub.take()
        self.assertEqual([headers.get("authorization") for _, path, headers in taken][:3],
                         ["Bearer hf_secret", None, "Bearer hf_secret"])

    def test_kept_along_a_redirect_inside_the_endpoint(self):
        self.hub.script("/v1/", server.redirect(lambda handler: handler.path.replace("/v1/", f"/{self.commit}/")))
        self.get("--token", "hf_secret", REPO + "@v1")
        self.assertEqual(self.tokens(), {"Bearer hf_secret"})

    def test_base_url_gets_no_implicit_token(self):
        url = self.hub.put("/x/ai.onnx.Small", self.files)
        self.get("--trust", 1, url, environment={"HF_TOKEN": "hf_secret"})
        self.assertEqual(self.tokens(), {None})
        self.get("--trust", 1, "--token", "hf_given", "--url-cache", self.folder / "fresh", url)
        self.assertEqual(self.tokens(), {"Bearer hf_given"})

    def test_never_on_disk_or_in_messages(self):
        (self.folder / "hf").mkdir()
        self.hub.script("t1.wgsl", server.status(401))
        result = self.refuse("io", "--token", "hf_secret", REPO + "@v1", words=["the token that was sent"])
        self.assertNotIn("hf_secret", str(result))
        self.get("--token", "hf_secret", REPO + "@v1")
        for path in self.folder.rglob("*"):
            if path.is_file():
                self.assertNotIn(b"hf_secret", path.read_bytes(), path)

    def test_proxy(self):
        """A proxy by libcurl's own rules: the endpoint's name is never looked up here."""
        def serve(handler):
            handler.path = "/" + handler.path.split("/", 3)[3]
            return False
        self.hub.script("http://hub.invalid/", serve, forever=True)
        proxy = {"http_proxy": self.hub.url, "HF_ENDPOINT": "http://hub.invalid"}
        self.assertEqual(self.get(REPO + "@v1", environment=proxy)["fetched"], 5)
        direct = {"http_proxy": "http://127.0.0.1:1", "no_proxy": "127.0.0.1"}
        self.get("--cache", self.folder / "other", REPO + "@v1", environment=direct)


class Tls(HubCase):
    def setUp(self):
        super().setUp()
        (self.folder / "tls").mkdir()
        self.certificate = server.make_certificate(self.folder / "tls")
        self.secure = self.start(self.certificate)
        self.secure.publish(REPO, self.files)

    def test_verified(self):
        endpoint = {"HF_ENDPOINT": self.secure.url}
        self.refuse("io", "--attempts", 1, REPO + "@v1", environment=endpoint, words=["certificate"])
        self.assertEqual(self.secure.take(), [])
        result = self.get(REPO + "@v1", environment={**endpoint, "SSL_CERT_FILE": self.certificate[0]})
        self.assertEqual(result["commit"], self.commit)
        # The certificate is for 127.0.0.1 only.
        named = {"HF_ENDPOINT": self.secure.url.replace("127.0.0.1", "localhost"), "SSL_CERT_FILE": self.certificate[0]}
        self.refuse("io", "--cache", self.folder / "x", "--attempts", 1, REPO + "@v1", environment=named)

    def test_no_way_down(self):
        self.secure.script("/v1/", server.redirect(lambda handler: self.hub.url + handler.path))
        environment = {"HF_ENDPOINT": self.secure.url, "SSL_CERT_FILE": self.certificate[0]}
        self.refuse("io", "--token", "hf_secret", REPO + "@v1", environment=environment, words=["https to http"])
        self.assertEqual(self.paths(), [])

    def test_way_up_leaves_the_token(self):
        self.hub.script("/v1/", server.redirect(lambda handler: self.secure.url + handler.path))
        self.get("--token", "hf_secret", REPO + "@v1", environment={"SSL_CERT_FILE": self.certificate[0]})
        self.assertEqual([headers.get("authorization") for _, _, headers in self.secure.take()], [None])


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

    def test_lock_of_another_process(self):
        """A lock that never goes free delays, and nothing more."""
        name = server.git_sha1(self.files["manifest.json"]) + ".lock"
        locks = self.cache / ".locks" / self.repository().name
        locks.mkdir(parents=True)
        with open(locks / name, "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            start = time.monotonic()
            self.get(REPO + "@v1")
            self.assertGreater(time.monotonic() - start, 3)
            self.assertLess(time.monotonic() - start, 12)

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
        self.hub.script("t1.wgsl", server.drip(20))
        process = subprocess.Popen([self.program, REPO + "@v1"], env=self.environment, stdout=subprocess.DEVNULL)
        end = time.monotonic() + 20
        while not any("t1.wgsl" in path for _, path, _ in list(self.hub.requests)) and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.3)
        process.send_signal(signal.SIGKILL)
        self.assertEqual(process.wait(), -signal.SIGKILL)
        self.assertFalse((self.snapshot() / "t1.wgsl.jinja").exists())
        self.assertFalse((self.repository() / "refs/v1").exists())
        self.refuse("io", "--offline", 1, f"{REPO}@{self.commit}", words=["t1.wgsl.jinja"])
        self.assertLess(self.get(REPO + "@v1")["fetched"], 5)

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


def main():
    HubCase.program = str(pathlib.Path(sys.argv.pop(1)).resolve())
    outcome = unittest.main(exit=False, argv=sys.argv).result
    print(f"{outcome.testsRun} tests of the hub ran")
    if outcome.testsRun < LEAST_TESTS and len(sys.argv) == 1:
        print(f"at least {LEAST_TESTS} are expected")
        return 1
    return 0 if outcome.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
