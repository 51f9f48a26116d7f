"""The graph as transformations see it: nodes, ports, connections."""

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
    """The name of an operation: equal to those that NNEF, OpenVINO and the Model Optimizer have for it.

    So `mul` of a document is `Mul`, and so is the `Multiply` that it becomes.
    """

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and _key(self) == _key(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(_key(self))


class NodeId(str):
    """What `Node.id` is: a text that is told apart from others of its kind by the node that it is of."""

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
    """A graph that is being transformed; good for as long as the transformation runs."""

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
        """The ids of all nodes; with `data` pairs of ids and attributes."""
        numbers = self._native.nodes()
        if not data:
            return [self._id(number) for number in numbers]
        return [(self._id(number), _described(Node(self, self._id(number)))) for number in numbers]

    def get_op_nodes(self, **attributes: Any) -> list[Node]:
        """The nodes whose attributes, `op` among them, have these values."""
        nodes = [Node(self, self._id(number)) for number in self._native.nodes()]
        return [node for node in nodes if all(_fits(node.soft_get(key, None), value) for key, value in attributes.items())]

    def has_node(self, node: object) -> bool:
        """Whether the graph has a node of an id."""
        return node in self.nodes()

    def remove_node(self, node: object) -> None:
        """Removes a node; an Error if others read it."""
        self._native.remove(self._number(node))

    def remove_nodes_from(self, nodes: Iterable[object]) -> None:
        """Removes nodes, those that read others of them first."""
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
        """A name that no node has."""
        return self._native.unique_name(prefix or "node")

    def clean_up(self) -> None:
        """Removes what no result needs."""
        self._native.clean_up()


class Node:
    """A node of a graph, by its id. Attributes may be read as members and as items."""

    graph: Graph
    _number: int

    def __init__(self, graph: Graph, node: object) -> None:
        object.__setattr__(self, "graph", graph)
        object.__setattr__(self, "_number", graph._number(node))

    @property
    def id(self) -> NodeId:
        """Its name, or another text where it has none."""
        return self.graph._id(self._number)

    @property
    def name(self) -> str:
        """Its name, which may be empty."""
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
        """As `op`."""
        return self.op

    @property
    def dim_attrs(self) -> list[str]:
        """Attributes that a change of layout would permute. There is none here: changes of the list do nothing."""
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
        """An attribute, or the default where the node has none of that name."""
        value = self._find(key)
        return default if value is None else value

    def has(self, key: str) -> bool:
        """Whether the node has the attribute."""
        return self._find(key) is not None

    has_valid = has

    def has_and_set(self, key: str) -> bool:
        """Whether the node has the attribute and it is true."""
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
        """An input; one behind the last is made when it is connected."""
        return Port(self, idx, False)

    def out_port(self, idx: int) -> Port:
        """An output."""
        return Port(self, idx, True)

    def in_ports(self) -> dict[int, Port]:
        """The inputs by their numbers."""
        return {i: self.in_port(i) for i in range(self.graph._native.num_inputs(self._number))}

    def out_ports(self) -> dict[int, Port]:
        """The outputs by their numbers."""
        return {i: self.out_port(i) for i in range(self.graph._native.num_outputs(self._number))}

    def is_in_port_connected(self, idx: int) -> bool:
        """Whether something feeds the input."""
        return not self.in_port(idx).disconnected()

    def in_nodes(self) -> dict[int, Node]:
        """The nodes that feed the inputs that are connected."""
        return {i: port.get_source().node for i, port in self.in_ports().items() if not port.disconnected()}

    def in_node(self, idx: int = 0) -> Node:
        """The node that feeds an input."""
        return self.in_port(idx).get_source().node

    def out_nodes(self) -> list[Node]:
        """The nodes that read outputs."""
        return [port.node for output in self.out_ports().values() for port in output.get_destinations()]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and self._number == other._number

    def __hash__(self) -> int:
        return self._number

    def __repr__(self) -> str:
        return f"<Node {self.id} ({self.op})>"


class Data:
    """What is known of the tensor at a port."""

    def __init__(self, port: Port) -> None:
        self._port = port

    def get_shape(self) -> Any:
        """The extents as an array, masked where they are open; None if their number is open."""
        source = self._port._output()
        shape = source.node.graph._native.shape(source.node._number, source.idx)
        if shape is None:
            return None
        if None in shape:
            open_extents = [extent is None for extent in shape]
            return np.ma.masked_array([extent or 0 for extent in shape], mask=open_extents)
        return np.array(shape, dtype=np.int64)

    def get_value(self) -> Any:
        """The elements where they are known, else None."""
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
        """The output that feeds an input; an Error if nothing does."""
        source = None
        if self._is_output:
            raise Error(f"output {self.idx} of `{self.node.id}` is asked for its source")
        if self._exists():
            source = self.node.graph._native.source(self.node._number, self.idx)
        if source is None:
            raise Error(f"input {self.idx} of `{self.node.id}` is not connected")
        return Port(Node(self.node.graph, self.node.graph._id(source[0])), source[1], True)

    def get_destinations(self) -> list[Port]:
        """The inputs that an output feeds."""
        graph = self.node.graph
        if not self._is_output:
            raise Error(f"input {self.idx} of `{self.node.id}` is asked for its destinations")
        found = graph._native.destinations(self.node._number, self.idx)
        return [Port(Node(graph, graph._id(number)), idx, False) for number, idx in found]

    def get_destination(self) -> Port | None:
        """The only input that an output feeds, or None; an Error if there are more."""
        found = self.get_destinations()
        if len(found) > 1:
            raise Error(f"output {self.idx} of `{self.node.id}` feeds {len(found)} inputs; expected one")
        return found[0] if found else None

    def disconnected(self) -> bool:
        """Whether nothing is connected to it."""
        if self._is_output:
            return not self.get_destinations()
        return not self._exists() or self.node.graph._native.source(self.node._number, self.idx) is None

    def connect(self, other: Port) -> None:
        """Connects an input and an output."""
        if self._is_output == other._is_output:
            kind = "outputs" if self._is_output else "inputs"
            raise Error(f"two {kind} are to be connected, of `{self.node.id}` and `{other.node.id}`")
        source, target = (self, other) if self._is_output else (other, self)
        self.node.graph._native.connect((source.node._number, source.idx), (target.node._number, target.idx))

    def disconnect(self) -> None:
        """Takes an input from its source, or all inputs from an output."""
        for port in self.get_destinations() if self._is_output else [self]:
            port.node.graph._native.disconnect(port.node._number, port.idx)

    def get_connection(self) -> Connection:
        """Its source with what that feeds: all of it for an output, the one input for an input."""
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
    """An output with inputs that it feeds."""

    def __init__(self, source: Port, destinations: list[Port]) -> None:
        self._source, self._destinations = source, destinations

    def get_source(self) -> Port:
        """The output."""
        return self._source

    def get_destinations(self) -> list[Port]:
        """The inputs."""
        return self._destinations

    def get_destination(self) -> Port:
        """The only input; an Error if there are more or none."""
        if len(self._destinations) != 1:
            raise Error(f"{self._source!r} feeds {len(self._destinations)} inputs; expected one")
        return self._destinations[0]

    def set_source(self, source: Port) -> None:
        """Feeds the inputs from another output, or from what feeds another input."""
        self._source = source._output()
        for port in self._destinations:
            port.connect(self._source)

    def set_destination(self, destination: Port) -> None:
        """Feeds another input in place of these."""
        for port in self._destinations:
            port.disconnect()
        destination.connect(self._source)
        self._destinations = [destination]

    def add_destination(self, destination: Port) -> None:
        """Feeds another input too."""
        destination.connect(self._source)
        self._destinations.append(destination)

    def insert_node(self, node: Node) -> None:
        """Puts a node between the output and the inputs."""
        source = self._source
        self.set_source(node.out_port(0))
        node.in_port(0).connect(source)


def _described(node: Node) -> Mapping[str, Any]:
    held = node.graph._native.attributes(node._number)
    return {**held, "op": node.op, "type": node.op, "kind": "op", "name": node.id}


def _fits(value: Any, wanted: Any) -> bool:
    """Whether an attribute, None where there is none, is as a pattern has it."""
    if callable(wanted):
        return bool(wanted(value))
    return bool(np.array_equal(value, wanted)) if isinstance(wanted, (list, tuple, np.ndarray)) else bool(value == wanted)


def rename_node(node: Node, name: str) -> None:
    """Gives a node a name."""
    node.name = name


def rename_nodes(nodes: Iterable[tuple[Node, str]]) -> None:
    """Gives nodes names. Who gets the name that another of them had gets the names of its tensors too."""
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
    """A tensor by the number of its node and output: of a node output 0."""
    if isinstance(source, Node):
        return source._number, 0
    if isinstance(source, Port):
        output = source._output()
        return output.node._number, output.idx
    return source[0]._number, source[1]
