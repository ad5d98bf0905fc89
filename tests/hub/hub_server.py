"""A Hub on the loopback whose answers a test scripts, and packages to serve.

Every request is recorded with its headers. `Hub.script(part, *actions)` makes the next requests whose path holds `part`
do something else: each action is used once; `None` means the ordinary answer, and the last one stays if `forever`.
"""

import base64
import hashlib
import http.server
import json
import socket
import ssl
import subprocess
import threading
import time
import urllib.parse

ROOT = "build/webgpu/"


def git_sha1(content):
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def digest(content):
    return base64.b64encode(hashlib.sha256(content).digest()).decode()


def small_package(op="ai.onnx.Small", templates=3, mark="", version=1, digests=None):
    """The files of a package whose every template belongs to one pass; `mark` tells states apart."""
    domain, name = op.rsplit(".", 1)
    names = [f"t{i}.wgsl.jinja" for i in range(templates)]
    variants = [{"id": f"v{i}", "passes": [{"shader": shader, "bindings": ["x", "y"],
                                            "dispatch": {"x": "numel(shapes.y)"}}]}
                for i, shader in enumerate(names)]
    manifest = {"domain": domain, "name": name, "description": f"small {mark}", "inputs": {"x": {"dtype": "T"}},
                "outputs": {"y": {"dtype": "T", "shape": "shapes.x"}},
                "typeConstraints": {"T": ["float32", "float16"]}, "variants": variants}
    files = {"manifest.json": json.dumps(manifest, indent=1).encode(), "test.json": b"{}"}
    for i, shader in enumerate(names):
        files[shader] = f"// {mark} {i}\n@compute @workgroup_size(1)\nfn main() {{}}\n".encode()
    listed = {file: digest(content) for file, content in files.items()}
    listed.update(digests or {})
    metadata = {"name": op, "id": "_small", "version": version, "license": "Apache-2.0",
                "backend": {"type": "webgpu"}, "digest": {"algorithm": "sha256", "files": listed},
                "webgpu": {"manifestSpec": "2.1",
                           "variants": {variant["id"]: [variant["passes"][0]["shader"]] for variant in variants}}}
    files["metadata.json"] = json.dumps(metadata).encode()
    return files


def commit_of(files):
    state = hashlib.sha1()
    for name in sorted(files):
        state.update(name.encode() + b"\0" + files[name] + b"\0")
    return state.hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    hub = None

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except (ConnectionError, ssl.SSLError, TimeoutError):
            pass

    def finish(self):
        try:
            super().finish()
        finally:
            with self.hub.lock:
                self.hub.open -= 1

    def do_HEAD(self):
        self.answer()

    def do_GET(self):
        self.answer()

    def answer(self):
        hub = self.hub
        with hub.lock:
            hub.requests.append((self.command, self.path, {k.lower(): v for k, v in self.headers.items()}))
            hub.active += 1
            hub.most_active = max(hub.most_active, hub.active)
            action = hub.next_action(self.path)
        try:
            if action is None or action(self) is False:
                self.serve()
        finally:
            with hub.lock:
                hub.active -= 1

    def send(self, status, body=b"", headers=None):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def content(self):
        """Body and headers of the path, or None."""
        hub = self.hub
        path = urllib.parse.urlsplit(self.path).path
        parts = urllib.parse.unquote(path).strip("/").split("/")
        if parts[:1] == ["kernels"] and len(parts) > 5 and parts[3] == "resolve":
            repo, revision, file = "/".join(parts[1:3]), parts[4], "/".join(parts[5:])
            commit = hub.branches.get(repo, {}).get(revision, revision)
            files = hub.commits.get(repo, {}).get(commit)
            if files is None or not file.startswith(ROOT) or file[len(ROOT):] not in files:
                return None
            body = files[file[len(ROOT):]]
            return body, {"ETag": f'"{git_sha1(body)}"', "X-Repo-Commit": commit}
        if path in hub.plain:
            return hub.plain[path], {}
        return None

    def serve(self):
        if urllib.parse.urlsplit(self.path).path == "/api/kernels":
            query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
            ids = [{"id": repo, "likes": 3} for repo in self.hub.branches if repo.startswith(query["author"][0] + "/")]
            self.send(200, json.dumps(ids).encode(), {"Content-Type": "application/json"})
            return
        found = self.content()
        if found is None:
            self.send(404, b"not found", {"X-Error-Code": "EntryNotFound"})
        else:
            self.send(200, *found)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64
    hub = None

    def process_request(self, request, client_address):
        with self.hub.lock:
            self.hub.open += 1
            self.hub.latest = client_address[1]
        super().process_request(request, client_address)

    def handle_error(self, *_):
        pass


class Hub:
    def __init__(self, certificate=None):
        handler = type("BoundHandler", (Handler,), {"hub": self})
        self.server = Server(("127.0.0.1", 0), handler)
        self.server.hub = self
        self.scheme = "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True,
                                                     do_handshake_on_connect=False)
            self.scheme = "https"
        self.port = self.server.server_address[1]
        self.url = f"{self.scheme}://127.0.0.1:{self.port}"
        self.lock = threading.Lock()
        self.requests, self.scripts = [], []
        self.active = self.most_active = self.open = self.latest = 0
        self.branches, self.commits, self.plain = {}, {}, {}
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def publish(self, repo, files, branch="v1"):
        commit = commit_of(files)
        self.commits.setdefault(repo, {})[commit] = files
        if branch:
            self.branches.setdefault(repo, {})[branch] = commit
        return commit

    def put(self, prefix, files):
        """Files below a base URL; returns the URL."""
        for name, content in files.items():
            self.plain[f"{prefix}/{ROOT}{name}"] = content
        return self.url + prefix

    def script(self, part, *actions, forever=False):
        self.scripts.append([part, list(actions), forever])

    def next_action(self, path):
        for part, actions, forever in self.scripts:
            if part in path and actions:
                return actions[0] if forever and len(actions) == 1 else actions.pop(0)
        return None

    def settle(self):
        """Returns once no request of a client that is gone can come any more; later scripts are then for later clients."""
        with socket.create_connection(("127.0.0.1", self.port)) as last:
            end = time.monotonic() + 2
            while self.latest != last.getsockname()[1] and time.monotonic() < end:
                time.sleep(0.001)
        while self.open > self.active and time.monotonic() < end:
            time.sleep(0.001)

    def take(self):
        """The recorded requests so far, which are then forgotten."""
        with self.lock:
            taken, self.requests = self.requests, []
        return taken


def status(code, headers=None, body=b"no"):
    return lambda handler: handler.send(code, body, headers)


def redirect(target, code=302, headers=None):
    def action(handler):
        place = target(handler) if callable(target) else target
        handler.send(code, b"", {"Location": place, **(headers or {})})
    return action


def truncate(handler):
    """Half of the body that Content-Length promises, then the end of the connection."""
    body, headers = handler.content()
    handler.send_response(200)
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body[:len(body) // 2])
    handler.close_connection = True


def half(seconds=30):
    """Half of the body, and then nothing more."""
    def action(handler):
        content, headers = handler.content()
        handler.send_response(200)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content[:len(content) // 2])
        time.sleep(seconds)
        handler.close_connection = True
    return action


def cut(handler):
    """The connection ends without an answer."""
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def hang(seconds=30):
    return lambda handler: time.sleep(seconds)


def late(seconds):
    """The ordinary answer after a while."""
    def action(handler):
        time.sleep(seconds)
        return False
    return action


def drip(seconds=30):
    """A byte of the body every tenth of a second."""
    def action(handler):
        body, headers = handler.content()
        handler.send_response(200)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        end = time.monotonic() + seconds
        for i in range(len(body)):
            if time.monotonic() > end:
                break
            handler.wfile.write(body[i:i + 1])
            handler.wfile.flush()
            time.sleep(0.1)
        handler.close_connection = True
    return action


def endless(limit=1 << 30):
    """A body without a stated length that goes on."""
    def action(handler):
        handler.send_response(200)
        handler.send_header("X-Repo-Commit", "0" * 40)
        handler.send_header("ETag", '"endless"')
        handler.send_header("Connection", "close")
        handler.end_headers()
        block, sent = b" " * 65536, 0
        while sent < limit:
            handler.wfile.write(block)
            sent += len(block)
        handler.close_connection = True
    return action


def body(content, headers=None):
    """Another body under the ordinary headers."""
    def action(handler):
        found = handler.content()
        handler.send(200, content, {**(found[1] if found else {}), **(headers or {})})
    return action


def make_certificate(folder):
    """A certificate for 127.0.0.1 and its key, made now."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
                    "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"],
                   check=True, capture_output=True)
    return str(certificate), str(key)
