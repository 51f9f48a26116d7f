#!/usr/bin/env python3
"""Tests of the suite: every operation has cases, and run.py reports what is wrong. test_suite.py STDLIB."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "formulas")]

import make  # noqa: E402
import run  # noqa: E402
from case import PROVISIONAL, RATIFIED  # noqa: E402

# A tool that copies expected.npz, changed by the function of its second argument.
TOOL = """
import sys, shutil, numpy as np
from pathlib import Path
model, outputs, change = sys.argv[1:]
arrays = dict(np.load(Path(model) / "expected.npz"))
if change == "fail": sys.exit("no results")
if change == "missing": arrays = {}
if change == "shape": arrays = {k: v[None] for k, v in arrays.items()}
if change == "value": arrays = {k: v + np.float32(2e-5) * abs(v).max() for k, v in arrays.items()}
if change == "nan": arrays = {k: np.where(np.arange(v.size).reshape(v.shape) == 0, np.nan, v) for k, v in arrays.items()}
np.savez(outputs, **arrays)
"""


def check_coverage(stdlib: Path) -> None:
    """Every operation that a library declares has a valid case in its dialect."""
    tried = {(case.dialect, case.operation) for case in make.cases() if case.is_valid}
    for dialect in (RATIFIED, PROVISIONAL):
        declared = set(re.findall(r"^fragment (\w+)", (stdlib / f"{dialect}.nnef").read_text(), re.MULTILINE))
        missing = {name for name in declared if (dialect, name) not in tried}
        assert not missing, f"no case of {dialect} {sorted(missing)}"
        unknown = {name for d, name in tried if d == dialect} - declared
        assert not unknown, f"no operations of {dialect}: {sorted(unknown)}"


def check_names() -> None:
    """No two cases share a folder."""
    paths = [case.path for case in make.cases()]
    assert len(paths) == len(set(paths)) and len(paths) >= 1200


def check_difference() -> None:
    """The measure of an error, at its bounds."""
    one, nan, infinity = np.array([1.0, -2.0]), np.array([np.nan, 2.0]), np.array([np.inf, 2.0])
    assert run.difference(one, one) == 0 and run.difference(nan, nan) == 0 and run.difference(infinity, infinity) == 0
    assert run.difference(one + [0, 0.5], one) == 0.25
    assert run.difference(nan, one) == run.difference(one, nan) == run.difference(-infinity, infinity) == np.inf
    assert run.difference(one[:1], one) == np.inf and run.difference(np.zeros(2) + 1e-9, np.zeros(2)) == np.inf


def check_outcomes(folder: Path) -> None:
    """run.py passes a tool that is right, and fails one that is not."""
    suite, tool = folder / "suite", folder / "tool.py"
    tool.write_text(TOOL)
    chosen = [case for case in make.cases() if (case.operation, case.dialect) in [("sqr", RATIFIED), ("external", RATIFIED)]]
    for case in chosen:
        case.write(suite)
    for change, expected in [("none", 0), ("fail", 1), ("missing", 1), ("shape", 1), ("value", 1), ("nan", 1)]:
        command = f"{sys.executable} {tool} {{model}} {{outputs}} {change}"
        done = subprocess.run([sys.executable, HERE / "run.py", "--cases", suite, "--command", command, "--only", "/sqr/"], capture_output=True)
        assert done.returncode == expected, (change, done.stdout, done.stderr)
    for check, expected in [("false", 0), ("true", 1)]:  # rejects every document; accepts every document
        command = f"{sys.executable} {tool} {{model}} {{outputs}} none"
        done = subprocess.run([sys.executable, HERE / "run.py", "--cases", suite, "--command", command, "--check", check, "--only", "invalid"],
                              capture_output=True)
        assert done.returncode == expected, (check, done.stdout, done.stderr)


if __name__ == "__main__":
    check_coverage(Path(sys.argv[1]))
    check_names()
    check_difference()
    scratch = Path(tempfile.mkdtemp())
    try:
        check_outcomes(scratch)
    finally:
        shutil.rmtree(scratch)
