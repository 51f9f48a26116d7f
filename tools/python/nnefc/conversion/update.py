"""Gathering and scattering by indices."""

from __future__ import annotations

from nnefc.conversion.layers import Layer
from nnefc.conversion.writer import Table, Unsupported, Writer

_REDUCTIONS = {"none": "none", "sum": "add", "prod": "mul", "min": "min", "max": "max"}


def _gather(writer: Writer, layer: Layer) -> None:
    x, indices, axis_input = layer.inputs
    axis = writer.known(axis_input, "the axis")[0]
    if layer.integer("batch_dims"):
        raise Unsupported("`batch_dims` is not 0")
    writer.node("Gather", [x.name, indices.name], layer.output, axis=axis)


def _gather_elements(writer: Writer, layer: Layer) -> None:
    names = [tensor.name for tensor in layer.inputs]
    writer.node("GatherElements", names, layer.output, axis=layer.integer("axis"))


def _reduction(layer: Layer) -> str:
    given = layer.text("reduction", "none")
    if given not in _REDUCTIONS or (given != "none" and not layer.flag("use_init_val", True)):
        raise Unsupported(f"the reduction `{given}`, or values that replace the initial ones")
    return _REDUCTIONS[given]


def _scatter_elements(writer: Writer, layer: Layer) -> None:
    x, indices, updates, axis_input = layer.inputs
    axis = writer.known(axis_input, "the axis")[0]
    names = [x.name, indices.name, updates.name]
    writer.node("ScatterElements", names, layer.output, axis=axis, reduction=_reduction(layer))


TABLE: Table = {
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "ScatterElementsUpdate": _scatter_elements,
}
