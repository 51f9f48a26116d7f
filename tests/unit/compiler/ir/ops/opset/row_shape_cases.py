"""Shape cases of other rows, and of inputs that restrict each other, for make_shape_cases.py."""

from shape_case_inputs import const, pool

PDPD_AXIS = "auto_broadcast.auto_broadcast_axis"


def wider():
    """Adds rows beyond those that lowering makes."""
    x = "f32[2,?,4]"
    for op in ["opset4.Mish", "opset4.HSwish", "opset5.HSigmoid", "opset9.SoftSign", "opset2.Gelu"]:
        yield op, [x], {}
    yield "opset7.Gelu", [x], dict(approximation_mode="TANH")
    yield "opset1.HardSigmoid", [x, "f32[]", "f32[]"], {}
    yield "opset1.HardSigmoid", [x, "f32[1]", "f32[]"], {}
    yield "opset5.LogSoftmax", [x], dict(axis=-1)
    yield "opset5.LogSoftmax", [x], dict(axis=3)
    yield "opset10.IsNaN", [x], {}
    yield "opset10.IsFinite", [x], {}
    yield "opset10.IsInf", [x], dict(detect_negative=True, detect_positive=False)
    for name in ["BitwiseAnd", "BitwiseOr", "BitwiseXor"]:
        yield f"opset13.{name}", ["i32[2,?]", "i32[3,1,4]"], dict(auto_broadcast="numpy")
        yield f"opset13.{name}", ["f32[2]", "f32[2]"], dict(auto_broadcast="numpy")
    yield "opset13.BitwiseNot", ["boolean[2,?]"], {}
    for name in ["BitwiseLeftShift", "BitwiseRightShift"]:
        yield f"opset15.{name}", ["i32[2,?]", "i32[3,1,4]"], dict(auto_broadcast="numpy")
    yield "opset1.ConvertLike", [x, "i32[7]"], {}
    yield "opset1.Gather", ["f32[2,3,4]", "i64[5,6]", const(1)], {}
    yield "opset7.Gather", ["f32[2,?,4]", "i64[2,6]", const(1)], dict(batch_dims=1)
    for op in ["opset5.GatherND", "opset8.GatherND"]:
        yield op, ["f32[3,4,5]", "i64[7,2]"], dict(batch_dims=0)
        yield op, ["f32[2,3,4,5]", "i64[2,3,6,1]"], dict(batch_dims=2)
        yield op, ["f32[2,?,4]", "i64[2,1]"], dict(batch_dims=1)
        yield op, ["f32[3,4]", "i64[7,3]"], dict(batch_dims=0)
        yield op, ["f32[3,4]", "i64[2,2]"], dict(batch_dims=1)
    yield "opset3.ScatterUpdate", ["f32[4,5,6]", "i64[2,2]", "f32[4,2,2,6]", const(1)], {}
    yield "opset3.ScatterUpdate", ["f32[4,?,6]", "i64[2]", "f32[4,2,6]", const(-2)], {}
    yield "opset3.ScatterUpdate", ["f32[4,5,6]", "i64[2]", "f32[4,3,6]", const(1)], {}
    yield "opset3.ScatterElementsUpdate", ["f32[2,9]", "i64[2,3]", "f32[2,3]", const(1)], {}
    for op, more in [("opset4.ScatterNDUpdate", {}), ("opset15.ScatterNDUpdate", dict(reduction="sum"))]:
        yield op, ["f32[4,5,6]", "i64[2,2]", "f32[2,6]"], more
        yield op, ["f32[4,?]", "i64[7,1]", "f32[7,?]"], more
        yield op, ["f32[4,5]", "i64[7,1]", "f32[7,4]"], more
    yield "opset1.Range", [const(1), const(10), const(4)], {}
    for output in ["i32", "i64"]:
        yield "opset3.NonZero", [x], dict(output_type=output)
    yield "opset3.NonZero", ["f32[2,3]"], dict(output_type="i64")
    hot = dict(axis=-1)
    for op, more in [("opset1.OneHot", {}), ("opset16.OneHot", dict(negative_indices_mode="ignore_negative"))]:
        yield op, ["i64[2,?]", const(5), "f32[]", "f32[]"], hot | more
        yield op, ["i64[2,3]", const(5), "f32[]", "f32[]"], dict(axis=0) | more
        yield op, ["i64[2,3]", const(5), "f32[]", "f32[]"], dict(axis=3) | more
    yield "opset3.CumSum", [x, const(1)], dict(exclusive=True, reverse=False)
    yield "opset3.Bucketize", [x, "f32[7]"], dict(output_type="i32", with_right_bound=True)
    yield "opset15.SearchSorted", ["f32[2,?]", "f32[2,5]"], dict(right_mode=True, output_type="i64")
    yield "opset15.SearchSorted", ["f32[2,4]", "f32[3,5]"], dict(right_mode=True, output_type="i64")
    yield "opset9.Eye", [const(3), const(4), const(1)], dict(output_type="f32")
    yield "opset9.Eye", [const(3), const(4), const(1), const([2, 5])], dict(output_type="i32")
    yield "opset15.Squeeze", ["f32[1,2,1,3]", const([0, -2])], dict(allow_axis_skip=False)
    yield "opset15.Squeeze", ["f32[1,2,1,3]", const([0, 1])], dict(allow_axis_skip=True)
    yield "opset16.Identity", [x], {}


def blocks():
    for mode in ["blocks_first", "depth_first"]:
        yield "opset1.DepthToSpace", ["f32[2,8,?,6]"], dict(mode=mode, block_size=2)
        yield "opset1.DepthToSpace", ["f32[2,6,5,6]"], dict(mode=mode, block_size=2)
        yield "opset1.SpaceToDepth", ["f32[2,3,?,6]"], dict(mode=mode, block_size=2)
        yield "opset1.SpaceToDepth", ["f32[2,3,5,6]"], dict(mode=mode, block_size=2)
    lists = const([1, 1, 2, 3]), const([0, 0, 1, 0]), const([0, 0, 0, 2])
    yield "opset2.BatchToSpace", ["f32[12,2,3,2]", *lists], {}
    yield "opset2.BatchToSpace", ["f32[12,2,?,2]", *lists], {}
    yield "opset2.BatchToSpace", ["f32[7,2,3,2]", *lists], {}
    yield "opset2.SpaceToBatch", ["f32[2,2,5,4]", *lists], {}
    yield "opset2.SpaceToBatch", ["f32[?,2,5,4]", *lists], {}
    yield "opset2.SpaceToBatch", ["f32[2,2,6,4]", *lists], {}
    yield "opset1.ShuffleChannels", ["f32[2,6,?]"], dict(axis=1, group=3)
    yield "opset1.ShuffleChannels", ["f32[2,6,?]"], dict(axis=1, group=4)
    yield "opset1.ReverseSequence", ["f32[3,?,2]", "i64[3]"], dict(batch_axis=0, seq_axis=1)
    yield "opset1.ReverseSequence", ["f32[3,5,2]", "i64[4]"], dict(batch_axis=0, seq_axis=1)
    yield "opset1.Reverse", ["f32[3,?]", const([0])], dict(mode="index")
    yield "opset1.Reverse", ["f32[3,4]", const([2])], dict(mode="index")
    yield "opset1.Reverse", ["f32[3]", const([True], "boolean")], dict(mode="index")
    yield "opset1.Reverse", ["f32[3]", const([True], "boolean")], dict(mode="mask")
    yield "opset7.Roll", ["f32[3,?]", const([1]), const([0])], {}
    patches = dict(sizes=[3, 2], strides=[2, 3], rates=[1, 2])
    for pad in ["valid", "same_upper", "same_lower"]:
        yield "opset3.ExtractImagePatches", ["f32[2,3,8,9]"], patches | dict(auto_pad=pad)
    attention = "opset13.ScaledDotProductAttention"
    yield attention, ["f32[2,3,4,8]", "f32[2,3,5,8]", "f32[2,3,5,6]"], dict(causal=False)
    yield attention, ["f32[?,3,?,8]", "f32[?,3,5,8]", "f32[?,3,5,6]"], dict(causal=True)
    yield attention, ["f32[2,3,4,8]", "f32[2,3,5,7]", "f32[2,3,5,6]"], dict(causal=False)
    for mask in ["f32[4,5]", "f32[2,1,4,5]", "f32[3,4,5]", "f32[1,1]", "f32[]", "f32[3,5]", "f32[7,2,3,4,5]", "f32[?,?]"]:
        yield attention, ["f32[2,3,4,8]", "f32[2,3,5,8]", "f32[2,3,5,6]", mask], dict(causal=False)
    for mask in ["f32[2,3,4,5]", "f32[2,1,1,5]", "f32[?,?,4,5]", "f32[5]", "f32[4,4,5]", "f32[1,3,8,5]"]:
        yield attention, ["f32[1,3,4,8]", "f32[1,3,5,8]", "f32[1,3,5,6]", mask], dict(causal=False)
    for equation, inputs in [("ij,jk->ik", ["f32[2,3]", "f32[3,4]"]), ("...ij,...jk->...ik", ["f32[?,2,3]", "f32[5,3,4]"]),
                             ("ij,jk", ["f32[2,?]", "f32[3,4]"]), ("ij,jk->ik", ["f32[2,3]", "f32[4,4]"]),
                             ("ij->ik", ["f32[2,3]"])]:
        yield "opset7.Einsum", inputs, dict(equation=equation)
    torch = pool(rounding_type="ceil_torch", strides=[2, 2], pads=([1, 1], [1, 1]))
    indexed = dict(dilations=[1, 1], index_element_type="i64", axis=0)
    for extent in ["7", "8", "?"]:
        yield "opset14.MaxPool", [f"f32[1,3,{extent},9]"], torch | indexed
        yield "opset14.AvgPool", [f"f32[1,3,{extent},9]"], torch | {"exclude-pad": True}
        yield "opset16.AvgPool", [f"f32[1,3,{extent},9]"], torch | {"exclude-pad": True, "dilations": [2, 1]}
    yield "opset8.AdaptiveAvgPool", ["f32[2,?,8,7]", const([3, 2])], {}
    yield "opset8.AdaptiveAvgPool", ["f32[2,3,8,7]", const([3])], {}
    yield "opset8.AdaptiveMaxPool", ["f32[2,3,?,7]", const([3, 2])], dict(index_element_type="i32")
    c = "f32[6]"
    yield "opset1.BatchNormInference", [c, c, "f32[2,6,4,5]", c, c], dict(epsilon=0.01)
    yield "opset2.MVN", ["f32[2,6,?]"], dict(eps=0.1, across_channels=True, normalize_variance=True)
    for shape in ["f32[2,6,?]", "f32[2,6]", "f32[?,2..4,5,6]", "f32[2,0]", "f32[6]", "f32[2,6,4,5,3]"]:
        yield "opset1.GRN", [shape], dict(bias=0.1)
    yield "opset12.GroupNormalization", ["f32[2,6,?]", c, c], dict(num_groups=3, epsilon=0.01)
    yield "opset12.GroupNormalization", ["f32[2,6,?]", c, c], dict(num_groups=4, epsilon=0.01)
    resize = dict(mode="nearest", shape_calculation_mode="sizes", coordinate_transformation_mode="asymmetric",
                  nearest_mode="floor", antialias=False, pads_begin=[0], pads_end=[0], cube_coeff=-0.75)
    yield "opset11.Interpolate", ["f32[1,?,4,5]", const([8, 9]), const([2, 3])], resize
    yield "opset11.Interpolate", ["f32[1,3,4,?]", const([2.0, 1.5], "f32"), const([2, 3])], resize | dict(
        shape_calculation_mode="scales")
    for sizes, axes in [([8, 9], [2, 3]), ([8, 9, 7], [2, 3]), ([8, 9], [3, 2])]:  # fewer sizes crash OpenVINO
        yield "opset1.Interpolate", ["f32[1,3,?,5]", const(sizes)], dict(
            axes=axes, mode="nearest", align_corners=False, antialias=False, pads_begin=[0], pads_end=[0])
    yield "opset9.GridSample", ["f32[2,3,5,6]", "f32[2,4,7,2]"], dict(align_corners=True, mode="nearest",
                                                                      padding_mode="border")
    yield "opset9.GridSample", ["f32[2,3,5,6]", "f32[2,4,7,3]"], dict(align_corners=True, mode="nearest",
                                                                      padding_mode="border")
    yield "opset3.ROIAlign", ["f32[1,3,8,8]", "f32[7,4]", "i64[7]"], dict(
        pooled_h=2, pooled_w=3, spatial_scale=1.0, sampling_ratio=2, mode="avg")
    yield "opset1.TopK", ["f32[2,7,4]", const(3)], dict(axis=1, mode="max", sort="value")
    boxes = dict(box_encoding="corner", sort_result_descending=True, output_type="i64")
    some = [const(4), const(0.5, "f32"), const(0.1, "f32"), const(0.0, "f32")]
    for version in ["opset5", "opset9"]:
        name = version + ".NonMaxSuppression"
        yield name, ["f32[2,20,4]", "f32[2,3,20]", *some], boxes
        yield name, ["f32[2,3,4]", "f32[2,3,3]", *some], boxes | dict(output_type="i32")
        yield name, ["f32[?,20,4]", "f32[?,3,20]", *some], boxes
        yield name, ["f32[2,20,4]", "f32[2,3,20]", "i64[]", *some[1:]], boxes
        yield name, ["f32[2,20,4]", "f32[2,3,19]", *some], boxes
        yield name, ["f32[2,20,4]", "f32[1,3,20]", *some], boxes
        yield name, ["f32[2,20,5]", "f32[2,3,20]", *some], boxes
        yield name, ["f32[20,4]", "f32[2,3,20]", *some], boxes


def verdicts():
    """Adds nodes where one input restricts another."""
    data = "f32[2,3,4,4]"
    for other in ["f32[2]", "f32[2,3]", "f32[1,3]", "f32[2,1]", "f32[]", "f32[4]", "f32[3,4,4]", "f32[1,2,3,4,4]"]:
        yield "opset1.Add", [data, other], dict(auto_broadcast="pdpd")
        yield "opset1.Select", ["boolean" + other[3:], data, other], dict(auto_broadcast="pdpd")
    for axis, other in [(1, "f32[3]"), (1, "f32[3,1]"), (1, "f32[4]"), (-1, "f32[4]"), (-1, "f32[3]"), (2, "f32[4,1]"),
                        (3, "f32[4,1]"), (-2, "f32[4]"), (1, data)]:
        yield "opset1.Less", [data, other], {"auto_broadcast": "pdpd", PDPD_AXIS: axis}
    yield "opset1.Add", ["f32[2,1,4]", "f32[2,3]"], dict(auto_broadcast="pdpd")
    for low in ["f32[1,1,3]", "f32[1,1,1,1]", "f32[3]"]:
        for rule in ["numpy", "pdpd", "none"]:
            yield "opset1.FakeQuantize", ["f32[2,3]", low, "f32[]", "f32[]", "f32[]"], dict(levels=4, auto_broadcast=rule)
    average = {"exclude-pad": True, "dilations": [1, 1]}
    for pads in [([2, 0], [0, 0]), ([0, 0], [0, 2]), ([1, 1], [1, 1])]:
        yield "opset16.AvgPool", [data], pool((2, 2), pads) | average
        yield "opset16.AvgPool", [data], pool((2, 2), pads) | average | {"exclude-pad": False}
        yield "opset16.AvgPool", [data], pool((2, 2), pads) | average | {"dilations": [2, 2]}
        yield "opset1.MaxPool", [data], pool((2, 2), pads)
    for size, strides in [((4, 3), [1, 8]), ((4, 3), [1, 4]), ((2, 2), [3, 3]), ((1, 1), [2, 3])]:
        for pad in ["same_upper", "same_lower"]:
            yield "opset1.MaxPool", [data], pool(size, strides=strides, auto_pad=pad, rounding_type="ceil")
    yield "opset1.MaxPool", [data], pool((2, 2), strides=[])
    for items in [([0, 1], []), ([0, 1], [0]), ([2, 0], []), ([], [1]), ([0], [0])]:
        yield "opset1.StridedSlice", ["f32[4,5]", const([0, 0]), const([2, 2])], dict(
            begin_mask=items[0], end_mask=items[1], new_axis_mask=[], shrink_axis_mask=[], ellipsis_mask=[])
    yield "opset1.StridedSlice", ["f32[4,5]", const([0, 0, 0]), const([2, 2, 2])], dict(
        begin_mask=[0, 0, 0], end_mask=[], new_axis_mask=[], shrink_axis_mask=[], ellipsis_mask=[1, 1, 0])
    yield "opset1.Unsqueeze", ["f32[2]", const([], "i64")], {}
    for order in ["i64[0]", "i64[1]", "i64[2]", "i64[3]"]:
        yield "opset1.Transpose", ["f32[2,3]", order], {}
    yield "opset1.Split", ["f32[2,6]", const([1])], dict(num_splits=3)
    yield "opset1.VariadicSplit", ["f32[2,6]", const([1]), const([2, 4])], {}
    for mode in ["constant", "edge"]:
        for value in ["f32[]", "i64[]", "f32[1]"]:
            yield "opset1.Pad", ["f32[4]", const([1]), const([1]), value], dict(pad_mode=mode)
    block, none = const([1, 2]), const([0, 0])
    for op in ["opset2.BatchToSpace", "opset2.SpaceToBatch"]:
        yield op, ["f32[2,4]", const([1, 2], "i32"), none, none], {}
        yield op, ["f32[2,4]", "i64[2]", "i64[3]", "i64[2]"], {}
        yield op, ["f32[2,4]", block, none, none], {}
    for mode in ["index", "mask"]:
        for axes in ["i64[2]", "boolean[2]", "boolean[1]"]:
            yield "opset1.Reverse", ["f32[3,4]", axes], dict(mode=mode)
    for shift, axes in [("i64[]", "i64[2]"), ("i64[1]", "i64[2]"), ("i64[2]", "i64[2]"), ("i64[2]", "i64[1]"),
                        ("i64[1]", "i64[]"), ("i64[]", "i64[]")]:
        yield "opset7.Roll", ["f32[3,4]", shift, axes], {}
    for mode in ["numpy", "explicit"]:
        for op in ["opset1.Broadcast", "opset3.Broadcast"]:
            yield op, ["f32[3]", const([2, 3])], dict(mode=mode)
            yield op, ["f32[3]", const([3, 4])], dict(mode=mode)
            for axes in [const([0]), const([1]), const([2]), const([0, 1]), const(0), "i64[1]", "i64[2]"]:
                yield op, ["f32[3]", const([3, 4]), axes], dict(mode=mode)
    for axes in [[0, 2], [2, 0]]:
        yield "opset3.Broadcast", ["f32[3,4]", const([3, 2, 4]), const(axes)], dict(mode="explicit")
        yield "opset3.Broadcast", ["f32[3,4]", "i64[3]", const(axes)], dict(mode="explicit")
    index = "i64[2,3]"
    for op in ["opset3.ScatterElementsUpdate", "opset12.ScatterElementsUpdate"]:
        yield op, ["f32[4,2,3]", index, "f32[2,3]", "i64[]"], {}
    for update in ["f32[2,5,6]", "f32[9,9,9]", "f32[2,5]", "f32[2,3,5,6]"]:
        yield "opset3.ScatterUpdate", ["f32[4,5,6]", "i64[2]", update, "i64[]"], {}
    for values in [(0.5, 3.7, 1.5), (-0.5, 2.5, 1.0), (0.0, 5.0, 0.5), (0.0, 5.0, 0.0)]:
        for target in ["i32", "f32"]:
            yield "opset4.Range", [const(value, "f32") for value in values], dict(output_type=target)
    yield "opset4.Range", [const(0), const(3), const(1)], dict(output_type="boolean")
    yield "opset3.NonZero", [const(0.5, "f32")], dict(output_type="i64")
    for depth, on in [(const([5]), "f32[]"), (const(5), "f32[1]")]:
        yield "opset1.OneHot", ["i64[2]", depth, on, "f32[]"], dict(axis=0)
    yield "opset3.CumSum", ["f32[2]"], dict(exclusive=False, reverse=False)
    top = dict(axis=0, mode="max", index_element_type="i32")
    yield "opset3.TopK", ["f32[4]", const([1])], top | dict(sort="value")
    for sort in ["value", "index", "none"]:
        yield "opset11.TopK", ["f32[4]", const(1)], top | dict(sort=sort, stable=True)
    lrn = dict(alpha=1e-4, beta=0.75, bias=1.0, size=5)
    mvn = dict(normalize_variance=True, eps=1e-9, eps_mode="inside_sqrt")
    for shape, axes in [("f32[2,3]", "i64[2]"), ("f32[2,3]", "i64[3]"), ("f32[2]", "i64[1]"), ("f32[2]", "i64[2]")]:
        yield "opset1.LRN", [shape, axes], lrn
        yield "opset6.MVN", [shape, axes], mvn
    resize = dict(mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor", antialias=False,
                  pads_begin=[0], pads_end=[0], cube_coeff=-0.75)
    for mode in ["sizes", "scales"]:
        for target in ["i64[2]", "f32[2]"]:
            yield "opset11.Interpolate", ["f32[2,3]", target], resize | dict(shape_calculation_mode=mode)
    for count in ["i64[7]", "i64[6]", "i64[?]"]:
        yield "opset9.ROIAlign", ["f32[1,3,8,8]", "f32[7,4]", count], dict(
            pooled_h=2, pooled_w=3, spatial_scale=1.0, sampling_ratio=2, mode="avg", aligned_mode="half_pixel")


def detection():
    region = dict(coords=4, classes=2, num=2, axis=1, end_axis=3)
    for shape in ["f32[2,14,3,3]", "f32[?,?,?,3]", "f32[2,14,3..4,2]", "f32[2,14,3]", "i32[2,14,3,3]"]:
        yield "opset1.RegionYolo", [shape], region | dict(do_softmax=True)
        yield "opset1.RegionYolo", [shape], region | dict(do_softmax=False, mask=[3, 4])
    for first, last in [(1, -1), (0, 1), (-2, 3), (2, 2), (4, 4), (1, 7), (-5, 1)]:
        yield "opset1.RegionYolo", ["f32[2,14,3,4]"], region | dict(do_softmax=True, axis=first, end_axis=last)
    for shape in ["f32[2,8,4,6]", "i64[?,4,?,?]", "f32[2,8,3..9,5..6]", "f32[2,8,0,6]", "f32[2,8,3,6]", "f32[2,3,4,6]",
                  "f32[2,8,4]"]:
        yield "opset2.ReorgYolo", [shape], dict(stride=2)
    some = dict(nms_threshold=0.5, keep_top_k=[5], normalized=True)
    three = ["f32[2,40]", "f32[2,30]", "f32[1,2,40]"]
    most = [{}, dict(keep_top_k=[-1]), dict(keep_top_k=[-1], top_k=4), dict(keep_top_k=[0], top_k=4), dict(keep_top_k=[7, 8])]
    given = [(three, more) for more in most] + [
        (["f32[2,120]", "f32[2,30]", "f32[2,2,40]"], dict(share_location=False)),
        (["f32[2,40]", "f32[2,30]", "f32[2,1,50]"], dict(normalized=False, variance_encoded_in_target=True)),
        ([*three, "f32[2,20]", "f32[2,40]"], dict(keep_top_k=[-1])),
        ([*three, "f32[2,20]"], {}), ([*three, "f32[2,21]", "f32[2,40]"], {}), ([*three, "f32[2,20]", "f32[1,40]"], {}),
        (["f32[?,40]", "f32[?,?]", "f32[?,2,?]"], {}), (["f32[?,?]", "f32[3,?]", "f32[1,2,40]"], dict(keep_top_k=[-1], top_k=3)),
        (["f32[2,40]", "f32[3,30]", "f32[1,2,40]"], {}), (["f32[2,40]", "f32[2,30]", "f32[3,2,40]"], {}),
        (["f32[2,40]", "f32[2,31]", "f32[1,2,40]"], {}), (["f32[2,41]", "f32[2,30]", "f32[1,2,40]"], {}),
        (["f32[2,40]", "f32[2,30]", "f32[1,1,40]"], {}), (["f32[2,40]", "f32[2,30]", "f32[1,2,44]"], {}),
        (["f32[2,40]", "f32[2,30]", "f32[2,40]"], {}), (["f32[2,40]", "i32[2,30]", "f32[1,2,40]"], {}),
        (["f32[0,40]", "f32[0,30]", "f32[1,2,40]"], {})]
    for inputs, more in given:
        yield "opset8.DetectionOutput", inputs, some | more
        yield "opset1.DetectionOutput", inputs, some | more | dict(num_classes=3)
    pooling = dict(output_dim=2, group_size=3, spatial_scale=0.5, spatial_bins_x=2, spatial_bins_y=4)
    for shapes in [("f32[2,18,5,6]", "f32[7,5]"), ("f32[?,?,?,?]", "f32[?,5]"), ("f32[2,16..20,5,6]", "f32[7,?]"),
                   ("f32[2,16,5,6]", "f32[7,5]"), ("f32[2,18,5,6]", "f32[7,4]"), ("f32[2,18,5]", "f32[7,5]"),
                   ("f32[2,18,5,6]", "f32[5]"), ("f32[2,18,5,6]", "i32[7,5]"), ("i32[2,18,5,6]", "f32[7,5]"),
                   ("f32[2,18,0,6]", "f32[0,5]")]:
        for mode in ["average", "bilinear"]:
            yield "opset1.PSROIPooling", list(shapes), pooling | dict(mode=mode)
    for more in [dict(group_size=0), dict(spatial_scale=0.0), dict(spatial_bins_x=0), dict(spatial_bins_y=-1)]:
        yield "opset1.PSROIPooling", ["f32[2,?,5,6]", "f32[7,5]"], pooling | dict(mode="bilinear") | more
    yield "opset1.PSROIPooling", ["f32[2,18,5,6]", "f32[7,5]"], pooling | dict(mode="average", spatial_bins_x=0)
    for shapes in [("f32[5,2,4]", "f32[5,2]"), ("f32[?,2,4]", "f32[5,?]"), ("f32[2..6,1..3,?]", "f32[4..9,2..]"),
                   ("f32[0,2,4]", "f32[0,2]"), ("f32[5,2,4]", "f32[4,2]"), ("f32[5,2,4]", "f32[5,1]"),
                   ("f32[2..3,2,4]", "f32[4..9,2]"), ("f32[5,2]", "f32[5,2]"), ("f32[5,2,4]", "f32[5,2,1]")]:
        yield "opset1.CTCGreedyDecoder", list(shapes), dict(ctc_merge_repeated=True)
    sizes = [const([2, 3]), const([20, 30], "i32")]
    sized = dict(min_size=[4.0, 9.0], max_size=[16.0], aspect_ratio=[2.0, 0.5, 3.0], flip=True, offset=0.5)
    for more in [{}, dict(min_size=[], max_size=[]), dict(scale_all_sizes=False), dict(flip=False), dict(variance=[0.1] * 4),
                 dict(min_size=[], max_size=[], fixed_size=[4.0, 9.0], density=[2.0, 1.5]),
                 dict(min_size=[], max_size=[], fixed_size=[4.0], density=[2.0], fixed_ratio=[1.0], aspect_ratio=[])]:
        for inputs in [sizes, ["i64[2]", "i64[2]"], [sizes[0], "i32[2]"]]:
            yield "opset1.PriorBox", inputs, sized | more
            yield "opset8.PriorBox", inputs, sized | more | dict(min_max_aspect_ratios_order=False)
    pairs = dict(width=[4.0, 5.0, 6.0], height=[7.0, 8.0, 9.0], offset=0.5)
    for inputs in [sizes, ["i64[2]", "i64[2]"], [sizes[0], "f32[2]"], [sizes[0], "i64[1,2]"], ["f32[2]", "i64[2]"], sizes[:1],
                   [const([2, 3, 4]), sizes[1]], [const([0, 3]), sizes[1]], [const([[2, 3]]), sizes[1]]]:
        yield "opset1.PriorBoxClustered", inputs, pairs
        yield "opset8.PriorBox", inputs, sized
    yield "opset1.DetectionOutput", ["f32[2,?]", "f32[2,30]", "f32[1,2,?]"], some | dict(num_classes=3, keep_top_k=[-1])


FAMILIES = [wider, blocks, verdicts, detection]
