#!/usr/bin/env python3
"""Updates golden files to the current output of nnefc; review the diff.

    update_goldens.py [--nnefc build/release/bin/nnefc] [STAGE...]
"""

import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "golden"))

import golden  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nnefc", type=pathlib.Path, default=ROOT / "build" / "release" / "bin" / "nnefc")
    parser.add_argument("stages", nargs="*")
    options = parser.parse_args()
    if not options.nnefc.exists():
        print(f"update_goldens.py: error: {options.nnefc} is not built", file=sys.stderr)
        return 2
    changed = 0
    wrong = []
    files = golden.paths(options.stages)
    for path, (text, faults) in golden.actual(files, options.nnefc.resolve()).items():
        wrong += faults
        if text != path.read_text(encoding="utf-8"):
            path.write_text(text, encoding="utf-8")
            print(f"updated {path.relative_to(ROOT)}")
            changed += 1
    print(*wrong, f"{changed} updated", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
