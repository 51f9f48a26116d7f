#!/usr/bin/env python3
"""Checks that facts of operations are read from their rows: no caller gives the default of an attribute, and no
operation is compared by its name outside the rows and what reads and writes text and XML."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DEFAULT = re.compile(r"\b(?:Int|Double|Bool|String|Ints|Doubles|Attribute)Or\(")
BY_NAME = re.compile(r'\bIs\((?:"opset\d+"|(?:ir::)?kNnefSet), |\btype\(\) [!=]= "|StringSwitch<[^;]*\btype\b|\btype [!=]= "')
# Names of operations are what these rooms are about: the parser of kinds of tokens, the reader and writer of XML.
EXEMPT = ("compiler/syntax/", "compiler/openvino/")
# What compares names still, and how often; a number here may only fall.
REMAINING = {
    "compiler/ir/ops/control_flow.cpp": 3,
    "compiler/ir/ops/opset/recurrent.cpp": 1,
    "compiler/lint/defaults.cpp": 1,
    "compiler/lint/deprecated.cpp": 1,
    "compiler/lint/redundant.cpp": 4,
    "compiler/lower/branches.cpp": 1,
    "compiler/lower/lower.cpp": 1,
    "compiler/upgrade/invocations.cpp": 1,
    "runtime/engine/evaluate.cpp": 1,
    "runtime/engine/plan_builder.cpp": 1,
    "runtime/onednn/elementwise.cpp": 1,
    "runtime/onednn/functions.cpp": 13,
    "runtime/onednn/pooling.cpp": 1,
    "runtime/onednn/post_ops.cpp": 2,
    "runtime/onednn/rewrite.cpp": 12,
}


def main() -> int:
    found = []
    for top in ("compiler", "runtime"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix not in (".h", ".cpp"):
                continue
            name = path.relative_to(ROOT).as_posix()
            by_name = []
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                code = line.split("//")[0]
                if DEFAULT.search(code):
                    found.append(f"{name}:{number}: gives the default of an attribute; it stands in the operation's row")
                if BY_NAME.search(code) and not name.startswith(EXEMPT):
                    by_name.append(number)
            allowed = REMAINING.get(name, 0)
            if len(by_name) > allowed:
                found.append(f"{name}: compares operations by name at lines {', '.join(map(str, by_name))}; {allowed} "
                             "are known: ask for the role, a field of the row or an `ir::OpTable`")
            elif len(by_name) < allowed:
                found.append(f"{name}: compares operations by name {len(by_name)} times; lower its number in REMAINING")
    print("\n".join(found) if found else "facts of operations are read from their rows")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
