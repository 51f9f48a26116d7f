#!/usr/bin/env python3
"""Checks that rooms include only what the architecture allows, and that ANTLR stays in its room."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# room -> rooms it may include (besides itself). A room is a folder with its sub-folders.
ALLOWED = {
    "stdlib": set(),
    "compiler/support": set(),
    "compiler/syntax": {"compiler/support"},
    "compiler/semantics": {"compiler/support", "compiler/syntax", "stdlib"},
    "compiler/ir": {"compiler/support"},
    "compiler/expand": {"compiler/support", "compiler/syntax", "compiler/semantics", "compiler/ir"},
    "compiler/upgrade": {"compiler/support", "compiler/syntax", "compiler/semantics", "compiler/ir", "compiler/expand"},
    "compiler/lower": {"compiler/support", "compiler/ir"},
    "compiler/transform": {"compiler/support", "compiler/ir"},
    "compiler/openvino": {"compiler/support", "compiler/ir"},
    "compiler/package": {"compiler/support", "compiler/ir"},
    "compiler/driver": {"compiler"},
    "compiler/language": {"compiler/support", "compiler/syntax", "compiler/semantics", "compiler/ir", "compiler/expand",
                          "stdlib"},
    "compiler/lint": {"compiler/support", "compiler/syntax", "compiler/semantics", "compiler/ir", "compiler/expand",
                      "compiler/lower", "compiler/package", "compiler/driver"},
    "runtime": {"compiler/ir", "compiler/support"},
    "tools": {"compiler", "runtime", "stdlib"},
    "tests": {"compiler", "runtime", "stdlib", "tools"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def room_of(path: str) -> str | None:
    """The innermost room that holds `path`."""
    fits = [room for room in ALLOWED if path.startswith(room + "/")]
    return max(fits, key=len) if fits else None


def violations(path: pathlib.Path) -> list[str]:
    """What is wrong with the includes of one file."""
    name = path.relative_to(ROOT).as_posix()
    room = room_of(name)
    found = []
    for header in INCLUDE.findall(path.read_text(encoding="utf-8")):
        if header.startswith("antlr4") and not name.startswith(("compiler/syntax/parse/", "tests/unit/compiler/syntax/")):
            found.append(f"{name}: includes {header}; ANTLR stays in compiler/syntax/parse")
        target = room_of(header)
        if room is None or target is None or target == room:
            continue
        if not any(target == allowed or target.startswith(allowed + "/") for allowed in ALLOWED[room]):
            found.append(f"{name}: {room} may not include {header}")
    return found


def main() -> int:
    sources = [path for room in ALLOWED for suffix in ("*.h", "*.cpp") for path in (ROOT / room).rglob(suffix)]
    found = sorted({line for path in sources for line in violations(path)})
    print("\n".join(found) if found else f"{len(set(sources))} files keep to the layering")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
