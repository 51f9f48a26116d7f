"""Convolutions and transposed convolutions."""

from __future__ import annotations

import math

from nnefc.conversion.layers import Layer, Tensor
from nnefc.conversion.window import padded, padding, window_settings
from nnefc.conversion.writer import Table, Translation, Unsupported, Writer, static_shape


def _filter(writer: Writer, filters: Tensor, is_grouped: bool) -> tuple[str, int]:
    """Returns the filter in ONNX's shape and the number of groups, which is OpenVINO's first extent."""
    if not is_grouped:
        return filters.name, 1
    groups, first, second, *window = static_shape(filters, "the filter")
    shape = [groups * first, second, *window]
    return writer.reshaped(filters, shape), groups


def _convolution(is_grouped: bool) -> Translation:
    def translate(writer: Writer, layer: Layer) -> None:
        x, filters = layer.inputs
        name, groups = _filter(writer, filters, is_grouped)
        settings = window_settings(layer)
        pads = padding(layer)
        data = x.name
        if pads is not None and min([*pads[0], *pads[1], 0]) < 0:
            data = padded(writer, x, pads, 0.0)
            settings["pads"] = [0] * len(settings["pads"])
        writer.node("Conv", [data, name], layer.output, group=groups, **settings)

    return translate


def _transposed_convolution(is_grouped: bool) -> Translation:
    def translate(writer: Writer, layer: Layer) -> None:
        x, filters = layer.inputs[:2]
        name, groups = _filter(writer, filters, is_grouped)
        settings = window_settings(layer)
        added = layer.integers("output_padding") or [0] * (x.rank - 2)
        if len(layer.inputs) > 2 or padding(layer) is None:
            settings.pop("auto_pad", None)
            settings["pads"] = _pads_of_output(layer, filters, added)
        settings["output_padding"] = added
        writer.node("ConvTranspose", [x.name, name], layer.output, group=groups, **settings)

    return translate


def _pads_of_output(layer: Layer, filters: Tensor, added: list[int]) -> list[int]:
    """Returns the padding that makes the shape of the output."""
    count = layer.inputs[0].rank - 2
    extents = static_shape(layer.inputs[0], "the input")[2:]
    made = static_shape(layer.output, "the output")[2:]
    window = static_shape(filters, "the filter")[-count:]
    strides = layer.integers("strides") or [1] * count
    dilations = layer.integers("dilations") or [1] * count
    totals = [
        strides[i] * (extents[i] - 1) + dilations[i] * (window[i] - 1) + 1 + added[i] - made[i] for i in range(count)
    ]
    if min(totals) < 0:
        raise Unsupported("the output is larger than the transposed convolution without padding")
    automatic = layer.text("auto_pad", "explicit")
    if automatic == "same_upper":
        before = [total // 2 for total in totals]
    elif automatic == "same_lower":
        before = [math.ceil(total / 2) for total in totals]
    else:
        before = layer.integers("pads_begin") or [0] * count
    after = [total - first for total, first in zip(totals, before)]
    if min(after) < 0:
        raise Unsupported("the shape of the output does not agree with the padding")
    return before + after


TABLE: Table = {
    "Convolution": _convolution(False),
    "ConvolutionBackpropData": _transposed_convolution(False),
    "GroupConvolution": _convolution(True),
    "GroupConvolutionBackpropData": _transposed_convolution(True),
}
