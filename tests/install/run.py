#!/usr/bin/env python3
"""Installs a build into a fresh folder, compiles each header of the face by itself, and builds and runs programs in C++ and C
that know nothing but the package."""

import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def run(*command: object) -> None:
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}\nexit code {done.returncode}")


def main() -> int:
    build = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prefix = folder / "prefix"
        run("cmake", "--install", build, "--prefix", prefix)
        # `extension.h` needs more than the package: tests/plugins.
        headers = [header for header in sorted((prefix / "include/nnefc").glob("*.h")) if header.name != "extension.h"]
        for header in headers:
            source = folder / "alone.cpp"
            source.write_text(f'#include "{header.relative_to(prefix / "include")}"\n')
            run("c++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", prefix / "include", source)
        source = folder / "alone.c"
        source.write_text('#include "nnefc/nnefc.h"\n')
        run("cc", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", "-I", prefix / "include", source)
        sources = folder / "programs"
        shutil.copytree(HERE / "programs", sources)
        os.environ["CMAKE_PREFIX_PATH"] = str(prefix)
        run("cmake", "-S", sources, "-B", folder / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release")
        run("cmake", "--build", folder / "build")
        for program in ("program_cpp", "program_c", "program_openmp"):
            run(folder / "build" / program)
        run(prefix / "bin/nnefc", "--version")
        # What reads archives is a library of its own, which has to be found.
        document = folder / "graph.nnef"
        document.write_text("version 1.0;\ngraph g(x) -> (y)\n{\n    x = external(shape = [2]);\n    y = relu(x);\n}\n")
        with tarfile.open(folder / "model.tar", "w") as archive:
            archive.add(document, "graph.nnef")
        run(prefix / "bin/nnefc", "check", folder / "model.tar")
    print(f"{len(headers)} headers compile alone, three programs run")
    return 0


if __name__ == "__main__":
    sys.exit(main())
