"""Boundary cases of OpenVINO's operations, generated from their rows and from one or two valid nodes of each.

A case is a node: its inputs and its attributes as the XML of OpenVINO's IR has them. `boundary_cases` changes one thing of a valid
node at a time; `combined_cases` combines changes that are accepted alone."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import openvino as ov

from covering import covering_array
from ir_builder import TYPES, Graph
from opset_case_builder import CASES, Const, Dynamic, Input, f
from rows import Attribute, Row, opset_rows
from test_opset_rows import make_model

MAX_BASES = 2
# Inputs of at most this many elements, not of the data, are constants, whose items are attributes by another name.
MAX_ITEMS = 12
MAX_RANK = 6
ELEMENTS = ("f32", "i32", "i64", "boolean")


@dataclass(frozen=True)
class Value:
    """An input of a node: a parameter, or a constant that shape inference reads."""

    array: np.ndarray
    constant: bool


@dataclass
class Node:
    """A node of IR. `outputs` are the types of its results."""

    row: str
    what: str
    inputs: list[Value]
    attributes: dict[str, str]
    outputs: list[str]
    change: dict = field(default_factory=dict)  # the parameters that differ from a base, for combinations
    base: int = 0
    refusal: str = ""  # why nnefc's run refuses it

    def add_to(self, graph: Graph, prefix: str = "") -> None:
        """Adds the node to a model: its parameters are `in0`, `in1`..., its results `out0`..., after the prefix."""
        ports = [graph.const(value.array, value.array.dtype) if value.constant else
                 graph.parameter(list(value.array.shape), TYPES[value.array.dtype], f"{prefix}in{index}")
                 for index, value in enumerate(self.inputs)]
        set_, name = self.row.split(".")
        node = graph.add(name, set_, ports, [(kind, []) for kind in self.outputs], self.attributes, f"{prefix}node")
        for index in range(len(self.outputs)):
            graph.result(node[index], f"{prefix}out{index}")

    def graph(self) -> Graph:
        """The model of the node alone."""
        graph = Graph()
        self.add_to(graph)
        return graph

    def data(self, prefix: str = "") -> dict[str, np.ndarray]:
        """The data of the parameters."""
        return {f"{prefix}in{index}": value.array for index, value in enumerate(self.inputs) if not value.constant}

    def describe(self) -> str:
        inputs = [f"{v.array.dtype}{list(v.array.shape)}" + (f"={v.array.tolist()}" if v.constant and v.array.size <= MAX_ITEMS else "") for v in self.inputs]
        return f"{self.row} {self.what}: {', '.join(inputs)} {self.attributes}"


def cells() -> dict[str, list[tuple[list[Input], dict]]]:
    """Recurrent cells and sequences of hidden size 4 and inputs of 3."""
    made = {}
    lengths = Const(np.array([3, 5]))
    for name, gates, sets in [("LSTM", 4, ("opset4", "opset5")), ("GRU", 3, ("opset3", "opset5")), ("RNN", 1, ("opset1", "opset5"))]:
        states = 2 if name == "LSTM" else 1
        activations = {"LSTM": ["sigmoid", "tanh", "tanh"], "GRU": ["sigmoid", "tanh"], "RNN": ["tanh"]}[name]
        common = dict(hidden_size=4, clip=0.0, activations=activations) | ({"linear_before_reset": False} if name == "GRU" else {})
        weights = lambda *lead: [Const(f(*lead, 4 * gates, 3)), Const(f(*lead, 4 * gates, 4)), Const(f(*lead, 4 * gates))]  # noqa: E731
        made[f"{sets[0]}.{name}Cell"] = [([f(2, 3), *(f(2, 4) for _ in range(states)), *weights()], common)]
        made[f"{sets[1]}.{name}Sequence"] = [([f(2, 5, 3), *(f(2, 1, 4) for _ in range(states)), lengths, *weights(1)],
                                              common | dict(direction="forward"))]
    made["opset1.LSTMCell"] = [(list(made["opset4.LSTMCell"][0][0]), made["opset4.LSTMCell"][0][1])]
    return made


def bases(row: str, folder: Path) -> list[Node]:
    """Valid nodes of the row: of opset_cases.py, those with the fewest elements whose attributes differ the most."""
    given = cells().get(row) or CASES[row]
    size = lambda case: sum(np.size(getattr(v, "value", v)) for v in case[0])  # noqa: E731
    order = sorted(given, key=size)
    chosen = order[:1]
    differs = lambda case: (len(case[0]) != len(order[0][0])) * 3 + sum(case[1].get(k) != v for k, v in order[0][1].items())  # noqa: E731
    if len(order) > 1:
        chosen.append(max(order[1:], key=lambda case: (differs(case), -size(case))))
    return [_base(row, case, index, folder) for index, case in enumerate(chosen[:MAX_BASES])]


def _base(row: str, case: tuple[list[Input], dict], index: int, folder: Path) -> Node:
    """The node as OpenVINO writes it."""
    values = [v.value if isinstance(v, (Const, Dynamic)) else v for v in case[0]]
    model, _ = make_model(row, [([Const(v) if isinstance(given, Const) else v for v, given in zip(values, case[0])], case[1])])
    path = folder / "base.xml"
    ov.serialize(model, path)
    layers = [layer for layer in ElementTree.parse(path).iter("layer") if layer.get("type") not in ("Parameter", "Const", "Result")]
    assert len(layers) == 1, row
    data = layers[0].find("data")
    types = [output.get_element_type().get_type_name() for output in model.outputs]
    inputs = [Value(np.asarray(v), isinstance(given, Const) or _is_setting(place, v)) for place, (v, given) in enumerate(zip(values, case[0]))]
    # OpenVINO writes attributes, too, that its documents do not have.
    names = {attribute.name for attribute in opset_rows()[row].attributes}
    attributes = {name: text for name, text in data.attrib.items() if name in names} if data is not None else {}
    return Node(row, "base", inputs, attributes, types, base=index)


def _is_setting(place: int, value: np.ndarray) -> bool:
    return place > 0 and value.dtype.kind in "iu" and value.size <= MAX_ITEMS and value.ndim < 2


def _integers(node: Node, name: str, value: int) -> list[int]:
    """The bounds that an integer of this node may have: around 0 and its value, around the rank if it names an axis, else around
    the extents."""
    shape = node.inputs[0].array.shape if node.inputs else ()
    near = [-1, 0, 1, value - 1, value + 1]
    if "ax" in name or "dim" in name:
        near += [len(shape) - 1, len(shape), -len(shape), -len(shape) - 1]
    elif max(shape, default=9) <= 8:
        extent = max(shape)
        near += [2, extent - 1, extent, extent + 1, -extent, -extent - 1]
    return [v for v in dict.fromkeys(near) if v != value]


FLOATS = [-1.0, 0.0, 1.0, 1.1, 0.5, 1e-3]


def _text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return ",".join(map(_text, value))
    return str(value)


def _lists(items: list, alternatives, node: Node) -> Iterator[tuple[str, list]]:
    """Each item at its bounds, an item twice, one item less and one more, none."""
    for place in sorted({0, len(items) - 1} if items else set()):
        for other in alternatives(items[place]):
            yield f"item {place} is {other}", [*items[:place], other, *items[place + 1:]]
    if len(items) > 1:
        yield "the first item twice", [items[0], *items[:1], *items[2:]]
        yield "the items in reverse order", items[::-1]
        yield "one item less", items[:-1]
    yield "one item more", [*items, items[-1] if items else 1]
    yield "no items", []


def attribute_values(attribute: Attribute, text: str | None, node: Node) -> Iterator[tuple[str, str | None]]:
    """Texts at the bounds of the attribute; None where it is not written."""
    if attribute.has_default:
        yield "default", _text(attribute.default)
    if text is not None:
        yield "omitted", None
    if attribute.kind == "bool":
        yield from ((word, word) for word in ("true", "false"))
    elif attribute.choices:
        yield from ((word, word) for word in attribute.choices)
        yield "unknown", "boundary"
    elif attribute.kind == "type":
        yield from ((word, word) for word in ELEMENTS)
    elif attribute.kind == "int":
        value = int(text or attribute.default or 0)
        yield from ((str(other), str(other)) for other in _integers(node, attribute.name, value))
    elif attribute.kind == "double":
        yield from ((str(other), str(other)) for other in FLOATS)
    elif attribute.kind in ("ints", "doubles"):
        kind = int if attribute.kind == "ints" else float
        given = text if text is not None else _text(attribute.default or [])
        items = [kind(float(item)) for item in given.split(",") if item.strip()]
        around = (lambda v: _integers(node, attribute.name, v)[:6]) if kind is int else (lambda v: FLOATS)
        yield from ((what, _text(items)) for what, items in _lists(items, around, node))


def _constants(value: np.ndarray, name: str, node: Node) -> Iterator[tuple[str, np.ndarray]]:
    """The constant with items at their bounds."""
    if value.size > MAX_ITEMS or value.dtype == bool:
        return
    around = (lambda v: _integers(node, name, v)) if value.dtype.kind in "iu" else (lambda v: FLOATS)
    if value.ndim == 1:
        for what, items in _lists(value.tolist(), around, node):
            yield what, np.array(items, value.dtype)
    elif value.size:
        for other in around(value.flat[0].item()):
            changed = value.copy()
            changed.flat[0] = other
            yield f"item 0 is {other}", changed


def _shapes(node: Node) -> Iterator[tuple[str, list[Value]]]:
    """Extents of 0, 1 and one more along each axis, and ranks of 0 to 6, of the first data and of all data of its shape."""
    data = [index for index, value in enumerate(node.inputs) if not value.constant]
    if not data:
        return
    first = node.inputs[data[0]].array.shape

    def resized(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        return np.resize(array, shape).astype(array.dtype) if array.size and np.prod(shape) else np.zeros(shape, array.dtype)

    def change(which: list[int], form) -> list[Value]:
        return [replace(v, array=resized(v.array, form(v.array.shape))) if i in which else v for i, v in enumerate(node.inputs)]

    for axis, extent in enumerate(first):
        same = [i for i in data if len(node.inputs[i].array.shape) > axis and node.inputs[i].array.shape[axis] == extent]
        for other in (0, 1, extent + 1):
            for which in ([data[0]], same) if len(same) > 1 and axis < 2 else ([data[0]],):
                yield f"extent {other} of axis {axis}", change(which, lambda s: (*s[:axis], other, *s[axis + 1:]))
    similar = [i for i in data if node.inputs[i].array.shape == first]
    for rank in range(MAX_RANK + 1):
        if rank != len(first):
            for which in ([data[0]], similar) if len(similar) > 1 else ([data[0]],):
                yield f"rank {rank}", change(which, lambda s: (*s[:rank], *[1] * (rank - len(s))))


def boundary_cases(row: Row, base: Node, first: Node | None = None) -> list[Node]:
    """Nodes that differ from the base in one parameter: an attribute, a constant or the shapes. With `first`, another base, only the
    parameters in which the two differ."""
    cases = []

    def is_covered(parameter: str) -> bool:
        if first is None or len(first.inputs) != len(base.inputs):
            return False
        if parameter == "shapes":
            return True
        if not parameter.startswith("input "):
            return first.attributes.get(parameter) == base.attributes.get(parameter)
        here, there = (node.inputs[int(parameter[6:])].array for node in (base, first))
        return here.shape == there.shape

    def add(parameter: str, what: str, **changes) -> None:
        if is_covered(parameter):
            return
        node = replace(base, what=f"{parameter}: {what}", **changes)
        node.change = {parameter: changes}
        _count_outputs(node, base)
        cases.append(node)

    for attribute in row.attributes:
        text = base.attributes.get(attribute.name)
        for what, value in attribute_values(attribute, text, base):
            attributes = {k: v for k, v in base.attributes.items() if k != attribute.name}
            if value == text:
                continue
            add(attribute.name, what, attributes=attributes if value is None else attributes | {attribute.name: value})
    for index, value in enumerate(base.inputs):
        if value.constant:
            for what, array in _constants(value.array, row.inputs[min(index, len(row.inputs) - 1)]["name"], base):
                add(f"input {index}", what, inputs=[*base.inputs[:index], Value(array, True), *base.inputs[index + 1:]])
    for what, inputs in _shapes(base):
        add("shapes", what, inputs=inputs)
    return cases


def _count_outputs(node: Node, base: Node) -> None:
    if node.row == "opset1.VariadicSplit":
        node.outputs = base.outputs[:1] * max(1, node.inputs[2].array.size)
    if node.row == "opset1.Split" and node.attributes.get("num_splits", "0").isdigit():
        node.outputs = base.outputs[:1] * max(1, min(20, int(node.attributes.get("num_splits", "1"))))


def combined_cases(base: Node, accepted: list[Node], max_values: int, max_cases: int, strength: int) -> list[Node]:
    """A covering array of changes that are accepted alone."""
    parameters: dict[str, list] = {}
    for node in accepted:
        for parameter, changes in node.change.items():
            parameters.setdefault(parameter, [None]).append((node.what, changes))
    # The last values are the rarest ones: extents, repetitions, lengths.
    parameters = {name: values[:1] + _spread(values[1:], max_values - 1) for name, values in parameters.items()}
    cases = []
    for combination in covering_array(parameters, strength, max_cases):
        chosen = [value for value in combination.values() if value is not None]
        if len(chosen) < 2:
            continue
        node = replace(base, what=" + ".join(what for what, _ in chosen))
        for _, changes in chosen:
            node = _merge(node, base, changes)
        _count_outputs(node, base)
        cases.append(node)
    return cases


def _spread(values: list, count: int) -> list:
    """`count` of the values, at even distances."""
    if len(values) <= count:
        return values
    return [values[i * (len(values) - 1) // (count - 1)] for i in range(count)] if count > 1 else values[:1]


def _merge(node: Node, base: Node, changes: dict) -> Node:
    """Applies the difference of `changes` from the base."""
    attributes, inputs = dict(node.attributes), list(node.inputs)
    if "attributes" in changes:
        for name in set(base.attributes) | set(changes["attributes"]):
            new = changes["attributes"].get(name)
            if new != base.attributes.get(name):
                attributes.pop(name, None)
                if new is not None:
                    attributes[name] = new
    if "inputs" in changes:
        inputs = [new if new is not old else kept for new, old, kept in zip(changes["inputs"], base.inputs, inputs)]
    return replace(node, attributes=attributes, inputs=inputs)
