"""Translations of the element-wise, activation, reduction and normalization operations."""

from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np
from onnx import TensorProto

from onnx_builder import Builder, ITEM_TYPES, Unsupported
from onnx_windows import Window, box

Translation = Callable[[Builder, Any], None]


def result(op: Any) -> str:
    """Returns the name of the single result of an operation."""
    return next(iter(op.outputs.values()))


def direct(name: str, **attributes: Any) -> Translation:
    """Adds an operation that ONNX has under another name, with NNEF's broadcasting."""
    def translate(b: Builder, op: Any) -> None:
        b.node(name, b.operands(list(op.inputs.values())), result(op), **attributes)
    return translate


def power(exponent: float) -> Translation:
    def translate(b: Builder, op: Any) -> None:
        b.node("Pow", [b.operand(op.inputs["x"]), b.scalar(exponent)], result(op))
    return translate


def sqr(b: Builder, op: Any) -> None:
    x = b.operand(op.inputs["x"])
    b.node("Mul", [x, x], result(op))


def rsqrt(b: Builder, op: Any) -> None:
    b.node("Reciprocal", [b.node("Sqrt", [b.operand(op.inputs["x"])])], result(op))


def log2(b: Builder, op: Any) -> None:
    log = b.node("Log", [b.operand(op.inputs["x"])])
    b.node("Div", [log, b.scalar(math.log(2.0))], result(op))


def round_half_up(b: Builder, op: Any) -> None:
    b.node("Floor", [b.node("Add", [b.operand(op.inputs["x"]), b.scalar(0.5)])], result(op))


def ne(b: Builder, op: Any) -> None:
    b.node("Not", [b.node("Equal", b.operands(list(op.inputs.values())))], result(op))


def clamp(b: Builder, op: Any) -> None:
    x, low, high = b.operands([op.inputs["x"], op.inputs["a"], op.inputs["b"]])
    if not isinstance(op.inputs["a"], str) and not isinstance(op.inputs["b"], str):
        b.node("Clip", [x, low, high], result(op))
        return
    b.node("Max", [b.node("Min", [x, high]), low], result(op))


def prelu(b: Builder, op: Any) -> None:
    x, alpha = b.operands([op.inputs["x"], op.inputs["alpha"]])
    below = b.node("Less", [x, b.scalar(0.0)])
    b.node("Where", [below, b.node("Mul", [alpha, x]), x], result(op))


def leaky_relu(b: Builder, op: Any) -> None:
    b.node("LeakyRelu", [b.operand(op.inputs["x"])], result(op), alpha=op.attribs["alpha"])


def elu(b: Builder, op: Any) -> None:
    b.node("Elu", [b.operand(op.inputs["x"])], result(op), alpha=op.attribs["alpha"])


def selu(b: Builder, op: Any) -> None:
    b.node("Selu", [b.operand(op.inputs["x"])], result(op), alpha=op.attribs["alpha"],
           gamma=op.attribs["lambda"])


def gated(slope: float) -> Translation:
    """Adds x * sigmoid(slope * x): silu, and NNEF's gelu."""
    def translate(b: Builder, op: Any) -> None:
        x = b.operand(op.inputs["x"])
        gate = b.node("Sigmoid", [b.node("Mul", [x, b.scalar(slope)])])
        b.node("Mul", [x, gate], result(op))
    return translate


def softmax(b: Builder, op: Any) -> None:
    x, axes = b.operand(op.inputs["x"]), op.attribs["axes"]
    if len(axes) == 1:
        b.node("Softmax", [x], result(op), axis=axes[0])
        return
    shifted = b.node("Sub", [x, b.node("ReduceMax", [x, b.ints(axes)], keepdims=1)])
    exponents = b.node("Exp", [shifted])
    total = b.node("ReduceSum", [exponents, b.ints(axes)], keepdims=1)
    b.node("Div", [exponents, total], result(op))


def copy_n(b: Builder, op: Any) -> None:
    for name in op.outputs["y"]:
        b.node("Identity", [b.operand(op.inputs["x"])], name)


def add_n(b: Builder, op: Any) -> None:
    b.node("Sum", b.operands(op.inputs["x"]), result(op))


# --- reductions ---------------------------------------------------------------------------------


def reduce_by(b: Builder, name: str, x: str, axes: list[int], output: str | None = None) -> str:
    """Reduces along axes and keeps them; without axes, reduces nothing."""
    if not axes:
        return b.node("Identity", [x], output)
    return b.node(name, [x, b.ints(axes)], output, keepdims=1)


def reduction(name: str) -> Translation:
    def translate(b: Builder, op: Any) -> None:
        mean = name == "ReduceSum" and op.attribs.get("normalize", False)
        reduce_by(b, "ReduceMean" if mean else name, b.operand(op.inputs["input"]),
                  op.attribs["axes"], result(op))
    return translate


def logical_reduction(name: str) -> Translation:
    def translate(b: Builder, op: Any) -> None:
        numbers = b.node("Cast", [b.operand(op.inputs["input"])], to=TensorProto.INT32)
        reduced = reduce_by(b, name, numbers, op.attribs["axes"])
        b.node("Cast", [reduced], result(op), to=TensorProto.BOOL)
    return translate


def arg_reduction(name: str) -> Translation:
    def translate(b: Builder, op: Any) -> None:
        axes = op.attribs["axes"]
        if len(axes) != 1:
            raise Unsupported(f"`{op.name}` over {len(axes)} axes")
        b.node(name, [b.operand(op.inputs["input"])], result(op), axis=axes[0], keepdims=1)
    return translate


def moments(b: Builder, op: Any) -> None:
    x, axes = b.operand(op.inputs["input"]), op.attribs["axes"]
    mean = reduce_by(b, "ReduceMean", x, axes, op.outputs["mean"])
    centred = b.node("Sub", [x, mean])
    reduce_by(b, "ReduceMean", b.node("Mul", [centred, centred]), axes, op.outputs["variance"])


# --- normalization ------------------------------------------------------------------------------


def batch_normalization(b: Builder, op: Any) -> None:
    names = ("scale", "offset", "mean", "variance")
    values = [op.inputs[name] for name in names]
    channels = b.shape(op.inputs["input"])[1]
    x = b.operand(op.inputs["input"])
    if not all(_per_channel(b, value, channels) for value in values):
        _batch_normalization_by_parts(b, op)
        return
    vectors = [b.reshaped(value, [channels]) if isinstance(value, str)
               else b.filled([channels], value) for value in values]
    b.node("BatchNormalization", [x, *vectors], result(op), epsilon=op.attribs["epsilon"])


def _per_channel(b: Builder, value: Any, channels: int) -> bool:
    if not isinstance(value, str):
        return True
    shape = b.shape(value)
    return len(shape) > 1 and shape[1] == channels == math.prod(shape)


def _batch_normalization_by_parts(b: Builder, op: Any) -> None:
    x, mean, variance, offset, scale = b.operands(
        [op.inputs[name] for name in ("input", "mean", "variance", "offset", "scale")])
    deviation = b.node("Sqrt", [b.node("Add", [variance, b.scalar(op.attribs["epsilon"])])])
    scaled = b.node("Mul", [scale, b.node("Sub", [x, mean])])
    b.node("Add", [offset, b.node("Div", [scaled, deviation])], result(op))


def local_response_normalization(b: Builder, op: Any) -> None:
    x, size = op.inputs["input"], op.attribs["size"]
    alpha, beta, bias = (op.attribs[name] for name in ("alpha", "beta", "bias"))
    channels_only = all(extent == 1 for i, extent in enumerate(size) if i != 1)
    if len(size) > 1 and channels_only and size[1] % 2 == 1:
        b.node("LRN", [b.operand(x)], result(op), size=size[1], alpha=alpha, beta=beta, bias=bias)
        return
    squares = b.node("Mul", [b.operand(x), b.operand(x)])
    mean = box(b, squares, Window.of(b.shape(x), size), "avg", "constant")
    sigma = b.node("Add", [b.node("Mul", [mean, b.scalar(alpha)]), b.scalar(bias)])
    b.node("Div", [b.operand(x), b.node("Pow", [sigma, b.scalar(beta)])], result(op))


def _centred(b: Builder, x: str, size: list[int], shape: list[int]) -> str:
    return b.node("Sub", [x, box(b, x, Window.of(shape, size), "avg", "constant")])


def _scaled(b: Builder, x: str, op: Any, shape: list[int], output: str) -> None:
    mean = box(b, b.node("Mul", [x, x]), Window.of(shape, op.attribs["size"]), "avg", "constant")
    _divide_by_norm(b, x, b.node("Sqrt", [mean]), op, output)


def _divide_by_norm(b: Builder, x: str, norm: str, op: Any, output: str) -> None:
    biased = b.node("Add", [norm, b.scalar(op.attribs["bias"])])
    b.node("Div", [x, b.node("Max", [biased, b.scalar(op.attribs["epsilon"])])], output)


def local_mean_normalization(b: Builder, op: Any) -> None:
    x = op.inputs["input"]
    mean = box(b, b.operand(x), Window.of(b.shape(x), op.attribs["size"]), "avg", "constant")
    b.node("Sub", [b.operand(x), mean], result(op))


def local_variance_normalization(b: Builder, op: Any) -> None:
    x = op.inputs["input"]
    _scaled(b, b.operand(x), op, b.shape(x), result(op))


def local_contrast_normalization(b: Builder, op: Any) -> None:
    x = op.inputs["input"]
    centred = _centred(b, b.operand(x), op.attribs["size"], b.shape(x))
    _scaled(b, centred, op, b.shape(x), result(op))


def l1_normalization(b: Builder, op: Any) -> None:
    x = b.operand(op.inputs["input"])
    norm = reduce_by(b, "ReduceSum", b.node("Abs", [x]), op.attribs["axes"])
    _divide_by_norm(b, x, norm, op, result(op))


def l2_normalization(b: Builder, op: Any) -> None:
    x = b.operand(op.inputs["input"])
    norm = reduce_by(b, "ReduceSum", b.node("Mul", [x, x]), op.attribs["axes"])
    _divide_by_norm(b, x, b.node("Sqrt", [norm]), op, result(op))


# --- matrix multiplications ---------------------------------------------------------------------


def matmul(b: Builder, op: Any) -> None:
    left, right = b.operand(op.inputs["A"]), b.operand(op.inputs["B"])
    turn = (int(op.attribs["transposeA"]), int(op.attribs["transposeB"]))
    if b.rank(op.inputs["A"]) == 2 and any(turn):
        b.node("Gemm", [left, right], result(op), transA=turn[0], transB=turn[1])
        return
    rank = b.rank(op.inputs["A"])
    order = [*range(rank - 2), rank - 1, rank - 2]
    sides = [b.node("Transpose", [side], perm=order) if flip else side
             for side, flip in zip((left, right), turn)]
    b.node("MatMul", sides, result(op))


def linear(b: Builder, op: Any) -> None:
    x, filter, bias = op.inputs["input"], op.inputs["filter"], op.inputs["bias"]
    inputs = [b.operand(x), b.operand(filter)]
    if isinstance(bias, str) or bias != 0.0:
        inputs.append(b.operand(bias))
    b.node("Gemm", inputs, result(op), transB=1)


def constant(b: Builder, op: Any) -> None:
    name, shape, value = op.outputs["output"], op.attribs["shape"], op.attribs["value"]
    values = np.array(value if len(value) > 1 else value * math.prod(shape))
    dtype = {"scalar": np.float32, "integer": np.int64, "logical": np.bool_}[b.dtype(name)]
    b.node("Identity", [b.constant(values.reshape(shape), dtype)], name)


def cast(b: Builder, op: Any) -> None:
    """Casts; a scalar becomes the closest smaller integer."""
    x, target = op.inputs["input"], b.dtype(result(op))
    name = b.operand(x)
    if b.dtype(x) == "scalar" and target == "integer":
        name = b.node("Floor", [name])
    b.node("Cast", [name], result(op), to=ITEM_TYPES[target])


UNARY = {
    "copy": "Identity", "neg": "Neg", "rcp": "Reciprocal", "exp": "Exp", "log": "Log", "sin": "Sin",
    "cos": "Cos", "tan": "Tan", "sinh": "Sinh", "cosh": "Cosh", "tanh": "Tanh", "asin": "Asin",
    "acos": "Acos", "atan": "Atan", "asinh": "Asinh", "acosh": "Acosh", "atanh": "Atanh",
    "abs": "Abs", "sign": "Sign", "not": "Not", "floor": "Floor", "ceil": "Ceil", "sqrt": "Sqrt",
    "relu": "Relu", "sigmoid": "Sigmoid", "softplus": "Softplus",
}
BINARY = {
    "add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div", "pow": "Pow", "lt": "Less",
    "gt": "Greater", "le": "LessOrEqual", "ge": "GreaterOrEqual", "eq": "Equal", "and": "And",
    "or": "Or", "min": "Min", "max": "Max", "select": "Where",
}
TRANSLATIONS: dict[str, Translation] = {
    **{name: direct(target) for name, target in (UNARY | BINARY).items()},
    "sqr": sqr, "rsqr": power(-2.0), "rsqrt": rsqrt, "log2": log2, "round": round_half_up, "ne": ne,
    "clamp": clamp, "prelu": prelu, "leaky_relu": leaky_relu, "elu": elu, "selu": selu,
    "gelu": gated(1.702), "silu": gated(1.0), "softmax": softmax, "copy_n": copy_n, "add_n": add_n,
    "sum_reduce": reduction("ReduceSum"), "mean_reduce": reduction("ReduceMean"),
    "max_reduce": reduction("ReduceMax"), "min_reduce": reduction("ReduceMin"),
    "all_reduce": logical_reduction("ReduceMin"), "any_reduce": logical_reduction("ReduceMax"),
    "argmax_reduce": arg_reduction("ArgMax"), "argmin_reduce": arg_reduction("ArgMin"),
    "moments": moments, "batch_normalization": batch_normalization,
    "local_response_normalization": local_response_normalization,
    "local_mean_normalization": local_mean_normalization,
    "local_variance_normalization": local_variance_normalization,
    "local_contrast_normalization": local_contrast_normalization,
    "l1_normalization": l1_normalization, "l2_normalization": l2_normalization,
    "matmul": matmul, "linear": linear, "constant": constant, "cast": cast,
}
