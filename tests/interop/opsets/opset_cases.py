"""Each operation of OpenVINO's sets that nnefc supports, with inputs and several settings of its attributes, in the
form of opset_case_builder.py: `CASES` has these and those of the other files of cases."""

from __future__ import annotations

import numpy as np

from opset_case_builder import CASES, F32, PDPD_AXIS, RANDOM, Const, Dynamic, Input, add, b, f, floats, i, ints, one


def elementwise() -> None:
    x = f(2, 3, 4)
    for name in ["Abs", "Negative", "Sign", "Exp", "Floor", "Ceiling", "Sin", "Cos", "Tan", "Sinh", "Cosh", "Tanh", "Atan",
                 "Erf", "ReLU", "Sigmoid"]:
        add(f"opset1.{name}", x)
        add(f"opset1.{name}", Dynamic(f(2, 5), "?,5"))
    for name in ["Asin", "Acos"]:
        add(f"opset1.{name}", f(3, 4, low=-0.9, high=0.9))
    for name in ["Log", "Sqrt"]:
        add(f"opset1.{name}", f(3, 4, low=0.1))
    add("opset1.Abs", i(7, dtype=np.int32))
    add("opset1.Negative", i(7, dtype=np.int32))
    add("opset4.Asinh", x)
    add("opset4.Acosh", f(3, 4, low=1.1, high=4))
    add("opset4.Atanh", f(3, 4, low=-0.9, high=0.9))
    halves = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.3, -0.7], F32)
    for mode in ["half_to_even", "half_away_from_zero"]:
        add("opset5.Round", halves, mode=mode)
    for name in ["Add", "Subtract", "Multiply", "Divide", "Minimum", "Maximum", "SquaredDifference", "Mod", "FloorMod", "Power"]:
        low = 0.5 if name in ("Divide", "Mod", "FloorMod", "Power") else -2
        more = {"m_pythondiv": True} if name == "Divide" else {}
        first = 0.5 if name == "Power" else -2
        add(f"opset1.{name}", f(2, 3, 4, low=first), f(3, 1, low=low), auto_broadcast="numpy", **more)
        add(f"opset1.{name}", f(2, 3, low=first), f(2, 3, low=low), auto_broadcast="none", **more)
        add(f"opset1.{name}", Dynamic(f(2, 3, low=first), "?,?"), f(2, 3, low=low), auto_broadcast="numpy", **more)
    add("opset1.Add", i(2, 3, dtype=np.int32), i(3, dtype=np.int32), auto_broadcast="numpy")
    for name in ["Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual"]:
        add(f"opset1.{name}", np.round(f(3, 4)), np.round(f(4)), auto_broadcast="numpy")
        add(f"opset1.{name}", i(3, 4, low=-2, high=2, dtype=np.int32), i(3, 4, low=-2, high=2, dtype=np.int32), auto_broadcast="none")
    for name in ["LogicalAnd", "LogicalOr", "LogicalXor"]:
        add(f"opset1.{name}", b(3, 4), b(4), auto_broadcast="numpy")
        add(f"opset1.{name}", b(3, 4), b(3, 4), auto_broadcast="none")
    add("opset1.LogicalNot", b(3, 4))
    # By PaddlePaddle's rule the second operand aligns with the first from an axis on (OpenVINO loses the axis of a
    # Subtract and a Less that it compiles).
    for shape, axis in [((2,), 0), ((2, 3), 0), ((1, 3), 0), ((3,), 1), ((3, 1), 1), ((4,), -1), ((), 0), ((2, 1, 4), 0)]:
        add("opset1.Add", f(2, 3, 4), f(*shape), auto_broadcast="pdpd", **{PDPD_AXIS: axis})
    for axis in range(3):
        add("opset1.Multiply", f(4, 4, 4), f(4), auto_broadcast="pdpd", **{PDPD_AXIS: axis})
    add("opset1.Select", b(3, 1), f(3, 4), f(4), auto_broadcast="numpy")
    add("opset1.Select", b(3, 4), f(3, 4), f(3, 4), auto_broadcast="none")
    special = np.array([0.0, np.nan, np.inf, -np.inf, 1.0], F32)
    add("opset10.IsNaN", special)
    add("opset10.IsFinite", special)
    for negative, positive in [(True, True), (False, True), (True, False), (False, False)]:
        add("opset10.IsInf", special, detect_negative=negative, detect_positive=positive)
    for name in ["BitwiseAnd", "BitwiseOr", "BitwiseXor"]:
        add(f"opset13.{name}", i(3, 4, dtype=np.int32), i(4, dtype=np.int32), auto_broadcast="numpy")
        add(f"opset13.{name}", b(3, 4), b(3, 4), auto_broadcast="none")
    add("opset13.BitwiseNot", i(3, 4, dtype=np.int32))
    add("opset13.BitwiseNot", b(3, 4))
    for name in ["BitwiseLeftShift", "BitwiseRightShift"]:
        add(f"opset15.{name}", i(3, 4, low=0, high=99, dtype=np.int32), i(3, 4, low=0, high=5, dtype=np.int32), auto_broadcast="numpy")
    for target in ["i32", "f32", "i64", "boolean"]:
        add("opset1.Convert", f(3, 4, low=-9, high=9), destination_type=target)
    add("opset1.Convert", i(5, dtype=np.int32), destination_type="f32")
    for target in ["u8", "i16"]:
        add("opset1.Convert", np.arange(-4, 5, dtype=np.int8), destination_type=target)
    add("opset1.ConvertLike", f(3, 4, low=-9, high=9), i(2, dtype=np.int32))
    add("opset1.Clamp", x, min=-0.5, max=1.0)
    add("opset1.Clamp", i(9, dtype=np.int32), min=-2.5, max=3.5)


def activation() -> None:
    x = f(2, 3, 4)
    for name in ["opset4.SoftPlus", "opset4.Mish", "opset4.HSwish", "opset5.HSigmoid", "opset9.SoftSign", "opset2.Gelu"]:
        add(name, x * 2)
        add(name, Dynamic(x, "?,3,?"))
    for mode in ["ERF", "TANH"]:
        add("opset7.Gelu", x, approximation_mode=mode)
    for alpha in [1.0, 0.3]:
        add("opset1.Elu", x, alpha=alpha)
    add("opset1.Selu", x, floats(1.6732632), floats(1.050701))
    add("opset1.HardSigmoid", x, one(0.3, F32), one(0.4, F32))
    add("opset1.PReLU", x, floats(0.1, -0.2, 0.3))
    add("opset1.PReLU", x, floats(0.25))
    add("opset4.Swish", x)
    add("opset4.Swish", x, one(1.702, F32))
    for axis in [0, 1, 2]:
        add("opset1.SoftMax", x, axis=axis)
        add("opset8.SoftMax", x, axis=axis - 3)
        add("opset5.LogSoftmax", x, axis=axis - 3)
    add("opset5.LogSoftmax", Dynamic(x, "?,3,4"), axis=1)


def windows() -> None:
    plain = dict(strides=[1, 1], pads_begin=[0, 0], pads_end=[0, 0], dilations=[1, 1], auto_pad="explicit")
    settings = [{}, dict(strides=[2, 1], pads_begin=[1, 0], pads_end=[0, 2]), dict(dilations=[2, 2]),
                dict(auto_pad="same_upper", strides=[2, 2]), dict(auto_pad="same_lower"), dict(auto_pad="valid")]
    for more in settings:
        add("opset1.Convolution", f(1, 3, 7, 8), Const(f(4, 3, 3, 2)), **plain | more)
        add("opset1.GroupConvolution", f(1, 4, 7, 8), Const(f(2, 3, 2, 3, 2)), **plain | more)
    add("opset1.Convolution", Dynamic(f(1, 3, 7, 8), "?,3,?,?"), Const(f(4, 3, 3, 2)), **plain)
    line = dict(strides=[2], pads_begin=[1], pads_end=[0], dilations=[1], auto_pad="explicit")
    add("opset1.Convolution", f(1, 3, 9), Const(f(4, 3, 3)), **line)
    back = plain | dict(output_padding=[0, 0])
    for more in [{}, dict(strides=[2, 1], pads_begin=[1, 0], pads_end=[0, 1]), dict(strides=[2, 2], output_padding=[1, 0]),
                 dict(dilations=[2, 2]), dict(auto_pad="valid")]:
        add("opset1.ConvolutionBackpropData", f(1, 3, 4, 5), Const(f(3, 4, 3, 2)), **back | more)
        add("opset1.GroupConvolutionBackpropData", f(1, 4, 4, 5), Const(f(2, 2, 3, 3, 2)), **back | more)
    add("opset1.ConvolutionBackpropData", f(1, 3, 4, 5), Const(f(3, 4, 3, 2)), ints(9, 10), **back | dict(strides=[2, 2], auto_pad="same_upper"))

    pool = dict(kernel=[3, 2], strides=[2, 2], pads_begin=[0, 0], pads_end=[0, 0], rounding_type="floor", auto_pad="explicit")
    pools = [{}, dict(pads_begin=[1, 0], pads_end=[1, 1]), dict(rounding_type="ceil"), dict(auto_pad="same_upper"),
             dict(auto_pad="same_lower"), dict(auto_pad="valid"), dict(strides=[1, 1], rounding_type="ceil")]
    indexed = pool | dict(dilations=[1, 1], index_element_type="i64", axis=0)
    torch = dict(rounding_type="ceil_torch", kernel=[2, 2], strides=[3, 2], pads_begin=[1, 1], pads_end=[1, 1])
    for more in pools:
        add("opset1.MaxPool", f(1, 2, 8, 7), **pool | more)
        add("opset8.MaxPool", f(1, 2, 8, 7), **indexed | more)
        for exclude in [True, False]:
            average = {"exclude-pad": exclude}
            for name in ["opset1.AvgPool", "opset14.AvgPool"]:
                add(name, f(1, 2, 8, 7), **pool | more | average)
    for more in pools[:3]:
        add("opset14.MaxPool", f(1, 2, 8, 7), **indexed | more)
    add("opset14.MaxPool", f(1, 2, 7, 7), **indexed | torch)
    add("opset14.AvgPool", f(1, 2, 7, 7), **pool | torch | {"exclude-pad": False})
    add("opset14.AvgPool", f(1, 2, 7, 7), **pool | torch | {"exclude-pad": True})
    add("opset8.MaxPool", f(2, 3, 9, 9), **indexed | dict(dilations=[2, 2], index_element_type="i32", axis=2))
    add("opset1.MaxPool", Dynamic(f(1, 2, 8, 7), "1,2,?,?"), **pool)
    dilated = pool | {"exclude-pad": True, "dilations": [1, 1]}
    add("opset16.AvgPool", f(1, 2, 8, 7), **dilated)
    add("opset16.AvgPool", f(1, 2, 8, 7), **dilated | {"exclude-pad": False, "pads_begin": [1, 1]})
    for extents in [(1, 1), (3, 2), (4, 7)]:
        add("opset8.AdaptiveAvgPool", f(2, 3, 8, 7), ints(*extents))
        add("opset8.AdaptiveMaxPool", f(2, 3, 8, 7), ints(*extents), index_element_type="i32")
    add("opset8.AdaptiveAvgPool", f(2, 3, 9), ints(4))


def reductions() -> None:
    x = f(2, 3, 4, 5)
    for name in ["opset1.ReduceSum", "opset1.ReduceMean", "opset1.ReduceMax", "opset1.ReduceMin", "opset1.ReduceProd",
                 "opset4.ReduceL1", "opset4.ReduceL2"]:
        add(name, x, ints(1, 3), keep_dims=True)
        add(name, x, ints(-1, 0), keep_dims=False)
        add(name, Dynamic(x, "?,?,4,5"), ints(2), keep_dims=True)
    for name in ["ReduceLogicalAnd", "ReduceLogicalOr"]:
        add(f"opset1.{name}", b(4, 3), ints(1), keep_dims=True)
        add(f"opset1.{name}", b(4, 3), ints(0), keep_dims=False)
    for mode in ["max", "min"]:
        for sort in ["value", "index"]:
            top = dict(axis=1, mode=mode, sort=sort, index_element_type="i32")
            add("opset1.TopK", f(2, 7, 3), one(3), axis=1, mode=mode, sort=sort)
            add("opset3.TopK", f(2, 7, 3), one(3), **top)
            add("opset11.TopK", f(2, 7, 3), one(2), **top | dict(axis=-1, index_element_type="i64", stable=sort == "value"))


def shapes() -> None:
    x = f(2, 3, 4)
    for target, zero in [((6, 4), False), ((0, -1), True), ((-1,), False), ((0, 0, 2, 2), True)]:
        add("opset1.Reshape", x, ints(*target), special_zero=zero)
    add("opset1.Reshape", Dynamic(x, "?,3,4"), ints(0, -1), special_zero=True)
    add("opset1.Squeeze", f(1, 2, 1, 3), ints(0, -2))
    add("opset1.Squeeze", f(1, 2, 1, 3))
    for skip in [False, True]:
        add("opset15.Squeeze", f(1, 2, 1, 3), ints(0, 2), allow_axis_skip=skip)
    add("opset15.Squeeze", f(1, 2, 1, 3), ints(0, 1), allow_axis_skip=True)
    add("opset16.Identity", f(2, 3))
    add("opset1.Unsqueeze", f(2, 3), ints(0, 3))
    add("opset1.Transpose", x, ints(2, 0, 1))
    add("opset1.Transpose", Dynamic(x, "?,?,?"), ints(1, 2, 0))
    add("opset1.ShapeOf", Dynamic(x, "?,3,?"))
    for target in ["i32", "i64"]:
        add("opset3.ShapeOf", Dynamic(x, "?,3,?"), output_type=target)
    add("opset1.Concat", f(2, 3), f(2, 4), f(2, 1), axis=1)
    add("opset1.Concat", f(2, 3), Dynamic(f(4, 3), "?,3"), axis=-2)
    add("opset1.Split", f(2, 6), one(1), num_splits=3)
    add("opset1.VariadicSplit", f(2, 6), one(-1), ints(1, -1, 2))
    for mode in ["constant", "edge", "reflect", "symmetric"]:
        add("opset1.Pad", f(3, 4), ints(1, 2), ints(0, 1), pad_mode=mode)
        add("opset12.Pad", f(3, 4), ints(1, -1), ints(-1, 2), pad_mode=mode)
    add("opset12.Pad", f(3, 4), ints(1, 2), ints(0, 1), one(0.5, F32), pad_mode="constant")
    add("opset1.Tile", x, ints(1, 2, 3))
    add("opset1.Tile", f(2, 3), ints(2, 1, 2))
    masks = dict(begin_mask=[0, 0], end_mask=[0, 0], new_axis_mask=[0, 0], shrink_axis_mask=[0, 0], ellipsis_mask=[0, 0])
    for begin, end, stride, more in [((0, 1), (2, 3), (1, 1), {}), ((0, -1), (2, 0), (1, -2), {}),
                                     ((0, 0), (0, 0), (1, 2), dict(end_mask=[1, 1])),
                                     ((0, 4), (4, 0), (1, -1), dict(end_mask=[0, 1])),
                                     ((2, 3), (3, 0), (1, -1), dict(begin_mask=[1, 1], end_mask=[0, 1])),
                                     ((1, 0), (2, 3), (1, 1), dict(shrink_axis_mask=[1, 0])),
                                     ((-1, 0), (0, 3), (1, 1), dict(shrink_axis_mask=[1, 0])),
                                     ((0, 0), (2, 3), (1, 1), dict(new_axis_mask=[1, 0])),
                                     ((0, 1), (0, 4), (1, 2), dict(ellipsis_mask=[1, 0]))]:
        add("opset1.StridedSlice", f(4, 5, 6), ints(*begin), ints(*end), ints(*stride), **masks | more)
    for start, stop, step in [((1,), (4,), (1,)), ((0,), (2**63 - 1,), (2,)), ((-1,), (-99,), (-2,)), ((-3,), (-1,), (1,))]:
        add("opset8.Slice", f(2, 7), ints(*start), ints(*stop), ints(*step), ints(1))
    add("opset8.Slice", Dynamic(f(4, 7), "?,?"), ints(1, 0), ints(3, -1), ints(1, 3))
    for target, mode in [((2, 3, 4), "numpy"), ((1, 4), "bidirectional"), ((5, 1, 1), "bidirectional")]:
        add("opset3.Broadcast", f(3, 1), ints(*(target if mode == "bidirectional" else (2, 3, 4))), mode=mode)
    add("opset3.Broadcast", f(3), ints(2, 3, 4), ints(1), mode="explicit")
    add("opset1.Broadcast", f(3, 1), ints(2, 3, 4), mode="numpy")
    for name in ["opset1.DepthToSpace", "opset1.SpaceToDepth"]:
        for mode in ["blocks_first", "depth_first"]:
            add(name, f(2, 8, 4, 6), mode=mode, block_size=2)
            add(name, f(1, 8, 2, 2, 4), mode=mode, block_size=2)
    add("opset2.BatchToSpace", f(12, 2, 3, 2), ints(1, 1, 2, 3), ints(0, 0, 1, 0), ints(0, 0, 0, 2))
    add("opset2.BatchToSpace", f(4, 2, 3), ints(1, 2, 2), ints(0, 0, 0), ints(0, 0, 0))
    add("opset2.SpaceToBatch", f(2, 2, 5, 4), ints(1, 1, 2, 3), ints(0, 0, 1, 0), ints(0, 0, 0, 2))
    add("opset2.SpaceToBatch", f(1, 4, 6), ints(1, 2, 2), ints(0, 0, 0), ints(0, 0, 0))
    for axis, group in [(1, 2), (-1, 3), (0, 1)]:
        add("opset1.ShuffleChannels", f(2, 4, 6), axis=axis, group=group)
    add("opset1.ReverseSequence", f(3, 5, 2), ints(2, 5, 1), batch_axis=0, seq_axis=1)
    add("opset1.ReverseSequence", f(4, 3, 2), ints(2, 4, 1), batch_axis=1, seq_axis=0)
    add("opset1.Reverse", f(2, 3, 4), ints(0, 2), mode="index")
    add("opset1.Reverse", f(2, 3), Const(np.array([False, True])), mode="mask")
    add("opset7.Roll", f(3, 4, 5), ints(1, -2), ints(0, 2))
    add("opset7.Roll", f(3, 4), ints(7), ints(1))
    for pad in ["valid", "same_upper", "same_lower"]:
        add("opset3.ExtractImagePatches", f(2, 3, 8, 9), sizes=[3, 2], strides=[2, 3], rates=[1, 2], auto_pad=pad)


def indexing() -> None:
    for name in ["opset1.Gather", "opset7.Gather", "opset8.Gather"]:
        more = {} if name == "opset1.Gather" else dict(batch_dims=0)
        add(name, f(4, 5, 6), i(2, 3, low=0, high=5), one(1), **more)
        add(name, f(4, 5, 6), i(2, low=0, high=4, dtype=np.int32), one(-3), **more)
        add(name, f(4, 5), Const(np.array(2)), one(0), **more)
    for name in ["opset7.Gather", "opset8.Gather"]:
        add(name, f(2, 5, 6), i(2, 3, low=0, high=5), one(1), batch_dims=1)
    add("opset8.Gather", f(4, 5), ints(-1, 0), one(0), batch_dims=0)
    for axis in [0, 1, -1]:
        add("opset6.GatherElements", f(3, 4, 5), i(3, 4, 5, low=0, high=3), axis=axis)
    for name in ["opset5.GatherND", "opset8.GatherND"]:
        add(name, f(3, 4, 5), i(2, 6, 2, low=0, high=3), batch_dims=0)
        add(name, f(3, 4, 5), i(3, 1, low=0, high=4), batch_dims=1)
        add(name, f(2, 3, 4, 5), i(2, 3, 1, low=0, high=4), batch_dims=2)
        add(name, f(3, 4), i(5, 2, low=0, high=3), batch_dims=0)
    add("opset3.ScatterUpdate", f(4, 5, 6), Const(np.array([[0, 2], [3, 1]])), f(4, 2, 2, 6), one(1))
    add("opset3.ScatterUpdate", f(6, 3), ints(4, 0), f(2, 3), one(0))
    places = Const(np.array([[0, 1, 2], [3, 4, 5]]))
    add("opset3.ScatterElementsUpdate", f(2, 9), places, f(2, 3), one(1))
    add("opset3.ScatterElementsUpdate", f(6, 3), Const(np.array([[0, 1, 2], [3, 4, 5]])), f(2, 3), one(0))
    repeated = Const(np.array([[0, 1, 1], [2, 2, 2]]))
    for reduction in ["sum", "prod", "min", "max", "mean"]:
        for initial in [True, False]:
            add("opset12.ScatterElementsUpdate", f(2, 5), repeated, f(2, 3), one(1), reduction=reduction, use_init_val=initial)
    add("opset12.ScatterElementsUpdate", f(2, 9), places, f(2, 3), one(1), reduction="none", use_init_val=True)
    add("opset4.ScatterNDUpdate", f(4, 5, 6), Const(np.array([[0, 1], [3, 4]])), f(2, 6))
    add("opset4.ScatterNDUpdate", f(7), Const(np.array([[1], [5], [2]])), f(3))
    for reduction in ["none", "sum", "sub", "prod", "min", "max"]:
        where = [[0], [2], [3]] if reduction == "none" else [[0], [2], [2]]
        add("opset15.ScatterNDUpdate", f(4, 3), Const(np.array(where)), f(3, 3), reduction=reduction)
    # More tuples than are read together: ascending, in a random order, and descending.
    for order in [np.arange(50, 8300), np.random.default_rng(5).permutation(9000)[:8193], np.arange(4097, 0, -1)]:
        add("opset4.ScatterNDUpdate", f(9000), Const(order[:, None]), f(len(order)))
        add("opset15.ScatterNDUpdate", f(9000), Const(order[:, None]), f(len(order)), reduction="sum")
        add("opset8.GatherND", f(9000), Const(order[:, None]), batch_dims=0)
    add("opset8.GatherND", f(2, 5000), Const(np.random.default_rng(6).integers(0, 5000, (2, 4097, 1))), batch_dims=1)
    for start, stop, step in [(0, 9, 2), (5, -4, -3)]:
        add("opset4.Range", one(start), one(stop), one(step), output_type="i32")
        add("opset4.Range", one(start, F32), one(stop + 0.5, F32), one(step, F32), output_type="f32")
        add("opset1.Range", one(start), one(stop), one(step))
    for target in ["i32", "i64"]:
        add("opset3.NonZero", np.round(f(3, 4)), output_type=target)
    add("opset3.NonZero", i(2, 3, 4, low=-1, high=2, dtype=np.int32), output_type="i64")
    add("opset3.NonZero", Dynamic(b(5).astype(F32), "?"), output_type="i64")
    for value in [0.0, 0.5]:
        add("opset3.NonZero", np.array(value, F32), output_type="i64")
    # Integer ranges ignore the fractions of their operands.
    for operands in [(0.5, 3.7, 1.5), (-0.5, 2.5, 1.0), (3.7, 0.2, -1.6), (0.9, 3.1, 1.0)]:
        add("opset4.Range", *(one(operand, F32) for operand in operands), output_type="i32")
    for axis in [-1, 0, 1]:
        hot = (i(2, 3, low=-1, high=5), one(5), one(1.5, F32), one(-0.5, F32))
        add("opset1.OneHot", *hot, axis=axis)
        add("opset16.OneHot", *hot, axis=axis, negative_indices_mode="ignore_negative")
    for exclusive in [False, True]:
        for reverse in [False, True]:
            add("opset3.CumSum", f(3, 4, 5), one(1), exclusive=exclusive, reverse=reverse)
    add("opset3.CumSum", i(6, dtype=np.int32), one(0), exclusive=False, reverse=False)
    for right in [False, True]:
        add("opset3.Bucketize", np.array([[0, 1, 2.5], [7, 4, 9]], F32), floats(1, 4, 7), output_type="i32", with_right_bound=right)
    for right in [False, True]:
        rows = np.sort(np.round(f(2, 5)), axis=1)
        add("opset15.SearchSorted", Const(rows), np.round(f(2, 4)), right_mode=right, output_type="i64")
        add("opset15.SearchSorted", Const(rows[0]), np.round(f(3, 4)), right_mode=right, output_type="i32")
    for diagonal in [0, 1, -2]:
        add("opset9.Eye", one(3, np.int32), one(4, np.int32), one(diagonal, np.int32), output_type="f32")
    add("opset9.Eye", one(3), one(2), one(0), ints(2, 2), output_type="i32")


def matrices() -> None:
    add("opset1.MatMul", f(2, 3), f(3, 4), transpose_a=False, transpose_b=False)
    add("opset1.MatMul", f(3, 2), f(4, 3), transpose_a=True, transpose_b=True)
    add("opset1.MatMul", f(5, 1, 2, 3), f(6, 3, 4), transpose_a=False, transpose_b=False)
    add("opset1.MatMul", f(3), f(3, 4), transpose_a=False, transpose_b=False)
    add("opset1.MatMul", Dynamic(f(5, 3), "?,3"), Const(f(4, 3)), transpose_a=False, transpose_b=True)
    for equation, shapes_of in [("ij,jk->ik", [(2, 3), (3, 4)]), ("bij,bkj->bik", [(2, 3, 4), (2, 5, 4)]), ("ij->ji", [(2, 3)]),
                                ("abc,c->ab", [(2, 3, 4), (4,)]), ("ij,jk", [(2, 3), (3, 4)]), ("ijk->", [(2, 3, 2)]),
                                ("...ij,...jk->...ik", [(2, 2, 3), (2, 3, 4)])]:
        add("opset7.Einsum", *[f(*shape) for shape in shapes_of], equation=equation)
    q, k, v = f(2, 3, 4, 8), f(2, 3, 5, 8), f(2, 3, 5, 6)
    attention = "opset13.ScaledDotProductAttention"
    add(attention, q, k, v, causal=False)
    add(attention, q, f(2, 3, 4, 8), f(2, 3, 4, 6), causal=True)
    add(attention, q, k, v, f(4, 5), causal=False)
    add(attention, q, k, v, f(2, 1, 4, 5), one(0.5, F32), causal=False)
    add(attention, f(1, 3, 4, 8), f(1, 3, 5, 8), f(1, 3, 5, 6), f(2, 1, 4, 5), causal=False)
    add(attention, q, f(1, 3, 5, 8), f(2, 1, 5, 6), f(3, 2, 3, 1, 5), causal=False)


def normalization() -> None:
    x = f(2, 6, 4, 5)
    c = lambda low=-1.0: Const(f(6, low=low))  # noqa: E731
    # The CPU plug-in treats the bias as an integer, and does not support windows over channels and space together.
    for size, axes in [(3, (1,)), (5, (2, 3))]:
        add("opset1.LRN", x, ints(*axes), alpha=0.1, beta=0.75, bias=2.0, size=size)
    for mode in ["add", "max"]:
        add("opset1.NormalizeL2", x, ints(1), eps=0.01, eps_mode=mode)
        add("opset1.NormalizeL2", x, ints(1, 2, 3), eps=5.0, eps_mode=mode)
    for epsilon in [1e-3, 0.5]:
        add("opset5.BatchNormInference", x, c(), c(), c(), c(0.1), epsilon=epsilon)
        add("opset1.BatchNormInference", c(), c(), x, c(), c(0.1), epsilon=epsilon)
    for normalize in [True, False]:
        for mode in ["inside_sqrt", "outside_sqrt"]:
            add("opset6.MVN", x, ints(2, 3), normalize_variance=normalize, eps=0.1, eps_mode=mode)
        for across in [True, False]:
            add("opset2.MVN", x, across_channels=across, normalize_variance=normalize, eps=0.1)
    for shape, bias in [((2, 6, 4, 5), 0.1), ((2, 6), 1.0), ((2, 6, 4), 1e-6), ((1, 1, 3, 3), 0.5)]:
        add("opset1.GRN", f(*shape), bias=bias)
    add("opset12.GroupNormalization", x, c(), c(), num_groups=3, epsilon=0.01)
    add("opset12.GroupNormalization", x, c(), c(), num_groups=1, epsilon=0.01)
    for levels in [2, 16, 256]:
        add("opset1.FakeQuantize", f(2, 6, 4), one(-1.1, F32), one(1.2, F32), one(-1, F32), one(1, F32), levels=levels, auto_broadcast="numpy")
    add("opset1.FakeQuantize", f(6, 4), Const(f(1, 1, 6, 1, high=-1)), Const(f(1, 6, 1, low=1)), one(-1, F32), floats(1), levels=9, auto_broadcast="numpy")
    add("opset1.FakeQuantize", f(2, 6, 4), Const(f(6, 1, high=-1)), Const(f(6, 1, low=1)), one(-1, F32), one(1, F32), levels=9, auto_broadcast="numpy")


def resampling() -> None:
    resize = dict(mode="nearest", shape_calculation_mode="sizes", coordinate_transformation_mode="half_pixel",
                  nearest_mode="round_prefer_floor", antialias=False, pads_begin=[0], pads_end=[0], cube_coeff=-0.75)
    sizes, scales, axes = ints(7, 11), floats(2.0, 1.5), ints(2, 3)
    for coordinates in ["half_pixel", "pytorch_half_pixel", "asymmetric", "tf_half_pixel_for_nn", "align_corners"]:
        for mode in ["nearest", "linear", "linear_onnx", "cubic"]:
            more = resize | dict(mode=mode, coordinate_transformation_mode=coordinates)
            add("opset4.Interpolate", f(1, 2, 4, 6), sizes, scales, axes, **more)
            add("opset11.Interpolate", f(1, 2, 4, 6), sizes, axes, **more)
    for nearest in ["round_prefer_ceil", "floor", "ceil", "simple"]:
        add("opset4.Interpolate", f(1, 2, 4, 6), sizes, scales, axes, **resize | dict(nearest_mode=nearest))
    by_scales = resize | dict(shape_calculation_mode="scales", mode="linear_onnx")
    add("opset4.Interpolate", f(1, 2, 4, 6), sizes, scales, axes, **by_scales)
    add("opset11.Interpolate", f(1, 2, 4, 6), scales, axes, **by_scales)
    for mode in ["bilinear_pillow", "bicubic_pillow"]:
        for extents in [(7, 11), (3, 2)]:
            add("opset11.Interpolate", f(1, 2, 4, 6), ints(*extents), axes, **resize | dict(mode=mode))
    for mode in ["nearest", "linear"]:
        for align in [True, False]:
            add("opset1.Interpolate", f(1, 2, 4, 6), ints(8, 12), axes=[2, 3], mode=mode, align_corners=align, antialias=False,
                pads_begin=[0], pads_end=[0])
    for mode in ["bilinear", "bicubic", "nearest"]:
        for padding in ["zeros", "border", "reflection"]:
            for align in [True, False]:
                add("opset9.GridSample", f(2, 3, 5, 6), f(2, 4, 3, 2, low=-1.6, high=1.6), align_corners=align, mode=mode,
                    padding_mode=padding)


def regions() -> None:
    maps = f(2, 3, 8, 9)
    boxes = Const(np.array([[0, 1, 1, 6, 5], [1, 0, 0, 8, 7], [0, 2, 3, 2, 3]], F32))
    add("opset2.ROIPooling", maps, boxes, pooled_h=3, pooled_w=2, spatial_scale=1.0, method="max")
    add("opset2.ROIPooling", maps, boxes, pooled_h=2, pooled_w=2, spatial_scale=0.5, method="max")
    fractions = Const(np.array([[0, 0.1, 0.2, 0.6, 0.9], [1, 0, 0, 1, 1]], F32))
    add("opset2.ROIPooling", maps, fractions, pooled_h=3, pooled_w=2, spatial_scale=1.0, method="bilinear")
    # Halves and corners beyond the map; the batch -1 ends the regions.
    some = np.array([[0, 0.5, 1.5, 6.2, 5.49], [1, -3, 2, 4, 20], [1, 3, 3, 2, 1], [0, 30, 1, 31, 2], [1, 0, 0, 8, 7],
                     [0, -2.5, -1.2, 3.5, 2], [-1, 1, 1, 2, 2], [0, 1, 1, 4, 4]], F32)
    parts = np.concatenate([some[:, :1], some[:, 1:] / [9, 8, 9, 8]], 1).astype(F32)
    parts[4, 1:] = [0, 0, 1, 1]
    for size, scale in [(1, 1.0), (2, 0.7), (3, 1.0), (3, 0.0625), (7, 0.3)]:
        common = dict(output_dim=2, group_size=size, spatial_scale=scale)
        for rois in [some, Const(some)]:
            add("opset1.PSROIPooling", f(2, 2 * size**2, 8, 9), rois, **common, mode="average", spatial_bins_x=0, spatial_bins_y=0)
        for across, down in [(1, 1), (3, 2)]:
            add("opset1.PSROIPooling", f(2, 2 * across * down, 8, 9), parts, **common, mode="bilinear", spatial_bins_x=across,
                spatial_bins_y=down)
    corners = Const(np.array([[1, 1, 6.5, 5], [0, 0, 8, 7], [2.2, 3.1, 2.4, 3.3]], F32))
    for mode in ["avg", "max"]:
        for ratio in [0, 2]:
            common = dict(pooled_h=3, pooled_w=2, sampling_ratio=ratio, spatial_scale=0.8, mode=mode)
            add("opset3.ROIAlign", maps, corners, ints(0, 1, 1), **common)
            for aligned in ["asymmetric", "half_pixel_for_nn", "half_pixel"]:
                add("opset9.ROIAlign", maps, corners, ints(0, 1, 1), **common, aligned_mode=aligned)


def sequences() -> None:
    # A small number of classes: they repeat, and the last one, the blank, is often the best.
    for times, batches, classes in [(12, 3, 3), (7, 2, 2), (5, 1, 1), (9, 4, 6)]:
        scores = np.round(f(times, batches, classes))  # also equal ones
        mask = np.ones([times, batches], F32)
        mask[RANDOM.integers(2, times):, 0] = 0
        mask[0, 1:2] = 0
        mask[3:4, 2:] = 0  # later elements are ignored
        for merge in [True, False]:
            add("opset1.CTCGreedyDecoder", scores, mask, ctc_merge_repeated=merge)
            add("opset1.CTCGreedyDecoder", Dynamic(scores, "?,?,?"), Const(mask), ctc_merge_repeated=merge)


def selection() -> None:
    low = RANDOM.random([2, 20, 2]) * 5
    boxes = np.concatenate([low, low + 1 + RANDOM.random([2, 20, 2])], 2).astype(F32)
    turned = boxes[:, :, [2, 1, 0, 3]]  # corners in any order
    scores = RANDOM.random([2, 3, 20]).astype(F32)
    for name in ["opset5.NonMaxSuppression", "opset9.NonMaxSuppression"]:
        for encoding, ordered, most in [("corner", True, 4), ("corner", False, 2), ("center", True, 20), ("corner", True, 1)]:
            given = turned if encoding == "corner" else boxes
            add(name, given, scores, one(most), one(0.3, F32), one(0.25, F32), one(0.0, F32), box_encoding=encoding,
                sort_result_descending=ordered, output_type="i32" if ordered else "i64")


def yolo() -> None:
    for coords, classes, num in [(4, 2, 3), (2, 1, 1), (5, 3, 2), (4, 0, 2)]:
        x = f(2, (coords + classes + 1) * num, 3, 4, low=-4, high=4)
        common = dict(coords=coords, classes=classes)
        add("opset1.RegionYolo", x, **common, num=9, do_softmax=False, axis=1, end_axis=3, mask=[3 + m for m in range(num)],
            anchors=[10.0, 14.0, 23.5, 27.0])
        for first, last in [(1, 3), (1, -1), (0, 2), (-3, 1), (2, 3)]:
            add("opset1.RegionYolo", x, **common, num=num, do_softmax=True, axis=first, end_axis=last)
    # By the documentation `do_softmax` defaults to true; OpenVINO treats its absence as false.
    add("opset1.RegionYolo", Dynamic(f(1, 14, 2, 2), "?,14,?,?"), coords=4, classes=2, num=2, do_softmax=True, axis=1, end_axis=3)
    for stride in [1, 2, 3]:
        add("opset2.ReorgYolo", f(2, 2 * stride**2, 2 * stride, 3 * stride), stride=[stride])
    add("opset2.ReorgYolo", Dynamic(f(1, 4, 4, 2), "?,4,?,?"), stride=[2])


def detection() -> None:
    # The documentation applies `top_k` after the suppression, OpenVINO before it, per class.
    names = ["caffe.PriorBoxParameter.CORNER", "caffe.PriorBoxParameter.CENTER_SIZE"]
    count, classes = 12, 4

    def boxes(rows: int, size: int, scale: float) -> np.ndarray:
        low = RANDOM.random([rows, count, 2]) * 0.6
        corners = np.concatenate([low, low + 0.15 + 0.25 * RANDOM.random([rows, count, 2])], 2) * scale
        return np.concatenate([np.zeros([rows, count, size - 4]), corners], 2).reshape(rows, -1).astype(F32)

    def priors(sets: int, encoded: bool, normalized: bool) -> np.ndarray:
        size = 4 if normalized else 5
        values = [boxes(sets, size, 1 if normalized else 20)]
        if not encoded:
            values.append(f(sets, count * size, low=0.05, high=0.3))
        return np.stack(values, 1)

    for case in range(48):
        images, chance = 1 + case % 2, lambda: bool(RANDOM.random() < 0.5)
        shared, encoded, normalized, by_best, sets = chance(), chance(), chance(), chance(), int(RANDOM.choice([1, images]))
        places = 1 if shared else classes
        inputs = [f(images, count * places * 4, low=-0.5, high=0.5), f(images, count * classes, low=0, high=1),
                  priors(sets, encoded, normalized)]
        if case % 3 == 0:
            inputs += [f(images, count * 2, low=0, high=1), f(images, count * places * 4, low=-0.5, high=0.5)]
        attributes = dict(
            background_label_id=0 if by_best else int(RANDOM.choice([-1, 0, 2])), top_k=int(RANDOM.choice([-1, 3, 100])),
            keep_top_k=[int(RANDOM.choice([-1, 5, 200]))], variance_encoded_in_target=encoded, share_location=shared,
            code_type=names[case // 2 % 2], nms_threshold=0.1 + 0.5 * RANDOM.random(),
            confidence_threshold=float(RANDOM.choice([0, 0.3])), clip_after_nms=chance(), clip_before_nms=chance(),
            decrease_label_id=by_best, normalized=normalized, input_height=20, input_width=20,
            objectness_score=float(RANDOM.choice([0, 0.4])))
        if not normalized and chance():  # the end of the boxes of a Proposal
            inputs[2].reshape(sets, -1, count, 5)[:, 0, 9, 0] = -1
        add("opset8.DetectionOutput", *inputs, **attributes)
        add("opset1.DetectionOutput", *inputs, **attributes, num_classes=classes)


def priors() -> None:
    # With `step` 0, OpenVINO divides the image into cells to place the boxes; the documentation uses pixels.
    grid, image = np.array([2, 3]), np.array([30, 45])
    common = dict(offset=0.4, clip=False, flip=False, step=0.0, variance=[], scale_all_sizes=True)
    settings = [dict(min_size=[8.5, 12.0], max_size=[20.0, 31.5], aspect_ratio=[2.0, 3.0, 2.0], flip=True),
                dict(min_size=[8.5, 12.0], max_size=[20.0], aspect_ratio=[0.5, 1.0], step=7.5, variance=[0.1, 0.2, 0.3, 0.4]),
                dict(min_size=[40.0], aspect_ratio=[2.0, 0.5], flip=True, clip=True, variance=[0.7]),
                dict(fixed_size=[7.5, 12.0], density=[1.0, 2.0], aspect_ratio=[2.0], flip=True),
                dict(fixed_size=[21.7], density=[3.5], fixed_ratio=[1.0], step=9.0),
                dict(fixed_size=[16.0, 22.5], density=[3.0, 1.0], aspect_ratio=[2.0, 0.4]),
                dict(fixed_size=[17.0, 30.0], density=[2.0, 4.0], fixed_ratio=[1.0, 0.3], aspect_ratio=[2.0], clip=True),
                dict(min_size=[0.2, 0.4], aspect_ratio=[2.0, 3.0], scale_all_sizes=False, step=0.25, flip=True),
                dict(min_size=[0.2, 0.4], aspect_ratio=[2.0], scale_all_sizes=False, step=-1.0),
                dict(min_size=[0.2], aspect_ratio=[2.0], scale_all_sizes=False),
                dict(offset=0.0, step=3.0), dict()]
    for more in settings:
        known = Const(grid.astype(np.int32)), Const(image.astype(np.int32))
        for largest_first in [True, False]:
            add("opset8.PriorBox", *known, **common | more, min_max_aspect_ratios_order=largest_first)
        add("opset1.PriorBox", *known, **common | more)
        # Halves of odd fixed sizes are truncated when OpenVINO folds the operation, but not in its CPU plug-in.
        if all(size // 1 % 2 == 0 for size in more.get("fixed_size", [])):
            add("opset1.PriorBox", grid, image, **common | more)
            add("opset8.PriorBox", grid, image, **common | more)
    clustered = dict(width=[8.0, 13.5, 57.0], height=[44.0, 10.0, 3.25], offset=0.5, clip=False, step=0.0, variance=[])
    for more in [dict(), dict(clip=True, step=6.0), dict(step_w=4.0, step_h=5.0, variance=[0.1]),
                 dict(step_w=4.0, step=3.0, variance=[0.1, 0.2, 0.3, 0.4]), dict(step_h=4.0, offset=0.0), dict(width=[], height=[])]:
        add("opset1.PriorBoxClustered", grid, image, **clustered | more)
        add("opset1.PriorBoxClustered", Const(grid), image.astype(np.int32), **clustered | more)


for family in [elementwise, activation, windows, reductions, shapes, indexing, matrices, normalization, resampling, regions,
               selection, yolo, detection, priors, sequences]:
    family()

import opset_detection_cases  # noqa: E402, F401
import opset_signal_cases  # noqa: E402, F401
import opset_sparse_cases  # noqa: E402, F401
import opset_corner_cases  # noqa: E402, F401
