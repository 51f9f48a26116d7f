"""Building blocks of the cases of operations.

`CASES` maps "set.Name" to a list of (inputs, attributes). An input is an array (a parameter of its shape), a `Const` (a
constant) or a `Dynamic` (a parameter of a partial shape, with an array).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

F32 = np.float32
PDPD_AXIS = "auto_broadcast.auto_broadcast_axis"
RANDOM = np.random.default_rng(11)


@dataclass
class Const:
    value: np.ndarray


@dataclass
class Dynamic:
    value: np.ndarray
    shape: str


Input = np.ndarray | Const | Dynamic
CASES: dict[str, list[tuple[list[Input], dict]]] = {}


def f(*shape: int, low: float = -2.0, high: float = 2.0) -> np.ndarray:
    return RANDOM.uniform(low, high, shape).astype(F32)


def i(*shape: int, low: int = -9, high: int = 9, dtype: type = np.int64) -> np.ndarray:
    return RANDOM.integers(low, high, shape, dtype=dtype)


def b(*shape: int) -> np.ndarray:
    return RANDOM.random(shape) > 0.5


def ints(*values: int, dtype: type = np.int64) -> Const:
    return Const(np.array(values, dtype))


def one(value: float, dtype: type = np.int64) -> Const:
    return Const(np.array(value, dtype))


def floats(*values: float) -> Const:
    return Const(np.array(values, F32))


def add(name: str, *inputs: Input, **attributes) -> None:
    CASES.setdefault(name, []).append((list(inputs), {key.replace("__", "-"): v for key, v in attributes.items()}))
