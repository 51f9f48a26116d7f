"""Shapes: Reshape, Squeeze, Transpose, Broadcast, Tile, ShapeOf, Range."""

from __future__ import annotations

from nnefc.conversion.layers import Layer, Tensor
from nnefc.conversion.writer import Table, Translation, Unsupported, Writer, onnx_type


def integers_of(writer: Writer, tensor: Tensor) -> str:
    """Returns a tensor of integers as 64-bit ones, of rank 1."""
    array = writer.value(tensor)
    if array is not None:
        return writer.integers([int(item) for item in array.reshape(-1)])
    name = writer.node("Cast", [tensor.name], to=onnx_type("i64")) if tensor.type != "i64" else tensor.name
    return writer.node("Reshape", [name, writer.integers([1])]) if tensor.rank == 0 else name


def _reshape(writer: Writer, layer: Layer) -> None:
    x, pattern = layer.inputs
    copies_zeros = layer.flag("special_zero")
    array = writer.value(pattern)
    made = layer.output.shape
    if None not in made:
        shape = writer.integers([extent or 0 for extent in made])
        copies_zeros = False
    elif array is not None and 0 in array and not copies_zeros:
        raise Unsupported("a shape with an extent of 0 and an open extent")
    else:
        shape = integers_of(writer, pattern)
    is_empty = not copies_zeros and 0 in made
    writer.node("Reshape", [x.name, shape], layer.output, allowzero=int(is_empty))


def _with_axes(name: str) -> Translation:
    def translate(writer: Writer, layer: Layer) -> None:
        axes = [integers_of(writer, tensor) for tensor in layer.inputs[1:]]
        writer.node(name, [layer.inputs[0].name, *axes], layer.output)

    return translate


def _transpose(writer: Writer, layer: Layer) -> None:
    x = layer.inputs[0]
    order = writer.known(layer.inputs[1], "the order of the axes") or list(reversed(range(x.rank)))
    writer.node("Transpose", [x.name], layer.output, perm=order)


def _tile(writer: Writer, layer: Layer) -> None:
    x, repeats = layer.inputs
    counts = writer.known(repeats, "the repeats")
    name = x.name
    if len(counts) > x.rank:
        name = writer.node("Unsqueeze", [name, writer.integers(list(range(len(counts) - x.rank)))])
    counts = [1] * (x.rank - len(counts)) + counts
    writer.node("Tile", [name, writer.integers(counts)], layer.output)


TABLE: Table = {
    "Reshape": _reshape,
    "Squeeze": _with_axes("Squeeze"),
    "Tile": _tile,
    "Transpose": _transpose,
    "Unsqueeze": _with_axes("Unsqueeze"),
}
