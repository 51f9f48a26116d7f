"""Activation functions and softmax."""

from __future__ import annotations

from nnefc.conversion.elementwise import renamed, scalar_operand
from nnefc.conversion.layers import Layer
from nnefc.conversion.writer import Table, Translation, Unsupported, Writer


def _elu(writer: Writer, layer: Layer) -> None:
    # As a formula: ONNX Runtime's Elu has no negative `alpha`.
    x, type_ = layer.inputs[0].name, layer.output.type
    zero = writer.constant(0.0, type_)
    below = writer.node("Sub", [writer.node("Exp", [writer.node("Min", [x, zero])]), writer.constant(1.0, type_)])
    scaled = writer.node("Mul", [below, writer.constant(layer.number("alpha", 1.0), type_)])
    writer.node("Where", [writer.node("Greater", [x, zero]), x, scaled], layer.output)


def _selu(writer: Writer, layer: Layer) -> None:
    x, alpha, gamma = layer.inputs
    alpha_value = scalar_operand(writer, alpha, "`alpha`")
    gamma_value = scalar_operand(writer, gamma, "`lambda`")
    writer.node("Selu", [x.name], layer.output, alpha=alpha_value, gamma=gamma_value)


def _prelu(writer: Writer, layer: Layer) -> None:
    x, slope = layer.inputs
    # A slope of one element must not add an axis.
    name = writer.reshaped(slope, []) if slope.shape == (1,) else slope.name
    # One slope for each channel.
    if slope.rank == 1 and slope.shape != (1,) and x.rank > 2 and slope.shape[0] == x.shape[1]:
        name = writer.reshaped(slope, [slope.shape[0] or -1, *[1] * (x.rank - 2)])
    is_negative = writer.node("Less", [x.name, writer.constant(0.0, x.type)])
    writer.node("Where", [is_negative, writer.node("Mul", [x.name, name]), x.name], layer.output)


def _swish(writer: Writer, layer: Layer) -> None:
    x = layer.inputs[0].name
    scaled = writer.node("Mul", [x, layer.inputs[1].name]) if len(layer.inputs) > 1 else x
    writer.node("Mul", [x, writer.node("Sigmoid", [scaled])], layer.output)


def _softmax(name: str) -> Translation:
    def translate(writer: Writer, layer: Layer) -> None:
        axis = layer.integer("axis", 1)
        if layer.inputs[0].rank == 0:
            raise Unsupported("a tensor without axes has no softmax")
        writer.node(name, [layer.inputs[0].name], layer.output, axis=axis)

    return translate


TABLE: Table = {
    "Elu": _elu,
    "PReLU": _prelu,
    "ReLU": renamed("Relu"),
    "Selu": _selu,
    "Sigmoid": renamed("Sigmoid"),
    "SoftMax": _softmax("Softmax"),
    "SoftPlus": renamed("Softplus"),
    "Swish": _swish,
    "Tanh": renamed("Tanh"),
}
