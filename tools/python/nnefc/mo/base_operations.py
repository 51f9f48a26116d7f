"""The base classes of element-wise operations, for operations of a folder of extensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from nnefc.mo.front.common.partial_infer.elemental import copy_shape_infer
from nnefc.mo.front.common.partial_infer.eltwise import eltwise_infer
from nnefc.mo.graph.graph import Graph
from nnefc.mo.op import Op


class Elementwise(Op):
    """An operation on the elements of two tensors, which broadcast. `operation` computes it, also as a kernel."""

    operation: ClassVar[Callable[..., Any] | None] = None
    num_inputs: ClassVar[int] = 2

    def __init__(
        self, graph: Graph | None, attrs1: dict[str, Any] | None = None, attrs2: dict[str, Any] | None = None
    ) -> None:
        known = {"op": self.op, "type": self.op_type or self.op, "infer": self._infer, "in_ports_count": self.num_inputs}
        super().__init__(graph, {**known, **(attrs1 or {})}, attrs2)

    def _infer(self, node: Any) -> None:
        eltwise_infer(node, self.operation)


class UnaryElementwise(Elementwise):
    """An operation on the elements of a tensor. `operation` computes it, also as a kernel."""

    num_inputs: ClassVar[int] = 1


class LogicalElementwise(Elementwise):
    """An operation on the elements of two tensors with logical results."""

    @staticmethod
    def type_infer(node: Any) -> None:
        """Sets the element type of the output."""
        node.out_port(0).set_data_type(np.bool_)


class Activation(UnaryElementwise):
    """An activation function. `operation` computes it, also as a kernel."""

    def _infer(self, node: Any) -> None:
        copy_shape_infer(node)
        value = node.in_port(0).data.get_value()
        if self.operation is not None and value is not None:
            node.out_port(0).data.set_value(self.operation(value))


# The modules below `nnefc.mo.ops` that have the classes.
BASES = {
    "elementwise": (Elementwise, UnaryElementwise, LogicalElementwise),
    "activation_ops": (Activation,),
}
