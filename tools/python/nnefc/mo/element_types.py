"""Element types: names of nnefc and OpenVINO, NumPy types."""

from __future__ import annotations

from typing import Any

import numpy as np

_NUMPY: dict[str, Any] = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "i64": np.int64, "i32": np.int32, "i16": np.int16,
    "i8": np.int8, "u64": np.uint64, "u32": np.uint32, "u16": np.uint16, "u8": np.uint8, "boolean": np.bool_,
}  # fmt: skip
# The Model Optimizer's precisions and data types.
_OTHER = {
    "fp64": "f64", "fp32": "f32", "fp16": "f16", "bool": "boolean", "float": "f32", "half": "f16", "double": "f64",
    "uint8": "u8", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint16": "u16", "uint32": "u32",
    "uint64": "u64", "float16": "f16", "float32": "f32", "float64": "f64", "data_type": "f32",
}  # fmt: skip


def to_numpy_type(name: str) -> Any:
    """Returns the NumPy type of an element type of nnefc, or of one of the Model Optimizer's names; None for others."""
    folded = name.casefold()
    return _NUMPY.get(_OTHER.get(folded, folded))


def to_type_name(data_type: Any) -> str:
    """Returns the name of an element type in nnefc, from a NumPy type or a name."""
    if isinstance(data_type, str):
        folded = data_type.casefold()
        return _OTHER.get(folded, folded)
    name: str = np.dtype(data_type).name
    return _OTHER.get(name, name)


def is_type(value: Any) -> bool:
    """Returns whether a value is a NumPy type."""
    return isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, (np.generic, bool, int, float)))
