"""Conversions between NumPy types and names of element types."""

from __future__ import annotations

from typing import Any

from nnefc.mo.element_types import to_numpy_type, to_type_name

_PRECISIONS = {"f32": "FP32", "f16": "FP16", "f64": "FP64", "boolean": "BOOL"}


def data_type_str_to_np(data_type_str: str) -> Any:
    """Returns the NumPy type of a precision: `FP32`, `int64`, `f32`; None if it is unknown."""
    return to_numpy_type(data_type_str)


def np_data_type_to_destination_type(np_data_type: Any) -> str:
    """Returns OpenVINO's name of a NumPy type."""
    return to_type_name(np_data_type)


def data_type_str_to_destination_type(data_type_str: str) -> str:
    """Returns OpenVINO's name of a precision."""
    return to_type_name(data_type_str)


precision_to_destination_type = data_type_str_to_destination_type


def destination_type_to_np_data_type(dst_type: str) -> Any:
    """Returns the NumPy type of OpenVINO's name."""
    return to_numpy_type(dst_type)


def np_data_type_to_precision(np_data_type: Any) -> str:
    """Returns the precision of a NumPy type: `FP32`, `I64`."""
    name = to_type_name(np_data_type)
    return _PRECISIONS.get(name, name.upper())


def data_type_str_to_precision(data_type_str: str) -> str:
    """Returns the precision of a name."""
    return np_data_type_to_precision(to_numpy_type(data_type_str))
