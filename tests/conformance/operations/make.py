#!/usr/bin/env python3
"""Writes the cases of the suite: make.py FOLDER [--list]. FOLDER must not exist yet, or hold a suite made before."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "formulas")]

from case import Case  # noqa: E402
from sections import boundaries, compounds, elementwise, extents, pairs, refusals, shapes, tensors, windows  # noqa: E402

MARK = ".nnef-conformance-suite"


def cases() -> list[Case]:
    """Every case: in the order of the sections, then those that are generated."""
    written = [case for section in (tensors, elementwise, windows, shapes, compounds) for case in section.cases()]
    generated = boundaries.cases() + pairs.cases()
    made = written + generated + boundaries.with_defaults([*generated, *written])
    return made + extents.cases(made) + refusals.cases()


def write(folder: Path) -> int:
    """Writes all cases below `folder` and returns their number."""
    if folder.exists():
        if not (folder / MARK).exists() and any(folder.iterdir()):
            raise SystemExit(f"make.py: error: `{folder}` is not empty and holds no suite; name a new folder")
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    (folder / MARK).touch()
    made = cases()
    for case in made:
        case.write(folder)
    return len(made)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="where the cases are written")
    parser.add_argument("--list", action="store_true", help="print the number of cases of each operation instead")
    arguments = parser.parse_args()
    if arguments.list:
        count = Counter((case.dialect, case.operation, "valid" if case.is_valid else "invalid") for case in cases())
        for (dialect, operation, kind), number in sorted(count.items()):
            print(f"{dialect:12} {operation:32} {kind:8} {number:4}")
        return
    if not arguments.folder:
        parser.error("name the folder, or use --list")
    print(f"{write(arguments.folder)} cases in {arguments.folder}")


if __name__ == "__main__":
    main()
