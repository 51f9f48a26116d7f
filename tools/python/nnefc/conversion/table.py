"""The translations of all operations, by OpenVINO's names."""

from __future__ import annotations

from nnefc.conversion import (
    activation,
    convolution,
    elementwise,
    matmul,
    normalization,
    pooling,
    quantization,
    rearranging,
    reduce,
    resampling,
    sections,
    shape_ops,
    update,
    window,
)
from nnefc.conversion.writer import Table

_FAMILIES = (
    activation, convolution, elementwise, matmul, normalization, pooling, quantization, rearranging, reduce, resampling,
    sections, shape_ops, update, window,
)  # fmt: skip

# Operations of OpenVINO IR whose translations no case compares with another implementation. They are reported, not written.
_UNCOMPARED = {
    "AdaptiveAvgPool", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "Broadcast", "ConvertLike",
    "CumSum", "DepthToSpace", "Einsum", "Erf", "FakeQuantize", "GatherND", "Gelu", "GridSample",
    "GroupNormalization", "HSigmoid", "HSwish", "HardSigmoid", "IsFinite", "IsInf", "IsNaN", "LogSoftmax",
    "MVN", "Mish", "Mod", "NonZero", "RMS", "Range", "ReduceL1", "ReduceL2", "ReduceProd",
    "ScaledDotProductAttention", "ScatterNDUpdate", "ShapeOf", "SoftSign", "SpaceToDepth", "StridedSlice",
}  # fmt: skip

TABLE: Table = {
    name: translation
    for family in _FAMILIES
    for name, translation in family.TABLE.items()
    if name not in _UNCOMPARED
}

# Why operations have no translation, where that is known.
REASONS = {
    "Assign": "ONNX models have no state between runs",
    "ReadValue": "ONNX models have no state between runs",
    "RandomUniform": "random numbers would differ",
    "Multinomial": "random numbers would differ",
}
