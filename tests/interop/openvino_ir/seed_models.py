"""Building blocks of the models from the documentation: an If and a TensorIterator that grow port by port, the
documentation's rules for parts and concatenations in NumPy, and the lists of cases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ir_builder import Graph, Layer, Port, back_edges, mapped

FLOAT = np.float32


def _save_edited(graph: Graph, path: Path, edit: Callable[[str], str]) -> Path:
    graph.save(path)
    text = path.read_text()
    changed = edit(text)
    assert edit is str or changed != text, "the edit of the case changes nothing"
    path.write_text(changed)
    return path


@dataclass
class Case:
    """A model with its inputs and the results by the text.

    model: a graph written by hand, or a model of OpenVINO's API. openvino: "both": OpenVINO agrees on the model and on
    nnefc's output for it; "written": OpenVINO is wrong on the model, or does not read it; "none": it cannot express the
    model, or is wrong on every form.
    """

    model: object
    inputs: dict[str, np.ndarray]
    expected: list[np.ndarray]
    openvino: str = "both"
    edit: Callable[[str], str] = str

    def save(self, path: Path) -> Path:
        if isinstance(self.model, Graph):
            return _save_edited(self.model, path, self.edit)
        import openvino as ov
        ov.save_model(self.model, path, compress_to_fp16=False)
        return path


@dataclass
class Refusal:
    """A model that breaks a rule: the layer that the message must name, and words about the fault.

    at_run: the rule is about values or open extents, so only a run with `inputs` can break it.
    """

    graph: Graph
    layer: str
    words: Sequence[str] = ()
    inputs: dict[str, np.ndarray] = field(default_factory=dict)
    at_run: bool = False
    edit: Callable[[str], str] = str

    def save(self, path: Path) -> Path:
        return _save_edited(self.graph, path, self.edit)


CASES: dict[str, Callable[[], Case]] = {}
DISPUTED: dict[str, Callable[[], Case]] = {}  # trip counts on which implementations disagree: warned of or rejected
REFUSED: dict[str, Callable[[], Refusal]] = {}


def _entry(cases: dict[str, Callable], name: str, arguments: tuple[object, ...]) -> Callable:
    def enter(make: Callable) -> Callable:
        assert name not in cases, name
        cases[name] = lambda: make(*arguments)
        return make
    return enter


def case(name: str, *arguments: object) -> Callable:
    """Registers a maker of a case by its name; further arguments are the maker's."""
    return _entry(CASES, name, arguments)


def disputed(name: str, *arguments: object) -> Callable:
    return _entry(DISPUTED, name, arguments)


def refused(name: str, *arguments: object) -> Callable:
    return _entry(REFUSED, name, arguments)


def ramp(*shape: int, dtype: type = FLOAT, start: int = 1) -> np.ndarray:
    """Returns small integers, exact in every type: start, start + 1, ... modulo 13."""
    return (np.arange(start, start + int(np.prod(shape, dtype=int))) % 13).reshape(shape).astype(dtype)


def parts(x: np.ndarray, axis: int, start: int = 0, end: int = -1, stride: int = 1) -> list[np.ndarray]:
    """Returns the slices of `x` in the order of the iterations; a negative border counts from after the last entry."""
    begin, stop = (border + (x.shape[axis] + 1 if border < 0 else 0) for border in (start, end))
    size, slices = abs(stride), []
    while begin != stop:
        low = begin if stride > 0 else begin - size
        slices.append(np.take(x, range(low, low + size), axis))
        begin += stride
    return slices


def joined(chunks: list[np.ndarray], axis: int, stride: int = 1) -> np.ndarray:
    """Returns the concatenation of the iterations' values: the last iteration first if the stride is negative."""
    ordered = chunks if stride > 0 else chunks[::-1]
    return np.concatenate([np.atleast_1d(chunk) for chunk in ordered], axis)


def kind(value: Port) -> tuple[str, list[int]]:
    """Returns the element type and the shape of a port."""
    return value.layer.outputs[value.index]


class Branches:
    """An If under construction. Ports are numbered as in the format, unless `input_ids` and `output_ids` differ.

    by_index: the port maps name outputs by 0, 1, ... instead of by the ids of their ports.
    """

    def __init__(self, graph: Graph, cond: Port, name: str = "choice", input_ids: list[int] | None = None,
                 output_ids: list[int] | None = None, by_index: bool = False,
                 numbering: tuple[list[int] | None, list[int] | None] = (None, None)) -> None:
        self.graph, self.name, self.inputs, self.outputs = graph, name, [cond], []
        self.input_ids, self.output_ids, self.by_index = input_ids or [], output_ids or [], by_index
        self.then, self.other = (Graph(graph.blobs, numbers) for numbers in numbering)
        self.feeds: dict[str, list[tuple[int, Layer]]] = {"then": [], "else": []}
        self.results: dict[str, list[tuple[int, Layer]]] = {"then": [], "else": []}
        self.listed: list[int] = []

    def _body(self, branch: str) -> Graph:
        return self.then if branch == "then" else self.other

    def port(self, value: Port) -> int:
        """Adds an input port for an outer value."""
        self.inputs.append(value)
        return len(self.inputs) - 1

    def feed(self, branch: str, port: int, shape: list[int] | None = None, type_: str = "") -> Port:
        """Adds a parameter of a body that reads an input port."""
        outer_type, outer_shape = kind(self.inputs[port])
        parameter = self._body(branch).parameter(outer_shape if shape is None else shape, type_ or outer_type)
        self.feeds[branch].append((port, parameter.layer))
        return parameter

    def take(self, value: Port, branches: str = "both") -> tuple[Port, ...]:
        """Adds an input port and a parameter for it in each body, or in the named one."""
        port = self.port(value)
        return tuple(self.feed(branch, port) for branch in (["then", "else"] if branches == "both" else [branches]))

    def give(self, then: Port, other: Port, shape: list[int] | None = None, type_: str = "") -> int:
        """Adds an output; returns its index among the outputs."""
        place = len(self.outputs)
        self.outputs.append((type_ or kind(then)[0], kind(then)[1] if shape is None else shape))
        self.results["then"].append((place, self.then.result(then)))
        self.results["else"].append((place, self.other.result(other)))
        return place

    def output_id(self, place: int) -> int:
        return self.output_ids[place] if self.output_ids else len(self.inputs) + place

    def port_map(self, branch: str) -> str:
        feeds = "".join(mapped("input", self.input_ids[port] if self.input_ids else port, layer.number)
                        for port, layer in self.feeds[branch])
        results = "".join(mapped("output", place if self.by_index else self.output_id(place), layer.number)
                          for place, layer in self.results[branch])
        return f"<{branch}_port_map>\n{feeds}{results}</{branch}_port_map>\n"

    def close(self) -> Layer:
        more = self.port_map("else") + self.port_map("then") + self.then.body("then_body") + self.other.body("else_body")
        layer = self.graph.add("If", "opset8", self.inputs, self.outputs, name=self.name, more=more)
        layer.input_ids, layer.listed = self.input_ids, self.listed
        layer.ids = [self.output_id(place) for place in range(len(self.outputs))]
        return layer


class Loop:
    """A TensorIterator under construction. Ports are numbered as in `Branches`."""

    def __init__(self, graph: Graph, name: str = "loop", numbering: list[int] | None = None,
                 input_ids: list[int] | None = None, output_ids: list[int] | None = None, by_index: bool = False) -> None:
        self.graph, self.name, self.body = graph, name, Graph(graph.blobs, numbering)
        self.input_ids, self.output_ids, self.by_index = input_ids or [], output_ids or [], by_index
        self.inputs: list[Port] = []
        self.outputs: list[tuple[str, list[int]]] = []
        self.feeds: list[tuple[int, Layer, dict[str, int]]] = []
        self.takes: list[tuple[int, Layer, dict[str, int]]] = []
        self.edges: list[tuple[int, int]] = []
        self.listed: list[int] = []

    def feed(self, value: Port, shape: list[int] | None = None, type_: str = "", **slice_: int) -> Port:
        """Adds a body parameter: sliced if an axis is passed, otherwise invariant until a back edge makes it merged."""
        self.inputs.append(value)
        outer_type, outer_shape = kind(value)
        own = list(outer_shape) if shape is None else shape
        if shape is None and "axis" in slice_:
            own[slice_["axis"]] = abs(slice_.get("stride", 1))
        parameter = self.body.parameter(own, type_ or outer_type)
        self.feeds.append((len(self.inputs) - 1, parameter.layer, slice_))
        return parameter

    def back(self, result: Layer, parameter: Port) -> None:
        self.edges.append((result.number, parameter.layer.number))

    def carry(self, value: Port, parameter: Port) -> Layer:
        """Adds a result that is the next value of a merged parameter."""
        result = self.body.result(value)
        self.back(result, parameter)
        return result

    def give(self, result: Layer, shape: list[int], **slice_: int) -> int:
        """Adds an output: a concatenation if an axis is passed, otherwise the last value. Returns its index."""
        self.outputs.append((kind(result.inputs[0])[0], shape))
        self.takes.append((len(self.outputs) - 1, result, slice_))
        return len(self.outputs) - 1

    def output_id(self, place: int) -> int:
        return self.output_ids[place] if self.output_ids else len(self.inputs) + place

    def close(self) -> Layer:
        more = "<port_map>\n"
        for port, layer, slice_ in self.feeds:
            more += mapped("input", self.input_ids[port] if self.input_ids else port, layer.number, **slice_)
        for place, layer, slice_ in self.takes:
            more += mapped("output", place if self.by_index else self.output_id(place), layer.number, **slice_)
        more += "</port_map>\n" + back_edges(*self.edges) + self.body.body()
        made = self.graph.add("TensorIterator", "opset1", self.inputs, self.outputs, name=self.name, more=more)
        made.input_ids, made.listed = self.input_ids, self.listed
        made.ids = [self.output_id(place) for place in range(len(self.outputs))]
        return made


def finish(graph: Graph, *values: Port) -> Graph:
    """Returns the graph with these values as its results."""
    for place, value in enumerate(values):
        graph.result(value, f"out{place}")
    return graph
