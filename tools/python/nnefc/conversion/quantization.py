"""Quantization of values."""

from __future__ import annotations

from nnefc.conversion.layers import Layer
from nnefc.conversion.writer import Table, Unsupported, Writer


def _fake_quantize(writer: Writer, layer: Layer) -> None:
    x, low, high, out_low, out_high = (tensor.name for tensor in layer.inputs)
    levels = layer.integer("levels", 256)
    if levels < 2:
        raise Unsupported(f"`levels` is {levels}; expected at least 2")
    steps = writer.constant(float(levels - 1), layer.output.type)
    width = writer.node("Sub", [high, low])
    scaled = writer.node("Mul", [writer.node("Div", [writer.node("Sub", [x, low]), width]), steps])
    fraction = writer.node("Div", [writer.node("Round", [scaled]), steps])
    out_width = writer.node("Sub", [out_high, out_low])
    inside = writer.node("Add", [writer.node("Mul", [fraction, out_width]), out_low])
    is_below = writer.node("LessOrEqual", [x, writer.node("Min", [low, high])])
    is_above = writer.node("Greater", [x, writer.node("Max", [low, high])])
    bounded = writer.node("Where", [is_above, out_high, inside])
    writer.node("Where", [is_below, out_low, bounded], layer.output)


TABLE: Table = {"FakeQuantize": _fake_quantize}
