"""Normalizations."""

from __future__ import annotations

import math

from nnefc.conversion.layers import Layer, Tensor
from nnefc.conversion.writer import Table, Writer, static_shape


def _batch_norm(writer: Writer, layer: Layer) -> None:
    tensors = list(layer.inputs)
    if layer.opset < 5:  # gamma, beta, data
        tensors = [tensors[2], tensors[0], tensors[1], *tensors[3:]]
    epsilon = layer.number("epsilon", layer.number("eps"))
    writer.node("BatchNormalization", [tensor.name for tensor in tensors], layer.output, epsilon=epsilon)


def _with_epsilon(writer: Writer, layer: Layer, value: str, is_added: bool) -> str:
    epsilon = writer.constant(layer.number("eps"), layer.output.type)
    return writer.node("Add" if is_added else "Max", [value, epsilon])


def _normalize_l2(writer: Writer, layer: Layer) -> None:
    x, axes = layer.inputs
    squares = writer.node("Mul", [x.name, x.name])
    total = writer.node("ReduceSum", [squares, axes.name], keepdims=1, noop_with_empty_axes=1)
    bounded = _with_epsilon(writer, layer, total, layer.text("eps_mode", "add") == "add")
    writer.node("Div", [x.name, writer.node("Sqrt", [bounded])], layer.output)


def _lrn(writer: Writer, layer: Layer) -> None:
    x, axes_input = layer.inputs
    size, type_ = layer.integer("size", 1), x.type
    axes = [axis % x.rank for axis in writer.known(axes_input, "the axes")]
    parameters = {"alpha": layer.number("alpha"), "beta": layer.number("beta"), "bias": layer.number("bias", 1.0)}
    if axes == [1] and size % 2 == 1 and x.rank == 4:
        writer.node("LRN", [x.name], layer.output, size=size, **parameters)
        return
    total = writer.node("Mul", [x.name, x.name])
    for axis in axes:
        total = _window_sum(writer, x, total, axis, size)
    factor = writer.constant(parameters["alpha"] / math.pow(size, len(axes)), type_)
    base = writer.node("Add", [writer.node("Mul", [total, factor]), writer.constant(parameters["bias"], type_)])
    power = writer.node("Pow", [base, writer.constant(parameters["beta"], type_)])
    writer.node("Div", [x.name, power], layer.output)


def _window_sum(writer: Writer, x: Tensor, value: str, axis: int, size: int) -> str:
    """Returns the sums of `size` neighbours along an axis, with zeros outside of the tensor."""
    extent = static_shape(x, "the normalized tensor")[axis]
    before = (size - 1) // 2
    pads = writer.integers([before, size - 1 - before])
    axes = writer.integers([axis])
    padded = writer.node("Pad", [value, pads, writer.constant(0.0, x.type), axes])
    parts = [
        writer.node("Slice", [padded, writer.integers([start]), writer.integers([start + extent]), axes])
        for start in range(size)
    ]
    return writer.node("Sum", parts)


TABLE: Table = {
    "BatchNormInference": _batch_norm,
    "LRN": _lrn,
    "NormalizeL2": _normalize_l2,
}
