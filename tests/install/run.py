#!/usr/bin/env python3
"""Installs a build into a fresh folder, compiles each public header separately, and builds and runs programs in C++ and
C that use only the package, and the examples of tools/examples: run.py BUILD, or run.py --prefix FOLDER for an existing
installation."""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "readme"))

import blocks  # noqa: E402

EXAMPLES = HERE.parent.parent / "tools/examples"
NETWORK = HERE.parent / "networks/googlenet.nnef"  # oneDNN computes some of its operations


def run(*command: object) -> str:
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}\nexit code {done.returncode}")
    return done.stdout


# The same formula as the plug-in's operation, with standard operations.
HARD_SWISH = """version 1.0;
extension KHR_enable_operator_expressions;
graph net(x) -> (y)
{
    x = external(shape = [1, 5]);
    y = x * min(max(x + 3.0, 0.0), 6.0) / 6.0;
}
"""


def run_examples(prefix: pathlib.Path, folder: pathlib.Path) -> None:
    """Builds the examples in C++ and C, and runs them."""
    for name in ("cpp", "c", "plugin"):
        run("cmake", "-S", EXAMPLES / name, "-B", folder / name, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
            "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON")
        run("cmake", "--build", folder / name)
    printed = [run(folder / "cpp" / "evaluate", NETWORK), run(folder / "c" / "evaluate_c", NETWORK)]
    if printed[0] != printed[1] or not printed[0].startswith("output: rank 4, largest element 0."):
        raise SystemExit(f"the examples in C++ and C print\n{printed[0]}\n{printed[1]}")
    document = folder / "hard_swish.nnef"
    document.write_text(HARD_SWISH)
    run(prefix / "bin/nnefc", "run", document, "--random-inputs", 1, "-o", folder / "y.npz")
    run(prefix / "bin/nnefc", "run", EXAMPLES / "plugin/net.nnef", "--extensions", folder / "plugin/hard_swish.so",
        "--random-inputs", 1, "--compare", folder / "y.npz", "--tolerance", "close")


def hoisted(code: str) -> str:
    """Returns a program with the statements of a code block in its main function."""
    lines = code.splitlines()
    includes = [line for line in lines if line.startswith("#include")]
    body = [line for line in lines if not line.startswith("#include")]
    return "\n".join(["#include <iostream>", "#include <vector>", *includes, "int main() {",
                      "std::vector<float> pixels(3 * 224 * 224);", *body, "}", ""])


def build_blocks(prefix: pathlib.Path, folder: pathlib.Path) -> int:
    """Builds the code blocks of pages that tests/readme leaves to this test: C++ is compiled, CMake configured and built."""
    count = 0
    for name in sorted(blocks.COMPILED):
        for block in blocks.parse((blocks.ROOT / name).read_text(encoding="utf-8")):
            project = folder / f"block_{count}"
            if block.included or block.language not in ("cpp", "cmake"):
                continue
            project.mkdir()
            if block.language == "cpp":
                (project / "block.cpp").write_text(hoisted(block.text))
                run("c++", "-std=c++20", "-Wall", "-fsyntax-only", "-I", prefix / "include", project / "block.cpp")
            else:
                (project / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.25)\nproject(block LANGUAGES CXX)\n{block.text}")
                shutil.copy(EXAMPLES / "cpp/evaluate.cpp", project / "program.cpp")
                shutil.copy(EXAMPLES / "plugin/hard_swish.cpp", project / "plugin.cpp")
                run("cmake", "-S", project, "-B", project / "build", "-G", "Ninja")
                run("cmake", "--build", project / "build")
            count += 1
    if count < len(blocks.COMPILED):
        raise SystemExit(f"only {count} code blocks are found")
    return count


def check_files(prefix: pathlib.Path) -> None:
    """Checks the version of the library, the symbols of the C interface, the file for pkg-config, and the man pages."""
    library = next(prefix.rglob("libnnefc.so"))
    if not re.search(r"SONAME.*\[libnnefc\.so\.\d+\]", run("readelf", "-d", library)):
        raise SystemExit(f"{library} has no SONAME with a version")
    exported = run("nm", "-D", "--defined-only", "--with-symbol-versions", library)
    header = (prefix / "include/nnefc/nnefc.h").read_text(encoding="utf-8")
    functions = sorted(set(re.findall(r"\b(nnefc_\w+)\(", re.sub(r"/\*.*?\*/", "", header, flags=re.DOTALL))))
    missing = [name for name in functions if not re.search(rf" {name}@@NNEFC_C_\d+$", exported, re.MULTILINE)]
    if missing or len(functions) < 30:
        raise SystemExit(f"{library} lacks versioned symbols of {missing}; the header has {len(functions)} functions")
    os.environ["PKG_CONFIG_PATH"] = str(next(prefix.rglob("nnefc.pc")).parent)
    if shutil.which("pkg-config"):
        flags = run("pkg-config", "--cflags", "--libs", "nnefc").split()
        if not any(flag.startswith("-I") and pathlib.Path(flag[2:], "nnefc/nnefc.h").exists() for flag in flags) or "-lnnefc" not in flags:
            raise SystemExit(f"pkg-config prints {flags}")
    pages = sorted(path.name for path in (prefix / "share/man/man1").glob("nnefc*.1.gz"))
    commands = re.findall(r"^  ([a-z]+) {2,}", run(prefix / "bin/nnefc", "--help").partition("Subcommands:")[2], re.MULTILINE)
    expected = sorted(["nnefc.1.gz", *(f"nnefc-{command}.1.gz" for command in commands)])
    if pages != expected or not (prefix / "share/bash-completion/completions/nnefc").exists():
        raise SystemExit(f"man pages {pages}; expected {expected} and completions")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", nargs="?", type=pathlib.Path)
    parser.add_argument("--prefix", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        prefix = options.prefix or folder / "prefix"
        if options.build:
            run("cmake", "--install", options.build, "--prefix", prefix)
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
        saved = folder / "saved"
        saved.mkdir()
        for command in (["program_cpp"], ["program_c", saved], ["program_openmp"]):
            run(folder / "build" / command[0], *command[1:])
        # nnefc must find the libraries that it opens on demand.
        version = run(prefix / "bin/nnefc", "--version")
        if "which uses" not in version:
            raise SystemExit(f"nnefc --version\n{version}\nis without oneDNN")
        numbers = run(prefix / "bin/nnefc", "run", NETWORK, "--random-weights", 1, "--random-inputs", 1)
        if "runtime.no-onednn" in numbers:
            raise SystemExit(f"nnefc run {NETWORK}\n{numbers}")
        document = folder / "graph.nnef"
        document.write_text("version 1.0;\ngraph g(x) -> (y)\n{\n    x = external(shape = [2]);\n    y = relu(x);\n}\n")
        with tarfile.open(folder / "model.tar", "w") as archive:
            archive.add(document, "graph.nnef")
        run(prefix / "bin/nnefc", "check", folder / "model.tar")
        run_examples(prefix, folder)
        check_files(prefix)
        count = build_blocks(prefix, folder)
    print(f"{len(headers)} headers compile alone, three programs and three examples run, {count} code blocks of pages build")
    return 0


if __name__ == "__main__":
    sys.exit(main())
