"""Arrays and shapes. Unknown extents are masked elements."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from nnefc.mo.op import int64_array

__all__ = [
    "compatible_dims", "compatible_shapes", "dynamic_dimension", "dynamic_dimension_value", "float32_array", "float_array",
    "int64_array", "int8_array", "is_fully_defined", "mark_input_bins", "mo_array", "reverse_bypass_infer", "shape_array",
    "shape_delete", "shape_insert", "strict_compare_tensors", "undefined_shape_of_rank", "unmask_shape",
]  # fmt: skip

# An unknown extent, in shapes made with shape_array.
dynamic_dimension = np.ma.masked
# An unknown extent, as an integer.
dynamic_dimension_value = -1000000007


def mo_array(value: Any, dtype: Any = None) -> Any:
    """Returns an array; Python floats become f32."""
    made = np.array(value, dtype=dtype)
    is_python = not isinstance(value, np.ndarray) and not isinstance(value, np.generic)
    return made.astype(np.float32) if dtype is None and is_python and made.dtype == np.float64 else made


def int8_array(value: Any) -> Any:
    """Returns an i8 array."""
    return np.array(value, dtype=np.int8)


def float32_array(value: Any) -> Any:
    """Returns an f32 array."""
    return np.array(value, dtype=np.float32)


float_array = float32_array


def _is_open(extent: Any) -> bool:
    return extent is None or extent is np.ma.masked or extent == dynamic_dimension_value


def shape_array(value: Any, dtype: Any = np.int64) -> Any:
    """Returns an array of extents, masked where they are unknown."""
    if np.ndim(value) == 0:
        value = [value]
    mask = np.ma.getmaskarray(value) if isinstance(value, np.ma.MaskedArray) else [_is_open(extent) for extent in value]
    plain = [dynamic_dimension_value if is_open else int(extent) for extent, is_open in zip(value, mask)]
    return np.ma.masked_array(plain, mask=mask, dtype=dtype, fill_value=dynamic_dimension_value)


def undefined_shape_of_rank(rank: int) -> Any:
    """Returns a shape of unknown extents."""
    return shape_array([dynamic_dimension_value] * rank)


def is_fully_defined(value: Any) -> bool:
    """Returns whether a value, or every element of an array, is known."""
    if value is None or value is np.ma.masked:
        return False
    if isinstance(value, np.ma.MaskedArray):
        return not np.ma.getmaskarray(value).any()
    if isinstance(value, (list, tuple)):
        return all(is_fully_defined(item) for item in value)
    return not (isinstance(value, (int, np.integer)) and value == dynamic_dimension_value)


def unmask_shape(value: Any) -> Any:
    """Returns an array with dynamic_dimension_value for unknown elements."""
    return value.filled(dynamic_dimension_value) if isinstance(value, np.ma.MaskedArray) else np.asarray(value)


def compatible_dims(first: Any, second: Any) -> bool:
    """Returns whether two extents may be equal."""
    return bool(_is_open(first) or _is_open(second) or first == second)


def compatible_shapes(first: Any, second: Any) -> bool:
    """Returns whether two shapes may be equal; an unknown shape, None, equals all."""
    if first is None or second is None:
        return True
    return len(first) == len(second) and all(compatible_dims(a, b) for a, b in zip(first, second))


def strict_compare_tensors(first: Any, second: Any) -> bool:
    """Returns whether two arrays are equal and have the same unknown elements."""
    if first is None or second is None:
        return first is second
    one, other = np.ma.asarray(first), np.ma.asarray(second)
    if one.shape != other.shape or (np.ma.getmaskarray(one) != np.ma.getmaskarray(other)).any():
        return False
    return bool(np.ma.allequal(one, other))


def shape_delete(shape: Any, positions: Any) -> Any:
    """Returns a shape without some axes."""
    rank = len(shape)
    removed = {int(axis) % rank for axis in (positions if np.ndim(positions) else [positions])}
    return shape_array([extent for axis, extent in enumerate(shape) if axis not in removed])


def shape_insert(shape: Any, position: int, extents: Any) -> Any:
    """Returns a shape with extents inserted at an axis."""
    added = list(extents) if isinstance(extents, (list, tuple, np.ndarray)) and np.ndim(extents) else [extents]
    known = list(shape)
    place = position if position >= 0 else len(known) + position + 1
    return shape_array([*known[:place], *added, *known[place:]])


def mark_input_bins(node: Any, names: Iterable[str] = ("weights", "biases"), start_port: int = 1) -> None:
    """Has no effect: constants need no marks."""


def reverse_bypass_infer(node: Any, in_ports: Iterable[int]) -> None:
    """Has no effect: shapes are inferred from inputs to outputs."""
