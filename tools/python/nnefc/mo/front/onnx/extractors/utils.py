"""Attributes of ONNX nodes; in nnefc those of the node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def onnx_attr(
    node: Any, name: str, field: str, default: Any = None, dst_type: Callable[[Any], Any] | None = None
) -> Any:
    """Returns an attribute, or the default, converted to a type."""
    value = node.soft_get(name, None)
    if value is None:
        return default
    if field == "s" and isinstance(value, str):
        value = value.encode()
    return value if dst_type is None else dst_type(value)


def onnx_node_has_attr(node: Any, name: str) -> bool:
    """Returns whether a node has an attribute."""
    return bool(node.has(name))
