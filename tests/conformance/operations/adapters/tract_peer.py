#!/usr/bin/env python3
"""Runs cases in tract (the package `tract`). tract has no validation apart from loading."""

from __future__ import annotations

import os
import re
from pathlib import Path

os.environ["RUST_BACKTRACE"] = "0"  # the last line of a message is its cause, not a stack frame

import numpy as np
import tract
from peer import Arrays, serve


def interface(model: Path) -> tuple[list[str], list[str]]:
    """The names of the graph's parameters and results."""
    lists = re.search(r"graph \w+\(([^)]*)\) -> \(([^)]*)\)", (model / "graph.nnef").read_text())
    if not lists:
        raise ValueError("no graph")
    return tuple([name.strip() for name in names.split(",")] for names in lists.groups())


def run(model: Path, inputs: Arrays) -> Arrays:
    parameters, results = interface(model)
    runnable = tract.nnef().load(str(model)).into_runnable()
    outputs = runnable.run([inputs[name] for name in parameters])
    return {name: np.asarray(value.to_numpy()) for name, value in zip(results, outputs, strict=True)}


def check(model: Path) -> None:
    tract.nnef().load(str(model)).into_runnable()


if __name__ == "__main__":
    serve(run, check)
