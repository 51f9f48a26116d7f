"""Operations that create nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from nnefc._nnefc import TransformError as Error
from nnefc.mo.graph.graph import Graph, Node, Source, output_of


class Op:
    """An operation with its attributes; `create_node` adds it to the graph.

    `op` is the name of an OpenVINO operation, of which the newest version is created.
    """

    op: ClassVar[str] = ""

    def __init__(self, graph: Graph, attrs: dict[str, Any] | None = None) -> None:
        self.graph, self.attrs = graph, dict(attrs or {})

    def create_node(self, inputs: Sequence[Source] = ()) -> Node:
        """Creates the node. Missing inputs can be connected later."""
        attrs = dict(self.attrs)
        name, count = attrs.pop("name", ""), attrs.pop("in_ports_count", None)
        operation = str(attrs.pop("op", None) or attrs.pop("type", None) or self.op)
        attrs.pop("type", None)
        if not operation:
            raise Error(f"{type(self).__name__} has no `op`")
        sources = [output_of(source) for source in inputs]
        native = self.graph._native
        return Node(self.graph, self.graph._id(native.create(operation, sources, str(name), attrs, count)))

    @classmethod
    def update_node_stat(cls, node: Node, attrs: dict[str, Any] | None = None) -> None:
        """Sets attributes of a node. Replaces a node of another operation by this one, with only these attributes."""
        given = cls(node.graph, attrs).attrs
        kind = given.pop("type", None)
        operation = str(given.pop("op", None) or kind or cls.op)
        if operation and node.op != operation:
            _become(node, operation, given)
            return
        for key, value in given.items():
            node[key] = value


def _become(node: Node, operation: str, attrs: dict[str, Any]) -> None:
    """Replaces a node by one of another operation; the Python object then refers to the new node."""
    sources = [port.get_source() for port in node.in_ports().values() if not port.disconnected()]
    made = Op(node.graph, {**attrs, "op": operation}).create_node(sources)
    outputs = set(node.out_ports()) & set(made.out_ports())
    node.graph._native.take_outputs([((node._number, idx), (made._number, idx)) for idx in sorted(outputs)])
    node.graph.remove_node(node)
    object.__setattr__(node, "_number", made._number)


class Const(Op):
    """A constant with the attribute `value`."""

    op = "Const"

    def create_node(self, inputs: Sequence[Source] = ()) -> Node:
        """Creates the node."""
        if "value" not in self.attrs:
            raise Error("a Const needs the attribute `value`")
        number = self.graph._native.create_const(np.asarray(self.attrs["value"]), str(self.attrs.get("name", "")))
        return Node(self.graph, self.graph._id(number))


class Result(Op):
    """An output of the model."""

    op = "Result"

    def create_node(self, inputs: Sequence[Source] = ()) -> Node:
        """Creates the node; the default name is that of its input."""
        if len(inputs) != 1:
            raise Error(f"a Result reads {len(inputs)} tensors; expected one")
        source = output_of(inputs[0])
        name = str(self.attrs.get("name", "")) or self.graph._native.name(source[0])
        return Node(self.graph, self.graph._id(self.graph._native.create_result(source, name)))


def create_op_with_const_inputs(
    graph: Graph, op: type[Op], port_value_dict: dict[int, Any], op_attrs: dict[str, Any] | None = None,
    input_node: Source | None = None,
) -> Node:
    """Creates a node with constants for the inputs in `port_value_dict`, by index."""
    node = op(graph, op_attrs).create_node()
    for idx, value in port_value_dict.items():
        node.in_port(idx).connect(Const(graph, {"value": value}).create_node().out_port(0))
    if input_node is not None:
        source, output = output_of(input_node)
        graph._native.connect((source, output), (node._number, 0))
    return node


def int64_array(value: Any) -> np.ndarray[Any, Any]:
    """Returns an i64 array."""
    return np.array(value, dtype=np.int64)
