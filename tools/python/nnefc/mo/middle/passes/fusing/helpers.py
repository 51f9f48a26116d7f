"""The constant and the other input of binary operations, and consumers."""

from __future__ import annotations

from typing import Any


def _inputs_by_value(node: Any) -> tuple[list[int], list[int]]:
    """Returns the indices of inputs with known values, and of others."""
    known = {idx: port.data.get_value() is not None for idx, port in node.in_ports().items() if not port.disconnected()}
    return [idx for idx, has_value in known.items() if has_value], [idx for idx, has_value in known.items() if not has_value]


def get_value_id(node: Any) -> int | None:
    """Returns the index of the only input with a known value, or None."""
    with_value, _ = _inputs_by_value(node)
    return with_value[0] if len(with_value) == 1 else None


def get_tensor_id(node: Any) -> int | None:
    """Returns the index of the only input without a known value, or None."""
    _, others = _inputs_by_value(node)
    return others[0] if len(others) == 1 else None


def get_value_in_port(node: Any) -> Any:
    """Returns the only input with a known value, or None."""
    idx = get_value_id(node)
    return None if idx is None else node.in_port(idx)


def get_tensor_in_port(node: Any) -> Any:
    """Returns the only input without a known value, or None."""
    idx = get_tensor_id(node)
    return None if idx is None else node.in_port(idx)


def get_next_operation(node: Any) -> list[Any]:
    """Returns the consumers of output 0, each once."""
    return list(dict.fromkeys(port.node for port in node.out_port(0).get_destinations()))
