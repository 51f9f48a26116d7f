"""Methods of the Model Optimizer's Graph that are defined by the basic ones of graph.py."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from nnefc._nnefc import TransformError as Error

if TYPE_CHECKING:
    from nnefc._nnefc import TransformGraph
    from nnefc.mo.graph.graph import Node, Port


# Attributes that infer the shapes and types of outputs; nnefc has its own functions.
SHAPE_FUNCTIONS = ("infer", "type_infer", "reverse_infer")


class Framework(str):
    """The source framework: `nnef`, equal to the framework of a folder `front/onnx`, otherwise to `onnx`.

    An NNEF graph has the layout of ONNX.
    """

    equivalent: str

    def __new__(cls, equivalent: str) -> Framework:
        made = super().__new__(cls, "nnef")
        made.equivalent = equivalent
        return made

    def __eq__(self, other: object) -> bool:
        return other == self.equivalent or str.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


class CommandLine(argparse.Namespace):
    """The options of the Model Optimizer: its defaults, and None for options without one."""

    def __init__(self) -> None:
        super().__init__(
            framework="nnef", data_type="float", generate_experimental_IR_V10=True, generate_deprecated_IR_V7=False,
            keep_shape_ops=True, static_shape=False, reverse_input_channels=False, disable_fusing=False,
            disable_resnet_optimization=False, disable_weights_compression=False, enable_concat_optimization=False,
            compress_fp16=False, freeze_placeholder_with_value={}, placeholder_shapes=None, silent=True, progress=False,
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return None


class GraphMethods:
    """Methods of graphs, in terms of nodes and ports."""

    # The framework of the running transformation, by its folder; and the phase.
    framework = "onnx"
    stage = "front"

    if TYPE_CHECKING:
        _native: TransformGraph
        _detached: set[int]
        _transient: dict[int, dict[str, Any]]
        _foreign_attributes: dict[str, int]

        def _id(self, number: int) -> str: ...
        def _number(self, node: object) -> int: ...
        def nodes(self, data: bool = False) -> list[Any]: ...
        def remove_node(self, node: object) -> None: ...

    @property
    def graph(self) -> dict[str, Any]:
        """The Model Optimizer's attributes of a graph. Changes last as long as the transformation runs."""
        known: dict[str, Any] | None = vars(self).get("_attributes")
        if known is None:
            known = {
                "layout": "NCHW", "fw": Framework(self.framework), "cmd_params": CommandLine(), "stage": self.stage,
                "name": self.name, "ir_version": 11, "feature_dim": 1,
            }  # fmt: skip
            vars(self)["_attributes"] = known
        return known

    @property
    def name(self) -> str:
        """A name for messages."""
        return "net"

    @property
    def has_data(self) -> bool:
        """Whether data nodes are between the operations: in the middle and back phases."""
        return self.stage != "front"

    @property
    def node(self) -> NodeAttributes:
        """The attributes of nodes by their ids."""
        return NodeAttributes(self)

    def _neighbour(self, output: Port) -> Any:
        """Returns the node, or data node, that an edge from an output starts at."""
        if not self.has_data:
            return output.node
        from nnefc.mo.graph.data_node import DataNode

        return DataNode(self, output.node.id, output.idx)  # type: ignore[arg-type]

    def _attributes_of(self, node: Any) -> dict[str, Any]:
        held = dict(self._native.attributes(node._number))
        held |= {key: node._find(key) for key in ("value", "shape") if key in held or node._find(key) is not None}
        return {**held, "op": node.op, "type": node.op, "kind": node.kind, "name": node.id}

    def _copy(self, node: Any, changes: Mapping[str, Any]) -> Node:
        attributes = {**self._native.attributes(node._number), **changes}
        name = str(attributes.pop("name", "") or self._native.unique_name(self._native.name(node._number)))
        value = changes.get("value", node.out_port(0).data.get_value()) if node.op == "Const" else None
        if value is not None:
            from nnefc.mo.op import Const

            return Const(self, {"value": value, "name": name}).create_node()  # type: ignore[arg-type]
        return self._create(self._operation_of(node), [], name, attributes, len(node.in_ports()), len(node.out_ports()))

    def _operation_of(self, node: Any) -> str:
        return f"{self._native.set(node._number)}.{self._native.op(node._number)}"

    def _create(
        self, operation: str, sources: list[Any], name: str, attributes: dict[str, Any], inputs: int | None, outputs: int
    ) -> Node:
        from nnefc.mo.graph.graph import Node

        number = self._native.create(operation, sources, name, attributes, inputs, outputs)
        return Node(self, self._id(number))  # type: ignore[arg-type]

    def _rebuild(self, node: Any, count: int) -> None:
        """Replaces a node by one with its first `count` inputs."""
        attributes = self._native.attributes(node._number)
        made = self._create(self._operation_of(node), [], "", attributes, count, len(node.out_ports()))
        self._take_place(node, made, count)

    def _become(self, node: Any, operation: str) -> None:
        """Replaces a node by one of another operation with the same attributes."""
        from nnefc.mo.op import Op

        attributes = {**self._native.attributes(node._number), "op": operation}
        count = len(node.in_ports())
        made = Op(self, {**attributes, "in_ports_count": count}).create_node()  # type: ignore[arg-type]
        self._take_place(node, made, count)

    def _set_constant(self, node: Any, value: Any) -> None:
        """Replaces a constant by another value; f64 becomes the former type if that is a type of real numbers."""
        import numpy as np

        value, former = np.asarray(value), node.out_port(0).get_data_type()
        if value.dtype == np.float64 and former is not None and np.dtype(former).kind == "f":
            value = value.astype(former)
        number = self._native.create_const(value, "")
        self._take_place(node, self._node(self._id(number)), 0)

    def _take_place(self, node: Any, made: Any, count: int) -> None:
        """Replaces a node with its name; the Python object then refers to the new node."""
        for i in range(count):
            if not node.in_port(i).disconnected():
                made.in_port(i).connect(node.in_port(i).get_source())
        outputs = sorted(set(node.out_ports()) & set(made.out_ports()))
        self._native.take_outputs([((node._number, i), (made._number, i)) for i in outputs])
        self.remove_node(node)
        self._transient[made._number] = self._transient.pop(node._number, {})
        object.__setattr__(node, "_number", made._number)

    # ---- nodes ----

    def get_data_nodes(self, has_value: bool | None = None) -> list[Any]:
        """Returns the data nodes: every output in the middle and back phases, none in the front phase."""
        if not self.has_data:
            return []
        found = []
        for name in self.nodes():
            for port in self._node(name).out_ports().values():
                item = self._neighbour(port)
                if has_value is None or (item.value is not None) == has_value:
                    found.append(item)
        return found

    def _node(self, name: object) -> Node:
        from nnefc.mo.graph.graph import Node

        return Node(self, name)  # type: ignore[arg-type]

    def get_nodes_with_attributes(self, **attributes: Any) -> list[str]:
        """Returns the ids of nodes with these values of attributes."""
        return [node.id for node in self.get_op_nodes(**attributes)]

    def get_op_nodes(self, **attributes: Any) -> list[Any]:
        """Returns the nodes with these values of attributes."""
        raise NotImplementedError

    def get_node_id_by_name(self, name: str) -> str:
        """Returns the id of the only node with a name, apart from results."""
        numbers = [number for number in self._native.nodes() if self._native.name(number) == name]
        found = [self._id(number) for number in numbers if self._native.op(number) != "Result"]
        if len(found) != 1:
            raise Error(f"{len(found)} nodes are named `{name}`; expected one")
        return found[0]

    def erase_node(self, node: Any) -> None:
        """Removes a node with one input and one output; its consumers read its source."""
        if len(node.in_ports()) != 1 or len(node.out_ports()) > 1:
            raise Error(f"`{node.id}` ({node.op}) cannot be erased: it does not have one input and one output")
        source = node.in_port(0).get_source()
        if node.out_ports() and not node.out_port(0).disconnected():
            node.out_port(0).get_connection().set_source(source)
        self.remove_node(node)

    def set_node_attributes(self, name: str, values: Mapping[Any, Any]) -> None:
        """Sets an attribute of nodes by their ids."""
        for node, value in values.items():
            self._node(node)[name] = value

    def _note_attribute(self, node: Any, key: str) -> None:
        """Records an attribute that an operation of NNEF does not have."""
        is_nnef = not self.has_data and self._native.set(node._number) == "nnef"
        if is_nnef and key not in self._native.attributes(node._number):
            self._foreign_attributes.setdefault(key, node._number)

    def dropped_attributes(self) -> Iterator[tuple[str, Any]]:
        """Returns the recorded attributes, each with the first node, if this still has it."""
        for key, number in self._foreign_attributes.items():
            if self._native.exists(number) and self._native.attribute(number, key) is not None:
                yield key, self._node(self._id(number))

    def functions(self) -> Iterator[tuple[str, Any]]:
        """Returns the attributes of nodes that are functions, except those that infer shapes and types."""
        for number, attributes in self._transient.items():
            for key, value in attributes.items():
                if callable(value) and key not in SHAPE_FUNCTIONS and self._native.exists(number):
                    yield key, self._node(self._id(number))

    def remove_detached_nodes(self) -> None:
        """Removes nodes with an unconnected input and without consumers, as the Model Optimizer does."""
        for number in list(self._detached):
            if not self._native.exists(number) or self._native.op(number) == "Result":
                continue
            is_unused = not any(self._native.destinations(number, i) for i in range(self._native.num_outputs(number)))
            inputs = range(self._native.num_inputs(number))
            if is_unused and any(self._native.source(number, i) is None for i in inputs):
                self._native.remove(number)

    # ---- edges ----

    def create_edge(
        self, src_node: Any, dst_node: Any, out_port: int = 0, in_port: int = 0, edge_attrs: dict[str, Any] | None = None
    ) -> None:
        """Connects an output and an input. Data nodes are outputs."""
        source = src_node.in_node() if src_node.kind == "data" else src_node
        if dst_node.kind == "data":
            if not self._same_output(source, out_port, dst_node):
                raise Error("a data node is an output of its operation and cannot get another producer")
            return
        dst_node.in_port(in_port).connect(source.out_port(src_node.output if src_node.kind == "data" else out_port))

    def _end(self, node: object) -> Any:
        """Returns the node, or data node, of an edge by its id or itself."""
        from nnefc.mo.graph.data_node import DataId, DataNode
        from nnefc.mo.graph.graph import Node

        if isinstance(node, DataId):
            return DataNode(self, node, node.output)  # type: ignore[arg-type]
        return node if isinstance(node, Node) else self._node(node)

    def _same_output(self, node: Any, output: int, data: Any) -> bool:
        return bool(data.in_node() == node and data.output == output)

    def remove_edge(self, u: object, v: object, key: Any = None) -> None:
        """Disconnects the inputs of a node that read another one."""
        producer = self._number(u)
        consumer = self._node(v)
        inputs = [port for port in consumer.in_ports().values() if _producer(port) == producer]
        if not inputs:
            raise Error(f"no edge leads from `{u}` to `{v}`")
        for port in inputs:
            port.disconnect()

    def remove_edges_from(self, edges: Any) -> None:
        """Disconnects pairs of nodes."""
        for u, v, *_ in edges:
            self.remove_edge(u, v)

    def edges(self, data: bool = False, keys: bool = False) -> list[Any]:
        """Returns the edges as pairs of ids, with keys and attributes on request."""
        return [edge for name in self.nodes() for edge in self.in_edges(name, data, keys)]

    def in_edges(self, node: object, data: bool = False, keys: bool = False) -> list[Any]:
        """Returns the edges to a node."""
        consumer = self._node(node)
        found = []
        for i, port in consumer.in_ports().items():
            if port.disconnected():
                continue
            source = port.get_source()
            edge: tuple[Any, ...] = (source.node.id, consumer.id)
            found.append(edge + ((0,) if keys else ()) + (({"in": i, "out": source.idx},) if data else ()))
        return found

    def out_edges(self, node: object, data: bool = False, keys: bool = False) -> list[Any]:
        """Returns the edges from a node."""
        producer = self._node(node)
        return [edge for edge in self.edges(data, keys) if edge[0] == producer.id]

    def has_edge(self, u: object, v: object) -> bool:
        """Returns whether a node reads another one."""
        producer = self._number(u)
        return any(_producer(port) == producer for port in self._node(v).in_ports().values())

    def predecessors(self, node: object) -> list[str]:
        """Returns the ids of producers, each once."""
        return list(dict.fromkeys(edge[0] for edge in self.in_edges(node)))

    def successors(self, node: object) -> list[str]:
        """Returns the ids of consumers, each once."""
        return list(dict.fromkeys(edge[1] for edge in self.out_edges(node)))

    # ---- order ----

    def pseudo_topological_sort(self, reverse: bool = False) -> list[Any]:
        """Returns the nodes, producers first."""
        order: list[int] = []
        state: dict[int, bool] = {}
        for start in self._native.nodes():
            stack = [(start, iter(self._producers(start)))] if start not in state else []
            state.setdefault(start, False)
            while stack:
                number, producers = stack[-1]
                following = next((item for item in producers if item not in state), None)
                if following is None:
                    stack.pop()
                    if not state[number]:
                        state[number] = True
                        order.append(number)
                else:
                    state[following] = False
                    stack.append((following, iter(self._producers(following))))
        nodes = [self._node(self._id(number)) for number in order]
        return nodes[::-1] if reverse else nodes

    topological_sort = pseudo_topological_sort

    def _producers(self, number: int) -> Iterator[int]:
        for i in range(self._native.num_inputs(number)):
            source = self._native.source(number, i)
            if source is not None:
                yield source[0]

    def check_empty_graph(self, description: str) -> None:
        """Raises Error for a graph without nodes."""
        if not self._native.nodes():
            raise Error(f"the graph is empty after {description}")

    def check_shapes_consistency(self) -> None:
        """Has no effect: nnefc checks the shapes after each transformation."""

    def print_graph_stat(self) -> None:
        """Logs the number of nodes."""
        import logging

        logging.getLogger("nnefc").debug("%d nodes", len(self._native.nodes()))


def _producer(port: Any) -> int:
    return -1 if port.disconnected() else port.get_source().node._number


class NodeAttributes(Mapping[str, Any]):
    """Nodes by their ids; a node is also a mapping of its attributes."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph

    def __getitem__(self, name: str) -> Any:
        if not self._graph.has_node(name):
            raise KeyError(name)
        return self._graph._node(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._graph.nodes())

    def __len__(self) -> int:
        return len(self._graph.nodes())
