"""Shape functions of element-wise operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def copy_shape_infer(node: Any, value_infer: Callable[[Any], None] | None = None) -> None:
    """Gives the outputs the shape of input 0; `value_infer` computes the value."""
    for port in node.out_ports().values():
        port.data.set_shape(node.in_port(0).data.get_shape())
    if value_infer is not None:
        value_infer(node)


def copy_value(node: Any) -> None:
    """Gives the outputs the value of input 0 if it is known."""
    value = node.in_port(0).data.get_value()
    if value is not None:
        for port in node.out_ports().values():
            port.data.set_value(value)


def single_output_infer(
    node: Any, shape_infer: Callable[[Any], Any], value_infer: Callable[[Any], Any] | None = None
) -> None:
    """Gives output 0 the shape, and the value, that functions return."""
    node.out_port(0).data.set_shape(shape_infer(node))
    if value_infer is not None and all(port.data.get_value() is not None for port in node.in_ports().values()):
        node.out_port(0).data.set_value(value_infer(node))
