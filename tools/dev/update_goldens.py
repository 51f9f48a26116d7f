#!/usr/bin/env python3
"""Rewrites golden files to what nnefc prints now; review the diff.

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
    for path in golden.paths(options.stages):
        text = golden.render(golden.run(golden.read(path), options.nnefc.resolve()))
        if text != path.read_text(encoding="utf-8"):
            path.write_text(text, encoding="utf-8")
            print(f"updated {path.relative_to(ROOT)}")
            changed += 1
    print(f"{changed} updated")
    return 0


if __name__ == "__main__":
    sys.exit(main())
