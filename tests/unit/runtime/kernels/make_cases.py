#!/usr/bin/env python3
"""Writes cases.txt: single operations with random inputs and OpenVINO's results.

Needs the packages numpy and openvino. The table is checked in, so that the test needs neither:

    case NAME
    op SET TYPE NUMBER_OF_OUTPUTS
    attr NAME KIND ITEM...          KIND: bool int double string type ints doubles
    input TYPE DIMS const|param ITEM...
    output TYPE DIMS ITEM...
    tolerance T                     |ours - theirs| <= T * (1 + |theirs|); 0 is exact
"""
import pathlib
import sys

import numpy as np
import openvino as ov
from openvino.utils.node_factory import NodeFactory
from openvino import opset1, opset3, opset4, opset5, opset6, opset8, opset12

XML_NAMES = {"Constant": "Const", "PRelu": "PReLU", "Relu": "ReLU", "Softmax": "SoftMax"}
SETS = {"LogicalXor": "opset1"}  # the library defines it in opset2, documents use it in opset1
TYPE_ATTRIBUTES = {"destination_type", "output_type", "index_element_type"}
CORE = ov.Core()
RANDOM = np.random.default_rng(20240601)
LINES = []


def f32(*shape, low=-2.0, high=2.0):
    return RANDOM.uniform(low, high, shape).astype(np.float32)


def ints(*shape, low=-9, high=9, dtype=np.int64):
    return RANDOM.integers(low, high, shape, dtype=dtype)


def const(values, dtype=np.int64):
    return ("const", np.asarray(values, dtype=dtype))


def kind_and_items(name, value):
    if name in TYPE_ATTRIBUTES:
        return "type", [str(value)]
    if isinstance(value, bool):
        return "bool", [str(int(value))]
    if isinstance(value, (int, np.integer)):
        return "int", [str(value)]
    if isinstance(value, float):
        return "double", [repr(value)]
    if isinstance(value, str):
        return "string", [value]
    items = list(value)
    if items and isinstance(items[0], str):
        return "string", [",".join(items)]
    if items and isinstance(items[0], float):
        return "doubles", [repr(item) for item in items]
    return "ints", [str(int(item)) for item in items]


def tensor_text(array):
    types = {"float32": "f32", "float64": "f64", "float16": "f16", "int32": "i32", "int64": "i64", "bool": "boolean",
             "int8": "i8", "uint8": "u8", "int16": "i16", "uint16": "u16", "uint32": "u32", "uint64": "u64"}
    dims = "[" + ",".join(str(extent) for extent in array.shape) + "]"
    if array.dtype.kind == "f":
        items = " ".join("%.9g" % item for item in array.ravel())
    else:
        items = " ".join(str(int(item)) for item in array.ravel())
    return f"{types[array.dtype.name]} {dims}", items


def case(name, make, *inputs, tolerance=2e-6, expected=None):
    """Runs `make(*nodes)`, with one node per input, and writes the case.

    `expected` is the output by NumPy if the CPU plug-in deviates from the operation's specification or rejects it.
    """
    nodes, parameters, arrays = [], [], []
    for entry in inputs:
        is_const = isinstance(entry, tuple)
        array = entry[1] if is_const else entry
        arrays.append((array, is_const))
        if is_const:
            nodes.append(opset1.constant(array))
        else:
            nodes.append(opset1.parameter(array.shape, array.dtype))
            parameters.append(nodes[-1])
    node = make(*nodes)
    node = node if isinstance(node, ov.Node) else node.get_node()
    if expected is None:
        model = ov.Model([opset1.result(output) for output in node.outputs()], parameters, name)
        compiled = CORE.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
        made = compiled([array for array, is_const in arrays if not is_const])
        results = [made[output] for output in range(len(node.outputs()))]
    else:
        results = [expected]
    info = node.get_type_info()
    LINES.append(f"case {name}")
    LINES.append(f"op {SETS.get(info.name, info.version_id)} {XML_NAMES.get(info.name, info.name)} {len(node.outputs())}")
    for attribute, value in node.get_attributes().items():
        if isinstance(value, dict):
            if "axis" in value:
                value = value["type"] if "type" in value else str(value)
            else:
                continue
        kind, items = kind_and_items(attribute, value)
        LINES.append(" ".join(["attr", attribute, kind] + items))
    given = {parameter.get_friendly_name(): array for parameter, array in
             zip(parameters, [array for array, is_const in arrays if not is_const])}
    for port in node.inputs():
        # The binding may have added constants.
        source = port.get_source_output().get_node()
        is_const = source.get_type_name() == "Constant"
        array = source.data if is_const else given[source.get_friendly_name()]
        header, items = tensor_text(array)
        LINES.append(f"input {header} {'const' if is_const else 'param'} {items}")
    for result in results:
        header, items = tensor_text(result)
        LINES.append(f"output {header} {items}")
    LINES.append(f"tolerance {tolerance}")


def elementwise():
    x = f32(2, 3, 4)
    for name in ["abs", "ceiling", "cos", "cosh", "erf", "exp", "floor", "negative", "relu", "sigmoid", "sign", "sin",
                 "sinh", "tan", "tanh", "atan"]:
        case(name, getattr(opset1, name), x, tolerance=1e-5)
    unit = f32(3, 5, low=-0.99, high=0.99)
    for make in [opset1.acos, opset1.asin, opset4.atanh]:
        case(make.__name__, make, unit, tolerance=1e-5)
    positive = f32(3, 5, low=0.1, high=4.0)
    case("log", opset1.log, positive, tolerance=1e-5)
    case("sqrt", opset1.sqrt, positive)
    case("asinh", opset4.asinh, x, tolerance=1e-5)
    case("acosh", opset4.acosh, positive + 1, tolerance=1e-5)
    halves = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.3, -0.7], dtype=np.float32)
    case("round_even", lambda a: opset5.round(a, "half_to_even"), halves)
    case("round_away", lambda a: opset5.round(a, "half_away_from_zero"), halves)
    case("logical_not", opset1.logical_not, f32(7) > 0)
    case("abs_i32", opset1.abs, ints(9, dtype=np.int32))
    case("relu_channels", opset1.relu, f32(1, 32, 3, 3))
    for name in ["add", "subtract", "multiply", "divide", "maximum", "minimum", "squared_difference"]:
        make = getattr(opset1, name)
        case(name, make, f32(2, 3, 4, 5), f32(2, 3, 4, 5, low=0.5))
        case(name + "_broadcast", make, f32(2, 3, 4, 5), f32(3, 1, 5, low=0.5))
        case(name + "_both", make, f32(2, 1, 4), f32(3, 1, low=0.5))
    for name in ["add", "subtract", "multiply", "maximum", "minimum"]:
        case(name + "_i32", getattr(opset1, name), ints(3, 4, dtype=np.int32), ints(4, dtype=np.int32))
    case("add_channels", opset1.add, f32(1, 32, 5, 5), f32(1, 32, 1, 1))
    case("add_scalar", opset1.add, f32(1, 16, 5, 5), f32())
    a, b = ints(20, dtype=np.int32), np.array([-3, 4, 5, -7] * 5, np.int32)
    case("divide_i32", opset1.divide, a, const(b, np.int32))
    case("power", opset1.power, f32(3, 4, low=0.1), f32(4), tolerance=1e-5)
    case("power_square", opset1.power, f32(3, 4), const([2.0], np.float32))
    case("mod", opset1.mod, f32(3, 4, low=-9, high=9), f32(3, 4, low=0.5, high=3), tolerance=1e-5)
    case("mod_i32", opset1.mod, ints(20, dtype=np.int32), const(np.array([-3, 4, 5, -7] * 5), np.int32))
    case("floor_mod", opset1.floor_mod, f32(3, 4, low=-9, high=9), f32(3, 4, low=0.5, high=3), tolerance=1e-5)
    case("floor_mod_i32", opset1.floor_mod, ints(20, dtype=np.int32), const(np.array([-3, 4, 5, -7] * 5), np.int32))
    for name in ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"]:
        case(name, getattr(opset1, name), np.round(f32(3, 4)), np.round(f32(4)))
        case(name + "_i32", getattr(opset1, name), ints(3, 4, low=-2, high=2, dtype=np.int32),
             ints(3, 1, low=-2, high=2, dtype=np.int32))
    for name in ["logical_and", "logical_or", "logical_xor"]:
        case(name, getattr(opset1, name), f32(3, 4) > 0, f32(4) > 0)
    case("select", opset1.select, f32(3, 1) > 0, f32(3, 4), f32(4))
    case("select_equal", opset1.select, f32(3, 4) > 0, f32(3, 4), f32(3, 4))
    case("convert_truncates", lambda a: opset1.convert(a, "i32"), f32(3, 4, low=-9, high=9))
    case("convert_i32_f32", lambda a: opset1.convert(a, "f32"), ints(5, dtype=np.int32))
    case("convert_boolean", lambda a: opset1.convert(a, "f32"), f32(5) > 0)


def activation():
    x = f32(2, 3, 4)
    case("clamp", lambda a: opset1.clamp(a, -0.5, 1.0), x)
    case("clamp_i32", lambda a: opset1.clamp(a, -2.5, 3.5), ints(9, dtype=np.int32))
    case("elu", lambda a: opset1.elu(a, 0.7), x, tolerance=1e-5)
    case("selu", opset1.selu, x, const([1.6732632], np.float32), const([1.050701], np.float32), tolerance=1e-5)
    case("swish", opset4.swish, x, tolerance=1e-5)
    case("swish_beta", opset4.swish, x, const(1.702, np.float32), tolerance=1e-5)
    case("softplus", opset4.softplus, f32(20, low=-30, high=30), tolerance=1e-5)
    case("mish", opset4.mish, x, tolerance=1e-5)
    case("hswish", opset4.hswish, f32(20, low=-5, high=5), tolerance=1e-5)
    case("prelu_channels", opset1.prelu, x, const([0.1, -0.2, 0.3], np.float32))
    case("prelu_scalar", opset1.prelu, x, const([0.25], np.float32))


def convolution():
    def conv(strides=(1, 1), begin=(0, 0), end=(0, 0), dilations=(1, 1), auto_pad="explicit"):
        return lambda x, w: opset1.convolution(x, w, list(strides), list(begin), list(end), list(dilations), auto_pad)

    case("conv", conv(), f32(1, 3, 6, 7), f32(4, 3, 3, 3), tolerance=1e-5)
    case("conv_const", conv(begin=(1, 1), end=(1, 1)), f32(1, 16, 7, 7), ("const", f32(32, 16, 3, 3)), tolerance=1e-5)
    case("conv_strided", conv((2, 3), (1, 0), (2, 1)), f32(2, 3, 9, 11), ("const", f32(5, 3, 3, 2)), tolerance=1e-5)
    case("conv_dilated", conv((1, 2), (2, 2), (2, 2), (2, 3)), f32(1, 2, 10, 13), f32(3, 2, 3, 3), tolerance=1e-5)
    case("conv_same_upper", conv((2, 2), auto_pad="same_upper"), f32(1, 2, 7, 8), f32(3, 2, 4, 3), tolerance=1e-5)
    case("conv_same_lower", conv((2, 2), auto_pad="same_lower"), f32(1, 2, 7, 8), f32(3, 2, 4, 3), tolerance=1e-5)
    case("conv_valid", conv(auto_pad="valid"), f32(1, 2, 7, 8), f32(3, 2, 4, 3), tolerance=1e-5)
    case("conv_covers", conv(), f32(2, 4, 5, 6), ("const", f32(7, 4, 5, 6)), tolerance=1e-5)
    case("conv_1x1", conv(), f32(1, 32, 4, 4), ("const", f32(16, 32, 1, 1)), tolerance=1e-5)
    case("conv_1d", lambda x, w: opset1.convolution(x, w, [2], [1], [0], [2]), f32(2, 3, 12), f32(4, 3, 3),
         tolerance=1e-5)
    case("conv_3d", lambda x, w: opset1.convolution(x, w, [1, 2, 1], [0, 1, 1], [1, 1, 0], [1, 1, 1]),
         f32(1, 2, 4, 6, 5), f32(3, 2, 2, 3, 2), tolerance=1e-5)

    def group(strides=(1, 1), begin=(0, 0), end=(0, 0), dilations=(1, 1), auto_pad="explicit"):
        return lambda x, w: opset1.group_convolution(x, w, list(strides), list(begin), list(end), list(dilations),
                                                     auto_pad)

    case("group_conv", group((1, 2), (1, 1), (1, 1)), f32(2, 6, 5, 7), f32(3, 4, 2, 3, 3), tolerance=1e-5)
    case("group_conv_depthwise", group((1, 1), (1, 1), (1, 1)), f32(1, 16, 6, 6), ("const", f32(16, 1, 1, 3, 3)),
         tolerance=1e-5)

    def deconv(strides=(1, 1), begin=(0, 0), end=(0, 0), dilations=(1, 1), auto_pad="explicit", extra=(0, 0)):
        return lambda x, w: opset1.convolution_backprop_data(
            x, w, list(strides), None, list(begin), list(end), list(dilations), auto_pad, list(extra))

    case("deconv", deconv(), f32(1, 3, 4, 5), f32(3, 2, 3, 3), tolerance=1e-5)
    case("deconv_strided", deconv((2, 3), (1, 1), (1, 0), extra=(1, 1)), f32(2, 3, 4, 5), f32(3, 4, 3, 4),
         tolerance=1e-5)
    case("deconv_dilated", deconv((2, 1), (1, 2), (0, 1), (2, 2)), f32(1, 16, 4, 5), ("const", f32(16, 16, 2, 3)),
         tolerance=1e-5)

    def group_deconv(x, w):
        return opset1.group_convolution_backprop_data(x, w, [2, 2], None, [1, 1], [1, 1], [1, 1])

    case("group_deconv", group_deconv, f32(1, 6, 4, 5), f32(2, 3, 2, 3, 3), tolerance=1e-5)
    case("deconv_output_shape", lambda x, w, s: opset1.convolution_backprop_data(x, w, [2, 2], s), f32(1, 2, 4, 4),
         f32(2, 3, 3, 3), const([8, 9]), tolerance=1e-5)


def pooling():
    def max_pool(strides, begin, end, kernel, rounding="floor", auto_pad="explicit"):
        return lambda x: opset1.max_pool(x, strides, begin, end, kernel, rounding, auto_pad)

    case("max_pool", max_pool([2, 2], [0, 0], [1, 1], [3, 3]), f32(1, 16, 8, 8))
    case("max_pool_padded", max_pool([1, 2], [1, 1], [1, 1], [3, 2]), f32(2, 3, 5, 7))
    case("max_pool_ceil", max_pool([2, 2], [0, 0], [0, 0], [3, 3], "ceil"), f32(1, 3, 8, 8))
    case("max_pool_same", max_pool([2, 2], [0, 0], [0, 0], [3, 3], "floor", "same_upper"), f32(1, 3, 8, 7))
    case("max_pool_1d", max_pool([2], [1], [0], [3]), f32(1, 3, 9))
    case("max_pool_3d", max_pool([1, 2, 1], [0, 1, 0], [1, 0, 0], [2, 2, 3]), f32(1, 2, 4, 6, 5))
    case("max_pool_indices", lambda x: opset8.max_pool(x, [2, 1], [1, 1], [0, 0], [1, 1], [2, 2], "floor", "explicit",
                                                       "i64", 0), f32(2, 3, 5, 4))
    case("max_pool_dilated", lambda x: opset8.max_pool(x, [1, 1], [2, 1], [0, 0], [0, 0], [2, 2], "floor", "explicit",
                                                       "i32", 2), f32(1, 2, 6, 5))

    def avg_pool(strides, begin, end, kernel, exclude, rounding="floor", auto_pad="explicit"):
        return lambda x: opset1.avg_pool(x, strides, begin, end, kernel, exclude, rounding, auto_pad)

    for exclude in (False, True):
        suffix = "_exclude" if exclude else "_include"
        case("avg_pool" + suffix, avg_pool([2, 1], [1, 1], [1, 0], [3, 2], exclude), f32(1, 16, 6, 7), tolerance=1e-5)
        case("avg_pool_3d" + suffix, avg_pool([1, 2, 2], [1, 0, 1], [0, 1, 1], [2, 2, 3], exclude),
             f32(1, 2, 3, 5, 6), tolerance=1e-5)
    case("avg_pool_same", avg_pool([2, 2], [0, 0], [0, 0], [3, 3], True, "floor", "same_upper"), f32(1, 3, 7, 8),
         tolerance=1e-5)
    case("avg_pool_global", avg_pool([1, 1], [0, 0], [0, 0], [7, 7], False), f32(1, 32, 7, 7), tolerance=1e-5)


def reduce():
    x = f32(2, 3, 4, 5)
    for name in ["reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod"]:
        make = getattr(opset1, name)
        case(name, lambda a, axes: make(a, axes, True), x, const([1, 3]), tolerance=1e-5)
        case(name + "_drop", lambda a, axes: make(a, axes, False), x, const([-1, 0]), tolerance=1e-5)
        case(name + "_i32", lambda a, axes: make(a, axes, True), ints(3, 4, dtype=np.int32), const([0]))
    case("reduce_mean_image", lambda a, axes: opset1.reduce_mean(a, axes, True), f32(1, 32, 7, 7), const([2, 3]),
         tolerance=1e-5)
    case("reduce_l1", lambda a, axes: opset4.reduce_l1(a, axes, True), x, const([2]), tolerance=1e-5)
    case("reduce_l2", lambda a, axes: opset4.reduce_l2(a, axes, True), x, const([1, 2]), tolerance=1e-5)
    case("reduce_and", lambda a, axes: opset1.reduce_logical_and(a, axes, True), f32(4, 3) > -1.5, const([1]))
    case("reduce_or", lambda a, axes: opset1.reduce_logical_or(a, axes, False), f32(4, 3) > 1.5, const([0]))
    case("top_k_max", lambda a, k: opset3.topk(a, k, 1, "max", "value"), f32(2, 7, 3), const(3))
    case("top_k_min_index", lambda a, k: opset3.topk(a, k, -1, "min", "index"), f32(2, 3, 7), const(4))
    case("top_k_one", lambda a, k: opset3.topk(a, k, 0, "max", "value", "i64"), f32(5, 4), const(1))


def shapes():
    x = f32(2, 3, 4)
    case("concat", lambda a, b: opset1.concat([a, b], 1), f32(2, 3, 4), f32(2, 1, 4))
    case("concat_channels", lambda a, b: opset1.concat([a, b], 1), f32(1, 16, 3, 3), f32(1, 32, 3, 3))
    case("concat_i32", lambda a, b: opset1.concat([a, b], -1), ints(2, 3, dtype=np.int32), ints(2, 2, dtype=np.int32))
    case("split", lambda a, axis: opset1.split(a, axis, 3), f32(2, 6, 4), const(1))
    case("variadic_split", opset1.variadic_split, f32(2, 6, 4), const(1), const([1, 3, 2]))
    case("reshape", lambda a, s: opset1.reshape(a, s, True), x, const([0, -1]))
    case("squeeze", opset1.squeeze, f32(1, 3, 1, 4), const([0, 2]))
    case("unsqueeze", opset1.unsqueeze, f32(3, 4), const([0, 3]))
    case("transpose", opset1.transpose, f32(2, 3, 4, 5), const([2, 0, 3, 1]))
    case("transpose_2d", opset1.transpose, f32(5, 7), const([1, 0]))
    case("tile", opset1.tile, f32(2, 3), const([3, 1, 2]))
    case("broadcast", opset3.broadcast, f32(3, 1), const([2, 3, 4]))
    case("broadcast_explicit", lambda a, s, m: opset3.broadcast(a, s, m, "explicit"), f32(3), const([2, 3, 4]),
         const([1]))
    case("shape_of", lambda a: opset3.shape_of(a, "i64"), f32(2, 3, 4))
    case("range", lambda *a: NodeFactory("opset4").create("Range", [node.output(0) for node in a], {"output_type": "i64"}),
         const(3), const(17), const(4))
    case("strided_slice", lambda a, b, e, s: opset1.strided_slice(a, b, e, s, [0, 1, 0], [1, 0, 0]), f32(5, 6, 7),
         const([1, 2, -1]), const([0, 5, 0]), const([2, 1, -3]))
    case("strided_slice_shrink", lambda a, b, e, s: opset1.strided_slice(a, b, e, s, [0, 0], [0, 0], [0, 0], [1, 0]),
         f32(5, 6, 7), const([2, 1]), const([3, 4]), const([1, 2]))
    case("strided_slice_ellipsis",
         lambda a, b, e, s: opset1.strided_slice(a, b, e, s, [0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 1, 0]),
         f32(3, 4, 5), const([0, 0, 1]), const([1, 0, 4]), const([1, 1, 2]))
    case("slice", lambda a, b, e, s: opset8.slice(a, b, e, s), f32(5, 6), const([1, -2]), const([100, 0]),
         const([2, -1]))
    case("slice_axes", lambda a, b, e, s, x: opset8.slice(a, b, e, s, x), f32(2, 7, 6), const([6]), const([-100]),
         const([-2]), const([-2]))
    for mode in ["constant", "edge", "reflect", "symmetric"]:
        case("pad_" + mode, lambda a, b, e: opset1.pad(a, b, e, mode), f32(1, 2, 4, 5), const([0, 0, 1, 2]),
             const([0, 1, 2, 3]))
    case("pad_value", lambda a, b, e, v: opset1.pad(a, b, e, "constant", v), f32(2, 3), const([1, 0]), const([0, 2]),
         const(1.5, np.float32))
    case("pad_negative", lambda a, b, e: opset12.pad(a, b, e, "constant"), f32(4, 5), const([-1, 2]), const([1, -2]))


def gather():
    case("gather", opset8.gather, f32(4, 5, 3), ints(2, 3, low=0, high=5), const(1))
    case("gather_negative", opset8.gather, f32(4, 5), ints(3, low=-4, high=4), const(0))
    case("gather_batch", lambda d, i, a: opset8.gather(d, i, a, 1), f32(2, 5, 3), ints(2, 4, low=0, high=5), const(1))
    case("gather_elements", lambda d, i: opset6.gather_elements(d, i, 1), f32(3, 5, 2), ints(3, 4, 2, low=0, high=5))
    case("scatter", opset12.scatter_elements_update, f32(3, 5), const([[1, 0, 4], [2, 3, 0], [4, 1, 2]]), f32(3, 3),
         const(1))
    for reduction in ["sum", "prod", "min", "max", "mean"]:
        for initial in (True, False):
            case(f"scatter_{reduction}_{int(initial)}",
                 lambda d, i, u, a: opset12.scatter_elements_update(d, i, u, a, reduction, initial), f32(3, 5),
                 const([[1, 1, 4], [2, 2, 2], [4, 1, 0]]), f32(3, 3), const(1), tolerance=1e-5)


def matmul():
    for ta in (False, True):
        for tb in (False, True):
            a = f32(5, 4) if ta else f32(4, 5)
            b = f32(6, 5) if tb else f32(5, 6)
            name = f"matmul_{int(ta)}{int(tb)}"
            case(name, lambda x, y: opset1.matmul(x, y, ta, tb), a, b, tolerance=1e-5)
            case(name + "_const", lambda x, y: opset1.matmul(x, y, ta, tb), a, ("const", b), tolerance=1e-5)
    case("matmul_batched", lambda x, y: opset1.matmul(x, y, False, False), f32(2, 1, 3, 4), f32(5, 4, 2),
         tolerance=1e-5)
    case("matmul_vector", lambda x, y: opset1.matmul(x, y, False, False), f32(4), f32(3, 4, 2), tolerance=1e-5)
    case("matmul_column", lambda x, y: opset1.matmul(x, y, False, False), f32(2, 3, 4), f32(4), tolerance=1e-5)


def lrn(x, axes, alpha, beta, bias, size):
    """Computes the formula; the plug-in uses 1 for every bias."""
    squares = x.astype(np.float64) ** 2
    for axis in axes:
        width = [(0, 0)] * x.ndim
        width[axis] = (size // 2, size // 2)
        padded = np.pad(squares, width)
        squares = sum(padded.take(range(i, i + x.shape[axis]), axis) for i in range(size))
    return (x / (bias + alpha / size ** len(axes) * squares) ** beta).astype(np.float32)


def normalization():
    x = f32(2, 6, 3, 4)
    case("lrn", lambda a, axes: opset1.lrn(a, axes, 0.3, 0.75, 1.5, 5), x, const([1]), tolerance=1e-5,
         expected=lrn(x, [1], 0.3, 0.75, 1.5, 5))
    case("lrn_blocked", lambda a, axes: opset1.lrn(a, axes, 1e-2, 0.75, 1.0, 5), f32(1, 32, 4, 4), const([1]),
         tolerance=1e-5)
    case("lrn_image", lambda a, axes: opset1.lrn(a, axes, 0.3, 0.75, 1.5, 3), x, const([2, 3]), tolerance=1e-5,
         expected=lrn(x, [2, 3], 0.3, 0.75, 1.5, 3))
    vectors = [("const", f32(6, low=0.5)) for _ in range(4)]
    case("batch_norm", lambda *a: opset5.batch_norm_inference(*a, 1e-3), x, *vectors, tolerance=1e-5)
    for mode in ["add", "max"]:
        case("normalize_l2_" + mode, lambda a, axes: opset1.normalize_l2(a, axes, 1e-3, mode), x, const([1]),
             tolerance=1e-5)
    case("normalize_l2_all", lambda a, axes: opset1.normalize_l2(a, axes, 0.5, "add"), x, const([1, 2, 3]),
         tolerance=1e-5)
    for mode in ["inside_sqrt", "outside_sqrt"]:
        case("mvn_" + mode, lambda a, axes: opset6.mvn(a, axes, True, 1e-2, mode), x, const([2, 3]), tolerance=1e-5)
    case("mvn_mean", lambda a, axes: opset6.mvn(a, axes, False, 1e-2, "inside_sqrt"), x, const([1, 2, 3]),
         tolerance=1e-5)
    case("softmax", lambda a: opset8.softmax(a, -2), x, tolerance=1e-5)
    case("softmax_1", lambda a: opset1.softmax(a, 1), f32(1, 100, low=-20, high=20), tolerance=1e-5)
    scalars = [const(v, np.float32) for v in (-1.0, 1.5, -2.0, 3.0)]
    case("fake_quantize", lambda *a: opset1.fake_quantize(*a, 16), x, *scalars, tolerance=1e-5)
    channels = [("const", v.astype(np.float32).reshape(1, 6, 1, 1)) for v in
                (np.linspace(-1.5, -0.5, 6), np.linspace(0.5, 1.5, 6), np.linspace(-1, 0, 6), np.linspace(1, 2, 6))]
    case("fake_quantize_channels", lambda *a: opset1.fake_quantize(*a, 255), x, *channels, tolerance=1e-5)


def resize(data, sizes, scales, axes, attributes):
    pads = {"pads_begin": [0, 0, 0, 0], "pads_end": [0, 0, 0, 0], "cube_coeff": -0.75}
    return NodeFactory("opset4").create("Interpolate", [data.output(0), sizes.output(0), scales.output(0),
                                                             axes.output(0)], pads | attributes)


def triangle(extent, target):
    """Computes weights of `linear` with antialias, which the plug-in ignores."""
    scale = target / extent
    centres = (np.arange(target) + 0.5) / scale - 0.5
    weights = np.maximum(0, 1 - np.abs(scale * (centres[:, None] - np.arange(extent)[None, :])))
    return weights / weights.sum(1, keepdims=True)


def interpolate():
    def sizes(mode, transform, nearest="round_prefer_floor", antialias=False):
        return lambda a, s, c, x: resize(a, s, c, x, {
            "mode": mode, "shape_calculation_mode": "sizes", "coordinate_transformation_mode": transform,
            "nearest_mode": nearest, "antialias": antialias})

    scales = const([1.0, 1.0], np.float32)
    x = f32(1, 2, 4, 5)
    for transform in ["half_pixel", "asymmetric", "align_corners", "tf_half_pixel_for_nn", "pytorch_half_pixel"]:
        for nearest in ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil", "simple"]:
            case(f"nearest_{transform}_{nearest}", sizes("nearest", transform, nearest), x, const([7, 3]), scales,
                 const([2, 3]))
    for transform in ["half_pixel", "asymmetric", "align_corners"]:
        for target in ([8, 10], [3, 9], [2, 3]):
            case(f"linear_onnx_{transform}_{target[0]}x{target[1]}", sizes("linear_onnx", transform), x, const(target),
                 scales, const([2, 3]), tolerance=1e-4)
            case(f"linear_{transform}_{target[0]}x{target[1]}", sizes("linear", transform), x, const(target), scales,
                 const([2, 3]), tolerance=1e-4)
        case(f"cubic_{transform}", sizes("cubic", transform), x, const([7, 3]), scales, const([2, 3]), tolerance=1e-4)
    image = f32(1, 1, 8, 8)
    case("linear_antialias", sizes("linear", "half_pixel", antialias=True), image, const([3, 4]), scales,
         const([2, 3]), tolerance=1e-4,
         expected=(triangle(8, 3) @ image[0, 0] @ triangle(8, 4).T).reshape(1, 1, 3, 4).astype(np.float32))
    case("nearest_scales",
         lambda a, s, c, x: resize(a, s, c, x, {
             "mode": "nearest", "shape_calculation_mode": "scales", "coordinate_transformation_mode": "asymmetric",
             "nearest_mode": "floor"}),
         x, const([8, 10]), const([2.0, 2.0], np.float32), const([2, 3]))


def main():
    for family in [elementwise, activation, convolution, pooling, reduce, shapes, gather, matmul, normalization,
                   interpolate]:
        family()
    path = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).with_name("cases.txt")
    path.write_text("\n".join(LINES) + "\n")


if __name__ == "__main__":
    main()
