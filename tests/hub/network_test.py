"""Fetches packages over a network that fails, lies and redirects.

usage: network_test.py PROBE
"""

import gzip
import json
import os
import socket
import sys
import time

import hub_server as server
from hub_case import REPO, HubCase, run_tests
from hub_server import small_package

LEAST_TESTS = 39


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
        def date():
            return time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(time.time() + 3))
        for name, value in (("seconds", lambda: "1"), ("date", date)):
            with self.subTest(name):
                self.hub.scripts.clear()
                self.hub.script("/v1/", lambda handler, value=value: handler.send(429, b"", {"Retry-After": value()}))
                start = time.monotonic()
                self.get("--cache", self.folder / name, REPO + "@v1")
                self.assertGreater(time.monotonic() - start, 0.95)
        self.hub.script("/v1/", server.status(429, {"Retry-After": "9999"}))
        start = time.monotonic()
        self.refuse("io", "--cache", self.folder / "other", REPO + "@v1", words=["9999 s", "120 s"])
        self.assertLess(time.monotonic() - start, 60)

    def test_backoff_grows(self):
        self.hub.script("/v1/", server.status(500), forever=True)
        result = self.refuse("io", "--attempts", 4, "--backoff", 200, REPO + "@v1")
        # 200, 400 and 800 ms, each between half and whole.
        self.assertTrue(0.7 <= result["seconds"] < 30, result)

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
            self.assertLess(time.monotonic() - start, 15)
        start = time.monotonic()
        self.refuse("io", "--attempts", 1, REPO + "@v1", environment={"HF_HUB_DOWNLOAD_TIMEOUT": "1"})
        self.assertLess(time.monotonic() - start, 15)

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
        self.assertLess(result["seconds"], 8)

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
            time.sleep(20)
            handler.close_connection = True
        self.hub.scripts.clear()
        self.hub.script("manifest.json", stated)
        fresh = ["--cache", self.folder / "fresh"]
        self.assertLess(self.refuse("limit", *fresh, REPO + "@v1", words=["8388608"])["seconds"], 15)

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
        self.assertLess(result["seconds"], 12)
        self.hub.scripts.clear()
        self.hub.script("/v1/", server.status(429, {"Retry-After": "20"}))
        result = self.refuse("io", "--cancel-after", 300, REPO + "@v1", words=["cancelled"])
        self.assertLess(result["seconds"], 12)
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

    def test_a_token_that_cannot_be_read(self):
        """What is cached needs none."""
        broken = {"HF_TOKEN_PATH": str(self.folder)}
        self.refuse("io", REPO + "@v1", environment=broken, words=[str(self.folder)])
        self.assertEqual(self.paths(), [])
        self.get(REPO + "@v1")
        self.hub.take()
        self.assertEqual(self.get(f"{REPO}@{self.commit}", environment=broken)["fetched"], 0)
        self.assertEqual(self.get("--offline", 1, REPO + "@v1", environment=broken)["fetched"], 0)
        self.refuse("io", REPO + "@v1", environment=broken)
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


class Hostile(HubCase):
    """Servers that mean harm: whatever they send, the answer is one error in bounded time and memory."""

    def raw(self, head, *pieces, pause=0.0, seconds=10):
        """An answer byte by byte as given; the last piece again and again until the client leaves."""
        def action(handler):
            handler.close_connection = True
            handler.wfile.write(head)
            end = time.monotonic() + seconds
            for piece in pieces[:-1]:
                handler.wfile.write(piece)
            while pieces and time.monotonic() < end:
                handler.wfile.write(pieces[-1])
                if pause:
                    time.sleep(pause)
        return action

    def against(self, part, action, kind, *arguments, words=(), seconds=15):
        self.hub.scripts.clear()
        self.hub.script(part, action, forever=True)
        result = self.refuse(kind, "--attempts", 1, "--stall", 1000, *arguments, REPO + "@v1", words=words)
        self.assertLess(result["seconds"], seconds)
        self.assertFalse(list(self.folder.rglob("*.incomplete")))
        self.assertFalse((self.repository() / "refs").exists())
        return result

    def test_bodies_that_expand(self):
        bomb = gzip.compress(b" " * (64 << 20))
        for part in ("/v1/", "manifest.json", "t1.wgsl"):
            # Nothing was asked to be compressed, so the bytes are taken as they are.
            self.hub.scripts.clear()
            self.hub.script(part, server.status(200, {"Content-Encoding": "gzip", "X-Repo-Commit": self.commit}, bomb))
            result, = self.probe("--attempts", 1, REPO + "@v1")
            self.assertIn(result["error"], ("integrity", "package"), result)
        chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n" + b"%x\r\n" % len(bomb) + bomb
        self.hub.scripts.clear()
        self.hub.script("manifest.json", self.raw(chunked + b"\r\n0\r\n\r\n"), forever=True)
        result, = self.probe("--cache", self.folder / "fresh", "--attempts", 1, REPO + "@v1")
        self.assertEqual(result["error"], "limit", result)

    def test_heads_without_end(self):
        start = b"HTTP/1.1 200 OK\r\n"
        line = b"X-Filler: " + b"y" * 1000 + b"\r\n"
        for name, head, piece, pause in (
                ("lines", start, line * 100, 0), ("a line", start + b"X: ", b"y" * 65536, 0),
                ("a name", start, b"y" * 65536, 0), ("a status line", b"HTTP/1.1 200 ", b"y" * 65536, 0),
                ("interim answers", b"", b"HTTP/1.1 100 Continue\r\nX: y\r\n\r\n" * 1000, 0),
                ("interim lines", b"HTTP/1.1 103 Early Hints\r\n", line * 100, 0),
                ("trailers", start + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n", line * 100, 0),
                ("a chunk's extension", start + b"Transfer-Encoding: chunked\r\n\r\n1;", b"y" * 100, 0.05),
                ("a chunk's size", start + b"Transfer-Encoding: chunked\r\n\r\n", b"0" * 65536, 0),
                ("empty lines", start, b"\r\n" * 1000, 0),
                ("a slow line", start + b"X: ", b"y", 0.1), ("slow lines", start, b"X: y\r\n", 0.1),
                ("slow interim answers", b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.1),
                ("slow chunks", start + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", 0.1)):
            for part in ("/v1/", "manifest.json")[1 if pause else 0:]:
                with self.subTest(name, part=part):
                    self.hub.scripts.clear()
                    self.hub.script(part, self.raw(head, piece, pause=pause, seconds=30), forever=True)
                    start_time = time.monotonic()
                    result, = self.probe("--attempts", 1, "--stall", 1000, REPO + "@v1")
                    self.assertIn(result.get("error"), ("io", "limit", "integrity", "package"), result)
                    self.assertLess(time.monotonic() - start_time, 20)

    def test_lengths_that_lie(self):
        content = self.files["manifest.json"]
        for length in (b"-1", b"x", b"99999999999999999999999", b"18446744073709551615", b"0", b"1",
                       b"%d" % (len(content) - 1), b"%d" % (len(content) + 1), b"1, 2", b"0x10", b""):
            with self.subTest(length):
                head = b"HTTP/1.1 200 OK\r\nContent-Length: " + length + b"\r\n\r\n" + content
                self.hub.scripts.clear()
                self.hub.script("manifest.json", self.raw(head), forever=True)
                result, = self.probe("--attempts", 1, "--stall", 1000, "--cache", self.folder / "fresh", REPO + "@v1")
                if "error" in result:
                    self.assertIn(result["error"], ("io", "integrity", "limit"), result)
                for blob in (self.folder / "fresh").rglob("blobs/*"):
                    self.assertIn(blob.read_bytes(), self.files.values())
        two = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: %d\r\n\r\n" % len(content) + content
        self.hub.scripts.clear()
        self.hub.script("manifest.json", self.raw(two), forever=True)
        result, = self.probe("--attempts", 1, "--stall", 1000, REPO + "@v1")
        self.assertIn(result.get("error", "integrity"), ("io", "integrity"), result)

    def test_control_characters(self):
        body, size = self.files["metadata.json"], b"%d" % len(self.files["metadata.json"])
        base = b"HTTP/1.1 200 OK\r\nContent-Length: " + size + b"\r\nX-Repo-Commit: " + self.commit.encode()
        for extra in (b"\r\nETag: \"a\0b\"", b"\r\nETag: \"\x1b[2J\"", b"\r\nETag: \"\x7f\xff\"", b"\0", b"\x0b",
                      b"\r\nX-Linked-Etag: ../../x"):
            with self.subTest(extra):
                self.against("/v1/", self.raw(base + extra + b"\r\n\r\n" + body), "io")
        for place in (b"/a\0b", b"/\x1b[2J", b"http://127.0.0.1\0.example/", b"\xff\xfe", b"//", b"http://[::1"):
            with self.subTest(place):
                self.against("/v1/", self.raw(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: " + place +
                                              b"\r\n\r\n"), "io")
        self.against("/v1/", self.raw(b"HTTP/1.1 404 x\r\nContent-Length: 0\r\nX-Error-Code: \x1b[2Jevil\r\n\r\n"),
                     "io")
        for word in ("\x1b[2J", "a b", "x" * 5000):
            self.hub.scripts.clear()
            self.hub.script("/v1/", server.status(404, {"X-Error-Code": word}))
            self.assertNotIn(word, str(self.refuse("io", REPO + "@v1")))

    def test_redirects_to_nowhere(self):
        other = self.start()
        back = server.redirect(lambda handler: f"{self.hub.url}/kernels/v1/metadata.json")
        other.script("/", back, forever=True)
        self.against("/v1/", server.redirect(other.url + "/x"), "io", words=["redirects", "10"])
        self.against("/v1/", server.redirect("http://127.0.0.1:1/x"), "io")
        self.against("/v1/", server.redirect("https://" + other.url.removeprefix("http://")), "io")
        self.against("/v1/", server.redirect("/" + "x" * 200000), "io")
        self.against("/v1/", server.redirect("dict://127.0.0.1:1/x"), "io", words=["no http"])
        self.against("/v1/", server.redirect("smb://127.0.0.1/x"), "io", words=["no http"])
        for action in (self.raw(b"HTTP/1.1 302 Found\r\n\r\n"), self.raw(b"HTTP/1.1 300 Many\r\n\r\n"),
                       self.raw(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n", b"x"),
                       self.raw(b"HTTP/9.9 200 OK\r\n\r\n"), self.raw(b"HTTP/1.1 999 OK\r\n\r\n"),
                       self.raw(b"HTTP/1.1 -1 OK\r\n\r\n"), self.raw(b"\x16\x03\x01\x02\0\x01\0"), self.raw(b"\0" * 9)):
            self.against("/v1/", action, "io")

    def test_redirect_with_a_name_and_password(self):
        """The server may choose what it sees of its own, but it learns nothing of ours."""
        other = self.start()
        place = other.url.replace("//", "//user:secret@") + "/gone"
        self.hub.script("/v1/", server.redirect(place))
        result = self.refuse("io", "--token", "hf_secret", REPO + "@v1", words=["404"])
        self.assertNotIn("secret", str(result))
        self.assertNotIn("hf_secret", str(other.take()))

    def test_names_that_leave_the_folder(self):
        names = ("../evil.wgsl.jinja", "/evil.wgsl.jinja", "a/evil.wgsl.jinja", "..", "", ".", "a\\evil.wgsl.jinja",
                 "evil\0.wgsl.jinja", "evil\x1b.wgsl.jinja", "x" * 300 + ".wgsl.jinja", "%2e%2e%2fevil.wgsl.jinja",
                 "metadata.json")
        for listed in (True, False):
            for name in names:
                with self.subTest(name, listed=listed):
                    files = small_package(templates=1)
                    manifest = json.loads(files["manifest.json"])
                    manifest["variants"][0]["passes"][0]["shader"] = name.removesuffix(".jinja")
                    files["manifest.json"] = json.dumps(manifest).encode()
                    metadata = json.loads(files["metadata.json"])
                    metadata["webgpu"]["variants"] = {"v0": [name]}
                    metadata["digest"]["files"]["manifest.json"] = server.digest(files["manifest.json"])
                    if listed:
                        metadata["digest"]["files"][name] = server.digest(b"evil")
                    files["metadata.json"] = json.dumps(metadata).encode()
                    self.hub.publish(REPO, files)
                    self.hub.scripts.clear()
                    self.hub.script("evil", server.status(200, {}, b"evil"), forever=True)
                    result, = self.probe(REPO + "@v1")
                    if name.startswith("%"):
                        continue
                    self.assertIn(result.get("error"), ("integrity", "package", "io"), result)
                    self.assertFalse([path for path in self.folder.rglob("*evil*")
                                      if path.parent.name != "webgpu"])
        self.assertFalse([path for path in self.folder.rglob("*") if path.is_file() and not path.is_symlink()
                          and path.parent.name not in ("blobs", "refs", self.repository().name) and
                          path.name != "CACHEDIR.TAG"])

    def test_etag_of_another_file(self):
        """What one file's digest vouches for must not take the place of another's content."""
        self.get(REPO + "@v1")
        before = {path.name: path.read_bytes() for path in (self.repository() / "blobs").iterdir()}
        newer = small_package(mark="newer")
        commit = self.hub.publish(REPO, newer)
        taken = server.git_sha1(self.files["manifest.json"])
        self.hub.script("t1.wgsl", server.body(newer["t1.wgsl.jinja"], {"ETag": f'"{taken}"'}))
        self.get(REPO + "@v1")
        after = {path.name: path.read_bytes() for path in (self.repository() / "blobs").iterdir()}
        self.assertEqual({name: after[name] for name in before}, before)
        self.assertEqual((self.snapshot(commit) / "t1.wgsl.jinja").read_bytes(), newer["t1.wgsl.jinja"])
        for state in (self.commit, commit):
            self.assertEqual(self.get("--offline", 1, f"{REPO}@{state}")["fetched"], 0)

    def test_more_than_a_package_may_weigh(self):
        """Each file is within its budget, all of them are not."""
        files = small_package(templates=20)
        metadata = json.loads(files["metadata.json"])
        for i in range(20):
            name = f"t{i}.wgsl.jinja"
            files[name] = files[name] + b"// " + b"x" * 4000000 + b"\n"
            metadata["digest"]["files"][name] = server.digest(files[name])
        files["metadata.json"] = json.dumps(metadata).encode()
        self.hub.publish(REPO, files)
        self.refuse("limit", REPO + "@v1", words=[str(64 << 20)])
        self.assertFalse((self.repository() / "refs").exists())
        self.assertFalse(list(self.folder.rglob("*.incomplete")))

    def test_listing(self):
        for name, action in (("endless", server.endless()), ("loop", server.redirect(lambda handler: handler.path)),
                             ("file", server.redirect("file:///etc/passwd")), ("cut", server.cut),
                             ("slow", server.drip(20))):
            with self.subTest(name):
                self.hub.scripts.clear()
                self.hub.plain["/api/kernels"] = b" " * 1000
                self.hub.script("/api/", action, forever=True)
                result, = self.probe("--attempts", 1, "--stall", 1000, "--list", "webgpu-kernels")
                self.assertIn(result["error"], ("io", "limit"))


if __name__ == "__main__":
    sys.exit(run_tests(LEAST_TESTS, "tests of the network"))
