#!/usr/bin/env python3
"""Checks that operation properties are read from the registry: no caller passes a default of an attribute, no
operation is compared by name outside of the registry and the readers and writers of text and XML, and no table next to
the rows lists the operations with a property. Built-in transformations name the set of an operation. Executables are
created in one place, each microkernel has a unit test, and only cost functions depend on a vector instruction set."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SIMD = "runtime/fast/simd"
DEFAULT = re.compile(r"\b(?:Int|Double|Bool|String|Ints|Doubles|Attribute)Or\(")
BY_NAME = re.compile(r'\bIs\((?:"opset\d+"|(?:ir::)?kNnefSet), |\btype\(\) [!=]= "|StringSwitch<[^;]*\btype\b|\btype [!=]= "'
                     r'|(?:\binfo\(\)|\bInfo\([^()]*(?:\([^()]*\))?[^()]*\))\.name\s*[!=]=|\bop\(\) [!=]= (?:"|\w*name\b)')
# A table of operations whose values are properties; tables of functions are dispatch.
PROPERTIES = re.compile(r'\bk(?:Opsets|NnefSet),\s*\{\s*\{\s*"\w+",\s*(?:true|false|(?:\w+::)+k\w+)\s*\}')
# An operation of any set, which a plug-in's operation of that name would match, in a built-in transformation.
ANY_SET = re.compile(r'(?:\bOp\("\w+", |\bGetOpNodes\(|\bFusePads\(graph, )"\w+"')
INSTRUCTION_SET = re.compile(r"\bkSimdWidth(?:512|256)\b|\bsimd(?:512|256|128)\b|\bNNEFC_SIMD_WIDTH\b")
FUNCTION = re.compile(r"[A-Za-z][^();=]*\b(\w+)\(")  # its first line begins in the first column
COST_FUNCTION = re.compile(r"Cost$|^IsFaster")
# Code that has to handle operation names: the rows, the parser, the reader and writer of XML, and
# `OpRegistry::FindNamed`, which resolves unqualified names in users' patterns.
EXEMPT = ("compiler/ir/ops/", "compiler/ir/op_registry.cpp", "compiler/syntax/", "compiler/openvino/")


def main() -> int:
    found = []
    for top in ("compiler", "runtime"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix not in (".h", ".cpp"):
                continue
            name = path.relative_to(ROOT).as_posix()
            text = path.read_text(encoding="utf-8")
            for table in PROPERTIES.finditer(text):
                found.append(f"{name}:{text.count(chr(10), 0, table.start()) + 1}: lists operations with a property; make it a "
                             "field of their rows (`ir::OpInfo`)")
            for number, line in enumerate(text.splitlines(), 1):
                code = line.split("//")[0]
                if ANY_SET.search(code) and name.startswith("compiler/transform/"):
                    found.append(f"{name}:{number}: matches operations of any set; name it, such as `opset.Pad` for all versions")
                if DEFAULT.search(code):
                    found.append(f"{name}:{number}: gives the default of an attribute; it stands in the operation's row")
                if BY_NAME.search(code) and not name.startswith(EXEMPT):
                    found.append(f"{name}:{number}: compares operations by name; compare an `OpId`, or ask for the role, a "
                                 "field of the row or an `ir::OpTable` of a set")
    # Code outside of runtime/fast/simd works for each vector width. Only cost functions have measured numbers for one.
    for path in sorted((ROOT / "runtime").rglob("*")):
        name = path.relative_to(ROOT).as_posix()
        if path.suffix not in (".h", ".cpp") or name.startswith(SIMD):
            continue
        function = ""
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if begin := FUNCTION.match(line):
                function = begin[1]
            if INSTRUCTION_SET.search(line.split("//")[0]) and not COST_FUNCTION.search(function):
                found.append(f"{name}:{number}: depends on an instruction set outside of a cost function; add a property to "
                             f"{SIMD}/instruction_sets.h")
    # Each microkernel has a separate test, for each instruction set.
    for path in sorted((ROOT / SIMD).rglob("*.cpp")):
        name = path.relative_to(ROOT)
        test = ROOT / "tests/unit" / name.with_name(f"{path.stem}_test.cpp")
        if not test.is_file():
            found.append(f"{name.as_posix()}: has no unit test; add `{test.relative_to(ROOT).as_posix()}`")
    # An executable created elsewhere would lack the kernels of plug-ins.
    for path in sorted((ROOT / "tools").rglob("*.cpp")):
        name = path.relative_to(ROOT).as_posix()
        # absent_parts.cpp defines the function for builds without kernels.
        if name not in ("tools/api/program.cpp", "tools/api/front_end/absent_parts.cpp") and "Executable::Create(" in path.read_text(encoding="utf-8"):
            found.append(f"{name}: creates an executable; call `api::Program::Plan`, which adds the kernels of plug-ins")
    print("\n".join(found) if found else "facts of operations are read from their rows")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
