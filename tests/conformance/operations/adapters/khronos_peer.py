#!/usr/bin/env python3
"""Runs cases in Khronos' interpreter (the package `nnef_tools`, by PyTorch) and validates them by Khronos' parser (`nnef`)."""

from __future__ import annotations

from pathlib import Path

import nnef
import numpy as np
from peer import Arrays, serve


def check(model: Path) -> None:
    nnef.infer_shapes(nnef.load_graph(str(model)))


def run(model: Path, inputs: Arrays) -> Arrays:
    from nnef_tools.interpreter.pytorch import Interpreter
    interpreter = Interpreter(str(model))
    parameters = [tensor.name for tensor in interpreter.input_details()]
    outputs = interpreter([inputs[name] for name in parameters])
    if not isinstance(outputs, dict):
        outputs = dict(zip([tensor.name for tensor in interpreter.output_details()], outputs, strict=True))
    return {name: np.asarray(value) for name, value in outputs.items()}


if __name__ == "__main__":
    serve(run, check)
