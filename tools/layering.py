#!/usr/bin/env python3
"""usage: tools/layering.py [ROOT]

Checks every #include of the tree at ROOT (default: this repository) against tools/layering.json, and that the ROOMS
that src/*/CMakeLists.txt links are those that the room includes. Prints a line for each violation; exit code 1 if
there is any.
"""

import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = {".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".inc"}
FOLDERS = ("include", "src", "cli", "examples", "bindings", "tests", "bench")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
# Literals are matched so that what looks like a comment inside them stays.
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|/\*.*?\*/|//[^\n]*', re.DOTALL)


def glob_regex(pattern):
    """** any folders, * and ? inside a name."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    wild = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(wild.get(part, re.escape(part)) for part in parts) + r"\Z")


def matches(path, patterns):
    return any(glob_regex(pattern).match(path) for pattern in patterns)


def without_comments(text):
    """Comments become blanks; lines keep their numbers."""
    return COMMENT.sub(
        lambda found: re.sub(r"[^\n]", " ", found.group()) if found.group()[0] == "/" else found.group(), text)


class Tree:
    def __init__(self, root, rules):
        self.root = root
        self.rules = rules
        self.rooms = rules["rooms"]
        self.violations = []
        self.files = 0
        self.included_rooms = {}  # room -> {other room: first file that includes it}

    def room_of(self, path):
        parts = path.split("/")
        return parts[1] if len(parts) > 2 and parts[0] == "src" else None

    def resolve(self, path, name):
        """The path in the tree that an include names, or None for a header of a library."""
        for base in (pathlib.PurePosixPath(path).parent, pathlib.PurePosixPath("src"),
                     pathlib.PurePosixPath("include")):
            candidate = self.root / base / name
            if candidate.is_file():
                return candidate.resolve().relative_to(self.root).as_posix()
        if any(re.search(library["headers"], name) for library in self.rules["libraries"]):
            return None
        first = name.split("/")[0]
        if first in self.rooms:
            return f"src/{name}"
        return f"include/{name}" if first == "kernelpack" else None

    def forbid(self, path, line, message):
        self.violations.append(f"{path}:{line}: {message}")

    def check_target(self, path, line, name, target):
        """An include of a file of the tree."""
        if matches(target, [self.rules["public_headers"]]):
            return
        if matches(path, [self.rules["public_headers"]]):
            self.forbid(path, line, f"a public header may not include {name}")
        elif matches(path, self.rules["public_only"]):
            if target.split("/")[0] != path.split("/")[0]:
                self.forbid(path, line, f"{path.split('/')[0]} may include only include/kernelpack ({name})")
        elif path.startswith("src/") and not matches(path, self.rules["spine"]):
            room, other = self.room_of(path), self.room_of(target)
            if room not in self.rooms:
                self.forbid(path, line, f"src/{room} is no room of tools/layering.json")
            elif other is None:
                self.forbid(path, line, f"the room {room} may not include {name}")
            elif other != room:
                self.included_rooms.setdefault(room, {}).setdefault(other, path)
                if other != "base" and other not in self.rooms[room]:
                    self.forbid(path, line, f"the room {room} may not include the room {other} ({name})")

    def check_library(self, path, line, name):
        if matches(path, [self.rules["public_headers"]]) and "/" in name:
            self.forbid(path, line, f"a public header may not include a library ({name})")
        for library in self.rules["libraries"]:
            if re.search(library["headers"], name) and not matches(path, library["only"]):
                self.forbid(path, line, f"{name} is for {', '.join(library['only'])} only")

    def check_file(self, path):
        text = without_comments((self.root / path).read_text(encoding="utf-8", errors="replace"))
        for found in INCLUDE.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            name = found.group(2)
            target = self.resolve(path, name)
            if target is None:
                self.check_library(path, line, name)
            else:
                self.check_target(path, line, name, target)
        if matches(path, [self.rules["public_headers"]]):
            for word in self.rules["forbidden_in_public_headers"]:
                at = text.find(word)
                if at >= 0:
                    self.forbid(path, text.count("\n", 0, at) + 1, f"a public header may not mention {word}")

    def check_links(self):
        for listing in sorted(self.root.glob("src/*/CMakeLists.txt")):
            room = listing.parent.name
            path = listing.relative_to(self.root).as_posix()
            text = re.sub(r"#[^\n]*", "", listing.read_text(encoding="utf-8"))
            call = re.search(r"kernelpack_room\(([^)]*)\)", text)
            if call is None:
                continue
            words = call.group(1).split()
            linked, key = set(), None
            for word in words:
                if word in ("NAME", "SOURCES", "TESTS", "ROOMS", "LIBRARIES"):
                    key = word
                elif key == "ROOMS":
                    linked.add(word)
            for other in sorted(linked - {"base"} - set(self.rooms.get(room, []))):
                self.forbid(path, 1, f"the room {room} may not link the room {other}")
            for other, user in sorted(self.included_rooms.get(room, {}).items()):
                if other not in linked:
                    self.forbid(path, 1, f"the room {room} includes {other} ({user}) but does not name it in ROOMS")

    def check(self):
        for folder in FOLDERS:
            for file in sorted((self.root / folder).rglob("*")):
                path = file.relative_to(self.root).as_posix()
                if file.suffix in SOURCES and file.is_file() and not matches(path, self.rules["ignored"]):
                    self.files += 1
                    self.check_file(path)
        self.check_links()


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else HERE.parent).resolve()
    tree = Tree(root, json.loads((HERE / "layering.json").read_text(encoding="utf-8")))
    tree.check()
    for violation in tree.violations:
        print(violation)
    print(f"layering: {tree.files} files, {len(tree.violations)} violations")
    return 1 if tree.violations else 0


if __name__ == "__main__":
    sys.exit(main())
