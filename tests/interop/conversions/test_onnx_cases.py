"""The backend cases of the `onnx` package as strict NNEF: no document computes other results than ONNX or OpenVINO, and none is
refused by nnefc or by Khronos' parser. Every eighth case runs; NNEFC_ALL_CASES=1 runs all."""

from __future__ import annotations

import collections
import os
from pathlib import Path

import pytest

pytest.importorskip("nnef")
pytest.importorskip("onnx")
pytest.importorskip("openvino")
from converted_models import Program  # noqa: E402
from onnx_cases import SECONDS, load_front_end, model_cases, node_cases, outcome  # noqa: E402

ALL_CASES = bool(os.environ.get("NNEFC_ALL_CASES"))
# OpenVINO's front end rounds its extents up, so that windows have no elements: minus infinity in nnefc, the lowest scalar in OpenVINO.
WITHOUT_ELEMENTS = "test_maxpool_2d_ceil_output_size_reduce_by_one"
WRONG = {"wrong", "crash", "check refuses", "parser refuses", "run refuses"}


def test_cases(nnefc: Path) -> None:
    load_front_end()
    program = Program(nnefc, SECONDS)
    cases = [case for case in (*node_cases(), *model_cases()) if case.name != WITHOUT_ELEMENTS]
    assert len(cases) > 2000
    found = {case.name: outcome(program, case) for case in (cases if ALL_CASES else cases[::8])}
    assert {name: each for name, each in found.items() if each[0] in WRONG} == {}
    counts = collections.Counter(state for state, _ in found.values())
    assert counts["right"] + counts["right with constants"] >= (700 if ALL_CASES else 90), counts
