"""Random inputs of a network, by the names and types of its inputs."""

from __future__ import annotations

import numpy as np

# Inputs whose values select a part of the network, and those that are bytes.
VALUES = {"sr": 16000}
BYTES = {"bytes"}


def input_values(name: str, shape: list[int], dtype: np.dtype, seed: int = 7) -> np.ndarray:
    """Returns random numbers of [0, 1), integers of [1, 4), or `true`; the same ones for a seed."""
    random = np.random.default_rng(seed)
    if name in VALUES:
        return np.full(shape, VALUES[name], dtype)
    if dtype.kind == "b":
        return np.ones(shape, dtype)
    if dtype.kind in "iu":
        return random.integers(*((0, 256) if name in BYTES else (1, 4)), shape).astype(dtype)
    return random.random(shape).astype(dtype)
