#!/usr/bin/env python3
"""Measures how long a program takes to print a help text: start_time.py PROGRAM

The fastest of several runs counts, since other work on the machine only slows runs down.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

MAX_RUNS = 200


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--at-most", type=float, default=15, metavar="MILLISECONDS")
    options = parser.parse_args()
    with open(options.program, "rb") as file:
        assert file.read(4) == b"\x7fELF", f"{options.program} is a script"
    fastest = float("inf")
    for done in range(1, MAX_RUNS + 1):
        start = time.perf_counter()
        subprocess.run([options.program, "operations", "--help"], stdout=subprocess.DEVNULL, check=True)
        fastest = min(fastest, 1000 * (time.perf_counter() - start))
        if done >= 10 and fastest <= options.at_most:
            break
    print(f"{options.program}: {fastest:.1f} ms, the fastest of {done} runs")
    return 0 if fastest <= options.at_most else 1


if __name__ == "__main__":
    sys.exit(main())
