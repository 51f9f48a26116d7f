"""Pooling, and the pooling of regions."""

from __future__ import annotations

import math
from typing import Any

from nnefc.conversion.layers import Layer, Tensor
from nnefc.conversion.window import padded, padding, window_settings
from nnefc.conversion.writer import Table, Writer, onnx_type, static_shape


def _settings(layer: Layer) -> dict[str, Any]:
    settings = window_settings(layer)
    settings["kernel_shape"] = layer.integers("kernel")
    if layer.text("rounding_type", "floor") != "floor":
        settings["ceil_mode"] = 1
    return settings


def _has_wide_padding(layer: Layer) -> bool:
    """Returns whether a window can be outside of the tensor: ONNX Runtime rejects such padding."""
    pads = padding(layer)
    if pads is None:
        return False
    kernel = layer.integers("kernel")
    return any(pad >= kernel[i] or pad < 0 for side in pads for i, pad in enumerate(side))


def _average(writer: Writer, layer: Layer) -> None:
    x, settings = layer.inputs[0], _settings(layer)
    excludes = layer.flag("exclude-pad", True)
    pads = padding(layer)
    if pads is None or not _has_wide_padding(layer):
        writer.node("AveragePool", [x.name], layer.output, count_include_pad=int(not excludes), **settings)
        return
    settings["pads"] = [0] * len(settings["pads"])
    total = padded(writer, x, pads, 0.0)
    if not excludes:
        writer.node("AveragePool", [total], layer.output, **settings)
        return
    shape = static_shape(x, "the input of a pooling with wide padding")
    ones = writer.node("Expand", [writer.constant(1.0, x.type), writer.integers(shape)])
    counted = padded(writer, Tensor(ones, x.type, x.shape), pads, 0.0)
    averages = [writer.node("AveragePool", [name], **settings) for name in (total, counted)]
    writer.node("Div", averages, layer.output)


def _max(writer: Writer, layer: Layer) -> None:
    x, settings = layer.inputs[0], _settings(layer)
    pads = padding(layer)
    has_indices = len(layer.outputs) > 1
    is_padded = pads is not None and _has_wide_padding(layer)
    # ONNX Runtime would make a Pad with zeros part of the pooling, which pads with the lowest value: a copy separates them.
    name = writer.node("Max", [x.name]) if writer.maker(x) == "Pad" else x.name
    if pads is not None and is_padded:
        name = padded(writer, x, pads, -math.inf)
        settings["pads"] = [0] * len(settings["pads"])
    if not has_indices:
        writer.node("MaxPool", [name], layer.output, **settings)
        return
    found = writer.new_name("indices")
    writer.nodes("MaxPool", [name], [layer.output.name, found], **settings)
    if pads is not None and is_padded:
        found = _without_padding(writer, layer, found, pads)
    else:
        found = _from_axis(writer, layer, found)
    writer.node("Cast", [found], layer.outputs[1], to=onnx_type(layer.outputs[1].type))


def _from_axis(writer: Writer, layer: Layer, found: str) -> str:
    """Turns positions in the whole tensor into those in the axes from `axis` on."""
    x = layer.inputs[0]
    axis = layer.integer("axis") % x.rank
    if axis == 0:
        return found
    size = math.prod(static_shape(x, "the input of a pooling with indices")[axis:])
    return writer.node("Mod", [found, writer.constant(size, "i64")])


def _without_padding(writer: Writer, layer: Layer, found: str, pads: tuple[list[int], list[int]]) -> str:
    """Turns positions in the padded tensor into those in the axes from `axis` on of the tensor."""
    extents = static_shape(layer.inputs[0], "the input of a pooling with indices")
    first = len(extents) - len(pads[0])
    before = [0] * first + pads[0]
    wide = [extent + pad for extent, pad in zip(extents, [0] * first + [sum(pair) for pair in zip(*pads)])]
    parts = []
    for axis in range(layer.integer("axis") % len(extents), len(extents)):
        steps = [writer.constant(math.prod(sizes[axis + 1 :]), "i64") for sizes in (wide, extents)]
        position = writer.node("Mod", [writer.node("Div", [found, steps[0]]), writer.constant(wide[axis], "i64")])
        position = writer.node("Sub", [position, writer.constant(before[axis], "i64")])
        parts.append(writer.node("Mul", [position, steps[1]]))
    total = parts[0]
    for part in parts[1:]:
        total = writer.node("Add", [total, part])
    return total


TABLE: Table = {"AvgPool": _average, "MaxPool": _max}
