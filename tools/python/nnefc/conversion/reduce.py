"""Reductions, cumulative sums and the largest elements."""

from __future__ import annotations

from nnefc.conversion.layers import Layer, Tensor
from nnefc.conversion.writer import Table, Translation, Writer, onnx_type


def _reduction(name: str) -> Translation:
    def translate(writer: Writer, layer: Layer) -> None:
        x, axes = layer.inputs
        keeps = int(layer.flag("keep_dims"))
        names = [x.name, writer.reshaped(axes, [-1])] if axes.rank == 0 else [x.name, axes.name]
        writer.node(name, names, layer.output, keepdims=keeps, noop_with_empty_axes=1)

    return translate


def _all(writer: Writer, layer: Layer, value: str, output: Tensor | None = None) -> str:
    axes = layer.inputs[1]
    names = [writer.node("Cast", [value], to=onnx_type("i32")), writer.reshaped(axes, [-1]) if axes.rank == 0 else axes.name]
    reduced = writer.node("ReduceMin", names, keepdims=int(layer.flag("keep_dims")), noop_with_empty_axes=1)
    return writer.node("Cast", [reduced], output, to=onnx_type("boolean"))


def _reduce_and(writer: Writer, layer: Layer) -> None:
    _all(writer, layer, layer.inputs[0].name, layer.output)


def _reduce_or(writer: Writer, layer: Layer) -> None:
    # The minimum without elements is true, as needed; their maximum would be true as well.
    is_none = _all(writer, layer, writer.node("Not", [layer.inputs[0].name]))
    writer.node("Not", [is_none], layer.output)


def _top_k(writer: Writer, layer: Layer) -> None:
    x, count = layer.inputs
    values, indices = layer.outputs
    axis, is_max = layer.integer("axis"), int(layer.text("mode", "max") == "max")
    number = writer.node("Cast", [count.name], to=onnx_type("i64")) if count.type != "i64" else count.name
    size = writer.node("Reshape", [number, writer.integers([1])])
    found = [writer.new_name("values"), writer.new_name("indices")]
    writer.nodes("TopK", [x.name, size], found, axis=axis, largest=is_max, sorted=1)
    if layer.text("sort", "value") == "index":
        ordered = [writer.new_name("ordered"), writer.new_name("order")]
        writer.nodes("TopK", [found[1], size], ordered, axis=axis, largest=0, sorted=1)
        found = [writer.node("GatherElements", [found[0], ordered[1]], axis=axis), ordered[0]]
    writer.node("Identity", [found[0]], values)
    writer.node("Cast", [found[1]], indices, to=onnx_type(indices.type))


TABLE: Table = {
    "ReduceLogicalAnd": _reduce_and,
    "ReduceLogicalOr": _reduce_or,
    "ReduceMax": _reduction("ReduceMax"),
    "ReduceMean": _reduction("ReduceMean"),
    "ReduceMin": _reduction("ReduceMin"),
    "ReduceSum": _reduction("ReduceSum"),
    "TopK": _top_k,
}
