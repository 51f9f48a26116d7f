#!/usr/bin/env python3
"""Writes what the linker needs to build programs for older systems: old_libraries.py FOLDER

The folder gets libraries without code that have the symbols of the C and C++ libraries of this system up to MAX_VERSIONS,
and linker scripts for them. A program that is linked with `-L FOLDER` uses the old version of each symbol. What is newer
comes from archives: of the C++ library from the compiler's own, of the C library from newer_functions.c. The result runs on
glibc 2.28 and the C++ library of GCC 8, or later ones, as the tag `manylinux_2_28` of wheels requires.
"""

from __future__ import annotations

import collections
import pathlib
import re
import subprocess
import sys
from typing import NamedTuple

HERE = pathlib.Path(__file__).resolve().parent
MAX_VERSIONS = {"GLIBC": (2, 28), "GLIBCXX": (3, 4, 24), "CXXABI": (1, 3, 11), "GCC": (7, 0, 0)}

# Libraries that newer versions of glibc have merged into the C library, by the names of their functions.
MERGED = {"libpthread.so.0": r"_*(pthread|sem)_", "libdl.so.2": r"dl"}
MERGED_SINCE = (2, 29)

SECTIONS = {"FUNC": ".text", "OBJECT": ".data", "TLS": '.section .tbss,"awT",@nobits'}
TYPES = {"FUNC": "@function", "OBJECT": "@object", "TLS": "@tls_object"}


class Symbol(NamedTuple):
    name: str
    version: str
    kind: str  # FUNC, OBJECT or TLS
    address: int
    size: int


def output(*command: str) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def number_of(version: str) -> tuple[str, tuple[int, ...]]:
    """Returns the parts of a version such as GLIBC_2.28; those of GLIBC_PRIVATE have no numbers."""
    family, _, numbers = version.partition("_")
    return family, tuple(map(int, numbers.split("."))) if re.fullmatch(r"[0-9.]+", numbers) else ()


def symbols_of(library: str) -> list[Symbol]:
    """Returns all versions of the symbols that a library defines."""
    pattern = re.compile(r"\s*\d+: ([0-9a-f]+)\s+(\d+|0x[0-9a-f]+) (FUNC|IFUNC|OBJECT|TLS)\s+\S+\s+DEFAULT\s+(\d+) (\S+?)@@?(\S+)")
    found = []
    for line in output("readelf", "--dyn-syms", "-W", library).splitlines():
        if match := pattern.match(line):
            address, size, kind, _, name, version = match.groups()
            found.append(Symbol(name, version, kind.replace("IFUNC", "FUNC"), int(address, 16), int(size, 0)))
    return found


def old_symbols(symbols: list[Symbol]) -> dict[str, Symbol]:
    """Returns the newest version of each symbol that is old enough."""
    chosen: dict[str, Symbol] = {}
    for symbol in symbols:
        family, numbers = number_of(symbol.version)
        if not numbers or family not in MAX_VERSIONS or numbers > MAX_VERSIONS[family]:
            continue
        if symbol.name not in chosen or numbers > number_of(chosen[symbol.name].version)[1]:
            chosen[symbol.name] = symbol
    return chosen


def home_of(name: str, versions: list[str]) -> str | None:
    """Returns the library that a symbol of the C library was in, if it was another one."""
    if max(number_of(version)[1] for version in versions) >= MERGED_SINCE:
        for library, pattern in MERGED.items():
            if re.match(pattern, name):
                return library
    return None


def write_library(folder: pathlib.Path, soname: str, symbols: list[Symbol]) -> None:
    """Writes a library with these symbols. Data has its size, which executables copy, and its aliases."""
    places = collections.defaultdict(list)
    for index, symbol in enumerate(symbols):
        places[symbol.kind, symbol.address].append((f"s{index}", symbol))
    lines = []
    for (kind, _), aliases in places.items():
        lines += [SECTIONS[kind], ".balign 64" if kind != "FUNC" else ""]
        for label, symbol in aliases:
            lines += [f".globl {label}", f".type {label}, {TYPES[kind]}", f".size {label}, {symbol.size}", f"{label}:"]
            lines.append(f".symver {label}, {symbol.name}@@{symbol.version}, remove")
        lines.append(f".zero {1 if kind == 'FUNC' else max(symbol.size for _, symbol in aliases)}")
    lines.append('.section .note.GNU-stack,"",@progbits')
    source = folder / f"{soname}.s"
    source.write_text("\n".join(lines) + "\n")
    versions = folder / f"{soname}.map"
    versions.write_text("".join(f"{version} {{}};\n" for version in sorted({symbol.version for symbol in symbols}, key=number_of)))
    output("gcc", "-shared", "-nostdlib", f"-Wl,-soname,{soname}", f"-Wl,--version-script={versions}", "-o", str(folder / soname), str(source))
    source.unlink()
    versions.unlink()


def write_script(folder: pathlib.Path, name: str, files: list[object], optional: list[object] | None = None) -> None:
    as_needed = f" AS_NEEDED({' '.join(map(str, optional))})" if optional else ""
    (folder / name).write_text(f"GROUP({' '.join(map(str, files))}{as_needed})\n")


def main() -> int:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    folder = pathlib.Path(sys.argv[1]).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for soname in ("libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6"):
        symbols = symbols_of(output("gcc", f"-print-file-name={soname}").strip())
        versions = collections.defaultdict(list)
        for symbol in symbols:
            if number_of(symbol.version)[1]:
                versions[symbol.name].append(symbol.version)
        homes = collections.defaultdict(list)
        for symbol in old_symbols(symbols).values():
            home = home_of(symbol.name, versions[symbol.name]) if soname == "libc.so.6" else None
            homes[home or soname].append(symbol)
        for home, members in homes.items():
            write_library(folder, home, members)
    newer = folder / "libnewer_functions.a"
    newer.unlink(missing_ok=True)
    for source in ("newer_functions.c", "old_start.c"):
        compiled = folder / f"{source}.o"
        output("gcc", "-O2", "-fPIC", "-ffunction-sections", "-Wall", "-Wextra", "-Werror", "-c", "-o", str(compiled), str(HERE / source))
        output("ar", "rcs", str(newer), str(compiled))
        compiled.unlink()
    write_script(folder, "libstdc++.so", [folder / "libstdc++.so.6", output("g++", "-print-file-name=libstdc++.a").strip()])
    write_script(folder, "libm.so", [folder / "libm.so.6"])
    write_script(folder, "libgcc_s.so", [folder / "libgcc_s.so.1", output("gcc", "-print-libgcc-file-name").strip()])
    loader = "/lib64/ld-linux-x86-64.so.2"
    merged = [folder / library for library in MERGED]
    write_script(folder, "libc.so", [folder / "libc.so.6", newer], [*merged, loader])
    return 0


if __name__ == "__main__":
    sys.exit(main())
