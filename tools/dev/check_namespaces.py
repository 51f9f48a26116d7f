#!/usr/bin/env python3
"""Checks that the namespace of each C++ file follows its folder.

`compiler/lower` is `nnefc::lower`, `runtime/fast/gemm` is `nnefc::runtime::fast::gemm`, and a folder of `tests/unit` is the
folder that it mirrors. A file may add namespaces inside its own, and declare classes and functions of another folder;
only files of a folder define members of its namespace.
"""

import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Folders whose namespace has another name than their path; folders below them follow.
NAMED = {
    "compiler": "nnefc",
    "runtime": "nnefc::runtime",
    "stdlib": "nnefc::stdlib",
    # Diagnostics, results, ids and tensor values occur in nearly every file: the vocabulary of the project.
    "compiler/support": "nnefc",
    "compiler/support/tensor": "nnefc",
    # Most of the folder is the AST, and `ast::Document` reads better than `syntax::Document`.
    "compiler/syntax": "nnefc::ast",
    # The public interface in C++ is `nnefc::api`.
    "tools/api": "nnefc::api",
    # A namespace `nnefc::nnefc` or a second `nnefc::openvino` would hide the outer or the first one.
    "tools/nnefc": "nnefc::cli",
    "tools/openvino": "nnefc::openvino_front_end",
    "tools/python/binding": "nnefc::python",
    "tests/differential": "nnefc::differential",
    "tests/fuzz/mutators": "nnefc::fuzz",
    "tests/fuzz/targets": "nnefc::fuzz",
}
# Subfolders that group the files of one module by topic, so that a folder stays small: folder -> its groups. They have the namespace of
# the folder, because declarations and names within a module do not depend on the groups.
GROUPS: dict[str, set[str]] = {
    "compiler/driver": {"data", "stages"},
    "compiler/ir": {"algorithms", "text"},
    "compiler/ir/ops": {"arithmetic", "shapes", "windows"},
    "compiler/ir/ops/opset": {"arithmetic", "boxes", "control_flow", "shapes", "windows"},
    "compiler/language": {"requests"},
    "compiler/lower": {"arithmetic", "shapes", "windows"},
    "compiler/openvino": {"reading", "writing"},
    "compiler/package": {"containers", "tensors"},
    "compiler/raise": {"arithmetic", "shapes", "windows"},
    "compiler/support": {"diagnostics", "files", "text"},
    "compiler/syntax/parse": {"mistakes"},
    "compiler/transform": {"configuration", "pipeline"},
    "compiler/transform/middle": {"control_flow", "fusions"},
    "runtime/fast/conv": {"winograd"},
    "runtime/fast/int8": {"convolution", "images"},
    "runtime/fast/simd": {"conv", "gemm", "int8", "pointwise"},
    "runtime/kernels": {"arithmetic", "boxes", "shapes", "windows"},
    "runtime/onednn": {"weighted"},
    "tests/unit/runtime/engine": {"kernels"},
    "tools/api": {"differences", "explain", "facts", "forms", "values", "views"},
    "tools/nnefc": {"arguments", "commands", "output"},
}
# Folders of unit tests without a counterpart: the namespace is that of the folder above.
PARTS = {"tests/unit/compiler/plugin/module", "tests/unit/runtime/engine/quantized"}
# Folders whose files define functions that headers of the folder above declare: `ir::StandardOps`, `ast::ParseDocument`.
IMPLEMENTATIONS = {"compiler/ir/ops", "compiler/syntax/parse"}
OTHER_FILES = {
    # It defines what the folders define that a build without the runtime leaves out.
    "tools/api/front_end/absent_parts.cpp",
    # The header for plug-ins puts `Registrar` and `AddKernel` into `nnefc`, as their authors write them.
    "tools/api/extension.h",
    # Its transformations are found by the names of two other namespaces.
    "tests/unit/compiler/transform/pipeline/transformation_list_test.cpp",
}

COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
TOKEN = re.compile(r"\bnamespace\s+(?P<name>[\w:]+)?\s*\{|(?P<unnamed>\bnamespace\s*\{)|(?P<brace>[{}])")


def module_of(folder: str) -> str:
    """Returns the folder of the module that a folder belongs to: the one above for a group, otherwise the folder."""
    outer, _, name = folder.rpartition("/")
    mirrored = outer.removeprefix("tests/unit/")
    return module_of(outer) if name in GROUPS.get(outer, ()) or name in GROUPS.get(mirrored, ()) else folder


@functools.cache
def namespace_of(folder: str) -> str | None:
    """Returns the namespace of a folder; None: the folder has no rule, such as that of a stand-alone program."""
    folder = module_of(folder)
    if folder in NAMED:
        return NAMED[folder]
    outer, _, name = folder.rpartition("/")
    if folder in PARTS:
        return namespace_of(outer)
    if folder.startswith("tests/unit/"):
        return namespace_of(folder.removeprefix("tests/unit/"))
    above = namespace_of(outer) if outer else None
    return f"{above}::{name}" if above else None


def blocks_of(text: str) -> list[tuple[str, str, int]]:
    """Returns the namespaces of a text that have no named one inside: path, contents, line."""
    stack: list[tuple[str | None, int, list[str]]] = []  # path of a namespace, start of its contents, pieces so far
    found = []
    for token in TOKEN.finditer(text):
        if token["brace"] == "}":
            if not stack:
                continue
            path, start, pieces = stack.pop()
            if path is not None:
                pieces.append(text[start:token.start()])
                found.append((path, "".join(pieces), text.count("\n", 0, start) + 1))
                if stack and stack[-1][0] is not None:
                    stack[-1] = (stack[-1][0], token.end(), stack[-1][2])
            continue
        outer = next((path for path, _, _ in reversed(stack) if path is not None), "")
        if token["brace"]:
            stack.append((None, token.end(), []))
            continue
        if stack and stack[-1][0] is not None:
            stack[-1][2].append(text[stack[-1][1]:token.start()])
        # An unnamed namespace defines members of the namespace around it.
        path = "::".join(each for each in (outer, token["name"]) if each)
        stack.append((path, token.end(), []))
    return found


def violations(name: str, text: str, homes: dict[str, str]) -> list[str]:
    """Returns the definitions of a file in namespaces of other folders; `homes`: the folder of a namespace."""
    folder = module_of(name.rpartition("/")[0])
    own = namespace_of(folder)
    if own is None or name in OTHER_FILES:
        return []
    found = []
    text = COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    text = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.MULTILINE)
    for path, contents, line in blocks_of(text):
        if path.split("::")[0] != "nnefc" or not contents.strip():
            continue
        parts = path.split("::")
        nearest = next((prefix for count in range(len(parts), 0, -1)
                        if (prefix := "::".join(parts[:count])) in homes or prefix == own), None)
        if folder in IMPLEMENTATIONS and nearest == namespace_of(folder.rpartition("/")[0]) and name.endswith(".cpp"):
            continue
        if nearest != own and re.search("[{}]", contents):  # declarations have no braces
            found.append(f"{name}:{line}: defines members of {path}; the folder's namespace is {own}")
    return found


def main() -> int:
    sources = [path for top in ("compiler", "runtime", "stdlib", "tools", "tests") for suffix in ("*.h", "*.cpp")
               for path in (ROOT / top).rglob(suffix)]
    names = sorted(path.relative_to(ROOT).as_posix() for path in sources)
    homes: dict[str, str] = {}
    for name in names:
        folder = name.rpartition("/")[0]
        if space := namespace_of(folder):
            homes.setdefault(space, folder)
    found = [line for name in names for line in violations(name, (ROOT / name).read_text(encoding="utf-8"), homes)]
    print("\n".join(found) if found else f"the namespaces of {len(names)} files follow their folders")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
