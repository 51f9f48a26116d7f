"""The shape function of operations with broadcasting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nnefc._nnefc import TransformError as Error
from nnefc.mo.front.common.partial_infer.utils import dynamic_dimension_value, shape_array, unmask_shape


def eltwise_infer(node: Any, op: Callable[..., Any] | None = None, **arguments: Any) -> None:
    """Gives output 0 the broadcast shape of the inputs, and the value that a function of their values returns."""
    shapes = [unmask_shape(port.data.get_shape()) for port in node.in_ports().values()]
    rank = max(len(shape) for shape in shapes)
    whole = []
    for axis in range(rank):
        extents = {int(shape[axis - rank + len(shape)]) for shape in shapes if axis - rank + len(shape) >= 0} - {1}
        known = extents - {dynamic_dimension_value}
        if len(known) > 1:
            raise Error(f"the inputs of `{node.id}` do not broadcast: {', '.join(str(list(shape)) for shape in shapes)}")
        whole.append(known.pop() if known else extents.pop() if extents else 1)
    node.out_port(0).data.set_shape(shape_array(whole))
    values = [port.data.get_value() for port in node.in_ports().values()]
    if op is not None and all(value is not None for value in values):
        node.out_port(0).data.set_value(op(*values, **arguments))
