#!/usr/bin/env python3
"""Runs golden files and shows where the output differs: run.py NNEFC [STAGE...]"""

import difflib
import pathlib
import sys

import golden


def main() -> int:
    nnefc, stages = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    failed = 0
    files = golden.paths(stages)
    for path in files:
        expected = golden.read(path)
        actual = golden.render(golden.run(expected, nnefc))
        written = path.read_text(encoding="utf-8")
        if actual != written:
            failed += 1
            sys.stdout.writelines(difflib.unified_diff(
                written.splitlines(keepends=True), actual.splitlines(keepends=True), str(path), "actual"))
    print(f"{len(files) - failed} passed, {failed} failed")
    if failed:
        print("tools/dev/update_goldens.py rewrites the files if the new output is right")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
