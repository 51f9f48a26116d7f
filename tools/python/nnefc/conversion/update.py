"""Gathering and scattering by indices."""

from __future__ import annotations

from nnefc.conversion.layers import Layer
from nnefc.conversion.writer import Table, Unsupported, Writer, onnx_type

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


def _gather_nd(writer: Writer, layer: Layer) -> None:
    batches = layer.integer("batch_dims")
    if batches > 1 and layer.opset < 8:
        raise Unsupported("the fifth version of GatherND with several batch axes")
    x, indices = layer.inputs
    name = writer.node("Cast", [indices.name], to=onnx_type("i64")) if indices.type != "i64" else indices.name
    writer.node("GatherND", [x.name, name], layer.output, batch_dims=batches)


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


def _scatter_nd(writer: Writer, layer: Layer) -> None:
    x, indices, updates = layer.inputs
    name = writer.node("Cast", [indices.name], to=onnx_type("i64")) if indices.type != "i64" else indices.name
    writer.node("ScatterND", [x.name, name, updates.name], layer.output, reduction=_reduction(layer))


def _non_zero(writer: Writer, layer: Layer) -> None:
    found = writer.node("NonZero", [layer.inputs[0].name])
    writer.node("Cast", [found], layer.output, to=onnx_type(layer.output.type))


TABLE: Table = {
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "GatherND": _gather_nd,
    "NonZero": _non_zero,
    "ScatterElementsUpdate": _scatter_elements,
    "ScatterNDUpdate": _scatter_nd,
}
