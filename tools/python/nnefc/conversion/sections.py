"""Parts of tensors: Concat, Split, Slice."""

from __future__ import annotations

from nnefc.conversion.layers import Layer
from nnefc.conversion.shape_ops import integers_of
from nnefc.conversion.writer import Table, Unsupported, Writer

_END = 2**63 - 1


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


def _strided_slice(writer: Writer, layer: Layer) -> None:
    x = layer.inputs[0]
    begin, end = (writer.known(tensor, "the bounds") for tensor in layer.inputs[1:3])
    steps = writer.known(layer.inputs[3], "the steps") if len(layer.inputs) > 3 else [1] * len(begin)
    masks = {
        name: (layer.integers(f"{name}_mask") + [0] * len(begin))[: len(begin)]
        for name in ("begin", "end", "new_axis", "shrink_axis", "ellipsis")
    }
    starts, stops, strides, removed, added = [], [], [], [], []
    axis, place = 0, 0
    for i, first in enumerate(begin):
        if masks["ellipsis"][i]:
            others = sum(not masks["new_axis"][j] for j in range(len(begin)) if j != i)
            count = x.rank - others
            starts += [0] * count
            stops += [_END] * count
            strides += [1] * count
            axis, place = axis + count, place + count
        elif masks["new_axis"][i]:
            added.append(place)
            place += 1
        elif masks["shrink_axis"][i]:
            starts.append(first)
            stops.append(first + 1 if first != -1 else _END)
            strides.append(1)
            removed.append(axis)
            axis += 1
        else:
            is_forward = steps[i] > 0
            starts.append((0 if is_forward else _END) if masks["begin"][i] else first)
            stops.append((_END if is_forward else -_END) if masks["end"][i] else end[i])
            strides.append(steps[i])
            axis, place = axis + 1, place + 1
    value = x.name
    settings = [writer.integers(items) for items in (starts, stops, list(range(len(starts))), strides)]
    value = writer.node("Slice", [value, *settings])
    if removed:
        value = writer.node("Squeeze", [value, writer.integers(removed)])
    if added:
        value = writer.node("Unsqueeze", [value, writer.integers(added)])
    writer.node("Identity", [value], layer.output)


TABLE: Table = {
    "Concat": _concat,
    "Slice": _slice,
    "Split": _split,
    "StridedSlice": _strided_slice,
    "VariadicSplit": _split,
}
