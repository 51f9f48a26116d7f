"""The graph API of transformations: nodes, ports, connections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from nnefc._nnefc import TransformError as Error

if TYPE_CHECKING:
    from nnefc._nnefc import TransformGraph

# Synonyms: operations with names in the Model Optimizer that differ from NNEF or OpenVINO by more than case.
_SAME = {"multiply": "mul", "stack": "pack", "unstack": "unpack", "external": "parameter", "placeholder": "parameter"}


def _key(name: str) -> str:
    folded = name.casefold()
    return _SAME.get(folded, folded)


class OperationName(str):
    """The name of an operation, equal to its synonyms in NNEF, OpenVINO and the Model Optimizer.

    For example, `mul` in a document equals `Mul`, and so does `Multiply` after lowering.
    """

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and _key(self) == _key(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(_key(self))


class NodeId(str):
    """The type of `Node.id`: a string that compares equal to another `NodeId` only if both refer to the same node."""

    number: int

    def __new__(cls, text: str, number: int) -> NodeId:
        made = super().__new__(cls, text)
        made.number = number
        return made

    def __eq__(self, other: object) -> bool:
        return self.number == other.number if isinstance(other, NodeId) else str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


class Graph:
    """A graph during a transformation; invalid afterwards."""

    def __init__(self, native: TransformGraph) -> None:
        self._native = native

    def _id(self, number: int) -> NodeId:
        return NodeId(self._native.name(number) or f"{self._native.op(number)}_{number}", number)

    def _number(self, node: object) -> int:
        if isinstance(node, Node):
            return node._number
        if isinstance(node, NodeId):
            return node.number
        for number in self._native.nodes():
            if str(self._id(number)) == node:
                return number
        raise Error(f"there is no node `{node}`")

    def nodes(self, data: bool = False) -> list[Any]:
        """Returns the ids of all nodes; with `data`, pairs of ids and attributes."""
        numbers = self._native.nodes()
        if not data:
            return [self._id(number) for number in numbers]
        return [(self._id(number), _described(Node(self, self._id(number)))) for number in numbers]

    def get_op_nodes(self, **attributes: Any) -> list[Node]:
        """Returns the nodes with these values of attributes, including `op`."""
        nodes = [Node(self, self._id(number)) for number in self._native.nodes()]
        return [node for node in nodes if all(_fits(node.soft_get(key, None), value) for key, value in attributes.items())]

    def has_node(self, node: object) -> bool:
        """Returns whether the graph has a node with an id."""
        return node in self.nodes()

    def remove_node(self, node: object) -> None:
        """Removes a node; raises Error if it has consumers."""
        self._native.remove(self._number(node))

    def remove_nodes_from(self, nodes: Iterable[object]) -> None:
        """Removes nodes, consumers before producers."""
        left = {self._number(node) for node in nodes}
        while left:
            ends = [n for n in left if not any(self._readers(n))]
            if not ends:
                some = self._id(min(left))
                raise Error(f"`{some}` cannot be removed: other nodes read it")
            for number in ends:
                self._native.remove(number)
                left.remove(number)

    def _readers(self, number: int) -> Iterator[tuple[int, int]]:
        for output in range(self._native.num_outputs(number)):
            yield from self._native.destinations(number, output)

    def unique_id(self, prefix: str = "") -> str:
        """Returns an unused name."""
        return self._native.unique_name(prefix or "node")

    def clean_up(self) -> None:
        """Removes nodes without influence on results."""
        self._native.clean_up()


class Node:
    """A node of a graph, by its id. Attributes are readable as members and as items."""

    graph: Graph
    _number: int

    def __init__(self, graph: Graph, node: object) -> None:
        object.__setattr__(self, "graph", graph)
        object.__setattr__(self, "_number", graph._number(node))

    @property
    def id(self) -> NodeId:
        """Its name, or a generated one if it has none."""
        return self.graph._id(self._number)

    @property
    def name(self) -> str:
        """Its name; may be empty."""
        return self.graph._native.name(self._number)

    @name.setter
    def name(self, name: str) -> None:
        self.graph._native.set_name(self._number, name)

    @property
    def op(self) -> OperationName:
        """The name of its operation."""
        return OperationName(self.graph._native.op(self._number))

    @property
    def type(self) -> OperationName:
        """The same as `op`."""
        return self.op

    @property
    def dim_attrs(self) -> list[str]:
        """Attributes permuted by layout changes. There are no such changes here: modifying the list has no effect."""
        return ["axis", "batch_dims", "channel_dims", "spatial_dims"]

    def _find(self, key: str) -> Any:
        if key in ("op", "type"):
            return self.op
        if key == "kind":
            return "op"
        if key == "name":
            return self.name or None
        return self.graph._native.attribute(self._number, key)

    def soft_get(self, key: str, default: Any = "<UNKNOWN>") -> Any:
        """Returns an attribute, or the default if it is missing."""
        value = self._find(key)
        return default if value is None else value

    def has(self, key: str) -> bool:
        """Returns whether the node has the attribute."""
        return self._find(key) is not None

    has_valid = has

    def has_and_set(self, key: str) -> bool:
        """Returns whether the node has the attribute with a true value."""
        return bool(self.soft_get(key, False))

    def __contains__(self, key: str) -> bool:
        return self.has(key)

    def __getitem__(self, key: str) -> Any:
        value = self._find(key)
        if value is None:
            raise Error(f"`{self.id}` ({self.op}) has no attribute `{key}`")
        return value

    def __setitem__(self, key: str, value: Any) -> None:
        if key == "name":
            self.name = value
        elif key in ("op", "type", "kind"):
            raise Error(f"`{key}` of `{self.id}` cannot be changed; make a node of the other operation")
        else:
            self.graph._native.set_attribute(self._number, key, value)

    def __delitem__(self, key: str) -> None:
        self[key]
        self.graph._native.erase_attribute(self._number, key)

    def __getattr__(self, key: str) -> Any:
        value = None if key.startswith("_") else self._find(key)
        if value is None:
            raise AttributeError(f"`{self.id}` ({self.op}) has no attribute `{key}`")
        return value

    def __setattr__(self, key: str, value: Any) -> None:
        if key == "need_shape_inference":
            self.graph._native.mark_for_inference(self._number, False)
        elif key == "override_output_shape":
            self.graph._native.mark_for_inference(self._number, True)
        elif isinstance(getattr(type(self), key, None), property):
            object.__setattr__(self, key, value)
        else:
            self[key] = value

    def in_port(self, idx: int) -> Port:
        """Returns an input; one past the last is created by connecting it."""
        return Port(self, idx, False)

    def out_port(self, idx: int) -> Port:
        """Returns an output."""
        return Port(self, idx, True)

    def in_ports(self) -> dict[int, Port]:
        """Returns the inputs by index."""
        return {i: self.in_port(i) for i in range(self.graph._native.num_inputs(self._number))}

    def out_ports(self) -> dict[int, Port]:
        """Returns the outputs by index."""
        return {i: self.out_port(i) for i in range(self.graph._native.num_outputs(self._number))}

    def is_in_port_connected(self, idx: int) -> bool:
        """Returns whether the input has a producer."""
        return not self.in_port(idx).disconnected()

    def in_nodes(self) -> dict[int, Node]:
        """Returns the producers of connected inputs."""
        return {i: port.get_source().node for i, port in self.in_ports().items() if not port.disconnected()}

    def in_node(self, idx: int = 0) -> Node:
        """Returns the producer of an input."""
        return self.in_port(idx).get_source().node

    def out_nodes(self) -> list[Node]:
        """Returns the consumers of outputs."""
        return [port.node for output in self.out_ports().values() for port in output.get_destinations()]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and self._number == other._number

    def __hash__(self) -> int:
        return self._number

    def __repr__(self) -> str:
        return f"<Node {self.id} ({self.op})>"


class Data:
    """The static properties of the tensor at a port."""

    def __init__(self, port: Port) -> None:
        self._port = port

    def get_shape(self) -> Any:
        """Returns the extents as an array, with open ones masked; None if the rank is unknown."""
        source = self._port._output()
        shape = source.node.graph._native.shape(source.node._number, source.idx)
        if shape is None:
            return None
        if None in shape:
            open_extents = [extent is None for extent in shape]
            return np.ma.masked_array([extent or 0 for extent in shape], mask=open_extents)
        return np.array(shape, dtype=np.int64)

    def get_value(self) -> Any:
        """Returns the elements if they are known, otherwise None."""
        source = self._port._output()
        return source.node.graph._native.value(source.node._number, source.idx)


class Port:
    """An input or an output of a node."""

    def __init__(self, node: Node, idx: int, is_output: bool) -> None:
        self.node, self.idx, self._is_output = node, int(idx), is_output

    @property
    def data(self) -> Data:
        """The tensor at the port."""
        return Data(self)

    def _output(self) -> Port:
        return self if self._is_output else self.get_source()

    def _exists(self) -> bool:
        return self.idx < self.node.graph._native.num_inputs(self.node._number)

    def get_source(self) -> Port:
        """Returns the output connected to an input; raises Error if there is none."""
        source = None
        if self._is_output:
            raise Error(f"output {self.idx} of `{self.node.id}` is asked for its source")
        if self._exists():
            source = self.node.graph._native.source(self.node._number, self.idx)
        if source is None:
            raise Error(f"input {self.idx} of `{self.node.id}` is not connected")
        return Port(Node(self.node.graph, self.node.graph._id(source[0])), source[1], True)

    def get_destinations(self) -> list[Port]:
        """Returns the inputs connected to an output."""
        graph = self.node.graph
        if not self._is_output:
            raise Error(f"input {self.idx} of `{self.node.id}` is asked for its destinations")
        found = graph._native.destinations(self.node._number, self.idx)
        return [Port(Node(graph, graph._id(number)), idx, False) for number, idx in found]

    def get_destination(self) -> Port | None:
        """Returns the only input connected to an output, or None; raises Error for several."""
        found = self.get_destinations()
        if len(found) > 1:
            raise Error(f"output {self.idx} of `{self.node.id}` feeds {len(found)} inputs; expected one")
        return found[0] if found else None

    def disconnected(self) -> bool:
        """Returns whether the port is unconnected."""
        if self._is_output:
            return not self.get_destinations()
        return not self._exists() or self.node.graph._native.source(self.node._number, self.idx) is None

    def connect(self, other: Port) -> None:
        """Connects an input and an output, in either order."""
        if self._is_output == other._is_output:
            kind = "outputs" if self._is_output else "inputs"
            raise Error(f"two {kind} are to be connected, of `{self.node.id}` and `{other.node.id}`")
        source, target = (self, other) if self._is_output else (other, self)
        self.node.graph._native.connect((source.node._number, source.idx), (target.node._number, target.idx))

    def disconnect(self) -> None:
        """Disconnects an input from its source, or an output from all its inputs."""
        for port in self.get_destinations() if self._is_output else [self]:
            port.node.graph._native.disconnect(port.node._number, port.idx)

    def get_connection(self) -> Connection:
        """Returns its source with the connected inputs: all for an output, a single one for an input."""
        return Connection(self, self.get_destinations()) if self._is_output else Connection(self.get_source(), [self])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Port) and self._place() == other._place()

    def __hash__(self) -> int:
        return hash(self._place())

    def _place(self) -> tuple[int, int, bool]:
        return self.node._number, self.idx, self._is_output

    def __repr__(self) -> str:
        return f"<{'output' if self._is_output else 'input'} {self.idx} of {self.node.id}>"


class Connection:
    """An output with inputs connected to it."""

    def __init__(self, source: Port, destinations: list[Port]) -> None:
        self._source, self._destinations = source, destinations

    def get_source(self) -> Port:
        """Returns the output."""
        return self._source

    def get_destinations(self) -> list[Port]:
        """Returns the inputs."""
        return self._destinations

    def get_destination(self) -> Port:
        """Returns the only input; raises Error for several or none."""
        if len(self._destinations) != 1:
            raise Error(f"{self._source!r} feeds {len(self._destinations)} inputs; expected one")
        return self._destinations[0]

    def set_source(self, source: Port) -> None:
        """Connects the inputs to another output, or to the source of another input."""
        self._source = source._output()
        for port in self._destinations:
            port.connect(self._source)

    def set_destination(self, destination: Port) -> None:
        """Connects the output to another input instead of these."""
        for port in self._destinations:
            port.disconnect()
        destination.connect(self._source)
        self._destinations = [destination]

    def add_destination(self, destination: Port) -> None:
        """Connects the output to an additional input."""
        destination.connect(self._source)
        self._destinations.append(destination)

    def insert_node(self, node: Node) -> None:
        """Inserts a node between the output and the inputs."""
        source = self._source
        self.set_source(node.out_port(0))
        node.in_port(0).connect(source)


def _described(node: Node) -> Mapping[str, Any]:
    held = node.graph._native.attributes(node._number)
    return {**held, "op": node.op, "type": node.op, "kind": "op", "name": node.id}


def _fits(value: Any, wanted: Any) -> bool:
    """Returns whether an attribute, or None, matches a pattern's value or predicate."""
    if callable(wanted):
        return bool(wanted(value))
    return bool(np.array_equal(value, wanted)) if isinstance(wanted, (list, tuple, np.ndarray)) else bool(value == wanted)


def rename_node(node: Node, name: str) -> None:
    """Renames a node."""
    node.name = name


def rename_nodes(nodes: Iterable[tuple[Node, str]]) -> None:
    """Renames nodes. A node with the former name of another one also receives its tensor names."""
    pairs = list(nodes)
    former: dict[str, Node] = {node.name: node for node, _ in pairs if node.name}
    for node, name in pairs:
        owner = former.get(name)
        if owner is not None and owner != node:
            owner.graph._native.set_name(owner._number, name)
            owner.graph._native.take_name(owner._number, node._number)
    for node, name in pairs:
        if node.name != name:
            node.name = name


Source = Union[Node, Port, "tuple[Node, int]"]


def output_of(source: Source) -> tuple[int, int]:
    """Returns a tensor as node number and output index; output 0 for a node."""
    if isinstance(source, Node):
        return source._number, 0
    if isinstance(source, Port):
        output = source._output()
        return output.node._number, output.idx
    return source[0]._number, source[1]
