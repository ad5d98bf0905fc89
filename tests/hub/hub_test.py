"""Fetches packages from a Hub on the loopback: every form of source, what is checked, and when a request is made.

usage: hub_test.py PROBE
"""

import hashlib
import json
import os
import sys
import threading
import time

import hub_server as server
from hub_case import FOREIGN, REPO, HubCase, run_tests, tree
from hub_server import small_package

LEAST_TESTS = 43


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

    def test_endpoints(self):
        def below(handler):
            handler.path = handler.path.removeprefix("/some/mirror")
            return False
        self.hub.script("/some/mirror/kernels/", below, forever=True)
        for endpoint in (self.hub.url + "/", self.hub.url + "/some/mirror", self.hub.url + "/some/mirror//"):
            with self.subTest(endpoint):
                self.hub.take()
                result = self.get("--cache", self.folder / os.urandom(4).hex(), REPO + "@v1",
                                  environment={"HF_ENDPOINT": endpoint})
                self.assertEqual((result["commit"], result["fetched"]), (self.commit, 5))
                prefix = endpoint.removeprefix(self.hub.url).rstrip("/")
                self.assertEqual(sorted(self.paths()), sorted(prefix + path for path in self.all_paths()))
        self.get("--endpoint", self.hub.url, REPO + "@v1", environment={"HF_ENDPOINT": "http://127.0.0.1:1"})
        for endpoint in (self.hub.url.replace("//", "//user:hf_secret@"), "127.0.0.1", "ftp://127.0.0.1"):
            result = self.refuse("contract", REPO + "@v1", environment={"HF_ENDPOINT": endpoint}, words=["endpoint"])
            self.assertNotIn("hf_secret", str(result))

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

    def test_answers_of_another_commit(self):
        """A server that says it sends another commit than the one asked for."""
        other = self.hub.publish(REPO, small_package(mark="other"), branch=None)
        for name in ("metadata.json", "manifest.json", "t1.wgsl.jinja"):
            with self.subTest(name):
                self.hub.scripts.clear()
                self.hub.script(name, server.body(self.files[name], {"X-Repo-Commit": other}), forever=True)
                self.refuse("integrity", f"{REPO}@{self.commit}", words=[name, other, self.commit])

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
                # Files are fetched side by side: whole ones of an earlier round would be in a shared cache.
                cache = self.folder / f"cache of {name}"
                self.refuse("integrity", "--cache", cache, REPO + "@v1", words=[name, "digest"])
                self.assert_not_kept(wrong)
                self.assertEqual(list(cache.rglob("refs")), [])
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
        self.assertLess(time.monotonic() - start, 15)
        self.assertEqual(result["commit"], self.commit)
        self.assertIn("cached", result["note"])
        start = time.monotonic()
        self.get(REPO + "@v1", environment={"HF_HUB_ETAG_TIMEOUT": "1"})
        self.assertLess(time.monotonic() - start, 15)
        # A server that gives a byte now and then is no better.
        self.hub.scripts.clear()
        self.hub.script("/v1/", server.drip(20))
        self.assertIn("cached", self.get("--branch-limit", 500, REPO + "@v1")["note"])

    def test_the_limit_of_ten_seconds(self):
        self.get(REPO + "@v1")
        self.hub.script("/v1/", server.late(30))
        start = time.monotonic()
        self.assertIn("cached", self.get(REPO + "@v1")["note"])
        self.assertTrue(9 < time.monotonic() - start < 25, time.monotonic() - start)

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
        together = threading.Barrier(4)

        def meet(_):
            together.wait(30)
            time.sleep(0.05)  # a fifth request would come in this time
            return False
        self.hub.script("wgsl", meet, forever=True)
        self.get("--parallel", 4, REPO + "@v1")
        self.assertEqual(self.hub.most_active, 4)
        self.assertFalse(together.broken)


if __name__ == "__main__":
    sys.exit(run_tests(LEAST_TESTS, "tests of the hub"))
