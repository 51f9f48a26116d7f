"""NonMaxSuppression with a sigma, by the formula of its documentation. The best remaining box lowers the scores of the
others by exp(-iou^2 / (2 sigma)), or to zero if they overlap by more than the threshold. OpenVINO's CPU plug-in
keeps part of the latter, so it only provides the model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models import Nnefc

ov = pytest.importorskip("openvino")
from openvino import opset9 as op  # noqa: E402

MOST, OVERLAP, LEAST, SIGMA = 6, 0.5, 0.1, 0.5
F32 = np.float32


def overlap(a: np.ndarray, b: np.ndarray) -> float:
    inner = np.maximum(np.minimum(a[2:], b[2:]) - np.maximum(a[:2], b[:2]), 0).prod()
    return inner / ((a[2:] - a[:2]).prod() + (b[2:] - b[:2]).prod() - inner)


def selected(boxes: np.ndarray, scores: np.ndarray) -> list[tuple[int, float]]:
    """Returns the selected boxes of one class and their scores, in order."""
    left, found = dict(enumerate(scores.astype(float))), []
    while left and len(found) < MOST:
        best = max(left, key=left.get)
        score = left.pop(best)
        if score <= LEAST:
            break
        found.append((best, score))
        for i in left:
            iou = overlap(boxes[i].astype(float), boxes[best].astype(float))
            left[i] *= np.exp(-iou * iou / (2 * SIGMA)) if iou <= OVERLAP else 0
    return found


@pytest.fixture(scope="module")
def tool(nnefc: Path, tmp_path_factory: pytest.TempPathFactory) -> Nnefc:
    return Nnefc(nnefc, tmp_path_factory.mktemp("soft"))


@pytest.fixture(scope="module")
def model(tool: Nnefc) -> Path:
    boxes, scores = op.parameter([1, 12, 4], F32, name="boxes"), op.parameter([1, 2, 12], F32, name="scores")
    for parameter in (boxes, scores):
        parameter.output(0).set_names({parameter.friendly_name})
    node = op.non_max_suppression(boxes, scores, op.constant(np.int64(MOST)), op.constant(F32(OVERLAP)),
                                  op.constant(F32(LEAST)), op.constant(F32(SIGMA)), "corner", False, "i64")
    for i, name in enumerate(["indices", "rows", "count"]):
        node.output(i).set_names({name})
    path = tool.scratch / "soft.xml"
    ov.save_model(ov.Model(node.outputs(), [boxes, scores]), path, compress_to_fp16=False)
    return path


@pytest.mark.parametrize("seed", range(8))
def test_scores_are_lowered(tool: Nnefc, model: Path, seed: int) -> None:
    random = np.random.default_rng(seed)
    corners = random.random((1, 12, 2))
    boxes = np.concatenate([corners, corners + random.random((1, 12, 2)) * 0.5 + 0.1], -1).astype(F32)
    scores = random.random((1, 2, 12)).astype(F32)
    np.savez(tool.scratch / "inputs.npz", boxes=boxes, scores=scores)
    found = tool.run(model, "--inputs", tool.scratch / "inputs.npz")
    expected = [(0, category, box, score) for category in range(2) for box, score in selected(boxes[0], scores[0, category])]
    assert found["count"] == [len(expected)]
    np.testing.assert_array_equal(found["indices"], [row[:3] for row in expected])
    np.testing.assert_allclose(found["rows"][:, 2], [row[3] for row in expected], rtol=1e-5)
