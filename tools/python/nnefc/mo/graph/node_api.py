"""Methods of the Model Optimizer's Node that are defined by the basic ones of graph.py."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from nnefc._nnefc import TransformError as Error

if TYPE_CHECKING:
    from nnefc.mo.graph.graph import Graph, Node, NodeId, OperationName


class NodeMethods:
    """Methods of nodes, in terms of ports."""

    if TYPE_CHECKING:
        graph: Graph
        _number: int

        @property
        def id(self) -> NodeId: ...
        @property
        def op(self) -> OperationName: ...
        def in_port(self, idx: int = 0, control_flow: bool = False) -> Any: ...
        def out_port(self, idx: int = 0, control_flow: bool = False) -> Any: ...
        def in_ports(self, control_flow: bool = False) -> dict[int, Any]: ...
        def out_ports(self, control_flow: bool = False) -> dict[int, Any]: ...

    @property
    def node(self) -> str:
        """The same as `id`."""
        return self.id

    # ---- neighbours ----

    def in_nodes(self, control_flow: bool = False) -> dict[int, Any]:
        """Returns the producers of connected inputs; in the middle and back phases their data nodes."""
        connected = ((i, port) for i, port in self.in_ports().items() if not port.disconnected())
        return {i: self.graph._neighbour(port.get_source()) for i, port in connected}

    def in_node(self, key: int = 0, control_flow: bool = False) -> Any:
        """Returns the producer of an input, or its data node in the middle and back phases."""
        return self.graph._neighbour(self.in_port(key).get_source())

    def out_nodes(self, control_flow: bool = False) -> dict[int, Any]:
        """Returns the last consumer of each output with consumers; in the middle and back phases all data nodes."""
        if self.graph.has_data:
            return {i: self.graph._neighbour(port) for i, port in self.out_ports().items()}
        found = ((i, port.get_destinations()) for i, port in self.out_ports().items())
        return {i: destinations[-1].node for i, destinations in found if destinations}

    def out_node(self, key: int = 0, control_flow: bool = False) -> Any:
        """Returns the consumer of an output, or its data node in the middle and back phases."""
        nodes = self.out_nodes()
        if key not in nodes:
            raise Error(f"output {key} of `{self.id}` ({self.op}) has no consumer")
        return nodes[key]

    def in_edges(self, control_flow: bool = False) -> dict[int, dict[str, int]]:
        """Returns the attributes of the edges to connected inputs: `in` and `out`."""
        connected = ((i, port) for i, port in self.in_ports().items() if not port.disconnected())
        return {i: {"in": i, "out": port.get_source().idx} for i, port in connected}

    def in_edge(self, key: int = 0, control_flow: bool = False) -> dict[str, int]:
        """Returns the attributes of the edge to an input."""
        return self.in_edges()[key]

    def out_edges(self, control_flow: bool = False) -> dict[int, dict[str, int]]:
        """Returns the attributes of the last edge of each output: `in` and `out`."""
        found = ((i, port.get_destinations()) for i, port in self.out_ports().items())
        return {i: {"in": ports[-1].idx, "out": i} for i, ports in found if ports}

    def out_edge(self, key: int = 0, control_flow: bool = False) -> dict[str, int]:
        """Returns the attributes of the last edge of an output."""
        return self.out_edges()[key]

    def get_inputs(self, edge_attr: dict[str, Any] | None = None, control_flow: bool = False) -> list[tuple[str, Any]]:
        """Returns the ids of producers with the attributes of the edges."""
        edges = [(self.in_node(i).id, edge) for i, edge in self.in_edges().items()]
        return [(name, edge) for name, edge in edges if _includes(edge, edge_attr)]

    def get_outputs(self, edge_attr: dict[str, Any] | None = None, control_flow: bool = False) -> list[tuple[str, Any]]:
        """Returns the ids of consumers with the attributes of the edges."""
        edges = []
        for i, port in self.out_ports().items():
            for destination in port.get_destinations():
                node = self.graph._neighbour(port) if self.graph.has_data else destination.node
                edges.append((node.id, {"in": destination.idx, "out": i}))
        return [(name, edge) for name, edge in edges if _includes(edge, edge_attr)]

    def get_sorted_inputs(self, control_flow: bool = False) -> list[tuple[str, Any]]:
        """Returns `get_inputs` in the order of ports."""
        return sorted(self.get_inputs(), key=lambda item: int(item[1]["in"]))

    def get_sorted_outputs(self, control_flow: bool = False) -> list[tuple[str, Any]]:
        """Returns `get_outputs` in the order of ports."""
        return sorted(self.get_outputs(), key=lambda item: int(item[1]["out"]))

    # ---- ports ----

    def has_port(self, port_type: str, idx: int, control_flow: bool = False) -> bool:
        """Returns whether the node has an input (`in`) or output (`out`)."""
        if port_type not in ("in", "out"):
            raise Error(f"unknown type of port `{port_type}`; expected `in` or `out`")
        return idx in (self.in_ports() if port_type == "in" else self.out_ports())

    def is_out_port_connected(self, idx: int, control_flow: bool = False) -> bool:
        """Returns whether the output has consumers."""
        return not self.out_port(idx).disconnected()

    def add_input_port(self, idx: int, skip_if_exist: bool = False, **attributes: Any) -> None:
        """Declares an input, which exists once it is connected."""
        if idx in self.in_ports() and not skip_if_exist:
            raise Error(f"`{self.id}` ({self.op}) has an input {idx} already")

    def add_output_port(self, idx: int, skip_if_exist: bool = False, **attributes: Any) -> None:
        """Accepts an existing output; raises Error for others, since the operation determines its outputs."""
        if idx not in self.out_ports():
            raise Error(f"`{self.id}` ({self.op}) has {len(self.out_ports())} outputs; its operation determines them")

    def add_sequence_of_ports(self, type: str, rng: Iterable[int]) -> None:  # noqa: A002
        """Declares ports."""
        for idx in rng:
            if type == "in":
                self.add_input_port(idx, skip_if_exist=True)
            else:
                self.add_output_port(idx, skip_if_exist=True)

    def delete_input_port(self, idx: int, skip_if_absent: bool = False) -> None:
        """Removes the last input, which must be unconnected or a constant."""
        count = len(self.in_ports())
        if idx >= count:
            if skip_if_absent:
                return
            raise Error(f"`{self.id}` ({self.op}) has no input {idx}")
        if idx != count - 1:
            raise Error(f"input {idx} of `{self.id}` ({self.op}) is not the last one; only that can be removed")
        self.graph._rebuild(self, count - 1)

    def delete_input_ports(self, idx_set: Iterable[int], skip_if_absent: bool = False) -> None:
        """Removes inputs, the last first."""
        for idx in sorted(idx_set, reverse=True):
            self.delete_input_port(idx, skip_if_absent)

    def delete_output_port(self, idx: int, skip_if_absent: bool = False) -> None:
        """Disconnects an output; the operation determines the number of outputs."""
        if idx in self.out_ports():
            self.out_port(idx).disconnect()
        elif not skip_if_absent:
            raise Error(f"`{self.id}` ({self.op}) has no output {idx}")

    # ---- attributes ----

    def attrs(self) -> dict[str, Any]:
        """Returns all attributes."""
        return self.graph._attributes_of(self)

    get_attrs = attrs

    def get_opset(self) -> str:
        """Returns the operation set."""
        return self.graph._native.set(self._number)

    # ---- changes ----

    def replace_node(self, new_node: Node, new_node_out_port: int | None = None) -> None:
        """Connects the consumers of this node to another one and removes this node."""
        for i, port in self.out_ports().items():
            if not port.disconnected():
                port.get_connection().set_source(new_node.out_port(i if new_node_out_port is None else new_node_out_port))
        self.graph.remove_node(self)

    def insert_node_after(self, new_node: Node, node_out_port: int = 0) -> None:
        """Inserts a node between an output and its consumers."""
        self.out_port(node_out_port).get_connection().insert_node(new_node)

    def insert_op_on_input_port(
        self, in_port_idx: int, new_op_class: type, new_op_attrs: dict[str, Any], value: Any = None
    ) -> Node:
        """Inserts a node before an input, with an optional constant as its second input."""
        from nnefc.mo.op import create_op_with_const_inputs

        constants = {} if value is None else {1: value}
        made = create_op_with_const_inputs(self.graph, new_op_class, constants, new_op_attrs)
        self.in_port(in_port_idx).get_connection().insert_node(made)
        return made

    def copy_node(self, new_attrs: dict[str, Any] | None = None, dst_graph: Any = None) -> Node:
        """Returns an unconnected copy with changed attributes."""
        if dst_graph is not None and dst_graph is not self.graph:
            raise Error("a node can only be copied within its graph")
        return self.graph._copy(self, new_attrs or {})


def _includes(edge: dict[str, Any], wanted: dict[str, Any] | None) -> bool:
    return all(edge.get(key) == value for key, value in (wanted or {}).items())
