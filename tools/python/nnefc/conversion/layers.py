"""The lowered graph of a model: the layers of its OpenVINO IR with types, shapes and the data of constants."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy

from nnefc.port import _NUMPY_NAMES
from nnefc.record import record

if TYPE_CHECKING:
    import xml.etree.ElementTree as ElementTree

    from nnefc.model import Model

_TYPES = {"FP64": "f64", "FP32": "f32", "FP16": "f16", "BOOL": "boolean"}


@record(frozen=True)
class Tensor:
    """An output of a layer.

    Attributes:
        name: unique in the graph; that of the graph's input or result, if it is one.
        type: the element type: "f32", "i64", "boolean", ...
        shape: its extents, None for open ones.
    """

    name: str
    type: str
    shape: tuple[int | None, ...]

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def is_float(self) -> bool:
        """Whether the elements are floating-point numbers."""
        return self.type.startswith(("f", "bf"))


@record(frozen=True)
class PortMap:
    """A port of a layer and the tensor of its body that is passed.

    Attributes:
        port: the number of the layer's input or output; -1 for none.
        tensor: the input of the body, or its result.
        attributes: the texts of `axis`, `part_size`, `stride`, `start`, `end` and `purpose`.
    """

    port: int
    tensor: Tensor
    attributes: Mapping[str, str]


@record(frozen=True)
class Body:
    """A graph in a layer. Its tensors have other names than those of all other graphs.

    Attributes:
        role: "then_body", "else_body" or "body".
        layers, constants: as in `Graph`.
        inputs, outputs: the ports that the layer passes.
        back_edges: results with the inputs of which they are the values in the next iteration.
    """

    role: str
    layers: tuple[Layer, ...]
    constants: Mapping[str, numpy.ndarray[Any, Any]]
    inputs: tuple[PortMap, ...]
    outputs: tuple[PortMap, ...]
    back_edges: tuple[tuple[Tensor, Tensor], ...]


@record(frozen=True)
class Layer:
    """An operation of OpenVINO.

    Attributes:
        type, version: the operation, such as "Gather" of "opset8".
        name: the name of the layer.
        attributes: the texts of its attributes.
        inputs, outputs: the tensors.
        bodies: its graphs by their roles.
    """

    type: str
    version: str
    name: str
    attributes: Mapping[str, str]
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    bodies: Mapping[str, Body]

    @property
    def output(self) -> Tensor:
        """The first output."""
        return self.outputs[0]

    @property
    def opset(self) -> int:
        """The number of the operation's set; 0 for an extension."""
        number = self.version.removeprefix("opset")
        return int(number) if number.isdigit() else 0

    def text(self, name: str, default: str = "") -> str:
        """Returns an attribute in lower case."""
        return self.attributes.get(name, default).lower()

    def number(self, name: str, default: float = 0.0) -> float:
        """Returns an attribute that is a number."""
        return float(self.attributes.get(name, default))

    def integer(self, name: str, default: int = 0) -> int:
        """Returns an attribute that is an integer."""
        return int(self.attributes.get(name, default))

    def integers(self, name: str) -> list[int]:
        """Returns an attribute that is a list of integers; empty without it."""
        return [int(item) for item in self.attributes.get(name, "").split(",") if item.strip()]

    def flag(self, name: str, default: bool = False) -> bool:
        """Returns an attribute that is true or false."""
        return self.text(name, str(default)) in ("true", "1")


@record(frozen=True)
class Graph:
    """A lowered graph.

    Attributes:
        name: that of the NNEF graph.
        inputs: its inputs.
        results: the names of its results, with their tensors.
        layers: the other layers, in topological order.
        constants: the data of constants by the names of their tensors. Views of the model's memory.
    """

    name: str
    inputs: tuple[Tensor, ...]
    results: tuple[tuple[str, Tensor], ...]
    layers: tuple[Layer, ...]
    constants: Mapping[str, numpy.ndarray[Any, Any]]


def lowered_graph(model: Model) -> Graph:
    """Returns the graph of OpenVINO operations of a model.

    Raises:
        nnefc.ModelError: the model is not representable in OpenVINO IR, or a variable has no data.
    """
    import xml.etree.ElementTree as ElementTree

    xml, _, constants = model._native.to_openvino()
    root = ElementTree.fromstring(xml)
    reader = _Reader(root, {offset: array for offset, _, array in constants}, set())
    reader.reserve_names()
    return reader.read()


class _Reader:
    """Reads a graph. Names of inputs and results come first; equal names of other tensors get a number. Tensors of a body have
    names that begin with that of its layer."""

    def __init__(
        self, root: ElementTree.Element, data: Mapping[int, numpy.ndarray[Any, Any]], taken: set[str], prefix: str = ""
    ) -> None:
        self._root, self._data, self._prefix = root, data, prefix
        self._elements = {element.attrib["id"]: element for element in root.findall("layers/layer")}
        self._sources = {
            (edge.attrib["to-layer"], edge.attrib["to-port"]): (edge.attrib["from-layer"], edge.attrib["from-port"])
            for edge in root.findall("edges/edge")
        }
        self._tensors: dict[tuple[str, str], Tensor] = {}
        self._taken = taken
        self._result_names: dict[tuple[str, str], str] = {}

    def read(self) -> Graph:
        inputs, layers, constants = [], [], {}
        for number, element in self._elements.items():
            kind = element.attrib["type"]
            outputs = tuple(self._add_tensor(number, port) for port in element.findall("output/port"))
            if kind == "Parameter":
                inputs.append(outputs[0])
            elif kind == "Const":
                constants[outputs[0].name] = self._read_constant(element, outputs[0])
            elif kind != "Result":
                layers.append(self._read_layer(number, element, outputs))
        results = tuple(
            (_name_of_result(element), self._tensors[self._source_of(number, element)])
            for number, element in self._elements.items()
            if element.attrib["type"] == "Result"
        )
        return Graph(self._root.attrib.get("name", ""), tuple(inputs), results, tuple(layers), constants)

    def reserve_names(self) -> None:
        """Keeps the names of inputs and results for them."""
        for number, element in self._elements.items():
            kind = element.attrib["type"]
            if kind == "Parameter":
                self._taken.add(element.attrib["name"])
            elif kind == "Result":
                source = self._source_of(number, element)
                name = _name_of_result(element)
                is_computed = self._elements[source[0]].attrib["type"] not in ("Parameter", "Const")
                if is_computed and source not in self._result_names and name not in self._taken:
                    self._result_names[source] = name
                self._taken.add(name)

    def _source_of(self, number: str, element: ElementTree.Element) -> tuple[str, str]:
        port = element.find("input/port")
        assert port is not None
        return self._sources[number, port.attrib["id"]]

    def _add_tensor(self, number: str, port: ElementTree.Element) -> Tensor:
        element = self._elements[number]
        key = (number, port.attrib["id"])
        if element.attrib["type"] == "Parameter" and not self._prefix:
            name = element.attrib["name"]
        elif key in self._result_names:
            name = self._result_names[key]
        else:
            first = self._prefix + (port.attrib.get("names", "").split(",")[0] or element.attrib["name"])
            name = first
            count = 1
            while name in self._taken:
                count += 1
                name = f"{first}/{count}"
        self._taken.add(name)
        extents = [int(extent.text or "-1") for extent in port.findall("dim")]
        precision = port.attrib["precision"]
        shape = tuple(None if extent < 0 else extent for extent in extents)
        self._tensors[key] = Tensor(name, _TYPES.get(precision, precision.lower()), shape)
        return self._tensors[key]

    def _read_layer(self, number: str, element: ElementTree.Element, outputs: tuple[Tensor, ...]) -> Layer:
        data = element.find("data")
        inputs = tuple(
            self._tensors[self._sources[number, port.attrib["id"]]] for port in element.findall("input/port")
        )
        attributes = {} if data is None else data.attrib
        return Layer(
            element.attrib["type"], element.attrib.get("version", ""), element.attrib["name"], attributes, inputs, outputs,
            self._read_bodies(element),
        )  # fmt: skip

    def _read_bodies(self, element: ElementTree.Element) -> dict[str, Body]:
        bodies = {}
        for role in ("then_body", "else_body", "body"):
            root, ports = element.find(role), element.find(role.replace("body", "port_map"))
            if root is None or ports is None:
                continue
            reader = _Reader(root, self._data, self._taken, f"{element.attrib['name']}/")
            graph = reader.read()
            inputs = tuple(_port_map(element, port, "input", reader._parameter(port)) for port in ports.findall("input"))
            outputs = tuple(_port_map(element, port, "output", reader._result(port)) for port in ports.findall("output"))
            edges = tuple(
                (reader._result(edge, "from-layer"), reader._parameter(edge, "to-layer"))
                for edge in element.findall("back_edges/edge")
            )
            bodies[role] = Body(role, graph.layers, graph.constants, inputs, outputs, edges)
        return bodies

    def _parameter(self, element: ElementTree.Element, key: str = "internal_layer_id") -> Tensor:
        number = element.attrib[key]
        port = self._elements[number].find("output/port")
        assert port is not None
        return self._tensors[number, port.attrib["id"]]

    def _result(self, element: ElementTree.Element, key: str = "internal_layer_id") -> Tensor:
        number = element.attrib[key]
        return self._tensors[self._source_of(number, self._elements[number])]

    def _read_constant(self, element: ElementTree.Element, tensor: Tensor) -> numpy.ndarray[Any, Any]:
        data = element.find("data")
        assert data is not None
        extents = [extent or 0 for extent in tensor.shape]
        if math.prod(extents) == 0:
            return numpy.zeros(extents, _NUMPY_NAMES.get(tensor.type, "uint8"))
        array = self._data[int(data.attrib["offset"])].reshape(-1)
        if tensor.type in _NUMPY_NAMES:
            return array.view(_NUMPY_NAMES[tensor.type]).reshape(extents)
        return array.view(numpy.uint8)


def _port_map(element: ElementTree.Element, port: ElementTree.Element, side: str, tensor: Tensor) -> PortMap:
    numbers = [each.attrib["id"] for each in element.findall(f"{side}/port")]
    external = port.attrib.get("external_port_id", "-1")
    return PortMap(numbers.index(external) if external in numbers else -1, tensor, port.attrib)


def _name_of_result(element: ElementTree.Element) -> str:
    return element.attrib.get("output_names", "").split(",")[0] or element.attrib["name"]
