"""Data nodes, which the Model Optimizer has between operations in the middle and back phases."""

from __future__ import annotations

from typing import Any

from nnefc.mo.graph.graph import Graph, Node, NodeId, Port


class DataId(NodeId):
    """The type of `DataNode.id`."""

    output: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DataId) and (self.number, self.output) == (other.number, other.output)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = NodeId.__hash__


class DataNode(Node):
    """An output of a node. It has the attributes `shape` and `value`."""

    output: int

    def __init__(self, graph: Graph, node: object, output: int) -> None:
        super().__init__(graph, node)
        object.__setattr__(self, "output", output)

    @property
    def id(self) -> NodeId:
        """The name of the producer with the suffix `/data`, and the index of an output other than the first."""
        made = DataId(f"{super().id}/data{self.output or ''}", self._number)
        made.output = self.output
        return made

    @property
    def kind(self) -> str:
        """`data`."""
        return "data"

    def _port(self) -> Port:
        return Port(Node(self.graph, NodeId("", self._number)), self.output, True)

    def _find(self, key: str) -> Any:
        if key == "shape":
            return self._port().data.get_shape()
        if key == "value":
            return self._port().data.get_value()
        if key == "data_type":
            return self._port().get_data_type()
        return {"kind": "data", "name": self.id}.get(key)

    def __setitem__(self, key: str, value: Any) -> None:
        if key == "shape":
            self._port().data.set_shape(value)
        elif key == "value":
            self._port().data.set_value(value)
        else:
            super().__setitem__(key, value)

    def __getattr__(self, key: str) -> Any:
        # Data nodes of the Model Optimizer always have both attributes.
        return self._find(key) if key in ("shape", "value") else super().__getattr__(key)

    def __setattr__(self, key: str, value: Any) -> None:
        if key in ("shape", "value"):
            self[key] = value
        else:
            super().__setattr__(key, value)

    def in_nodes(self, control_flow: bool = False) -> list[Node]:  # type: ignore[override]
        """Returns the producer."""
        return [self._port().node]

    def in_node(self, key: int = 0, control_flow: bool = False) -> Node:
        """Returns the producer."""
        return self.in_nodes()[key]

    def out_nodes(self, control_flow: bool = False) -> list[Node]:  # type: ignore[override]
        """Returns the consumers."""
        return [port.node for port in self._port().get_destinations()]

    def out_node(self, key: int = 0, control_flow: bool = False) -> Node:
        """Returns a consumer."""
        return self.out_nodes()[key]

    def in_ports(self, control_flow: bool = False) -> dict[int, Port]:
        """Returns nothing: data nodes have no ports."""
        return {}

    out_ports = in_ports

    def output_number(self) -> tuple[int, int]:
        """Returns the output, as node number and index."""
        return self._number, self.output

    def attrs(self) -> dict[str, Any]:
        """Returns its attributes."""
        return {"kind": "data", "name": self.id, "shape": self.shape, "value": self.value}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DataNode) and (self._number, self.output) == (other._number, other.output)

    def __hash__(self) -> int:
        return hash((self._number, self.output))

    def __repr__(self) -> str:
        return f"<data {self.output} of {super().id}>"
