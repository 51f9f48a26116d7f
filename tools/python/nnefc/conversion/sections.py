"""Parts of tensors: Concat, Split, Slice."""

from __future__ import annotations

from nnefc.conversion.layers import Layer
from nnefc.conversion.shape_ops import integers_of
from nnefc.conversion.writer import Table, Unsupported, Writer


def _concat(writer: Writer, layer: Layer) -> None:
    writer.node("Concat", [tensor.name for tensor in layer.inputs], layer.output, axis=layer.integer("axis"))


def _split(writer: Writer, layer: Layer) -> None:
    x, axis_input = layer.inputs[:2]
    axis = writer.known(axis_input, "the axis")[0] % x.rank
    sizes = [tensor.shape[axis] for tensor in layer.outputs]
    names = [tensor.name for tensor in layer.outputs]
    if len(names) == 1:
        writer.node("Identity", [x.name], layer.output)
    elif None in sizes:
        if layer.type != "Split":
            raise Unsupported("the split axis has an open extent")
        writer.nodes("Split", [x.name], names, axis=axis, num_outputs=len(names))
    else:
        writer.nodes("Split", [x.name, writer.integers([size or 0 for size in sizes])], names, axis=axis)


def _slice(writer: Writer, layer: Layer) -> None:
    x, start, stop, step = layer.inputs[:4]
    if len(layer.inputs) > 4:
        axes = integers_of(writer, layer.inputs[4])
    else:
        axes = writer.integers(list(range(start.shape[0] or 0)))
    bounds = [integers_of(writer, tensor) for tensor in (start, stop)]
    writer.node("Slice", [x.name, *bounds, axes, integers_of(writer, step)], layer.output)


TABLE: Table = {
    "Concat": _concat,
    "Slice": _slice,
    "Split": _split,
    "VariadicSplit": _split,
}
