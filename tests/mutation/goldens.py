#!/usr/bin/env python3
"""Runs golden files until one differs, those first that are about some words: goldens.py NNEFC COMMANDS [WORD...]

COMMANDS are the commands of nnefc, with commas between them, whose files are run, or `all`.
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "golden"))
import golden  # noqa: E402
import rule_file  # noqa: E402

SECONDS = 15


def main() -> int:
    golden.TIMEOUT_SECONDS = rule_file.TIMEOUT_SECONDS = SECONDS
    nnefc, commands, words = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2].split(","), sys.argv[3:]
    chosen = []
    for path in golden.paths([]):
        text = path.read_text(encoding="utf-8", errors="replace")
        used = set(re.findall(r"^== (?:command|breaks[^:\n]*|keeps[^:\n]*): nnefc (\w+)", text, re.MULTILINE))
        if path.suffix == ".rule" and re.search(r"^== (breaks|keeps)(?: \w+)?$", text, re.MULTILINE):
            used.add("check")
        if commands == ["all"] or used & set(commands) or not used:
            near = sum(word in path.stem for word in words) * 100 + sum(min(text.count(word), 9) for word in words)
            chosen.append((-near, path))
    for _, path in sorted(chosen):
        actual, faults = golden.actual([path], nnefc)[path]
        if faults or actual != path.read_text(encoding="utf-8"):
            print(path, *faults, sep="\n")
            return 1
    return 0 if chosen else 1


if __name__ == "__main__":
    sys.exit(main())
