"""Installs the build into a folder, moves it, and uses it from a folder that knows nothing of the sources.

usage: install_test.py PART BUILD FOLDER CMAKE C-COMPILER CXX-COMPILER

PART: tree installs to FOLDER; cmake_c, cmake_cpp, pkg_config and program use what lies there.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OP = "com.microsoft.BiasSoftmax"
ROWS = "0.0900 0.2447 0.6652 0.0000\n0.6652 0.2447 0.0900 0.0000\n"
NOT_PASSED_ON = ("KERNELPACK_PACKAGES", "LD_LIBRARY_PATH", "CMAKE_PREFIX_PATH", "PKG_CONFIG_PATH")


class Install:
    def __init__(self, build, folder, cmake, c_compiler, cxx_compiler):
        self.build, self.cmake = build, cmake
        self.compilers = {"C": c_compiler, "CXX": cxx_compiler}
        self.prefix = pathlib.Path(folder) / "moved"
        self.environment = {name: value for name, value in os.environ.items() if name not in NOT_PASSED_ON}

    def run(self, *command, **variables):
        command = [str(word) for word in command]
        result = subprocess.run(command, capture_output=True, text=True, check=False,
                                env={**self.environment, **{k: str(v) for k, v in variables.items()}})
        assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
        return result.stdout

    def expect_rows(self, program, **variables):
        first, rows = self.run(program, **variables).split("\n", 1)
        assert first.startswith(f"{OP} on cpu ("), first
        assert rows == ROWS, rows

    def packages(self):
        return self.prefix / "share/kernelpack/packages"

    def tree(self):
        """Nothing may remember where it was installed first."""
        first = self.prefix.parent / "first"
        for folder in (first, self.prefix):
            shutil.rmtree(folder, ignore_errors=True)
        self.run(self.cmake, "--install", self.build, "--prefix", first)
        first.rename(self.prefix)
        for text in [*self.prefix.rglob("*.cmake"), *self.prefix.rglob("*.pc")]:
            content = text.read_text(encoding="utf-8")
            for foreign in (str(ROOT), str(self.build), str(first)):
                assert foreign not in content, f"{text} names {foreign}"
        headers = {path.name for path in (ROOT / "include/kernelpack").iterdir()}
        assert {path.name for path in (self.prefix / "include/kernelpack").iterdir()} == headers
        shipped = {path.relative_to(ROOT / "packages") for path in (ROOT / "packages").rglob("*")}
        assert {path.relative_to(self.packages()) for path in self.packages().rglob("*")} == shipped

    def configure_and_build(self, folder, *options):
        self.run(self.cmake, "-S", HERE / "consumer", "-B", folder, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                 f"-DSOURCES={ROOT}", f"-DCMAKE_C_COMPILER={self.compilers['C']}", *options)
        self.run(self.cmake, "--build", folder)

    def cmake_c(self, folder):
        """A C compiler alone; the library finds its packages from where it lies."""
        self.configure_and_build(folder)
        self.expect_rows(folder / "shared_c")

    def cmake_cpp(self, folder):
        self.configure_and_build(folder, "-DCXX=ON", f"-DCMAKE_CXX_COMPILER={self.compilers['CXX']}")
        self.expect_rows(folder / "shared_c")
        for program in ("static_c", "static_cpp"):
            self.expect_rows(folder / program, KERNELPACK_PACKAGES=self.packages())

    def pkg_config(self, folder):
        def ask(*question):
            return self.run("pkg-config", *question, PKG_CONFIG_PATH=self.prefix / "lib/pkgconfig").split()

        source = ROOT / "examples/c/bias_softmax.c"
        self.run(self.compilers["C"], "-std=c11", source, "-o", folder / "shared",
                 *ask("--cflags", "--libs", "kernelpack"))
        self.expect_rows(folder / "shared", LD_LIBRARY_PATH=self.prefix / "lib")
        packages, = ask("--variable=packages", "kernelpack")
        assert pathlib.Path(packages).resolve() == self.packages().resolve(), packages

        self.run(self.compilers["C"], "-std=c11", source, "-o", folder / "static",
                 *ask("--cflags", "--libs", "kernelpack-static"))
        self.expect_rows(folder / "static", KERNELPACK_PACKAGES=packages)

        # Where only the archive is there, --static names what it needs.
        alone = folder / "alone"
        (alone / "lib/pkgconfig").mkdir(parents=True)
        (alone / "include").symlink_to(self.prefix / "include")
        shutil.copy(self.prefix / "lib/libkernelpack.a", alone / "lib")
        shutil.copy(self.prefix / "lib/pkgconfig/kernelpack.pc", alone / "lib/pkgconfig")
        flags = self.run("pkg-config", "--static", "--cflags", "--libs", "kernelpack",
                         PKG_CONFIG_PATH=alone / "lib/pkgconfig").split()
        needed = [flag for flag in flags if not self.is_private_of_system(flag)]
        self.run(self.compilers["C"], "-std=c11", source, "-o", folder / "alone_static", *needed)
        self.expect_rows(folder / "alone_static", KERNELPACK_PACKAGES=packages)

    def is_private_of_system(self, flag):
        """Libraries that curl's own archive would need, which are not installed with it."""
        wanted = {"-lkernelpack", "-lfmt", "-lcrypto", "-lcurl", "-lstdc++", "-lm", "-ldl"}
        return flag.startswith("-l") and flag not in wanted

    def program(self):
        program = self.prefix / "bin/kernelpack"
        listed = json.loads(self.run(program, "list", "--json"))
        folder = pathlib.Path({entry["op"]: entry["folder"] for entry in listed}[OP])
        assert folder.resolve() == (self.packages() / OP).resolve(), folder
        assert json.loads(self.run(program, "inspect", OP, "--json"))["verified"]


def main():
    part, *arguments = sys.argv[1:]
    install = Install(*arguments)
    if part in ("tree", "program"):
        getattr(install, part)()
        return
    if part == "pkg_config" and shutil.which("pkg-config") is None:
        print("skipped: pkg-config is not installed")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        getattr(install, part)(pathlib.Path(folder))


if __name__ == "__main__":
    main()
