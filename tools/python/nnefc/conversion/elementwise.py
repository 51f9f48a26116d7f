"""Element-wise arithmetic, comparisons, logic and conversions of types."""

from __future__ import annotations

import math

from nnefc.conversion.layers import Layer, Tensor
from nnefc.conversion.writer import Table, Translation, Unsupported, Writer, onnx_type


def renamed(name: str) -> Translation:
    """Returns the translation to an operation with the same operands."""

    def translate(writer: Writer, layer: Layer) -> None:
        writer.node(name, operands(layer), layer.output)

    return translate


def operands(layer: Layer) -> list[str]:
    """Returns the names of the operands, which ONNX aligns as NumPy does."""
    rule = layer.text("auto_broadcast", "numpy")
    shapes = {tensor.shape for tensor in layer.inputs}
    if rule not in ("numpy", "none") and len(shapes) > 1:
        raise Unsupported(f"operands are aligned by the rule `{rule}`, not as NumPy does")
    return [tensor.name for tensor in layer.inputs]


def _not_equal(writer: Writer, layer: Layer) -> None:
    writer.node("Not", [writer.node("Equal", operands(layer))], layer.output)


def _select(writer: Writer, layer: Layer) -> None:
    condition, left, right = operands(layer)
    if layer.output.type != "boolean":
        writer.node("Where", [condition, left, right], layer.output)
        return
    # ONNX Runtime has no Where of logicals.
    taken = writer.node("And", [condition, left])
    other = writer.node("And", [writer.node("Not", [condition]), right])
    writer.node("Or", [taken, other], layer.output)


def _squared_difference(writer: Writer, layer: Layer) -> None:
    difference = writer.node("Sub", operands(layer))
    writer.node("Mul", [difference, difference], layer.output)


def _divide(writer: Writer, layer: Layer) -> None:
    left, right = operands(layer)
    if layer.output.is_float or not layer.flag("m_pythondiv", True):
        writer.node("Div", [left, right], layer.output)
        return
    # ONNX truncates quotients of integers, OpenVINO rounds them down.
    remainder = writer.node("Mod", [left, right])
    writer.node("Div", [writer.node("Sub", [left, remainder]), right], layer.output)


def _floor_mod(writer: Writer, layer: Layer) -> None:
    left, right = operands(layer)
    if not layer.output.is_float:
        writer.node("Mod", [left, right], layer.output)
        return
    quotient = writer.node("Floor", [writer.node("Div", [left, right])])
    writer.node("Sub", [left, writer.node("Mul", [quotient, right])], layer.output)


def _clamp(writer: Writer, layer: Layer) -> None:
    low, high = layer.number("min", -math.inf), layer.number("max", math.inf)
    type_ = layer.output.type
    bounds = [low, high] if layer.output.is_float else [math.ceil(low), math.floor(high)]
    writer.node("Clip", [layer.inputs[0].name, *(writer.constant(bound, type_) for bound in bounds)], layer.output)


def _convert(writer: Writer, layer: Layer) -> None:
    writer.node("Cast", [layer.inputs[0].name], layer.output, to=onnx_type(layer.output.type))


def _round(writer: Writer, layer: Layer) -> None:
    x = layer.inputs[0].name
    if layer.text("mode", "half_to_even") == "half_to_even":
        writer.node("Round", [x], layer.output)
        return
    half = writer.constant(0.5, layer.output.type)
    magnitude = writer.node("Floor", [writer.node("Add", [writer.node("Abs", [x]), half])])
    writer.node("Mul", [writer.node("Sign", [x]), magnitude], layer.output)


def scalar_operand(writer: Writer, tensor: Tensor, what: str) -> float:
    """Returns the only element of a constant. Raises Unsupported for other tensors."""
    array = writer.value(tensor)
    if array is None or array.size != 1:
        raise Unsupported(f"{what} is not a constant of one element")
    return float(array.reshape(-1)[0])


_DIRECT = {
    "Abs": "Abs", "Acos": "Acos", "Acosh": "Acosh", "Add": "Add", "Asin": "Asin", "Asinh": "Asinh", "Atan": "Atan",
    "Atanh": "Atanh", "Ceiling": "Ceil", "Cos": "Cos", "Cosh": "Cosh", "Equal": "Equal", "Erf": "Erf", "Exp": "Exp",
    "Floor": "Floor", "Greater": "Greater", "GreaterEqual": "GreaterOrEqual", "IsNaN": "IsNaN", "Less": "Less",
    "LessEqual": "LessOrEqual", "Log": "Log", "LogicalAnd": "And", "LogicalNot": "Not", "LogicalOr": "Or",
    "LogicalXor": "Xor", "Maximum": "Max", "Minimum": "Min", "Multiply": "Mul", "Negative": "Neg", "Power": "Pow",
    "Sign": "Sign", "Sin": "Sin", "Sinh": "Sinh", "Sqrt": "Sqrt", "Subtract": "Sub", "Tan": "Tan",
}  # fmt: skip

TABLE: Table = {
    **{name: renamed(target) for name, target in _DIRECT.items()},
    "Clamp": _clamp,
    "Convert": _convert,
    "Divide": _divide,
    "FloorMod": _floor_mod,
    "NotEqual": _not_equal,
    "Round": _round,
    "Select": _select,
    "SquaredDifference": _squared_difference,
}
