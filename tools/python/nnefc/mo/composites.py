"""Operations of the Model Optimizer without an equal operation in OpenVINO, built of several."""

from __future__ import annotations

from typing import Any

import numpy as np

from nnefc._nnefc import TransformError as Error
from nnefc.mo.graph.graph import Node
from nnefc.mo.op import Build, Composite, int64_array

Built = tuple[Node, dict[int, Any]]


def _first(node: Node) -> Built:
    return node, {0: node.in_port(0)}


def _need(attrs: dict[str, Any], key: str) -> Any:
    value = attrs.get(key)
    if value is None:
        raise Error(f"the attribute `{key}` is missing")
    return value


def _leaky_relu(op: Composite, attrs: dict[str, Any]) -> Built:
    return _first(op._make("PReLU", {1: np.array([attrs.get("negative_slope", 0.01)], np.float32)}))


def _relu6(op: Composite, attrs: dict[str, Any]) -> Built:
    return _first(op._make("Clamp", {}, min=0.0, max=6.0))


def _attributed_power(op: Composite, attrs: dict[str, Any]) -> Built:
    """Returns (scale * x + shift) ** power."""
    steps = [("Multiply", attrs.get("scale", 1), 1), ("Add", attrs.get("shift", 0), 0), ("Power", attrs.get("power", 1), 1)]
    made = [op._make(kind, {1: np.float32(value)}) for kind, value, neutral in steps if value != neutral]
    made = made or [op._make("Multiply", {1: np.float32(1)})]
    for former, node in zip(made, made[1:]):
        node.in_port(0).connect(former.out_port(0))
    return made[-1], {0: made[0].in_port(0)}


def _clamp(op: Composite, attrs: dict[str, Any]) -> Built:
    """Returns min(max(x, lower), upper) with the bounds as inputs 1 and 2."""
    lower, upper = op._make("Maximum", {}), op._make("Minimum", {})
    upper.in_port(0).connect(lower.out_port(0))
    return upper, {0: lower.in_port(0), 1: lower.in_port(1), 2: upper.in_port(1)}


def _split(op: Composite, attrs: dict[str, Any]) -> Built:
    return _first(op._make("Split", {1: int64_array(_need(attrs, "axis"))}, num_splits=int(_need(attrs, "num_splits"))))


def _variadic_split(op: Composite, attrs: dict[str, Any]) -> Built:
    lengths = int64_array(attrs["split_lengths"] if "split_lengths" in attrs else _need(attrs, "size_splits"))
    constants = {1: int64_array(_need(attrs, "axis")), 2: lengths}
    return _first(op._make("VariadicSplit", constants, out_ports_count=len(lengths)))


def _gather(op: Composite, attrs: dict[str, Any]) -> Built:
    node = op._make("Gather", {2: int64_array(_need(attrs, "axis"))}, count=3)
    return node, {0: node.in_port(0), 1: node.in_port(1)}


def _pad(op: Composite, attrs: dict[str, Any]) -> Built:
    pads = int64_array(_need(attrs, "pads")).reshape(-1, 2)
    constants = {1: pads[:, 0], 2: pads[:, 1], 3: np.float32(attrs.get("fill_value", 0))}
    mode = attrs.get("mode", "constant")
    return _first(op._make("Pad", constants if mode == "constant" else {1: pads[:, 0], 2: pads[:, 1]}, pad_mode=mode))


def _expand_dims(op: Composite, attrs: dict[str, Any]) -> Built:
    return _first(op._make("Unsqueeze", {1: int64_array(_need(attrs, "expand_axis")).reshape(-1)}))


def _permute(op: Composite, attrs: dict[str, Any]) -> Built:
    return _first(op._make("Transpose", {1: int64_array(_need(attrs, "order"))}))


def _flatten(op: Composite, attrs: dict[str, Any]) -> Built:
    if attrs.get("axis", 1) != 1 or attrs.get("end_axis", -1) != -1:
        raise Error(f"a Flatten of axes {attrs.get('axis', 1)} to {attrs.get('end_axis', -1)} is not supported; use Reshape")
    return _first(op._make("Reshape", {1: int64_array([0, -1])}, special_zero=True))


def _rank(op: Composite, attrs: dict[str, Any]) -> Built:
    shape, rank = op._make("ShapeOf", {}), op._make("ShapeOf", {})
    rank.in_port(0).connect(shape.out_port(0))
    scalar = op._make("Squeeze", {1: int64_array([0])})
    scalar.in_port(0).connect(rank.out_port(0))
    return scalar, {0: shape.in_port(0)}


def _size(op: Composite, attrs: dict[str, Any]) -> Built:
    shape = op._make("ShapeOf", {})
    product = op._make("ReduceProd", {1: int64_array([0])}, keep_dims=False)
    product.in_port(0).connect(shape.out_port(0))
    return product, {0: shape.in_port(0)}


def _constant_of_shape(op: Composite, attrs: dict[str, Any]) -> Built:
    node = op._make("Broadcast", {0: np.asarray(attrs.get("fill_value", np.float32(0))).reshape(())}, count=2)
    return node, {0: node.in_port(1)}


def _identity(op: Composite, attrs: dict[str, Any]) -> Built:
    return _first(op._make("copy" if not op._graph().has_data else "opset16.Identity", {}))


def _eltwise(op: Composite, attrs: dict[str, Any]) -> Built:
    kinds = {"sum": "Add", "mul": "Multiply", "max": "Maximum", "pow": "Power", "less": "Less", "equal": "Equal"}
    operation = attrs.get("operation", "sum")
    if operation not in kinds:
        raise Error(f"unknown `operation` `{operation}` of an Eltwise; expected one of {', '.join(kinds)}")
    node = op._make(kinds[operation], {})
    return node, {0: node.in_port(0), 1: node.in_port(1)}


def _fully_connected(op: Composite, attrs: dict[str, Any]) -> Built:
    """Returns the product with the transposed weights, input 1, plus the bias, input 2 if there is one."""
    product = op._make("MatMul", {}, transpose_a=False, transpose_b=True)
    inputs = {0: product.in_port(0), 1: product.in_port(1)}
    if attrs.get("in_ports_count", 2) < 3:
        return product, inputs
    total = op._make("Add", {})
    total.in_port(0).connect(product.out_port(0))
    return total, {**inputs, 2: total.in_port(1)}


def _scale_shift(op: Composite, attrs: dict[str, Any]) -> Built:
    """Returns the product with input 1 plus input 2 if there is one."""
    product = op._make("Multiply", {})
    inputs = {0: product.in_port(0), 1: product.in_port(1)}
    if attrs.get("in_ports_count", 2) < 3:
        return product, inputs
    total = op._make("Add", {})
    total.in_port(0).connect(product.out_port(0))
    return total, {**inputs, 2: total.in_port(1)}


def _pooling(op: Composite, attrs: dict[str, Any]) -> Built:
    window, stride, pads = _need(attrs, "window"), _need(attrs, "stride"), int64_array(_need(attrs, "pad")).reshape(-1, 2)
    settings: dict[str, Any] = {
        "kernel": [int(n) for n in window[2:]],
        "strides": [int(n) for n in stride[2:]],
        "pads_begin": [int(n) for n in pads[2:, 0]],
        "pads_end": [int(n) for n in pads[2:, 1]],
        "rounding_type": {"valid": "floor", "full": "ceil"}.get(attrs.get("pooling_convention", "valid"), "floor"),
        "auto_pad": attrs.get("auto_pad") or "explicit",
    }
    if attrs.get("pool_method", "max") == "max":
        return _first(op._make("opset1.MaxPool", {}, **settings))
    return _first(op._make("opset1.AvgPool", {}, **settings, **{"exclude-pad": attrs.get("exclude_pad") in (True, "true")}))


def _strided_slice(op: Composite, attrs: dict[str, Any]) -> Built:
    """Returns the slice. The Model Optimizer's masks of begin and end are 1 where these are used, OpenVINO's where not."""
    masks = {key: [1 - int(n) for n in attrs.get(key, [])] for key in ("begin_mask", "end_mask")}
    others = ("new_axis_mask", "shrink_axis_mask", "ellipsis_mask")
    masks |= {key: [int(n) for n in attrs.get(key, [])] for key in others}
    count = int(attrs.get("in_ports_count", 3))
    node = op._make("StridedSlice", {}, count=count, **masks)
    return node, {idx: node.in_port(idx) for idx in range(count)}


def _spatial(attrs: dict[str, Any], key: str, other: str, default: int) -> list[int]:
    """Returns an attribute of the spatial axes: by OpenVINO's name, or by the other one with batches and channels."""
    if key in attrs:
        return [int(n) for n in attrs[key]]
    rank = len(_need(attrs, "stride" if "stride" in attrs else other)) - 2
    return [int(n) for n in attrs[other][2:]] if attrs.get(other) is not None else [default] * rank


def _convolution(op: Composite, attrs: dict[str, Any]) -> Built:
    if attrs.get("group", 1) != 1:
        raise Error(f"a Convolution with `group` {attrs['group']} is not supported; use GroupConvolution")
    settings: dict[str, Any] = {
        "strides": _spatial(attrs, "strides", "stride", 1),
        "dilations": _spatial(attrs, "dilations", "dilation", 1),
        "auto_pad": attrs.get("auto_pad") or "explicit",
    }
    if attrs.get("pad") is not None:
        pads = int64_array(attrs["pad"]).reshape(-1, 2)[2:]
        settings |= {"pads_begin": [int(n) for n in pads[:, 0]], "pads_end": [int(n) for n in pads[:, 1]]}
    else:
        none = [0] * len(settings["strides"])
        settings |= {key: attrs.get(key, none) for key in ("pads_begin", "pads_end")}
    transposed = op.op == "Deconvolution"
    node = op._make("ConvolutionBackpropData" if transposed else "Convolution", {}, **settings)
    return node, {0: node.in_port(0), 1: node.in_port(1)}


def _eltwise_n(op: Composite, attrs: dict[str, Any]) -> Built:
    """Returns an operation of two tensors, applied to any number of them from left to right."""
    kinds = {"add": "Add", "sum": "Add", "mul": "Multiply", "max": "Maximum", "min": "Minimum"}
    operation = str(attrs.get("operation") or type(op).__name__[len("EltwiseN") :].casefold())
    if operation not in kinds:
        raise Error(f"unknown `operation` `{operation}`; expected {', '.join(f'`{kind}`' for kind in kinds)}")
    steps = [op._make(kinds[operation], {}) for _ in range(max(2, int(attrs.get("in_ports_count", 2))) - 1)]
    for former, node in zip(steps, steps[1:]):
        node.in_port(0).connect(former.out_port(0))
    return steps[-1], {0: steps[0].in_port(0), **{i + 1: node.in_port(1) for i, node in enumerate(steps)}}


# The module below `nnefc.mo.ops`, the class, its `op` if another one, and the function that builds it.
COMPOSITES: list[tuple[str, str, str, Build]] = [
    ("activation_ops", "LeakyReLU", "", _leaky_relu),
    ("activation_ops", "ReLU6", "", _relu6),
    ("power", "AttributedPower", "", _attributed_power),
    ("clamp", "Clamp", "", _clamp),
    ("split", "AttributedSplit", "", _split),
    ("split", "AttributedVariadicSplit", "", _variadic_split),
    ("gather", "AttributedGather", "", _gather),
    ("pad", "AttributedPad", "", _pad),
    ("expand_dims", "ExpandDims", "", _expand_dims),
    ("permute", "Permute", "", _permute),
    ("flatten", "Flatten", "", _flatten),
    ("flatten", "FlattenONNX", "", _flatten),
    ("rank", "Rank", "", _rank),
    ("size", "Size", "", _size),
    ("constant_of_shape", "ConstantOfShape", "", _constant_of_shape),
    ("identity", "Identity", "", _identity),
    ("eltwise", "Eltwise", "", _eltwise),
    *(("eltwise_n", f"EltwiseN{kind}", "EltwiseN", _eltwise_n) for kind in ("", "Add", "Mul", "Max", "Min")),
    ("MatMul", "FullyConnected", "", _fully_connected),
    ("scale_shift", "ScaleShiftOp", "ScaleShift", _scale_shift),
    ("pooling", "Pooling", "", _pooling),
    ("convolution", "Convolution", "", _convolution),
    ("deconvolution", "Deconvolution", "", _convolution),
    ("strided_slice", "StridedSlice", "", _strided_slice),
]
