"""One cache for kernelpack and for Hugging Face's own client, both ways.

usage: share_test.py PROBE PACKAGES     PACKAGES: the folder that tools/pypi_packages.sh prints; empty where it is absent
Exit code 77: skipped, with the reason in the last line.
"""

import json
import os
import pathlib
import subprocess
import sys
import threading
import unittest

import hub_server as server
from hub_case import REPO, HubCase, run_tests, tree
from hub_server import small_package

LEAST_TESTS = 7

CLIENT = """
import json, sys, warnings
warnings.simplefilter("error")
from huggingface_hub import hf_hub_download, scan_cache_dir
task = json.loads(sys.argv[1])
if "files" in task:
    print(json.dumps([hf_hub_download(task["repo"], "build/webgpu/" + file, repo_type="kernel",
                                      revision=task["revision"]) for file in task["files"]]))
else:
    cache = scan_cache_dir()
    print(json.dumps({"warnings": [str(warning) for warning in cache.warnings],
                      "repos": {repo.repo_id: [repo.repo_type, repo.nb_files,
                                               {revision.commit_hash: sorted(revision.refs)
                                                for revision in repo.revisions}] for repo in cache.repos}}))
"""


class Share(HubCase):
    packages = ""

    def client(self, environment=None, **task):
        """What the client says."""
        settings = {**self.environment, "PYTHONPATH": self.packages, "HF_HUB_DISABLE_TELEMETRY": "1",
                    "HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_UPDATE_CHECK": "1", **(environment or {})}
        result = subprocess.run([sys.executable, "-c", CLIENT, json.dumps(task)], env=settings, text=True, timeout=120,
                                capture_output=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout.splitlines()[-1])

    def download(self, *files, revision="v1", **options):
        return self.client(repo=REPO, revision=revision, files=files or self.used(), **options)

    def used(self):
        return [name for name in self.files if name != "test.json"]

    def test_theirs_serves_ours(self):
        self.download()
        self.hub.take()
        for source in (REPO + "@v1", f"{REPO}@{self.commit}"):
            self.assertEqual(self.get("--offline", 1, source)["fetched"], 0)
        self.assertEqual(self.get(f"{REPO}@{self.commit}")["fetched"], 0)
        self.assertEqual(self.paths(), [])
        self.assertEqual(self.get(REPO + "@v1")["fetched"], 1)
        self.assertEqual(self.paths(), [self.resolve("v1", "metadata.json")])

    def test_theirs_by_commit_serves_ours(self):
        self.download(revision=self.commit)
        self.hub.take()
        self.assertEqual(self.get(f"{REPO}@{self.commit}")["fetched"], 0)
        self.assertEqual(self.paths(), [])

    def test_ours_serves_theirs(self):
        self.get(REPO + "@v1")
        self.hub.take()
        for revision in ("v1", self.commit):
            places = self.download(revision=revision, environment={"HF_HUB_OFFLINE": "1"})
            for name, place in zip(self.used(), places):
                self.assertEqual(pathlib.Path(place), self.snapshot() / name)
                self.assertEqual(pathlib.Path(place).read_bytes(), self.files[name])
        self.assertEqual(self.hub.take(), [])
        before = tree(self.repository())
        self.download()
        self.assertEqual({method for method, _, _ in self.hub.take()}, {"HEAD"})
        self.assertEqual(tree(self.repository()), before)

    def test_the_same_files_in_the_same_places(self):
        self.get(REPO + "@v1")
        ours = tree(self.repository())
        environment = {"HF_HOME": str(self.folder / "theirs")}
        self.download(environment=environment)
        self.assertEqual(tree(self.folder / "theirs/hub" / self.repository().name), ours)

    def test_each_completes_what_the_other_began(self):
        self.download("metadata.json", "t0.wgsl.jinja")
        result = self.get(REPO + "@v1")
        self.assertEqual((result["commit"], result["note"]), (self.commit, ""))
        self.hub.take()
        self.assertEqual(self.get("--offline", 1, REPO + "@v1")["fetched"], 0)
        newer = small_package(mark="newer")
        commit = self.hub.publish(REPO, newer)
        self.download("manifest.json")
        self.assertEqual((self.repository() / "refs/v1").read_text(), commit)
        self.assertEqual(self.get(REPO + "@v1")["description"], "small newer")

    def test_an_incomplete_state_of_theirs_does_not_count_as_cached(self):
        self.download("t0.wgsl.jinja")
        self.hub.script("/v1/", server.status(500), forever=True)
        self.refuse("io", "--attempts", 2, REPO + "@v1", words=["500"])

    def test_their_inventory_of_ours(self):
        self.get(REPO + "@v1")
        inventory = self.client(scan=True)
        self.assertEqual(inventory["warnings"], [])
        self.assertEqual(inventory["repos"], {REPO: ["kernel", 5, {self.commit: ["v1"]}]})

    def test_both_at_once(self):
        self.hub.script("wgsl", server.late(0.05), forever=True)
        faults = []

        def run(action):
            try:
                action()
            except BaseException as fault:  # pylint: disable=broad-except
                faults.append(fault)
        threads = [threading.Thread(target=run, args=(action,))
                   for action in (self.download, lambda: self.get(REPO + "@v1")) * 2]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(faults, [])
        self.assertEqual(self.get("--offline", 1, REPO + "@v1")["fetched"], 0)
        self.assertFalse(list(self.cache.rglob("*.incomplete")))


def main():
    Share.packages = sys.argv.pop(2) if len(sys.argv) > 2 else ""
    if not Share.packages or not os.path.isdir(Share.packages):
        print("Hugging Face's client is not installed (tools/pypi_packages.sh)")
        return 77
    return run_tests(LEAST_TESTS, "tests with Hugging Face's client")


if __name__ == "__main__":
    sys.exit(main())
