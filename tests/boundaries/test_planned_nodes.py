"""Nodes in which two values meet that the generated combinations may miss: OpenVINO computes what is expected."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("openvino")

import numpy as np  # noqa: E402

import nnefc_ways  # noqa: E402
from opset_boundaries import Node, Value  # noqa: E402
from test_opset_boundaries import Runs, Verdicts, chunks  # noqa: E402

RANDOM = np.random.default_rng(5)


def data(*shape: int) -> Value:
    return Value(RANDOM.standard_normal(shape).astype(np.float32), False)


def ints(*items: int) -> Value:
    return Value(np.array(items), True)


def rolled() -> list[Node]:
    """Shifts of one axis add up, whether the axis is written once or twice, as a positive or a negative number."""
    return [Node("opset7.Roll", f"{shifts} of {axes}", [data(3, 4), ints(*shifts), ints(*axes)], {}, ["f32"])
            for shifts, axes in [((1, 1), (1, 1)), ((1, 2), (1, -1)), ((3, -1), (0, 0)), ((1, 1, 1), (1, 0, 1)), ((5, 5), (0, -2)), ((2,), (1,))]]


def split() -> list[Node]:
    """-1 stands for what remains: nothing, one element, all."""
    return [Node("opset1.VariadicSplit", str(lengths), [data(2, 6), ints(1), ints(*lengths)], {}, ["f32"] * len(lengths))
            for lengths in [(6, -1), (-1, 6), (2, -1, 4), (5, -1), (-1,), (-1, 0), (0, 6), (0, -1, 6)]]


@pytest.mark.parametrize("nodes", [rolled, split])
def test_nodes(nodes, tmp_path: Path, nnefc: Path) -> None:
    planned = nodes()
    verdicts = Verdicts(tmp_path)
    accepted = verdicts.accepted(planned)
    assert len(accepted) == len(planned), verdicts.problems
    Runs(verdicts, nnefc_ways.transformations(nnefc)).run(chunks(accepted))
    assert not verdicts.problems, "\n" + "\n".join(line for lines in verdicts.problems.values() for line in lines[:5])
