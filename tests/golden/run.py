#!/usr/bin/env python3
"""Runs golden files and prints the differences of the output: run.py NNEFC [STAGE...]"""

import difflib
import pathlib
import sys

import golden
import rule_file


def main() -> int:
    nnefc, stages = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    failed = 0
    files = golden.paths(stages)
    for path, (actual, faults) in golden.actual(files, nnefc).items():
        written = path.read_text(encoding="utf-8")
        if actual != written or faults:
            failed += 1
            sys.stdout.writelines(difflib.unified_diff(
                written.splitlines(keepends=True), actual.splitlines(keepends=True), str(path), "actual"))
            print("\n".join(faults))
    print(f"{len(files) - failed} passed, {failed} failed")
    if failed:
        print("tools/dev/update_goldens.py rewrites the files if the new output is right")
    rules = [path for path in files if path.suffix == ".rule"]
    gaps = rule_file.gaps(nnefc, rules) if rules else []
    if gaps:
        print(f"{len(gaps)} examples of rules are missing:", *gaps, sep="\n")
    return 1 if failed or gaps or not files else 0


if __name__ == "__main__":
    sys.exit(main())
