#!/usr/bin/env python3
"""Compares the speed of an installed Python package with that of a command line: compare_speed.py NNEFC PYTHON NETWORK

PYTHON has the package; its own command line is compared too. Their processes alternate, and the fastest run of each
counts. Other work on the machine only slows runs down, so rounds continue until the package is fast enough, or
MAX_ROUNDS are done.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

RUNS = 10
MIN_ROUNDS, MAX_ROUNDS = 3, 40

PROGRAM = f"""
import sys
import time

import nnefc

executable = nnefc.load(sys.argv[1], random_weights=1).compile(threads=int(sys.argv[2]))
inputs = executable.random_inputs(1)
times = []
for _ in range({RUNS} + 3):
    start = time.perf_counter()
    executable.run(inputs)
    times.append(1000 * (time.perf_counter() - start))
print(min(times[3:]))
"""


def printed(command: list[str]) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout


def bench(program: list[str], network: str, threads: int) -> float:
    command = [*program, "bench", network, "--threads", str(threads), "--iterations", str(RUNS), "--format", "json"]
    return min(json.loads(printed(command))["milliseconds"])


def call(python: str, network: str, threads: int) -> float:
    return float(printed([python, "-c", PROGRAM, network, str(threads)]))


def compare(options: argparse.Namespace) -> bool:
    """Prints the times; returns true if the package is fast enough."""
    threads = options.threads
    engines = {
        "command line": lambda: bench([options.nnefc], options.network, threads),
        "package": lambda: call(options.python, options.network, threads),
        "package's command line": lambda: bench([options.python, "-m", "nnefc"], options.network, threads),
    }
    fastest = dict.fromkeys(engines, float("inf"))
    for done in range(1, MAX_ROUNDS + 1):
        for name, run in engines.items():
            fastest[name] = min(fastest[name], run())
        ratio = max(fastest.values()) / fastest["command line"]
        if done >= MIN_ROUNDS and ratio <= options.at_most:
            break
    times = ", ".join(f"{name} {time:.2f} ms" for name, time in fastest.items())
    print(f"{options.network}, {threads} thread{'s' if threads > 1 else ''}, {done} rounds: {times}; ratio {ratio:.2f}")
    return ratio <= options.at_most


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("nnefc")
    parser.add_argument("python")
    parser.add_argument("network")
    parser.add_argument("--threads", type=int, default=1, help="of more than one, other work on the machine disturbs the times most")
    parser.add_argument("--at-most", type=float, default=1.3, help="the ratio that is allowed")
    options = parser.parse_args()
    return 0 if compare(options) else 1


if __name__ == "__main__":
    sys.exit(main())
