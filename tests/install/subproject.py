#!/usr/bin/env python3
"""Builds a project that adds nnefc's sources to its own, without the runtime (`subproject/`), and runs its programs:
subproject.py SOURCES [--build FOLDER]

The build must take less than 240 s of processor time without a compiler cache, which is two minutes on two cores. The library
must be smaller than 3 MB without debugging symbols, have a SONAME, and give each symbol a version.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MAX_BYTES = 3_000_000
MAX_PROCESSOR_SECONDS = 240


def run(*command: object) -> str:
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout}\nexit code {done.returncode}")
    return done.stdout


def processor_seconds() -> float:
    """Returns the processor time of the finished child processes so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def wrong_symbols(library: pathlib.Path) -> list[str]:
    """Returns the exported symbols without the version of their language."""
    wrong = []
    for line in run("nm", "-D", "-C", "--defined-only", "--with-symbol-versions", library).splitlines():
        name = line.split(maxsplit=2)[2]
        version = r"@@NNEFC_C_\d+$" if re.match(r"nnefc_\w+@", name) else r"@@NNEFC_CXX_\d+\.\d+$"
        if not re.search(version, name) and not re.match(r"NNEFC_\w+", name):
            wrong.append(name)
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, help="a folder to build in; by default a temporary one")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        build = options.build or pathlib.Path(name) / "build"
        os.environ["CCACHE_DISABLE"] = "1"
        start = processor_seconds()
        run("cmake", "-S", HERE / "subproject", "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
            f"-DNNEFC_SOURCE={options.sources.resolve()}")
        run("cmake", "--build", build)
        seconds = processor_seconds() - start
        for program in ("reader_cpp", "reader_c"):
            run(build / program)
        library = next(build.rglob("libnnefc.so")).resolve()
        stripped = pathlib.Path(name) / "libnnefc.so"
        run("strip", "-o", stripped, library)
        size = stripped.stat().st_size
        failures = [f"{symbol} has no version" for symbol in wrong_symbols(library)]
        if size >= MAX_BYTES:
            failures.append(f"the library has {size} bytes; expected less than {MAX_BYTES}")
        if seconds >= MAX_PROCESSOR_SECONDS:
            failures.append(f"the build took {seconds:.0f} s of processor time; expected less than {MAX_PROCESSOR_SECONDS} s")
        if not re.search(r"SONAME.*\[libnnefc\.so\.\d+\]", run("readelf", "-d", library)):
            failures.append("the library has no SONAME with a version")
        cache = (build / "CMakeCache.txt").read_text(encoding="utf-8")
        failures += [f"the build uses {package}" for package in ("dnnl", "CLI11", "pugixml", "GTest", "benchmark")
                     if f"{package}_DIR:" in cache]
    print(*failures, sep="\n", end="\n" if failures else "")
    print(f"libnnefc.so has {size} bytes without the runtime, built in {seconds:.0f} s of processor time; two programs run")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
