"""Padding, and the settings of sliding windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy

from nnefc.conversion.layers import Layer, Tensor
from nnefc.conversion.writer import Table, Unsupported, Writer, static_shape

_AUTOMATIC = {"same_upper": "SAME_UPPER", "same_lower": "SAME_LOWER", "valid": "VALID"}


def padding(layer: Layer) -> tuple[list[int], list[int]] | None:
    """Returns the padding before and after each spatial axis, or None if it is automatic."""
    if layer.text("auto_pad", "explicit") in _AUTOMATIC:
        return None
    return layer.integers("pads_begin"), layer.integers("pads_end")


def window_settings(layer: Layer, strides: bool = True, dilations: bool = True) -> dict[str, Any]:
    """Returns the attributes of a sliding window that ONNX has under the same names."""
    attributes: dict[str, Any] = {}
    if strides and layer.integers("strides"):
        attributes["strides"] = layer.integers("strides")
    if dilations and layer.integers("dilations"):
        attributes["dilations"] = layer.integers("dilations")
    pads = padding(layer)
    if pads is None:
        attributes["auto_pad"] = _AUTOMATIC[layer.text("auto_pad")]
    else:
        attributes["pads"] = pads[0] + pads[1]
    return attributes


def padded(writer: Writer, x: Tensor, pads: tuple[Sequence[int], Sequence[int]], value: float) -> str:
    """Pads the spatial axes of a tensor with a value; removes elements where the padding is negative."""
    axes = list(range(x.rank - len(pads[0]), x.rank))
    names = [writer.integers([*pads[0], *pads[1]]), writer.constant(value, x.type), writer.integers(axes)]
    return writer.node("Pad", [x.name, *names], mode="constant")


def _pad(writer: Writer, layer: Layer) -> None:
    x, begin, end = layer.inputs[:3]
    mode = layer.text("pad_mode", "constant")
    if mode == "constant":
        pads = writer.node("Concat", [begin.name, end.name], axis=0)
        if begin.type != "i64":
            pads = writer.node("Cast", [pads], to=7)
        value = [layer.inputs[3].name] if len(layer.inputs) > 3 else []
        writer.node("Pad", [x.name, pads, *value], layer.output, mode="constant")
        return
    _gather_border(writer, layer, writer.known(begin, "the pads"), writer.known(end, "the pads"), _INDICES[mode])


def _gather_border(
    writer: Writer, layer: Layer, begin: list[int], end: list[int], index_of: Callable[[Any, int], Any]
) -> None:
    """Gathers the elements along each axis that is padded: ONNX does not have all borders and sizes."""
    x = layer.inputs[0]
    extents = static_shape(x, "the padded tensor")
    value = x.name
    padded_axes = [axis for axis in range(x.rank) if begin[axis] or end[axis]]
    if any(extents[axis] == 0 for axis in padded_axes):
        raise Unsupported("a border is read from a tensor without elements")
    for axis in padded_axes:
        indices = index_of(numpy.arange(-begin[axis], extents[axis] + end[axis]), extents[axis])
        is_last = axis == padded_axes[-1]
        names = [value, writer.integers(indices.tolist())]
        value = writer.node("Gather", names, layer.output if is_last else None, axis=axis)
    if not padded_axes:
        writer.node("Identity", [value], layer.output)


def _reflected(index: Any, extent: int) -> Any:
    period = max(2 * extent - 2, 1)
    folded = index % period
    return numpy.where(folded < extent, folded, period - folded)


def _mirrored(index: Any, extent: int) -> Any:
    folded = index % (2 * extent)
    return numpy.where(folded < extent, folded, 2 * extent - 1 - folded)


_INDICES: dict[str, Callable[[Any, int], Any]] = {
    "edge": lambda index, extent: numpy.clip(index, 0, extent - 1),
    "reflect": _reflected,
    "symmetric": _mirrored,
}

TABLE: Table = {"Pad": _pad}
