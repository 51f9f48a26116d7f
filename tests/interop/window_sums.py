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


def transposed(x: np.ndarray, filter: np.ndarray, strides: list[int], dilations: list[int], before: list[int],
               after: list[int]) -> np.ndarray:
    """Computes a transposed convolution with a filter [inputs, outputs, ..], in the type of x; `after` may be negative."""
    axes, pixels = filter.shape[2:], x.shape[2:]
    extents = [(n - 1) * s + (k - 1) * d + 1 for n, s, k, d in zip(pixels, strides, axes, dilations)]
    sums = np.zeros([x.shape[0], filter.shape[1], *(extent + max(0, -a) for extent, a in zip(extents, after))], x.dtype)
    for tap in np.ndindex(*axes):
        seen = tuple(slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, s, n in zip(tap, dilations, strides, pixels))
        sums[(slice(None), slice(None), *seen)] += np.einsum("nc...,co->no...", x, filter[(slice(None), slice(None), *tap)],
                                                             optimize=True)
    return sums[(slice(None), slice(None), *(slice(b, extent - a) for b, a, extent in zip(before, after, extents)))]
