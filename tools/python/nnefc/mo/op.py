"""Operations that create nodes."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, Union

import numpy as np

from nnefc import _nnefc
from nnefc._nnefc import TransformError as Error
from nnefc.mo.element_types import is_type, to_type_name
from nnefc.mo.graph.graph import Graph, Node, Source, output_of
from nnefc.mo.graph.graph_api import SHAPE_FUNCTIONS

# Attributes of the Model Optimizer that describe a node rather than its operation.
_DESCRIPTION = (
    "op", "type", "kind", "name", "version", *SHAPE_FUNCTIONS, "in_ports_count", "out_ports_count", "IE", "rt_info",
    "dim_attrs", "shape_attrs", "force_precision_in_ports", "need_shape_inference", "override_output_shape",
)  # fmt: skip
# Attributes that schedule a new node for inference.
_MARKS = ("need_shape_inference", "override_output_shape")
# Attributes with other names in OpenVINO.
_RENAMED = {"dst_type": "destination_type"}


# An operation: set, name, required inputs, maximum of inputs, outputs, attributes with defaults.
Row = tuple[str, str, int, Union[int, None], Union[int, None], dict[str, Any]]


@functools.cache
def _rows() -> dict[str, Row]:
    """Returns the operations by name, both with and without their set; the newest version without it."""
    rows = {}
    for row in _nnefc.operations():
        rows[f"{row[0]}.{row[1]}".casefold()] = row
        if row[0] != "nnef":
            former = rows.get(row[1].casefold())
            if former is None or _age(row[0]) >= _age(former[0]):
                rows[row[1].casefold()] = row
    return rows


def newest_row(operation: str, opset: int) -> Row | None:
    """Returns the row of an operation that an operation set of OpenVINO has."""
    found: Row | None = None
    for row in _rows().values():
        is_meant = row[1] == operation and row[0].startswith("opset") and _age(row[0]) <= opset
        if is_meant and (found is None or _age(row[0]) > _age(found[0])):
            found = row
    return found


def _age(name: str) -> int:
    return int(name[len("opset") :]) if name.startswith("opset") else 0


def row_of(operation: str, version: str = "") -> Row | None:
    """Returns the row of an operation of OpenVINO: of a version if there is such a row, otherwise the newest one."""
    rows = _rows()
    return rows.get(f"{version}.{operation}".casefold()) or rows.get(operation.casefold())


class Op:
    """An operation with its attributes; `create_node` adds it to the graph.

    `op` is the Model Optimizer's name of the operation. An operation that neither OpenVINO nor NNEF has belongs to the
    folder of extensions: its class defines `infer`, `backend_attrs` and, to run it, `compute`.
    """

    op: ClassVar[str | None] = ""
    # The name of the operation in OpenVINO; empty if it is that of `op`.
    op_type: ClassVar[str] = ""
    version: ClassVar[str] = ""
    defaults: ClassVar[dict[str, Any]] = {}
    # Attributes with other names in OpenVINO.
    renamed: ClassVar[dict[str, str]] = {}

    def __init__(
        self, graph: Graph | None, attrs1: dict[str, Any] | None = None, attrs2: dict[str, Any] | None = None
    ) -> None:
        self.graph = graph
        self.attrs: dict[str, Any] = {**self.defaults, **(attrs1 or {}), **(attrs2 or {})}

    def backend_attrs(self) -> list[Any]:
        """Returns the attributes that IR has: names, or pairs of a name with another name or a function of the node."""
        return []

    def supported_attrs(self) -> list[Any]:
        """Returns the attributes that IR has; the default of `backend_attrs` in older classes."""
        return []

    def create_node(self, inputs: Iterable[Source] | None = None, attrs: dict[str, Any] | None = None) -> Node:
        """Creates the node. Missing inputs can be connected later."""
        given = {**self.attrs, **(attrs or {})}
        sources = [output_of(source) for source in inputs or ()]
        return self._create(given, sources)

    def _create(self, attrs: dict[str, Any], sources: list[tuple[int, int]]) -> Node:
        graph = self._graph()
        count = attrs.get("in_ports_count")
        operation = self._operation(attrs)
        row = row_of(*operation)
        name = f"{operation[1]}.{operation[0]}" if row is None and operation[1] else operation[0]
        if row is not None:
            name = f"{row[0]}.{row[1]}"
            count = None if row[3] is not None and count is not None and not row[2] <= count <= row[3] else count
        outputs = self._outputs(attrs, row)
        if custom_set(type(self)):
            attrs = {**attrs, **self._written_attributes(attrs)}
        number = graph._native.create(name, sources, str(attrs.get("name") or ""), self._plain(attrs, row), count, outputs)
        node = Node(graph, graph._id(number))
        for key, value in attrs.items():
            if key in _MARKS:
                node[key] = bool(value)
            elif callable(value) and not is_type(value) and key not in SHAPE_FUNCTIONS:
                node[key] = value
        return node

    def _written_attributes(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """Returns the attributes of IR that `backend_attrs` derives from others."""
        view = AttributeView(attrs)
        pairs = [item for item in self.backend_attrs() if isinstance(item, tuple) and len(item) == 2]
        return {name: source(view) if callable(source) else attrs.get(source) for name, source in pairs}

    def _graph(self) -> Graph:
        if self.graph is None:
            raise Error(f"{type(self).__name__} has no graph")
        return self.graph

    def _operation(self, attrs: dict[str, Any]) -> tuple[str, str]:
        """Returns the name and the version of the operation in OpenVINO."""
        operation = str(attrs.get("type") or self.op_type or attrs.get("op") or self.op or "")
        if not operation:
            raise Error(f"{type(self).__name__} has no `op`")
        own = custom_set(type(self))
        return operation, own or str(attrs.get("version") or self.version or "")

    def _outputs(self, attrs: dict[str, Any], row: Any) -> int:
        if row is not None and row[4] is not None:
            return int(row[4]) if row[4] == 1 or "out_ports_count" not in attrs else int(attrs["out_ports_count"])
        counts = (attrs.get("num_splits"), attrs.get("out_ports_count"), _count_of(attrs.get("size_splits")), 1)
        return int(next(count for count in counts if count is not None))

    def _plain(self, attrs: dict[str, Any], row: Any) -> dict[str, Any]:
        """Returns the attributes of the operation, by OpenVINO's names and with its types."""
        own = row[5] if row is not None else {}
        plain = {}
        for key, value in attrs.items():
            name = {**_RENAMED, **self.renamed}.get(key, key)
            if value is None or callable(value) and not is_type(value):
                continue
            if key in _DESCRIPTION and not (name in own and key != "name"):
                continue
            plain[name] = to_type_name(value) if is_type(value) else value
            if name in own and isinstance(value, str) and name in ("destination_type", "element_type", "output_type"):
                plain[name] = to_type_name(value)
        return plain

    def create_node_with_data(
        self, inputs: Iterable[Source] | None = None, attrs: dict[str, Any] | None = None, **unused: Any
    ) -> Any:
        """Creates the node; returns its data node, or a list of them for several outputs."""
        from nnefc.mo.graph.data_node import DataNode

        node = self.create_node(inputs, attrs)
        made = [DataNode(node.graph, node.id, i) for i in node.out_ports()]
        return made[0] if len(made) == 1 else made

    @staticmethod
    def create_input_data_node(graph: Graph, name: str, value: Any, attrs: dict[str, Any] | None = None) -> Any:
        """Creates a constant; returns its data node."""
        return Const(graph, {"name": name, "value": value}).create_node_with_data()

    @staticmethod
    def get_op_class_by_name(name: str) -> type[Op]:
        """Returns the class of an operation: the one that was defined last, otherwise one of OpenVINO's operation."""
        kinds, i = [Op], 0
        while i < len(kinds):
            kinds += kinds[i].__subclasses__()
            i += 1
        found = [kind for kind in kinds if kind.op == name]
        if not found and row_of(name) is None:
            raise Error(f"no class has the `op` `{name}`")
        own = [kind for kind in found if not kind.__module__.startswith("nnefc.mo")]
        return (own or found or [simple(name, name)])[-1]

    @classmethod
    def update_node_stat(cls, node: Node, attrs: dict[str, Any] | None = None) -> None:
        """Sets attributes of a node. Replaces a node of another operation by this one, with only these attributes."""
        made = cls(node.graph, attrs or {})
        operation, _ = made._operation(made.attrs) if made.attrs.get("op") or cls.op else ("", "")
        if operation and node.op != operation and node.op != str(made.attrs.get("op") or cls.op):
            _become(node, made)
            return
        for key, value in made._plain(made.attrs, None).items():
            node[key] = value

    def update_node(self, node: Node, attrs: dict[str, Any] | None = None) -> None:
        """Sets attributes of a node."""
        type(self).update_node_stat(node, {**self.attrs, **(attrs or {})})


class AttributeView:
    """The attributes of a node that is about to be created, with the methods of Node that read them."""

    def __init__(self, attrs: dict[str, Any]) -> None:
        self._attrs = attrs

    def soft_get(self, key: str, default: Any = "<UNKNOWN>") -> Any:
        """Returns an attribute, or the default if it is missing."""
        value = self._attrs.get(key)
        return default if value is None else value

    def has_valid(self, key: str) -> bool:
        """Returns whether the attribute has a value."""
        return self._attrs.get(key) is not None

    has = has_valid
    __contains__ = has_valid

    def has_and_set(self, key: str) -> bool:
        """Returns whether the attribute has a true value."""
        return bool(self._attrs.get(key))

    def __getitem__(self, key: str) -> Any:
        if key not in self._attrs:
            raise Error(f"the new node has no attribute `{key}`")
        return self._attrs[key]

    def __getattr__(self, key: str) -> Any:
        if key.startswith("_") or key not in self._attrs:
            raise AttributeError(f"the new node has no attribute `{key}`")
        return self._attrs[key]


def _count_of(value: Any) -> int | None:
    return None if value is None else len(value)


def custom_set(kind: type[Op]) -> str:
    """Returns the operation set of a class that defines an operation of a folder of extensions, or nothing."""
    return str(vars(kind).get("custom_set", "")) or ""


def _become(node: Node, made: Op) -> None:
    """Replaces a node by one of another operation; the Python object then refers to the new node."""
    sources = [port.get_source() for port in node.in_ports().values() if not port.disconnected()]
    new = made.create_node(sources)
    node.graph._take_place(node, new, 0)


class Const(Op):
    """A constant with the attribute `value`; f64 becomes f32, the element type of models that the Model Optimizer writes."""

    op = "Const"

    def _create(self, attrs: dict[str, Any], sources: list[tuple[int, int]]) -> Node:
        graph = self._graph()
        if attrs.get("value") is None:
            raise Error("a Const needs the attribute `value`")
        value = np.ma.getdata(np.asarray(attrs["value"]))
        value = value.astype(np.float32) if value.dtype == np.float64 else value
        number = graph._native.create_const(value, str(attrs.get("name") or ""))
        return Node(graph, graph._id(number))


class Result(Op):
    """An output of the model."""

    op = "Result"

    def _create(self, attrs: dict[str, Any], sources: list[tuple[int, int]]) -> Node:
        """Creates the node; the default name is that of its input."""
        graph = self._graph()
        if len(sources) != 1:
            raise Error(f"a Result reads {len(sources)} tensors; expected one")
        name = str(attrs.get("name") or "") or graph._native.name(sources[0][0])
        return Node(graph, graph._id(graph._native.create_result(sources[0], name)))


def create_op_with_const_inputs(
    graph: Graph,
    op: Callable[..., Op],
    port_value_dict: dict[int, Any],
    op_attrs: dict[str, Any] | None = None,
    input_node: Source | None = None,
    edge_attrs: dict[str, Any] | None = None,
) -> Node:
    """Creates a node with constants for the inputs in `port_value_dict`, by index."""
    attrs = dict(op_attrs or {})
    made = op(graph, attrs)
    if port_value_dict and "in_ports_count" not in made.attrs:
        made.attrs["in_ports_count"] = max(port_value_dict) + 1
    node = made.create_node()
    name = attrs.get("name") or ""
    for idx, value in sorted(port_value_dict.items()):
        constant = Const(graph, {"value": value, "name": f"{name}/value_{idx}" if name else ""}).create_node()
        node.in_port(idx).connect(constant.out_port(0))
    if input_node is not None:
        node.in_port(0).connect(_port_of(input_node))
    return node


def create_op_node_with_second_input(
    graph: Graph,
    op: Callable[..., Op],
    second_input_value: Any,
    op_attrs: dict[str, Any] | None = None,
    input_node: Source | None = None,
    edge_attrs: dict[str, Any] | None = None,
) -> Node:
    """Creates a node with a constant for its second input."""
    return create_op_with_const_inputs(graph, op, {1: second_input_value}, op_attrs, input_node)


def _port_of(source: Source) -> Any:
    number, output = output_of(source)
    graph = source[0].graph if isinstance(source, tuple) else getattr(source, "graph", None) or source.node.graph  # type: ignore[union-attr]
    return Node(graph, graph._id(number)).out_port(output)


# ---- classes of the Model Optimizer whose inputs or attributes differ from OpenVINO's ----


class CompositeNode(Node):
    """The last of several nodes that compute one operation of the Model Optimizer; its inputs are those of all."""

    def __init__(self, graph: Graph, node: Node, inputs: dict[int, Any]) -> None:
        super().__init__(graph, node)
        object.__setattr__(self, "_inputs", inputs)

    def in_port(self, idx: int = 0, control_flow: bool = False) -> Any:
        """Returns an input of one of the nodes."""
        found = self._inputs.get(idx)
        if found is None:
            raise Error(f"`{self.id}` has no input {idx}")
        return found

    def in_ports(self, control_flow: bool = False) -> dict[int, Any]:
        """Returns the inputs by index."""
        return dict(self._inputs)


class Composite(Op):
    """An operation that the Model Optimizer replaces later, created as nodes of OpenVINO's operations."""

    def build(self, attrs: dict[str, Any]) -> tuple[Node, dict[int, Any]]:
        """Creates the nodes. Returns the last one, and the inputs."""
        raise NotImplementedError

    def _make(self, operation: str, constants: dict[int, Any], count: int = 0, **attrs: Any) -> Node:
        kind = functools.partial(Op, attrs1={"op": operation, **({"in_ports_count": count} if count else {})})
        return create_op_with_const_inputs(self._graph(), lambda graph, more: kind(graph, attrs2=more), constants, attrs)

    def _create(self, attrs: dict[str, Any], sources: list[tuple[int, int]]) -> Node:
        last, inputs = self.build({"in_ports_count": len(sources), **attrs} if len(sources) > 2 else attrs)
        if attrs.get("name"):
            last.name = str(attrs["name"])
        graph = self._graph()
        for idx, (number, output) in enumerate(sources):
            inputs[idx].connect(Node(graph, graph._id(number)).out_port(output))
        direct = len({port.node._number for port in inputs.values()} | {last._number}) == 1
        return last if direct and all(port.idx == idx for idx, port in inputs.items()) else CompositeNode(graph, last, inputs)


# Functions that build composites, with the attributes and the class as arguments.
Build = Callable[[Composite, dict[str, Any]], "tuple[Node, dict[int, Any]]"]


def composite(name: str, build: Build) -> type[Composite]:
    """Returns the class of an operation built by a function."""
    return type(name, (Composite,), {"op": name, "build": build, "__doc__": f"{name} of the Model Optimizer."})


def simple(name: str, op: str, **members: Any) -> type[Op]:
    """Returns the class of an operation of OpenVINO, with members of Op."""
    return type(name, (Op,), {"op": op, "__doc__": f"{members.get('op_type') or op}.", **members})


def int64_array(value: Any) -> np.ndarray[Any, Any]:
    """Returns an i64 array."""
    return np.array(value, dtype=np.int64)


Inputs = Sequence[Source]
