"""The graph API of transformations: nodes, ports, connections."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from nnefc._nnefc import TransformError as Error
from nnefc.mo.element_types import is_type, to_numpy_type, to_type_name
from nnefc.mo.graph.functions import (
    add_opoutput,
    create_edge,
    dict_includes,
    erase_node,
    get_node_id_by_name,
    get_sorted_inputs,
    get_sorted_outputs,
    merge_edge_props,
    replace_node,
)
from nnefc.mo.graph.graph_api import GraphMethods
from nnefc.mo.graph.names import OperationName, is_known
from nnefc.mo.graph.node_api import NodeMethods

if TYPE_CHECKING:
    from nnefc._nnefc import TransformGraph

__all__ = [
    "Connection", "Graph", "Node", "NodeId", "OperationName", "Port", "add_opoutput", "create_edge", "dict_includes",
    "erase_node", "get_node_id_by_name", "get_sorted_inputs", "get_sorted_outputs", "merge_edge_props", "rename_node",
    "rename_nodes", "replace_node",
]  # fmt: skip


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


class Graph(GraphMethods):
    """A graph during a transformation; invalid afterwards."""

    def __init__(self, native: TransformGraph, stage: str = "front", framework: str = "onnx") -> None:
        self._native, self.stage, self.framework = native, stage, framework
        self._warn: Callable[[str], None] = lambda text: None
        # Attributes of the Model Optimizer that nodes have for the duration of the transformation.
        self._transient: dict[int, dict[str, Any]] = {}
        self._reported: set[str] = set()
        # Nodes with an input that was disconnected.
        self._detached: set[int] = set()
        # Attributes that the operations do not have, and a node with each.
        self._foreign_attributes: dict[str, int] = {}

    def _id(self, number: int) -> NodeId:
        return NodeId(self._native.name(number) or f"{self._native.op(number)}_{number}", number)

    def _number(self, node: object) -> int:
        if isinstance(node, Node):
            return node._number
        if isinstance(node, NodeId):
            return node.number
        found = [number for number in self._native.nodes() if str(self._id(number)) == node]
        # A result may have the name of its source.
        found = [number for number in found if self._native.op(number) != "Result"] or found
        if len(found) != 1:
            raise Error(f"{len(found)} nodes are named `{node}`; use a node or its `id`" if found else f"there is no node `{node}`")
        return found[0]

    def nodes(self, data: bool = False) -> list[Any]:
        """Returns the ids of all nodes; with `data`, pairs of ids and attributes."""
        numbers = self._native.nodes()
        if not data:
            return [self._id(number) for number in numbers]
        return [(self._id(number), self._attributes_of(Node(self, self._id(number)))) for number in numbers]

    def get_op_nodes(self, **attributes: Any) -> list[Node]:
        """Returns the nodes with these values of attributes, including `op`."""
        self._report_unknown(attributes)
        nodes = [Node(self, self._id(number)) for number in self._native.nodes()]
        return [node for node in nodes if all(_fits(node.soft_get(key, None), value) for key, value in attributes.items())]

    def _report_unknown(self, attributes: Mapping[str, Any]) -> None:
        """Warns about names of operations that no operation has."""
        for name in (attributes.get("op"), attributes.get("type")):
            if not isinstance(name, str) or name in self._reported:
                continue
            self._reported.add(name)
            if not is_known(name, self._native.operations):
                self._warn(f"it searches for the operation `{name}`, which does not exist")

    def has_node(self, node: object) -> bool:
        """Returns whether the graph has a node with an id."""
        return node in self.nodes()

    def remove_node(self, node: object) -> None:
        """Removes a node; raises Error if it has consumers."""
        self._native.remove(self._number(node))

    def remove_nodes_from(self, nodes: Iterable[object]) -> None:
        """Removes nodes, consumers before producers; literals that other nodes read stay."""
        self._native.remove_all([self._number(node) for node in nodes])

    def add_edge(self, u: object, v: object, **attributes: Any) -> None:
        """Connects output `out` of a node, or a data node, to input `in` of another node; both are 0 by default."""
        _check_keys(attributes, ("in", "out"), _IGNORED, f"the edge from `{u}` to `{v}`")
        self.create_edge(self._end(u), self._end(v), attributes.get("out", 0), attributes.get("in", 0))

    def add_edges_from(self, edges: Iterable[tuple[Any, ...]]) -> None:
        """Connects pairs of nodes, with a dictionary of `in` and `out` as third item or without it."""
        for edge in edges:
            self.add_edge(edge[0], edge[1], **(edge[2] if len(edge) > 2 else {}))

    def unique_id(self, prefix: str = "") -> str:
        """Returns an unused name."""
        return self._native.unique_name(prefix or "node")

    def clean_up(self) -> None:
        """Removes nodes without influence on results."""
        self._native.clean_up()


class Node(NodeMethods):
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
    def kind(self) -> str:
        """`op`, or `data` for data nodes."""
        return "op"

    @property
    def dim_attrs(self) -> list[str]:
        """Attributes permuted by layout changes. There are no such changes here: modifying the list has no effect."""
        return ["axis", "batch_dims", "channel_dims", "spatial_dims"]

    def _find(self, key: str) -> Any:
        if key in ("op", "type"):
            return self.op
        if key == "kind":
            return self.kind
        if key == "name":
            return self.name or None
        if key == "need_shape_inference":
            return self.graph._native.is_marked(self._number) or None
        if key == "value" and self.op == "Const":
            value = self.out_port(0).data.get_value()
            if value is not None:
                return value
        if key == "shape" and str(self.op) == "Parameter":
            return self.out_port(0).data.get_shape()
        transient = self.graph._transient.get(self._number, {})
        return transient[key] if key in transient else self.graph._native.attribute(self._number, _nnef_key(self.op, key))

    def _is_none(self, key: str) -> bool:
        """Returns whether the transformation set the attribute to None."""
        return not key.startswith("_") and key in self.graph._transient.get(self._number, {})

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
        if value is None and not self._is_none(key):
            raise Error(f"`{self.id}` ({self.op}) has no attribute `{key}`")
        return value

    def __setitem__(self, key: str, value: Any) -> None:
        if key == "name":
            self.name = value
        elif key in ("op", "type"):
            if self.op != str(value):
                self.graph._become(self, str(value))
        elif key == "kind":
            raise Error(f"`kind` of `{self.id}` cannot be changed")
        elif key in ("need_shape_inference", "override_output_shape"):
            if value:
                self.graph._native.mark_for_inference(self._number, key == "override_output_shape")
        elif value is None:
            self.graph._transient.setdefault(self._number, {})[key] = None
            self.graph._native.erase_attribute(self._number, key)
        elif callable(value) and not is_type(value):
            self.graph._native.erase_attribute(self._number, _nnef_key(self.op, key))
            self.graph._transient.setdefault(self._number, {})[key] = value
        elif key == "value" and self.op == "Const":
            self.graph._set_constant(self, value)
        else:
            self.graph._transient.get(self._number, {}).pop(key, None)
            self.graph._note_attribute(self, _nnef_key(self.op, key))
            plain = to_type_name(value) if is_type(value) else value
            self.graph._native.set_attribute(self._number, _nnef_key(self.op, key), plain)

    def __delitem__(self, key: str) -> None:
        self[key]
        if key in self.graph._transient.get(self._number, {}):
            del self.graph._transient[self._number][key]
        else:
            self.graph._native.erase_attribute(self._number, _nnef_key(self.op, key))

    def __getattr__(self, key: str) -> Any:
        value = None if key.startswith("_") else self._find(key)
        if value is None and not self._is_none(key):
            raise AttributeError(f"`{self.id}` ({self.op}) has no attribute `{key}`")
        return value

    def __setattr__(self, key: str, value: Any) -> None:
        if key in ("op", "type"):
            self[key] = value
        elif isinstance(getattr(type(self), key, None), property):
            object.__setattr__(self, key, value)
        else:
            self[key] = value

    def in_port(self, idx: int = 0, control_flow: bool = False) -> Port:
        """Returns an input; one past the last is created by connecting it."""
        return Port(self, idx, False)

    def out_port(self, idx: int = 0, control_flow: bool = False) -> Port:
        """Returns an output."""
        return Port(self, idx, True)

    def in_ports(self, control_flow: bool = False) -> dict[int, Port]:
        """Returns the inputs by index."""
        return {i: self.in_port(i) for i in range(self.graph._native.num_inputs(self._number))}

    def out_ports(self, control_flow: bool = False) -> dict[int, Port]:
        """Returns the outputs by index."""
        return {i: self.out_port(i) for i in range(self.graph._native.num_outputs(self._number))}

    def _accept(self, idx: int) -> None:
        """Makes an NNEF node with attribute `axes` the OpenVINO operation that has them as input 1."""
        key = _AXES.get(str(self.op))
        if key is None or idx != 1 or self.graph._native.accepts_input(self._number, 1):
            return
        from nnefc.mo.op import Op

        axes = self.axes
        made = Op(self.graph, {"op": str(self.op).capitalize()}).create_node([self.in_port(0).get_source()])
        self.graph._take_place(self, made, 0)
        self.graph._transient[self._number] = {key: axes}

    def is_in_port_connected(self, idx: int, control_flow: bool = False) -> bool:
        """Returns whether the input has a producer."""
        return not self.in_port(idx).disconnected()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Node) and self._number == other._number

    def __hash__(self) -> int:
        return self._number

    def output_number(self) -> tuple[int, int]:
        """Returns its first output, as node number and index."""
        return self._number, 0

    def __repr__(self) -> str:
        return f"<Node {self.id} ({self.op})>"


class Data:
    """The static properties of the tensor at a port."""

    def __init__(self, port: Port) -> None:
        self._port = port

    def get_shape(self) -> Any:
        """Returns the extents as an array, with open ones masked; None if the rank is unknown."""
        source = self._port._output()
        native = source.node.graph._native
        held = getattr(native, "held_shape", None)
        if held is not None and held(source.node._number, source.idx) is not None:
            return held(source.node._number, source.idx)
        shape = native.shape(source.node._number, source.idx)
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

    def set_shape(self, shape: Any) -> None:
        """Sets the shape of an output of a node that is being inferred. Other shapes are inferred by nnefc."""
        self._set("set_shape", shape)

    def set_value(self, value: Any) -> None:
        """Sets the value of an output of a node that is being inferred, or of a constant."""
        source = self._port._output()
        if source.node.op == "Const":
            source.node.graph._set_constant(source.node, value)
        else:
            self._set("set_value", value)

    def _set(self, what: str, value: Any) -> None:
        source = self._port._output()
        change = getattr(source.node.graph._native, what, None)
        if change is not None:
            change(source.node._number, source.idx, value)

    def has_valid(self, item: str) -> bool:
        """Returns whether the `shape` or the `value` is known."""
        return (self.get_shape() if item == "shape" else self.get_value()) is not None


class Port:
    """An input or an output of a node."""

    def __init__(self, node: Node, idx: int, is_output: bool) -> None:
        self.node, self.idx, self._is_output = node, int(idx), is_output

    @property
    def data(self) -> Data:
        """The tensor at the port."""
        return Data(self)

    def get_data_type(self) -> Any:
        """Returns the element type as a NumPy type."""
        output = self._output()
        return to_numpy_type(output.node.graph._native.element_type(output.node._number, output.idx))

    def set_data_type(self, data_type: Any, override: bool = False) -> None:
        """Sets the element type of an output of a node that is being inferred. Other types are inferred by nnefc."""
        self.data._set("set_type", to_type_name(data_type))

    def is_data_type_defined(self) -> bool:
        """Returns whether the element type is known."""
        output = self._output()
        name: str = output.node.graph._native.element_type(output.node._number, output.idx)
        return name != "dynamic"

    def add_tensor_names(self, tensor_names: Any, port_renumber: bool = False) -> None:
        """Has no effect: tensor names follow from the names of nodes."""

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
        target.node._accept(target.idx)
        self.node.graph._native.connect((source.node._number, source.idx), (target.node._number, target.idx))

    def disconnect(self) -> None:
        """Disconnects an input from its source, or an output from all its inputs."""
        for port in self.get_destinations() if self._is_output else [self]:
            port.node.graph._native.disconnect(port.node._number, port.idx)
            port.node.graph._detached.add(port.node._number)

    def get_connection(self) -> Connection:
        """Returns its source, None for an unconnected input, with the inputs: all for an output, one for an input."""
        if self._is_output:
            return Connection(self, self.get_destinations())
        return Connection(None if self.disconnected() else self.get_source(), [self])

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

    def __init__(self, source: Port | None, destinations: list[Port]) -> None:
        self._source, self._destinations = source, destinations

    def get_source(self) -> Port | None:
        """Returns the output; None for an unconnected input."""
        return self._source

    def _connected_source(self) -> Port:
        if self._source is None:
            raise Error(f"{self._destinations[0]!r} is not connected")
        return self._source

    def get_destinations(self) -> list[Port]:
        """Returns the inputs."""
        return self._destinations

    def get_destination(self) -> Port:
        """Returns the only input; raises Error for several or none."""
        if len(self._destinations) != 1:
            raise Error(f"{self._source!r} feeds {len(self._destinations)} inputs; expected one")
        return self._destinations[0]

    def set_source(self, source: Port, attributes_save_mode: str | None = None) -> None:
        """Connects the inputs to another output, or to the source of another input."""
        self._source = source._output()
        for port in self._destinations:
            port.connect(self._source)

    def set_destination(self, destination: Port, attributes_save_mode: str | None = None) -> None:
        """Connects the output to another input instead of these."""
        source = self._connected_source()
        for port in self._destinations:
            port.disconnect()
        destination.connect(source)
        self._destinations = [destination]

    def add_destination(self, destination: Port) -> None:
        """Connects the output to an additional input."""
        destination.connect(self._connected_source())
        self._destinations.append(destination)

    def remove(self) -> None:
        """Disconnects the inputs."""
        for port in self._destinations:
            port.disconnect()

    @property
    def data(self) -> Data:
        """The tensor of the output."""
        return self._connected_source().data

    def insert_node(self, node: Node, attributes_save_mode: str = "merge") -> None:
        """Inserts a node between the output and the inputs."""
        source = self._connected_source()
        self.set_source(node.out_port(0))
        node.in_port(0).connect(source)


# The Model Optimizer's names of the attribute `axes` of NNEF operations.
_AXES = {"squeeze": "squeeze_dims", "unsqueeze": "unsqueeze_dims"}


def _nnef_key(op: str, key: str) -> str:
    """Returns the name of an attribute in NNEF."""
    return "axes" if _AXES.get(str(op)) == key else key


# Attributes of edges in the Model Optimizer that have no meaning here.
_IGNORED = ("name", "attrs", "data_attrs", "fw_attrs", "fw_tensor_debug_info", "control_flow_edge")


def _check_keys(keys: Iterable[Any], known: Collection[str], ignored: Collection[str], what: str) -> None:
    for key in keys:
        if key not in known and key not in ignored:
            raise Error(f"{what} has the unknown key `{key}`; expected {' or '.join(f'`{name}`' for name in known)}")


def _fits(value: Any, wanted: Any) -> bool:
    """Returns whether an attribute, or None, matches a pattern's value or predicate."""
    if callable(wanted):
        return bool(wanted(value))
    if wanted is None or value is None:
        return value is wanted
    has_items = isinstance(wanted, (list, tuple, np.ndarray)) or isinstance(value, np.ndarray)
    return bool(np.array_equal(value, wanted) if has_items else value == wanted)


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
        return source.output_number()
    if isinstance(source, Port):
        output = source._output()
        return output.node._number, output.idx
    return source[0]._number, source[1]
