#!/usr/bin/env python3
"""Checks that libraries include only permitted ones, and that third-party libraries stay in their folders."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Libraries and headers that each folder of runtime/fast may include.
FAST = {"compiler/ir", "compiler/support", "runtime/tensor", "runtime/kernels", "runtime/fast/simd",
        "runtime/fast/reasons.h", "runtime/fast/factories.h", "runtime/fast/processor.h",
        "runtime/fast/memory/blocked_format.h", "runtime/fast/memory/blocked_layout.h"}
# Libraries and headers that each folder of runtime/engine may include.
ENGINE = {"compiler/ir", "compiler/support", "runtime/tensor", "runtime/kernels", "runtime/engine/evaluate.h",
          "runtime/engine/executable.h", "runtime/engine/limits.h"}
# library -> libraries and headers it may include (in addition to itself). A library is a folder with its subfolders.
ALLOWED = {
    "stdlib": set(),
    "stdlib/describe": {"compiler/support", "compiler/syntax", "stdlib"},
    "compiler/support": set(),
    "compiler/syntax": {"compiler/support"},
    "compiler/semantics": {"compiler/support", "compiler/syntax", "compiler/semantics", "stdlib"},
    # A suggestion calls no check: it decides nothing.
    "compiler/semantics/suggestions": {"compiler/support", "compiler/syntax", "compiler/semantics/check_context.h",
                                       "compiler/semantics/foreign/foreign_names.h"},
    "compiler/ir": {"compiler/support", "stdlib"},
    "compiler/expand": {"compiler/support", "compiler/syntax", "compiler/semantics", "compiler/ir"},
    "compiler/upgrade": {"compiler/support", "compiler/syntax", "compiler/semantics", "compiler/ir", "compiler/expand"},
    "compiler/lower": {"compiler/support", "compiler/ir"},
    "compiler/raise": {"compiler/support", "compiler/ir"},
    "compiler/openvino": {"compiler/support", "compiler/ir"},
    "compiler/package": {"compiler/support", "compiler/ir"},
    "compiler/transform": {"compiler/support", "compiler/ir"},
    "compiler/plugin": {"compiler/support", "compiler/syntax", "compiler/semantics", "compiler/ir", "compiler/expand",
                        "compiler/lower", "compiler/transform"},
    "compiler/driver": {"compiler/support", "compiler/transform", "compiler/plugin", "compiler/syntax", "compiler/semantics", "compiler/ir", "compiler/expand",
                        "compiler/upgrade", "compiler/lower", "compiler/raise", "compiler/openvino", "compiler/package"},
    "compiler/language": {"compiler/support", "compiler/syntax", "compiler/semantics", "compiler/ir", "compiler/expand",
                          "compiler/driver", "compiler/lint", "compiler/explain", "stdlib"},
    "compiler/lint": {"compiler/support", "compiler/syntax", "compiler/semantics", "compiler/ir", "compiler/expand",
                      "compiler/upgrade", "compiler/lower", "compiler/raise", "compiler/openvino", "compiler/package",
                      "compiler/driver", "compiler/transform", "compiler/plugin", "compiler/device/rules.h"},
    "compiler/device": {"compiler/support", "compiler/syntax", "compiler/semantics", "compiler/ir", "compiler/expand",
                        "compiler/package", "compiler/driver"},
    "compiler/explain": {"stdlib", "compiler/support", "compiler/syntax", "compiler/semantics", "compiler/ir", "compiler/expand",
                         "compiler/upgrade", "compiler/lower", "compiler/openvino", "compiler/package", "compiler/driver",
                         "compiler/lint", "compiler/transform", "compiler/plugin"},
    "runtime/tensor": {"compiler/support"},
    "runtime/kernels": {"compiler/ir", "compiler/support", "runtime/tensor"},
    "runtime/fast/simd": {"compiler/support", "runtime/tensor"},
    "runtime/fast/gemm": FAST,
    "runtime/fast/conv": FAST | {"runtime/fast/gemm"},
    "runtime/fast/int8": FAST | {"runtime/fast/gemm", "runtime/fast/conv"},
    "runtime/fast/rnn": FAST | {"runtime/fast/gemm", "runtime/fast/int8"},
    "runtime/fast/pointwise": FAST | {"runtime/fast/gemm"},
    "runtime/fast/attention": FAST | {"runtime/fast/gemm", "runtime/fast/int8", "runtime/fast/pointwise"},
    "runtime/fast/memory": FAST | {"runtime/fast/gemm", "runtime/fast/int8"},
    "runtime/fast": FAST | {"runtime/fast"},
    "runtime/onednn": {"compiler/ir", "compiler/support", "runtime/tensor", "runtime/kernels", "runtime/fast",
                       "runtime/onednn/library/interface.h"},
    "runtime/onednn/library": {"runtime/fast/gemm/function_kind.h", "runtime/fast/memory/blocked_format.h"},
    "runtime/engine/cache": ENGINE | {"runtime/fast/describe.h", "runtime/onednn/onednn.h"},
    "runtime/engine/plan": ENGINE | {"runtime/engine/cache"},
    "runtime/engine/run": ENGINE | {"runtime/engine/plan"},
    "runtime/engine": ENGINE | {"runtime/engine", "runtime/fast", "runtime/onednn"},
    "tools/api": {"compiler", "runtime"},
    "tools": {"compiler/support", "tools/api"},
    "tools/lsp": {"compiler/language", "compiler/lint/config.h", "compiler/support"},
    "tools/nnefc": {"compiler/support", "tools/api", "tools/lsp/serve.h"},
    "tools/openvino": {"tools/api"},
    "tools/python": {"tools/api", "tools/nnefc/program.h"},
    "tests": {"compiler", "runtime", "stdlib", "tools"},
}
# prefix of a third-party library's headers -> folders that may include it
LIBRARIES = {
    "antlr4": ("compiler/syntax/parse/", "tests/unit/compiler/syntax/"),
    "archive": ("compiler/package/",),
    "pugixml": ("compiler/openvino/", "tests/fuzz/mutators/"),
    "oneapi": ("runtime/onednn/library/", "tests/unit/runtime/onednn/"),
    "nanobind": ("tools/python/",),
    "openvino": ("tools/openvino/",),
    "CLI": ("tools/", "tests/differential/"),
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def room_of(path: str) -> str | None:
    """Returns the innermost library that contains `path`."""
    fits = [room for room in ALLOWED if path.startswith(room + "/")]
    return max(fits, key=len) if fits else None


def violations(path: pathlib.Path) -> list[str]:
    """Returns the violations in the includes of a file."""
    name = path.relative_to(ROOT).as_posix()
    room = room_of(name)
    found = [] if room else [f"{name}: its folder has no row in the table of rooms"]
    for header in INCLUDE.findall(path.read_text(encoding="utf-8")):
        homes = LIBRARIES.get(re.split(r"[-_./]", header)[0])
        if homes and not name.startswith(homes):
            found.append(f"{name}: includes {header}, which stays in {homes[0]}")
        target = room_of(header)
        if room is None or target is None or target == room:
            continue
        if not any(header == allowed or target == allowed or target.startswith(allowed + "/") for allowed in ALLOWED[room]):
            found.append(f"{name}: {room} may not include {header}")
    return found


def main() -> int:
    tops = sorted({room.split("/")[0] for room in ALLOWED})
    sources = [path for top in tops for suffix in ("*.h", "*.cpp") for path in (ROOT / top).rglob(suffix)]
    found = sorted(line for path in sources for line in violations(path))
    print("\n".join(found) if found else f"{len(sources)} files keep to the layering")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
