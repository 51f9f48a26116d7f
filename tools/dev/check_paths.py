#!/usr/bin/env python3
"""Checks that paths and names of files which CONTRIBUTING and READMEs cite exist: check_paths.py [ROOT]"""

import fnmatch
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Names with these ends are files of the repository; those of models and data are examples.
SOURCES = (".cpp", ".h", ".py", ".sh", ".cmake", ".g4")
# Files that the build writes.
GENERATED = {"stdlib_data.cpp", "grammar/NnefParser.h"}
# Parts of a path that stand for a name: `LABEL.rule`, `<Family>`.
PLACEHOLDER = re.compile(r"[A-Z]{3,}|[<>{}$ ()=,'\"]|\.\.\.")


def citations(text: str) -> list[tuple[int, str]]:
    """The back-quoted words and the targets of links outside of code blocks, with their lines."""
    found = []
    is_code = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            is_code = not is_code
        if is_code or line.startswith("    "):
            continue
        found += [(number, word) for word in re.findall(r"`([^`]+)`", line)]
        found += [(number, target.partition("#")[0]) for target in re.findall(r"\]\(([^)]+)\)", line) if "://" not in target]
    return found


def is_path(word: str, folder: str, folders: set[str]) -> bool:
    if PLACEHOLDER.search(word) or word.startswith(("-", "/", "~", ".")) or not word:
        return False
    if word.endswith(SOURCES):
        return True
    first = word.split("/")[0]
    return "/" in word and (first in folders or f"{folder}/{first}".strip("/") in folders)


def exists(word: str, folder: str, files: list[str], folders: set[str]) -> bool:
    word = word.rstrip("/")
    if word in GENERATED:
        return True
    for name in (word, f"{folder}/{word}".strip("/")):
        if name in folders or fnmatch.filter(files, name):
            return True
    # A file may be cited by the end of its path, or its name.
    return bool(fnmatch.filter(files, f"*/{word}")) or any(name.endswith(f"/{word}") for name in folders)


def main() -> int:
    root = pathlib.Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT
    listed = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout
    files = listed.splitlines()
    folders = {str(parent) for file in files for parent in pathlib.PurePosixPath(file).parents} - {"."}
    wrong = []
    count = 0
    for file in files:
        if pathlib.PurePosixPath(file).name not in ("README.md", "CONTRIBUTING.md"):
            continue
        folder = str(pathlib.PurePosixPath(file).parent)
        folder = "" if folder in (".", ".github") else folder
        for line, word in citations((root / file).read_text(encoding="utf-8")):
            if not is_path(word, folder, folders):
                continue
            count += 1
            if not exists(word, folder, files, folders):
                wrong.append(f"{file}:{line}: error: there is no `{word}`")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    print(f"{count} cited paths, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
