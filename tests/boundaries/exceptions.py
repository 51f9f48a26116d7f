"""Where nnefc and OpenVINO differ about boundary cases, and why."""

from __future__ import annotations

import re
from collections.abc import Callable

from opset_boundaries import Node
from test_openvino_rows import LAXER as ROW_LAXER
from test_openvino_rows import STRICTER as ROW_STRICTER



def is_empty(node: Node) -> bool:
    return any(0 in value.array.shape for value in node.inputs)


# A regular expression of rows, a part of the message, the reason.
STRICTER: list[tuple[str, str, str]] = [
    *((f"{re.escape(part)}", text, reason) for part, text, reason in ROW_STRICTER),
    ("", "lacks the attribute", "the documents require the attribute; OpenVINO's classes have a value for it"),
]
LAXER: list[tuple[str, str, str]] = [
    *((f"{re.escape(part)}", text, reason) for part, text, reason in ROW_LAXER),
    ("opset1.StridedSlice", "Stride needs to have same number", "no strides are strides of 1"),
]
# A regular expression of rows, of which nodes, the reason.
COMPUTED_OTHERWISE: list[tuple[str, Callable[[Node], bool], str]] = []
# Where OpenVINO's numbers are undefined.
NOT_COMPARED: list[tuple[str, Callable[[Node], bool], str]] = [
    ("Adaptive", is_empty, "OpenVINO returns what is in its memory"),
]
