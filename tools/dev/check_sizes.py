#!/usr/bin/env python3
"""Checks the sizes of files, folders and classes: check_sizes.py [ROOT]

A file of C++ or Python has at most 600 lines, a folder at most 25 such files, not counting its subfolders, and a class at most 40
member functions. Constructors, destructors, operators and each overload count; friends and functions of nested classes do not.
"""

from __future__ import annotations

import ast
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MAX_LINES = 600
MAX_FILES = 25
MAX_FUNCTIONS = 40
CPP = (".cpp", ".h", ".inc")
SOURCES = (*CPP, ".py")
# Longer files, larger folders and classes, with the reason.
EXEMPT_FILES: dict[str, str] = {}
EXEMPT_FOLDERS: dict[str, str] = {}
EXEMPT_CLASSES: dict[str, str] = {}

# Comments, literals and directives of the preprocessor.
IGNORED = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\''
                     r'|^[ \t]*#(?:\\\n|[^\n])*', re.DOTALL | re.MULTILINE)
CLASS = re.compile(r"\b(?:class|struct|union)\s+(?:\[\[[^\]]*\]\]\s*|alignas\([^)]*\)\s*)*(?P<name>\w[\w:]*)(?:<[^;{}()]*>)?"
                   r"(?:\s+final)?\s*(?::[^:;{][^;{]*)?\{")
PAIRS = {"(": ")", "[": "]", "{": "}"}
# The beginnings of members that are not functions.
OTHER_MEMBER = re.compile(r"\s*(?:friend|using|typedef|static_assert|enum|class|struct|union|public|private|protected)\b")
PREFIX = re.compile(r"\s*(?:(?:public|private|protected)\s*:|\[\[[^\]]*\]\]|alignas\s*\([^)]*\)|decltype\s*\([^)]*\))\s*")


def end_of(text: str, begin: int) -> int:
    """Returns the position after the bracket that closes the one at `begin`."""
    stack = []
    for at in range(begin, len(text)):
        if text[at] in PAIRS:
            stack.append(PAIRS[text[at]])
        elif stack and text[at] == stack[-1]:
            stack.pop()
            if not stack:
                return at + 1
    return len(text)


def end_of_angles(text: str, begin: int) -> int:
    """Returns the position after the `>` that closes the `<` at `begin`."""
    depth, at = 0, begin
    while at < len(text):
        if text[at] in PAIRS:
            at = end_of(text, at)
            continue
        depth += {"<": 1, ">": -1}.get(text[at], 0) if not text.startswith("->", at - 1) else 0
        at += 1
        if depth == 0:
            break
    return at


def is_function(member: str) -> bool:
    """Returns whether a member, without its body, declares a function."""
    while True:
        if begin := PREFIX.match(member):
            member = member[begin.end():]
        elif begin := re.match(r"\s*template\s*(?=<)", member):
            member = member[end_of_angles(member, begin.end()):]
        else:
            break
    if OTHER_MEMBER.match(member):
        return False
    if re.search(r"\boperator\b", member.split("=")[0]):
        return "(" in member
    at = 0
    while at < len(member):
        if member[at] == "<":
            at = end_of_angles(member, at)
        elif member[at] == "=" or member[at] == "{":
            return False
        elif member[at] == "(":
            if re.match(r"\(\s*[\w:]*\*|\(\s*&", member[at:]):  # a pointer or reference to a function or an array
                return False
            if not re.search(r"\b(?:requires|explicit|noexcept)\s*$", member[:at]):
                return True
            at = end_of(member, at)
        else:
            at += 1
    return False


def count_functions(body: str) -> int:
    """Returns the number of member functions that the body of a class declares."""
    count, begin, at = 0, 0, 0
    while at < len(body):
        if body[at] == ";":
            count += is_function(body[begin:at])
            begin = at = at + 1
        elif body[at] == "{":
            end = end_of(body, at)
            # Initializers of members in a constructor, or of a variable, are followed by the rest of the member.
            if re.match(r"\s*[,{;]", body[end:]):
                at = end
                continue
            count += is_function(body[begin:at])
            begin = at = end
        elif body[at] in "([":
            at = end_of(body, at)
        else:
            at += 1
    return count


def classes_of(text: str) -> list[tuple[str, int, int]]:
    """Returns the classes of C++ code: name, line, number of member functions."""
    text = IGNORED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    found = []
    for match in CLASS.finditer(text):
        if re.search(r"\benum\s+$", text[:match.start()]):
            continue
        begin = match.end() - 1
        end = end_of(text, begin)
        found.append((match["name"], text.count("\n", 0, match.start()) + 1, count_functions(text[begin + 1:end - 1])))
    return found


def python_classes_of(text: str) -> list[tuple[str, int, int]]:
    return [(node.name, node.lineno, sum(isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef)) for each in node.body))
            for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)]


def main() -> int:
    root = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout
    files = [name for name in listed.splitlines() if name.endswith(SOURCES) and (root / name).is_file()]
    wrong, needed = [], set()
    folders: dict[str, int] = {}
    for name in files:
        folder = name.rpartition("/")[0] or "."
        folders[folder] = folders.get(folder, 0) + 1
        text = (root / name).read_text(encoding="utf-8")
        lines = len(text.splitlines())
        if lines > MAX_LINES:
            needed.add(name)
            if name not in EXEMPT_FILES:
                wrong.append(f"{name}: error: {lines} lines; at most {MAX_LINES} are permitted: move a topic to another file")
        for title, line, count in (python_classes_of if name.endswith(".py") else classes_of)(text):
            if count <= MAX_FUNCTIONS:
                continue
            needed.add(f"{name}:{title}")
            if f"{name}:{title}" not in EXEMPT_CLASSES:
                wrong.append(f"{name}:{line}: error: `{title}` has {count} member functions; at most {MAX_FUNCTIONS} are permitted: "
                             "replace some by free functions, or split the class")
    for folder, count in sorted(folders.items()):
        if count > MAX_FILES:
            needed.add(folder)
            if folder not in EXEMPT_FOLDERS:
                wrong.append(f"{folder}: error: {count} source files; at most {MAX_FILES} are permitted: group them by topic in "
                             "subfolders (CONTRIBUTING.md, \"Folders\")")
    if root == ROOT:
        wrong += [f"tools/dev/check_sizes.py: error: the exemption of `{name}` is not needed: delete it"
                  for name in (*EXEMPT_FILES, *EXEMPT_FOLDERS, *EXEMPT_CLASSES) if name not in needed]
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{len(files)} files in {len(folders)} folders, {len(wrong)} too large")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
