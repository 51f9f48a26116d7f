#!/usr/bin/env python3
"""Checks that a compiler reports each line of results.cpp that discards a result: run.py COMPILER OPTION...

The types of these results are `[[nodiscard]]`. Only the syntax of that file is checked; no code is generated.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

FILE = Path(__file__).resolve().parent / "results.cpp"


def main(command: list[str]) -> int:
    marked = {number for number, line in enumerate(FILE.read_text(encoding="utf-8").splitlines(), 1)
              if line.endswith("// discarded")}
    run = subprocess.run([*command, "-std=c++20", "-fsyntax-only", "-Wunused-result", FILE], capture_output=True, text=True)
    reported = {int(match[1]) for match in re.finditer(r"results\.cpp:(\d+):\d+: warning: ignoring", run.stderr)}
    if run.returncode == 0 and reported == marked:
        print(f"{len(marked)} discarded results were reported")
        return 0
    print(run.stderr, file=sys.stderr)
    print(f"lines that must be reported and are not: {sorted(marked - reported)}; reported without a reason: "
          f"{sorted(reported - marked)}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
