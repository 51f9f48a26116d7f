"""Shape cases of the operations that lowering makes, for make_shape_cases.py."""

from shape_case_inputs import const, conv, pool


def convolutions():
    x, w = "f32[1,3,12,13]", "f32[8,3,3,3]"
    yield "opset1.Convolution", [x, w], conv()
    yield "opset1.Convolution", [x, w], conv(([1, 2], [1, 0]), strides=[2, 3], dilations=[2, 1])
    yield "opset1.Convolution", [x, w], conv(auto_pad="same_upper", strides=[2, 5])
    yield "opset1.Convolution", [x, w], conv(auto_pad="same_lower", strides=[5, 2])
    yield "opset1.Convolution", [x, w], conv(([1, 1], [1, 1]), auto_pad="valid")
    yield "opset1.Convolution", ["f32[?,3,?,8..]", w], conv(([1, 1], [1, 1]), strides=[2, 2])
    yield "opset1.Convolution", ["f32[2..4,3,5..9,..7]", w], conv(strides=[2, 2])
    yield "opset1.Convolution", ["f32[?,?,10,10]", w], conv()
    yield "opset1.Convolution", ["f32[2,3,10]", "f32[4,3,3]"], conv(
        strides=[2], dilations=[1], pads_begin=[1], pads_end=[0])
    yield "opset1.Convolution", ["f32[2,3,7,8,9]", "f32[4,3,3,2,1]"], conv(
        strides=[2, 1, 3], dilations=[1, 1, 1], pads_begin=[1, 0, 0], pads_end=[0, 0, 0])
    yield "opset1.Convolution", ["f32[1,4,12,13]", w], conv()
    yield "opset1.Convolution", ["f32[1,3,2,13]", w], conv()
    yield "opset1.Convolution", ["f32[1,3,12]", w], conv()
    yield "opset1.GroupConvolution", ["f32[1,6,12,13]", "f32[2,4,3,3,3]"], conv()
    yield "opset1.GroupConvolution", ["f32[?,6,?,?]", "f32[6,1,1,3,3]"], conv(([1, 1], [1, 1]), strides=[2, 2])
    yield "opset1.GroupConvolution", ["f32[1,7,12,13]", "f32[2,4,3,3,3]"], conv()
    back = conv(output_padding=[0, 0])
    yield "opset1.ConvolutionBackpropData", ["f32[1,3,5,6]", "f32[3,8,3,3]"], back
    yield "opset1.ConvolutionBackpropData", ["f32[1,3,5,6]", "f32[3,8,3,3]"], back | dict(
        strides=[2, 3], pads_begin=[1, 0], pads_end=[1, 2], output_padding=[1, 2])
    yield "opset1.ConvolutionBackpropData", ["f32[1,3,5,6]", "f32[3,8,3,3]"], back | dict(dilations=[2, 3])
    yield "opset1.ConvolutionBackpropData", ["f32[?,3,?,4..6]", "f32[3,8,3,3]"], back | dict(strides=[2, 2])
    yield "opset1.ConvolutionBackpropData", ["f32[1,3,5,6]", "f32[3,8,3,3]", const([11, 13])], back | dict(
        strides=[2, 2])
    yield "opset1.ConvolutionBackpropData", ["f32[1,4,5,6]", "f32[3,8,3,3]"], back
    yield "opset1.GroupConvolutionBackpropData", ["f32[1,6,5,6]", "f32[2,3,4,3,3]"], back
    yield "opset1.GroupConvolutionBackpropData", ["f32[1,6,5,6]", "f32[6,1,1,2,2]"], back | dict(strides=[2, 2])


def pools():
    x = "f32[1,3,12,13]"
    average = {"exclude-pad": True}
    indexed = dict(dilations=[1, 1], index_element_type="i64", axis=2)
    for more in [{}, dict(strides=[2, 2]), dict(strides=[2, 3], rounding_type="ceil"),
                 dict(auto_pad="same_upper", strides=[2, 5]), dict(auto_pad="valid")]:
        yield "opset1.MaxPool", [x], pool(pads=([1, 0], [1, 2]), **more)
        yield "opset1.AvgPool", [x], pool(pads=([1, 0], [1, 2]), **average, **more)
        yield "opset8.MaxPool", [x], pool(pads=([1, 0], [1, 2]), **(indexed | more))
    yield "opset8.MaxPool", [x], pool(**(indexed | dict(dilations=[2, 3])))
    yield "opset1.MaxPool", ["f32[?,3,?,8..9]"], pool(strides=[2, 2])
    yield "opset1.MaxPool", ["f32[1,3,2,13]"], pool()
    yield "opset1.MaxPool", ["f32[1,3]"], pool()
    yield "opset1.AvgPool", ["f32[1,3,7]"], dict(strides=[2], pads_begin=[0], pads_end=[0], kernel=[3],
                                               rounding_type="floor", auto_pad="explicit", **average)


def elementwise():
    for name in ["Abs", "Negative", "Sign", "Exp", "Log", "Sqrt", "Floor", "Ceiling", "Sin", "Cos", "Tan", "Sinh",
                 "Cosh", "Tanh", "Asin", "Acos", "Atan", "Erf", "ReLU", "Sigmoid"]:
        yield f"opset1.{name}", ["f32[2,?,4]"], {}
    for name in ["Asinh", "Acosh", "Atanh", "SoftPlus"]:
        yield f"opset4.{name}", ["f32[2,?,4]"], {}
    numpy = dict(auto_broadcast="numpy")
    for name in ["Add", "Subtract", "Multiply", "Divide", "Power", "Minimum", "Maximum", "Mod", "FloorMod",
                 "SquaredDifference", "Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual"]:
        yield f"opset1.{name}", ["f32[2,3,4]", "f32[3,1]"], numpy
    for name in ["LogicalAnd", "LogicalOr", "LogicalXor"]:
        yield f"opset1.{name}", ["boolean[2,1]", "boolean[3]"], numpy
    yield "opset1.LogicalAnd", ["f32[2,1]", "f32[3]"], numpy
    yield "opset1.LogicalNot", ["boolean[2,?]"], {}
    for pair in [["f32[2,3]", "f32[]"], ["f32[?,3]", "f32[2,1]"], ["f32[?]", "f32[?]"], ["f32[1..4]", "f32[3]"],
                 ["f32[2..4]", "f32[3..9]"], ["f32[1..4]", "f32[1..9]"], ["f32[...]", "f32[3]"],
                 ["f32[2,3]", "f32[2]"], ["f32[2..4]", "f32[5]"], ["f32[2]", "i64[2]"], ["f32[?,1]", "f32[1,?]"]]:
        yield "opset1.Add", pair, numpy
    yield "opset1.Add", ["f32[2,3]", "f32[2,3]"], dict(auto_broadcast="none")
    yield "opset1.Add", ["f32[2,3]", "f32[1,3]"], dict(auto_broadcast="none")
    yield "opset1.Select", ["boolean[2,1]", "f32[3]", "f32[4,2,3]"], numpy
    yield "opset1.Select", ["boolean[?]", "f32[]", "f32[3]"], numpy
    yield "opset1.Select", ["boolean[2]", "f32[3]", "f32[3]"], numpy
    yield "opset1.Clamp", ["f32[2,?]"], {"min": -1.0, "max": 2.0}
    yield "opset1.Clamp", ["f32[2,?]"], {"min": 3.0, "max": 2.0}
    yield "opset1.Convert", ["f32[2,?]"], dict(destination_type="i64")
    yield "opset5.Round", ["f32[2,?]"], dict(mode="half_to_even")
    yield "opset1.Elu", ["f32[2,?]"], dict(alpha=0.5)
    yield "opset1.PReLU", ["f32[2,3,4]", "f32[3]"], {}
    yield "opset1.Selu", ["f32[2,3]", "f32[1]", "f32[1]"], {}
    yield "opset4.Swish", ["f32[2,3]"], {}
    yield "opset4.Swish", ["f32[2,3]", "f32[]"], {}
    yield "opset4.Swish", ["f32[2,3]", "f32[1]"], {}
    yield "opset8.SoftMax", ["f32[2,?,4]"], dict(axis=-1)
    yield "opset8.SoftMax", ["f32[2,?,4]"], dict(axis=3)
    yield "opset1.SoftMax", ["f32[2,?,4]"], dict(axis=2)


def reductions():
    for name in ["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd"]:
        yield f"opset1.{name}", ["f32[2,3,4]", const([0, -1])], dict(keep_dims=True)
    for name in ["ReduceLogicalAnd", "ReduceLogicalOr"]:
        yield f"opset1.{name}", ["boolean[2,3,4]", const([1])], dict(keep_dims=False)
    for name in ["ReduceL1", "ReduceL2"]:
        yield f"opset4.{name}", ["f32[2,?,4]", const([1])], dict(keep_dims=True)
    yield "opset1.ReduceSum", ["f32[2,?,4]", const([2])], dict(keep_dims=False)
    yield "opset1.ReduceSum", ["f32[2,3,4]", const([], "i64")], dict(keep_dims=True)
    yield "opset1.ReduceSum", ["f32[2,3,4]", const([3])], dict(keep_dims=True)
    yield "opset1.ReduceSum", ["f32[2,3,4]", "i64[1]"], dict(keep_dims=True)
    yield "opset1.ReduceSum", ["f32[2,3,4]", "i64[1]"], dict(keep_dims=False)
    top = dict(axis=1, mode="max", sort="value", index_element_type="i64")
    yield "opset3.TopK", ["f32[2,7,4]", const(3)], top
    yield "opset11.TopK", ["f32[2,7,4]", const(1)], top | dict(stable=True)
    yield "opset11.TopK", ["f32[2,7,4]", const(1)], top | dict(axis=-1, stable=True, index_element_type="i32")
    yield "opset11.TopK", ["f32[2,7,4]", const(1)], top | dict(axis=3, stable=True)


def matrices():
    plain = dict(transpose_a=False, transpose_b=False)
    for a, b, more in [("f32[2,3]", "f32[3,4]", {}), ("f32[3,2]", "f32[4,3]", dict(transpose_a=True, transpose_b=True)),
                       ("f32[5,1,2,3]", "f32[6,3,4]", {}), ("f32[3]", "f32[3,4]", {}), ("f32[2,3]", "f32[3]", {}),
                       ("f32[3]", "f32[3]", {}), ("f32[?,3]", "f32[3,?]", {}), ("f32[?,2,3]", "f32[4,3,5]", {}),
                       ("f32[2,3]", "f32[4,5]", {}), ("f32[2,2,3]", "f32[3,3,4]", {})]:
        yield "opset1.MatMul", [a, b], plain | more


def reshapes():
    zero = dict(special_zero=True)
    x = "f32[2,3,4]"
    for target in [[6, 4], [0, -1], [-1], [0, 0, 2, 2], [4, -1, 3], [5, -1], [-1, -1], [2, 3, 5], [0, 0, 0, 0]]:
        yield "opset1.Reshape", [x, const(target)], zero
    yield "opset1.Reshape", ["f32[?,3,4]", const([0, -1])], zero
    yield "opset1.Reshape", ["f32[?,3,4]", const([-1, 12])], zero
    yield "opset1.Reshape", ["f32[?,?,4]", const([0, 0, 2, -1])], zero
    yield "opset1.Reshape", [x, "i64[2]"], zero
    yield "opset1.Squeeze", ["f32[1,2,1,3]", const([0, -2])], {}
    yield "opset1.Squeeze", ["f32[1,2,1,3]"], {}
    yield "opset1.Squeeze", ["f32[1,2,?,3]", const([2])], {}
    yield "opset1.Unsqueeze", ["f32[2,3]", const([0, 3])], {}
    yield "opset1.Unsqueeze", ["f32[2,?]", const([-1])], {}
    yield "opset1.Unsqueeze", ["f32[2,3]", const([4])], {}
    yield "opset1.Transpose", ["f32[2,?,4]", const([2, 0, 1])], {}
    yield "opset1.Transpose", ["f32[2,?,4]", const([], "i64")], {}
    yield "opset1.Transpose", ["f32[2,3,4]", const([0, 0, 1])], {}
    yield "opset1.Transpose", ["f32[2,3,4]", const([1, 0])], {}
    yield "opset1.ShapeOf", ["f32[2,3,4]"], {}
    yield "opset3.ShapeOf", ["f32[2,?,4]"], dict(output_type="i32")


def sections():
    yield "opset1.Concat", ["f32[2,3]", "f32[2,4]", "f32[2,1]"], dict(axis=1)
    yield "opset1.Concat", ["f32[2,3]", "f32[?,?]"], dict(axis=-1)
    yield "opset1.Concat", ["f32[2..5,3]", "f32[3..9,3]"], dict(axis=1)
    yield "opset1.Concat", ["f32[2,3]", "f32[3,3]"], dict(axis=1)
    yield "opset1.Concat", ["f32[2,3]", "f32[2,3,1]"], dict(axis=1)
    yield "opset1.Concat", ["f32[2,3]", "f32[2,3]"], dict(axis=2)
    yield "opset1.Split", ["f32[2,6]", const(1)], dict(num_splits=3)
    yield "opset1.Split", ["f32[2,7]", const(1)], dict(num_splits=3)
    yield "opset1.Split", ["f32[2,7..9]", const(1)], dict(num_splits=2)
    yield "opset1.VariadicSplit", ["f32[2,6]", const(-1), const([1, -1, 2])], {}
    yield "opset1.VariadicSplit", ["f32[2,6]", const(1), const([1, 2])], {}
    for mode in ["constant", "edge", "reflect", "symmetric"]:
        yield "opset1.Pad", ["f32[2,3]", const([0, 1]), const([1, 2])], dict(pad_mode=mode)
        yield "opset12.Pad", ["f32[2,?]", const([0, -1]), const([1, 2])], dict(pad_mode=mode)
    yield "opset1.Pad", ["f32[2,3]", const([0, 3]), const([0, 0])], dict(pad_mode="reflect")
    yield "opset1.Pad", ["f32[2,3]", const([0, 3]), const([0, 0])], dict(pad_mode="symmetric")
    yield "opset1.Pad", ["f32[2,3]", const([0, 4]), const([0, 0])], dict(pad_mode="symmetric")
    for value in ["f32[]", "i32[]"]:
        yield "opset1.Pad", ["f32[2,3]", const([0, 4]), const([0, 0]), value], dict(pad_mode="constant")
    yield "opset1.Tile", ["f32[2,?,4]", const([1, 2, 3])], {}
    yield "opset1.Tile", ["f32[2,3]", const([2, 1, 1])], {}
    yield "opset1.Tile", ["f32[2,3]", const([2])], {}
    yield "opset1.Tile", ["f32[]", "i64[3]"], {}
    yield "opset1.Tile", ["f32[2]", "i64[3]"], {}
    yield "opset1.Tile", ["f32[2,3,4]", "i64[1]"], {}
    yield "opset1.Tile", ["f32[2]", "i64[?]"], {}
    masks = dict(begin_mask=[0, 0], end_mask=[0, 0], new_axis_mask=[0, 0], shrink_axis_mask=[0, 0],
                 ellipsis_mask=[0, 0])
    for begin, end, stride, more in [([0, 1], [2, 3], [1, 1], {}), ([0, -1], [2, 0], [1, -2], {}),
                                     ([0, 0], [0, 0], [1, 2], dict(end_mask=[1, 1])),
                                     ([1, 0], [2, 3], [1, 1], dict(shrink_axis_mask=[1, 0])),
                                     ([0, 0], [2, 3], [1, 1], dict(new_axis_mask=[1, 0])),
                                     ([0, 1], [0, 2], [1, 1], dict(ellipsis_mask=[1, 0]))]:
        yield "opset1.StridedSlice", ["f32[4,5,6]", const(begin), const(end), const(stride)], masks | more
    for start, stop, step in [([1], [4], [1]), ([0], [2**63 - 1], [2]), ([-1], [-99], [-2]), ([3], [1], [1]),
                              ([-3], [-1], [1])]:
        yield "opset8.Slice", ["f32[2,7]", const(start), const(stop), const(step), const([1])], {}
    yield "opset8.Slice", ["f32[2,?]", const([1]), const([4]), const([1]), const([1])], {}
    yield "opset8.Slice", ["f32[2,5..9]", const([1]), const([2**63 - 1]), const([2]), const([1])], {}
    yield "opset8.Slice", ["f32[2,7]", const([1]), const([4]), const([0]), const([1])], {}
    yield "opset8.Slice", ["f32[2,7]", const([1]), const([4]), const([1])], {}
    for lists in [["i64[1]"] * 3, ["i64[1]"] * 4, ["i64[2]"] * 3, ["i64[3]"] * 3, ["i64[?]"] * 3, ["i64[2]", "i64[1]", "i64[2]"],
                  ["i64[1]", const([4]), const([1]), const([1])], ["i64[2]", const([4]), const([1]), const([1])],
                  ["i64[1]", "i64[1]", const([1]), const([2])],
                  ["i64[2]", "i64[2]", "i64[2]", const([1, 1])], ["i64[1]", "i64[1]", "i64[1]", const([-2])]]:
        yield "opset8.Slice", ["f32[2,5..9]", *lists], {}


def indexing():
    yield "opset8.Gather", ["f32[2,3,4]", "i64[5,6]", const(1)], dict(batch_dims=0)
    yield "opset8.Gather", ["f32[2,3,4]", "i64[2,6]", const(-1)], dict(batch_dims=1)
    yield "opset8.Gather", ["f32[2,?,4]", "i64[]", const(0)], dict(batch_dims=0)
    yield "opset8.Gather", ["f32[2,3,4]", "i64[5,6]", const(3)], dict(batch_dims=0)
    yield "opset6.GatherElements", ["f32[2,3,4]", "i64[2,9,4]"], dict(axis=1)
    yield "opset6.GatherElements", ["f32[2,3,4]", "i64[3,9,4]"], dict(axis=1)
    update = dict(reduction="sum", use_init_val=True)
    yield "opset12.ScatterElementsUpdate", ["f32[2,9]", "i64[2,3]", "f32[2,3]", const(1)], update
    yield "opset12.ScatterElementsUpdate", ["f32[2,9]", "i64[2,3]", "f32[2,4]", const(1)], update
    yield "opset4.Range", [const(1), const(10), const(4)], dict(output_type="i64")
    yield "opset3.Broadcast", ["f32[3,1]", const([2, 3, 4])], dict(mode="numpy")
    yield "opset3.Broadcast", ["f32[3,1]", const([1, 4])], dict(mode="bidirectional")
    yield "opset1.Broadcast", ["f32[3]", const([2, 4])], dict(mode="numpy")
    for data, axes in [
        ("f32[5]", [0]), ("f32[1]", [0]), ("f32[3]", [1]), ("f32[2]", [0]), ("f32[5,3]", [0, 1]), ("f32[5,3]", [0]),
        ("f32[3,5]", [1, 0]), ("f32[3]", [2]), ("f32[3]", [-1]), ("f32[]", []), ("f32[?]", [1])]:
        yield "opset3.Broadcast", [data, const([5, 3]), const(axes)], dict(mode="explicit")


def recurrent():
    """Adds cells and sequences of 3 inputs and a state of 2; rows of W and R by gate."""
    x, h, s = "f32[4,3]", "f32[4,2]", dict(hidden_size=2)
    lstm = ["f32[8,3]", "f32[8,2]", "f32[8]"]
    yield "opset4.LSTMCell", [x, h, h, *lstm], s
    yield "opset4.LSTMCell", ["f32[?,3]", "f32[?,2]", h, *lstm], s
    yield "opset4.LSTMCell", [x, h, "f32[5,2]", *lstm], s
    yield "opset4.LSTMCell", [x, h, h, "f32[7,3]", *lstm[1:]], s
    yield "opset4.LSTMCell", [x, h, "f32[4,2,1]", *lstm], s
    yield "opset1.LSTMCell", [x, h, h, *lstm, "f32[6]"], s | dict(weights_format="ifco")
    gru = ["f32[6,3]", "f32[6,2]", "f32[6]"]
    yield "opset3.GRUCell", [x, h, *gru], s
    yield "opset3.GRUCell", [x, h, *gru[:2], "f32[8]"], s | dict(linear_before_reset=True)
    yield "opset3.GRUCell", [x, h, *gru], s | dict(linear_before_reset=True)
    yield "opset3.GRUCell", [x, "f32[4,3]", *gru], s
    rnn = ["f32[2,3]", "f32[2,2]", "f32[2]"]
    yield "opset1.RNNCell", [x, h, *rnn], s
    for direction, many in [("forward", 1), ("reverse", 1), ("bidirectional", 2)]:
        state, both = f"f32[4,{many},2]", s | dict(direction=direction)
        yield "opset5.LSTMSequence", ["f32[4,7,3]", state, state, "i32[4]", f"f32[{many},8,3]", f"f32[{many},8,2]",
                                      f"f32[{many},8]"], both
        yield "opset5.GRUSequence", ["f32[4,?,3]", state, "i32[4]", f"f32[{many},6,3]", f"f32[{many},6,2]",
                                     f"f32[{many},6]"], both
        yield "opset5.RNNSequence", ["f32[?,7,3]", f"f32[?,{many},2]", "i64[?]", f"f32[{many},2,3]",
                                     f"f32[{many},2,2]", f"f32[{many},2]"], both
    yield "opset5.RNNSequence", ["f32[4,7,3]", "f32[4,2,2]", "i32[4]", "f32[1,2,3]", "f32[1,2,2]", "f32[1,2]"], s | dict(
        direction="forward")
    yield "opset5.RNNSequence", ["f32[4,7,3]", "f32[4,1,2]", "i32[3]", "f32[1,2,3]", "f32[1,2,2]", "f32[1,2]"], s | dict(
        direction="forward")


def others():
    lrn = dict(alpha=1e-4, beta=0.75, bias=1.0, size=5)
    yield "opset1.LRN", ["f32[2,3,4,5]", const([1])], lrn
    yield "opset1.LRN", ["f32[2,3,4,5]", const([4])], lrn
    yield "opset1.NormalizeL2", ["f32[2,3,4,5]", const([1, 2])], dict(eps=1e-6, eps_mode="max")
    c = "f32[3]"
    yield "opset5.BatchNormInference", ["f32[2,3,4,5]", c, c, c, c], dict(epsilon=1e-3)
    yield "opset5.BatchNormInference", ["f32[2,?,4,5]", c, c, c, c], dict(epsilon=1e-3)
    yield "opset5.BatchNormInference", ["f32[2,4,4,5]", c, c, c, c], dict(epsilon=1e-3)
    yield "opset5.BatchNormInference", ["f32[2,3,4,5]", "f32[1,3]", c, c, c], dict(epsilon=1e-3)
    yield "opset6.MVN", ["f32[2,3,4,5]", const([2, 3])], dict(normalize_variance=True, eps=1e-9,
                                                              eps_mode="inside_sqrt")
    quantize = dict(levels=256, auto_broadcast="numpy")
    yield "opset1.FakeQuantize", ["f32[2,3,4]", "f32[]", "f32[3,1]", "f32[]", "f32[3,1]"], quantize
    yield "opset1.FakeQuantize", ["f32[2,3,4]", "f32[]", "f32[5,1]", "f32[]", "f32[3,1]"], quantize
    resize = dict(mode="nearest", shape_calculation_mode="scales", coordinate_transformation_mode="asymmetric",
                  nearest_mode="floor", antialias=False, pads_begin=[0], pads_end=[0], cube_coeff=-0.75)
    sizes, scales, axes = const([8, 9]), const([2.0, 1.5], "f32"), const([2, 3])
    yield "opset4.Interpolate", ["f32[1,3,4,5]", sizes, scales, axes], resize
    yield "opset4.Interpolate", ["f32[1,3,4,5]", sizes, scales, axes], resize | dict(shape_calculation_mode="sizes")
    yield "opset4.Interpolate", ["f32[1,3,?,2..5]", sizes, scales, axes], resize
    for items in [0.7, 2.3], [0.49999, 1.0], [1.0000001, 0.1]:
        yield "opset4.Interpolate", ["f32[1,3,10,3..100000]", sizes, const(items, "f32"), axes], resize
    for count in [1, 3]:
        items = const([8, 9, 7][:count]), const([2.0, 1.5, 3.0][:count], "f32")
        yield "opset4.Interpolate", ["f32[1,3,4,5]", *items, axes], resize
        yield "opset4.Interpolate", ["f32[1,3,4,5]", *items, axes], resize | dict(shape_calculation_mode="sizes")
    roi = dict(pooled_h=2, pooled_w=3, spatial_scale=1.0)
    yield "opset2.ROIPooling", ["f32[1,3,8,8]", "f32[7,5]"], roi | dict(method="max")
    yield "opset9.ROIAlign", ["f32[1,3,8,8]", "f32[7,4]", "i64[7]"], roi | dict(
        sampling_ratio=2, mode="avg", aligned_mode="half_pixel")


FAMILIES = [convolutions, pools, elementwise, reductions, matrices, reshapes, sections, indexing, recurrent, others]
