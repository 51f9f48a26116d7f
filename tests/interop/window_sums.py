"""Convolutions as sums of NumPy, tap by tap."""

from __future__ import annotations

import numpy as np


def convolved(x: np.ndarray, filter: np.ndarray, strides: list[int], dilations: list[int], before: list[int],
              after: list[int]) -> np.ndarray:
    """Computes a convolution with a filter [groups, outputs, inputs, ..], in the type of x."""
    groups, axes = filter.shape[0], filter.shape[3:]
    x = np.pad(x, [(0, 0), (0, 0), *zip(before, after)])
    x = x.reshape(x.shape[0], groups, -1, *x.shape[2:])
    extents = [(x.shape[3 + i] - (axes[i] - 1) * dilations[i] - 1) // strides[i] + 1 for i in range(len(axes))]
    sums = np.zeros([x.shape[0], groups, filter.shape[1], *extents], x.dtype)
    for tap in np.ndindex(*axes):
        seen = tuple(slice(t * d, t * d + (extent - 1) * s + 1, s) for t, d, s, extent in zip(tap, dilations, strides, extents))
        sums += np.einsum("ngc...,goc->ngo...", x[(slice(None), slice(None), slice(None), *seen)],
                          filter[(slice(None), slice(None), slice(None), *tap)], optimize=True)
    return sums.reshape(x.shape[0], -1, *extents)
