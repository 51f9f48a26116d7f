"""Translations of the operations that only move data."""

from __future__ import annotations

from typing import Any

from onnx_builder import Builder


def to_inferred_shape(b: Builder, op: Any) -> None:
    """Reshapes to the shape that was inferred for the result: reshape, squeeze, unsqueeze."""
    output = op.outputs["output"]
    b.node("Reshape", [b.operand(op.inputs["input"]), b.ints(b.shape(output))], output)


def transpose(b: Builder, op: Any) -> None:
    x, axes = op.inputs["input"], op.attribs["axes"]
    order = axes + list(range(len(axes), b.rank(x)))
    b.node("Transpose", [b.operand(x)], op.outputs["output"], perm=order)


def concat(b: Builder, op: Any) -> None:
    parts = [b.operand(part) for part in op.inputs["values"]]
    b.node("Concat", parts, op.outputs["value"], axis=op.attribs["axis"])


def split(b: Builder, op: Any) -> None:
    axis, outputs = op.attribs["axis"], list(op.outputs["values"])
    lengths = [b.shape(output)[axis] for output in outputs]
    b.nodes_of("Split", [b.operand(op.inputs["value"]), b.ints(lengths)], outputs, axis=axis)


def stack(b: Builder, op: Any) -> None:
    axis = op.attribs["axis"]
    parts = [b.node("Unsqueeze", [b.operand(part), b.ints([axis])]) for part in op.inputs["values"]]
    b.node("Concat", parts, op.outputs["value"], axis=axis)


def unstack(b: Builder, op: Any) -> None:
    axis, outputs = op.attribs["axis"], list(op.outputs["values"])
    parts = [b.fresh("part") for _ in outputs]
    b.nodes_of("Split", [b.operand(op.inputs["value"]), b.ints([1] * len(parts))], parts, axis=axis)
    for part, output in zip(parts, outputs):
        b.node("Squeeze", [part, b.ints([axis])], output)


def slice_(b: Builder, op: Any) -> None:
    """Slices; an end of 0 is the end of the axis if every stride is 1."""
    x, axes = op.inputs["input"], op.attribs["axes"]
    stride = op.attribs["stride"] or [1] * len(axes)
    ends = []
    for axis, end, step in zip(axes, op.attribs["end"], stride):
        extent = b.shape(x)[axis]
        if end == 0 and all(s == 1 for s in stride):
            end = extent
        elif step < 0 and end < -extent:
            end = -(1 << 40)
        ends.append(end)
    b.node("Slice", [b.operand(x), b.ints(op.attribs["begin"]), b.ints(ends), b.ints(axes),
                     b.ints(stride)], op.outputs["output"])


def tile(b: Builder, op: Any) -> None:
    repeats = b.ints(op.attribs["repeats"])
    b.node("Tile", [b.operand(op.inputs["input"]), repeats], op.outputs["output"])


def gather(b: Builder, op: Any) -> None:
    inputs = [b.operand(op.inputs["input"]), b.operand(op.inputs["indices"])]
    b.node("Gather", inputs, op.outputs["output"], axis=op.attribs["axis"])


TRANSLATIONS = {
    "reshape": to_inferred_shape, "squeeze": to_inferred_shape, "unsqueeze": to_inferred_shape,
    "transpose": transpose, "concat": concat, "split": split, "stack": stack, "unstack": unstack,
    "slice": slice_, "tile": tile, "gather": gather,
}
