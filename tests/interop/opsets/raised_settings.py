"""The operations that `nnefc convert` turns into NNEF, and the settings of test cases that have no form."""

from __future__ import annotations

RAISED = set(
    "Abs Acos Acosh AdaptiveAvgPool AdaptiveMaxPool Add Asin Asinh Atan Atanh AvgPool BatchNormInference Broadcast Ceiling Clamp "
    "Concat Convert ConvertLike Convolution ConvolutionBackpropData Cos Cosh CumSum DepthToSpace Divide Elu Equal Erf Exp FakeQuantize "
    "Floor GRN Gather Gelu Greater GreaterEqual GroupConvolution GroupConvolutionBackpropData GroupNormalization HSigmoid HSwish "
    "HardSigmoid Identity Interpolate IsFinite IsInf IsNaN LRN Less LessEqual Log LogSoftmax LogicalAnd LogicalNot LogicalOr LogicalXor MVN MatMul "
    "MaxPool Maximum Minimum Mish Multiply Negative NormalizeL2 NotEqual OneHot PReLU Pad Power ReLU ReduceL1 ReduceL2 ReduceLogicalAnd "
    "ReduceLogicalOr ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum Reshape Reverse Roll Round ScaledDotProductAttention Select Selu ShuffleChannels Sigmoid Sign Sin "
    "Sinh Slice SoftMax SoftPlus SoftSign SpaceToDepth Split Sqrt SquaredDifference Squeeze StridedSlice Subtract Swish Tan Tanh "
    "Tile TopK Transpose Unsqueeze VariadicSplit Xor".split())

# Their second results, positions of maxima, have no form.
FIRST_OUTPUT = {"MaxPool", "AdaptiveMaxPool"}

# By row, the numbers of its cases in opset_cases.py: arithmetic on integers, conversions that wrap around, PaddlePaddle's
# broadcast, sections of different sizes, more than one of the largest elements, batch axes of indices, and cubic interpolation.
NO_FORM: dict[str, set[int]] = {
    "opset1.Abs": {2}, "opset1.Negative": {2}, "opset1.Add": set(range(3, 12)), "opset1.Multiply": {3, 4, 5}, "opset1.Clamp": {1},
    "opset1.Convert": {5}, "opset3.CumSum": {4},
    "opset8.AdaptiveAvgPool": {1, 3}, "opset8.AdaptiveMaxPool": {1},
    "opset1.TopK": {0, 1, 2, 3}, "opset3.TopK": {0, 1, 2, 3}, "opset11.TopK": {*range(16)} - {4, 10},
    "opset7.Gather": {3}, "opset8.Gather": {3},
    "opset4.Interpolate": {3, 7, 11, 15, 19},
    "opset11.Interpolate": {3, 7, 11, 15, 19, *range(21, 25), *(first + i for first in range(37, 102, 16) for i in range(4))},
}

# Operations with a form for tract alone.
OF_TRACT = set("BitwiseAnd BitwiseLeftShift BitwiseNot BitwiseOr BitwiseRightShift BitwiseXor Einsum FloorMod GatherElements "
               "GatherND Mod ScatterElementsUpdate ScatterNDUpdate".split())

# The same for `--target tract`: PaddlePaddle's broadcast, remainders of scalars, sections of different sizes, largest elements by
# index, batch axes of indices, reductions without the initial values, ellipses and results without labels, and cubic interpolation.
TRACT_NO_FORM: dict[str, set[int]] = {
    "opset1.Add": set(range(4, 12)), "opset1.Multiply": {3, 4, 5}, "opset1.Mod": {0, 1, 2}, "opset1.FloorMod": {0, 1, 2},
    "opset8.AdaptiveAvgPool": {1, 3}, "opset8.AdaptiveMaxPool": {1},
    "opset1.TopK": {1, 3}, "opset3.TopK": {1, 3}, "opset11.TopK": {1, 3},
    "opset7.Gather": {3}, "opset8.Gather": {3},
    "opset12.ScatterElementsUpdate": {1, 3, 5, 7, 8, 9}, "opset15.ScatterNDUpdate": {2}, "opset7.Einsum": {5, 6},
    "opset4.Interpolate": NO_FORM["opset4.Interpolate"], "opset11.Interpolate": NO_FORM["opset11.Interpolate"],
}
