"""OpenVINO IR written by hand, for models that OpenVINO's own API cannot make: crossed port maps, unusual ids,
mistakes."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

PRECISIONS = {"f16": "FP16", "f32": "FP32", "f64": "FP64", "i8": "I8", "u8": "U8", "i32": "I32", "i64": "I64",
              "boolean": "BOOL"}
TYPES = {np.dtype(np.float16): "f16", np.dtype(np.float32): "f32", np.dtype(np.float64): "f64",
         np.dtype(np.int8): "i8", np.dtype(np.uint8): "u8", np.dtype(np.int32): "i32", np.dtype(np.int64): "i64",
         np.dtype(bool): "boolean"}


@dataclass
class Port:
    layer: "Layer"
    index: int


@dataclass
class Layer:
    number: int
    name: str
    type: str
    version: str
    inputs: list[Port]
    outputs: list[tuple[str, list[int]]]
    data: dict[str, object] = field(default_factory=dict)
    more: str = ""
    ids: list[int] = field(default_factory=list)  # of the output ports; empty: after the inputs
    input_ids: list[int] = field(default_factory=list)  # of the input ports; empty: 0, 1, ...
    listed: list[int] = field(default_factory=list)  # the indices of the outputs in the order of their ports in the file

    def input_id(self, place: int) -> int:
        return self.input_ids[place] if self.input_ids else place

    def output_id(self, index: int) -> int:
        return self.ids[index] if self.ids else len(self.inputs) + index

    def __getitem__(self, index: int) -> Port:
        return Port(self, index)


class Blobs:
    """The bytes of constants, which a graph and its bodies share."""

    def __init__(self) -> None:
        self.bytes = b""

    def add(self, array: np.ndarray) -> int:
        offset = len(self.bytes)
        self.bytes += array.tobytes()
        return offset


class Graph:
    """Layers in the order of their addition; `numbering` has layer ids other than 0, 1, ..."""

    def __init__(self, blobs: Blobs | None = None, numbering: list[int] | None = None) -> None:
        self.blobs, self.numbering, self.layers = blobs or Blobs(), numbering, []

    def add(self, type_: str, version: str, inputs: list[Port], outputs: list[tuple[str, list[int]]],
            data: dict[str, object] | None = None, name: str = "", more: str = "") -> Layer:
        place = len(self.layers)
        number = self.numbering[place] if self.numbering else place
        layer = Layer(number, name or f"{type_}_{number}", type_, version, inputs, outputs, data or {}, more)
        self.layers.append(layer)
        return layer

    def parameter(self, shape: list[int], type_: str = "f32", name: str = "") -> Port:
        data = {"shape": ",".join(map(str, shape)), "element_type": type_}
        return self.add("Parameter", "opset1", [], [(type_, shape)], data, name)[0]

    def const(self, values: object, dtype: type = np.float32) -> Port:
        array = np.array(values, dtype)
        shape, type_ = list(array.shape), TYPES[array.dtype]
        data = {"element_type": type_, "shape": ",".join(map(str, shape)), "offset": self.blobs.add(array),
                "size": array.nbytes}
        return self.add("Const", "opset1", [], [(type_, shape)], data)[0]

    def binary(self, type_: str, a: Port, b: Port, shape: list[int], element: str = "f32") -> Port:
        return self.add(type_, "opset1", [a, b], [(element, shape)], {"auto_broadcast": "numpy"})[0]

    def result(self, value: Port, name: str = "") -> Layer:
        return self.add("Result", "opset1", [value], [], name=name)

    def net(self) -> str:
        return f'<?xml version="1.0"?>\n<net name="net" version="11">\n{self._parts()}</net>\n'

    def body(self, tag: str = "body") -> str:
        return f"<{tag}>\n{self._parts()}</{tag}>\n"

    def save(self, path: Path) -> Path:
        path.write_text(self.net())
        path.with_suffix(".bin").write_bytes(self.blobs.bytes)
        return path

    def _parts(self) -> str:
        layers = "".join(_layer_text(layer) for layer in self.layers)
        edges = "".join(
            f'<edge from-layer="{port.layer.number}" from-port="{port.layer.output_id(port.index)}" '
            f'to-layer="{layer.number}" to-port="{layer.input_id(place)}"/>\n'
            for layer in self.layers for place, port in enumerate(layer.inputs))
        return f"<layers>\n{layers}</layers>\n<edges>\n{edges}</edges>\n<rt_info/>\n"


def _port_text(number: int, type_: str, shape: list[int], names: str = "") -> str:
    dims = "".join(f"<dim>{extent}</dim>" for extent in shape)
    attribute = f' names="{names}"' if names else ""
    return f'<port id="{number}" precision="{PRECISIONS[type_]}"{attribute}>{dims}</port>'


def _layer_text(layer: Layer) -> str:
    data = "".join(f' {key}="{value}"' for key, value in layer.data.items())
    text = f'<layer id="{layer.number}" name="{layer.name}" type="{layer.type}" version="{layer.version}">\n'
    text += f"<data{data}/>\n" if data else ""
    if layer.inputs:
        ports = [_port_text(layer.input_id(place), *port.layer.outputs[port.index]) for place, port in enumerate(layer.inputs)]
        text += "<input>" + "".join(ports) + "</input>\n"
    if layer.outputs:
        names = layer.name if layer.type == "Parameter" else ""
        ports = [_port_text(layer.output_id(place), *layer.outputs[place], names)
                 for place in layer.listed or range(len(layer.outputs))]
        text += "<output>" + "".join(ports) + "</output>\n"
    return text + layer.more + "</layer>\n"


def mapped(tag: str, external: int, internal: int, **slice_: int) -> str:
    """An entry of a port map: tag is input or output."""
    more = "".join(f' {key}="{value}"' for key, value in slice_.items())
    return f'<{tag} external_port_id="{external}" internal_layer_id="{internal}"{more}/>\n'


def sliced(axis: int = 0, start: int = 0, end: int = -1, stride: int = 1, part_size: int | None = None) -> dict[str, int]:
    return {"axis": axis, "start": start, "end": end, "stride": stride,
            "part_size": abs(stride) if part_size is None else part_size}


def back_edges(*edges: tuple[int, int]) -> str:
    text = "".join(f'<edge from-layer="{result}" to-layer="{parameter}"/>' for result, parameter in edges)
    return f"<back_edges>{text}</back_edges>\n"
