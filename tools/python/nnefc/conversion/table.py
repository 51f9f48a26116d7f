"""The translations of all operations, by OpenVINO's names."""

from __future__ import annotations

from nnefc.conversion import (
    activation,
    control_flow,
    convolution,
    elementwise,
    matmul,
    normalization,
    pooling,
    recurrent,
    reduce,
    resampling,
    sections,
    shape_ops,
    update,
    window,
)
from nnefc.conversion.writer import Table

_FAMILIES = (
    activation, control_flow, convolution, elementwise, matmul, normalization, pooling, recurrent, reduce,
    resampling, sections, shape_ops, update, window,
)  # fmt: skip

TABLE: Table = {name: translation for family in _FAMILIES for name, translation in family.TABLE.items()}

# Why operations have no translation, where that is known.
REASONS = {
    "Assign": "ONNX models have no state between runs",
    "ReadValue": "ONNX models have no state between runs",
    "RandomUniform": "random numbers would differ",
    "Multinomial": "random numbers would differ",
}
