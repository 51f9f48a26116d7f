"""Functions that the Model Optimizer has with the extractors of Caffe, and that shape functions use."""

from __future__ import annotations

from typing import Any


def get_canonical_axis_index(shape: Any, axis: int) -> int:
    """Returns an axis of a shape as a non-negative index."""
    return axis if axis >= 0 else axis + len(shape)
