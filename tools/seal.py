#!/usr/bin/env python3
"""Writes metadata.json of a kernel package, or checks that it is up to date.

    tools/seal.py PACKAGE [--check] [--version N]

PACKAGE is a folder with build/webgpu/manifest.json, or one that holds manifest.json itself. The result depends on the
files of the package alone: sealing twice gives the same bytes. --check writes nothing and exits 1 if metadata.json is
missing or differs from what sealing would write.
"""

import argparse
import base64
import hashlib
import json
import pathlib
import sys

IGNORED = {"metadata.json"}


def webgpu_folder(package):
    for folder in (package / "build" / "webgpu", package):
        if (folder / "manifest.json").is_file():
            return folder
    sys.exit(f"seal: {package} holds no manifest.json")


def sha256(data):
    return base64.b64encode(hashlib.sha256(data).digest()).decode("ascii")


def templates_of(passes):
    names = set()
    for entry in passes:
        if "repeat" in entry:
            names |= templates_of(entry["passes"])
        else:
            names.add(entry["shader"] if "shader" in entry else entry["source"]["shader"])
    return names


def variant_templates(manifest):
    """Variant id -> sorted template files, in manifest order; families must be expanded by the author."""
    result = {}
    for index, variant in enumerate(manifest.get("variants", [])):
        if "cases" in variant or "axes" in variant:
            sys.exit(f"seal: /variants/{index} is a family, which seal does not expand")
        result[variant.get("id", f"variant_{index}")] = sorted(templates_of(variant["passes"]))
    return result


def seal(folder, version):
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    files = sorted(path.name for path in folder.iterdir() if path.is_file() and path.name not in IGNORED)
    digests = {name: sha256((folder / name).read_bytes()) for name in files}
    op_id = manifest.get("domain", "ai.onnx") + "." + manifest["name"]
    listing = "".join(f"{name}\0{digest}\n" for name, digest in digests.items())
    content = hashlib.sha256(listing.encode("utf-8")).hexdigest()[:7]
    older = isinstance(manifest.get("inputs"), list)
    webgpu = {"manifestSpec": "1.0" if older else "2.1"}
    if older:
        webgpu["specialized"] = True
        webgpu["opPath"] = f"ops/{op_id}"
    elif "variants" in manifest:
        webgpu["variants"] = variant_templates(manifest)
    metadata = {
        "name": op_id,
        "id": f"_{op_id.lower().replace('.', '_')}_webgpu_{content}",
        "version": version,
        "license": "Apache-2.0",
        "backend": {"type": "webgpu"},
        "digest": {"algorithm": "sha256", "files": digests},
        "webgpu": webgpu,
    }
    return json.dumps(metadata, indent=2, ensure_ascii=False) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("package", type=pathlib.Path)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if metadata.json is stale")
    parser.add_argument("--version", type=int, help="contract version (default: that of metadata.json, else 1)")
    options = parser.parse_args()

    folder = webgpu_folder(options.package)
    target = folder / "metadata.json"
    present = target.read_text(encoding="utf-8") if target.is_file() else None
    version = options.version
    if version is None:
        version = json.loads(present)["version"] if present else 1
    text = seal(folder, version)
    if options.check:
        if text != present:
            sys.exit(f"seal: {target} is {'stale' if present else 'missing'}; run tools/seal.py {options.package}")
        print(f"{target} is up to date")
    elif text != present:
        target.write_text(text, encoding="utf-8", newline="\n")
        print(f"{target} written")


if __name__ == "__main__":
    main()
