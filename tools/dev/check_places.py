#!/usr/bin/env python3
"""Checks that a definition has its entries in the other places that CONTRIBUTING lists: check_places.py [ROOT]

- a command: its call, a golden, a section of the tour
- a list of rules: its entry in a book of rules; a label in a source: its row in a list
- a transformation: its registration, and a test that names it; a family: its call
- an operation of NNEF: a unit test of its shape function
- an element type: a test of its values

Other tests report the other places, and the compiler those that do not build.
"""

from __future__ import annotations

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Commands that print times, or messages of a protocol.
WITHOUT_GOLDEN = {"bench", "lsp"}


class Places:
    """The definitions of a source tree, and the errors about places without an entry."""

    def __init__(self, root: pathlib.Path) -> None:
        self.root = root
        self.count = 0
        self.wrong: list[str] = []

    def text(self, *patterns: str) -> str:
        """Returns the contents of all files that match."""
        return "\n".join(path.read_text(encoding="utf-8", errors="ignore") for pattern in patterns for path in sorted(self.root.glob(pattern)))

    def require(self, is_there: object, name: str, place: str) -> None:
        self.count += 1
        if not is_there:
            self.wrong.append(f"error: `{name}` has no {place}")

    def check_commands(self) -> None:
        program = self.text("tools/nnefc/program.cpp")
        goldens = set(re.findall(r"^== command: nnefc (\w+)", self.text("tests/golden/**/*.golden"), re.MULTILINE))
        tour = set(re.findall(r"\bnnefc (\w+)", self.text("tools/docs/pages/tour.md")))
        sources = self.text("tools/nnefc/**/*.cpp")
        for name in re.findall(r"^void (Add\w+)\(CLI::App& app, int& exit_code\) \{", sources, re.MULTILINE):
            command = name.removeprefix("Add").lower()
            self.require(f'{{"{command}", {name}}}' in program, name, "row in tools/nnefc/program.cpp")
            self.require(command in goldens or command in WITHOUT_GOLDEN, f"nnefc {command}", "golden in tests/golden")
            self.require(command in tour, f"nnefc {command}", "command in tools/docs/pages/tour.md")

    def check_rules(self) -> None:
        books = self.text("compiler/lint/rule_book.cpp", "tools/api/**/all_rules.cpp")
        for name in re.findall(r"^NNEFC_DEFINE_RULES\((\w+),", self.text("compiler/**/*.h", "runtime/**/*.h", "tools/**/*.h"), re.MULTILINE):
            self.require(re.search(rf"\b{name}\)", books), name, "entry in compiler/lint/rule_book.cpp")
        lists = self.text("compiler/**/*rules.h", "runtime/**/*rules.h", "tools/**/*rules.h")
        sources = self.text("compiler/**/*.cpp", "runtime/**/*.cpp", "tools/**/*.cpp")
        labels = re.findall(r'\bRule \w+\{\s*"([^"]+)"', sources)
        labels += re.findall(r'"(convert\.[a-z-]+)"', self.text("tools/python/nnefc/**/*.py"))
        for label in labels:
            self.require(f'"{label}"' in lists, label, "row in a list of rules")

    def check_transformations(self) -> None:
        phases = [f"compiler/transform/{phase}/**/*" for phase in ("front", "middle", "back", "target")]
        sources = self.text(*(f"{phase}.cpp" for phase in phases))
        tests = self.text("tests/unit/compiler/transform/**/*.cpp", "tests/unit/runtime/engine/**/*.cpp", "tests/golden/**/*.golden")
        for name in re.findall(r"^class (\w+)[^:;{]*: public (?:transform::)?(?:\w+Replacement\w*|\w*Transformation)\b", sources, re.MULTILINE):
            is_base = re.search(rf": public {name}\b", sources)
            self.require(is_base or re.search(rf"\bAdd<(?:\w+::)*{name}\b", sources), name, "registration in its `Register<Family>`")
            self.require(is_base or re.search(rf"\b{name}\b", tests), name, "test that names it")
        listed = self.text("compiler/transform/**/standard.cpp")
        for name in re.findall(r"^void (Register\w+)\(TransformationList& list\) \{", sources, re.MULTILINE):
            self.require(f"::{name}(list);" in listed, name, "call in standard.cpp")

    def check_operations(self) -> None:
        tests = self.text("tests/unit/compiler/ir/**/*.cpp")
        for name in re.findall(r"^fragment (\w+)", self.text("stdlib/ratified.nnef"), re.MULTILINE):
            self.require(re.search(rf"\b{name}\b", tests), name, "unit test in tests/unit/compiler/ir/ops")

    def check_element_types(self) -> None:
        body = re.search(r"enum class ElementType[^{]*\{(.*?)\};", self.text("compiler/support/tensor/element_type.h"), re.DOTALL)
        tests = self.text("tests/unit/compiler/support/**/*.cpp")
        for name in re.findall(r"\bk\w+", re.sub(r"//[^\n]*", "", body[1] if body else "")):
            self.require(re.search(rf"\b{name}\b", tests), f"ElementType::{name}", "test in tests/unit/compiler/support/tensor_value_test.cpp")


def main() -> int:
    places = Places(pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT)
    places.check_commands()
    places.check_rules()
    places.check_transformations()
    places.check_operations()
    places.check_element_types()
    print(*places.wrong, sep="\n", end="\n" if places.wrong else "")
    print(f"{places.count} places, {len(places.wrong)} without an entry")
    return 1 if places.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
