"""Sliding windows of 1.0.5, 4.3, along any number of axes, as direct sums over the items of the window; in double precision.

`clamped`: automatic padding is not negative; it may be in the provisional text.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np

import numpy_oracle as n

Lists = list[int]
# Where the extended input is read along an axis for each output position; None where a sum has no term.
Positions = list[int | None]


def read(x: np.ndarray, positions: list[Positions], border: str, outside: float = 0.0) -> np.ndarray:
    """The extended input at every combination of positions; ValueError where one reflection is not enough."""
    for axis, wanted in enumerate(positions):
        extent = x.shape[axis]
        sources = [None if at is None else n.source(at, extent, border) for at in wanted]
        if any(s is not None and not 0 <= s < extent for s in sources):
            raise ValueError("reaches too far")
        x = np.take(x, [s or 0 for s in sources], axis)
        shape = [-1 if i == axis else 1 for i in range(x.ndim)]
        x = np.where(np.reshape([s is None for s in sources], shape), outside, x)
    return x


def basic(x: int, j: int, s: int, d: int, p: int) -> Positions:
    return [i * s + j * d - p for i in range(x)]


def reverse(X: int, j: int, s: int, d: int, p: int) -> Positions:
    return [(i + p - j * d) // s if (i + p - j * d) % s == 0 else None for i in range(X)]


def taps(size: Lists) -> Iterator[tuple[int, ...]]:
    return itertools.product(*map(range, size))


def along(kind: Callable, extents: Lists, j: tuple[int, ...], stride: Lists, dilation: Lists, padding: n.Padding) -> list[Positions]:
    return [kind(x, jj, s, d, p) for x, jj, s, d, (p, _) in zip(extents, j, stride, dilation, padding)]


def automatic(X: int, f: int, s: int, d: int, clamped: bool) -> tuple[int, int]:
    """4.3, automatic padding."""
    t = (math.ceil(X / s) - 1) * s + (f - 1) * d + 1 - X
    t = max(t, 0) if clamped else t
    return math.floor(t / 2), math.ceil(t / 2)


def down(extents: Lists, size: Lists, stride: Lists, dilation: Lists, padding: n.Padding,
         clamped: bool = True) -> tuple[Lists, Lists, n.Padding, Lists]:
    """The completed lists and the down-scaled extents; ValueError where the window does not fit."""
    stride, dilation = stride or [1] * len(size), dilation or [1] * len(size)
    padding = padding or [automatic(*a, clamped) for a in zip(extents, size, stride, dilation)]
    x = [n.down_scaled(X, f, p, q, s, d) for X, f, (p, q), s, d in zip(extents, size, padding, stride, dilation)]
    if any(extent < 1 for extent in x):
        raise ValueError("does not fit")
    return stride, dilation, padding, x


def up(extents: Lists, size: Lists, stride: Lists, dilation: Lists, padding: n.Padding,
       output_shape: Lists, clamped: bool = True) -> tuple[Lists, Lists, n.Padding, Lists]:
    """The completed lists and the up-scaled extents."""
    stride, dilation = stride or [1] * len(size), dilation or [1] * len(size)
    X = output_shape or [x * s for x, s in zip(extents, stride)]
    if padding and not output_shape:
        X = [(x - 1) * s + (f - 1) * d + 1 - p - q for x, s, f, d, (p, q) in zip(extents, stride, size, dilation, padding)]
    if any(extent < 1 for extent in X):
        raise ValueError("nothing is left")
    return stride, dilation, padding or [automatic(*a, clamped) for a in zip(X, size, stride, dilation)], X


def conv(x: np.ndarray, filter: np.ndarray, bias: np.ndarray | float = 0.0, border: str = "constant", padding: n.Padding = (),
         stride: Lists = (), dilation: Lists = (), groups: int = 1, clamped: bool = True) -> np.ndarray:
    """4.3.1: filter (c, C / G, ..)."""
    B, C = x.shape[:2]
    G, size = groups or C, list(filter.shape[2:])
    stride, dilation, padding, extents = down(list(x.shape[2:]), size, stride, dilation, padding, clamped)
    y = np.zeros([B, G, filter.shape[0] // G, *extents])
    for j in taps(size):
        seen = read(x, [list(range(B)), list(range(C)), *along(basic, extents, j, stride, dilation, padding)], border)
        weights = filter[(..., *j)].reshape(G, -1, C // G)
        y += np.einsum("bgi...,goi->bgo...", seen.reshape(B, G, C // G, *extents), weights)
    return y.reshape(B, filter.shape[0], *extents) + n.per_channel(bias, x.ndim)


def deconv(x: np.ndarray, filter: np.ndarray, bias: np.ndarray | float = 0.0, border: str = "constant", padding: n.Padding = (),
           stride: Lists = (), dilation: Lists = (), groups: int = 1, output_shape: Lists = (),
           clamped: bool = True) -> np.ndarray:
    """4.3.1: filter (c, C / G, ..)."""
    B, c = x.shape[:2]
    G, size = groups or c, list(filter.shape[2:])
    if not groups and output_shape:
        G = output_shape[1]
    stride, dilation, padding, extents = up(list(x.shape[2:]), size, stride, dilation, padding, list(output_shape[2:]), clamped)
    y = np.zeros([B, G, filter.shape[1], *extents])
    for j in taps(size):
        seen = read(x, [list(range(B)), list(range(c)), *along(reverse, extents, j, stride, dilation, padding)], border)
        weights = filter[(..., *j)].reshape(G, c // G, -1)
        y += np.einsum("bgi...,gio->bgo...", seen.reshape(B, G, c // G, *extents), weights)
    return y.reshape(B, -1, *extents) + n.per_channel(bias, x.ndim)


def seen_by_windows(x: np.ndarray, size: Lists, border: str, padding: n.Padding, stride: Lists, dilation: Lists,
                    clamped: bool) -> np.ndarray:
    """What each item of the window sees, items first; NaN where it is ignored."""
    stride, dilation, padding, extents = down(list(x.shape), size, stride, dilation, padding, clamped)
    outside = np.nan if border == "ignore" else 0.0
    return np.stack([read(x, along(basic, extents, j, stride, dilation, padding), border, outside) for j in taps(size)])


def pool(x: np.ndarray, kind: str, size: Lists, border: str = "constant", padding: n.Padding = (), stride: Lists = (),
         dilation: Lists = (), clamped: bool = True) -> np.ndarray:
    """4.3.2, 4.3.3 and 4.9.3: sum, avg, rms, max, argmax."""
    seen = seen_by_windows(x, size, border, padding, stride, dilation, clamped)
    if np.isnan(seen).all(axis=0).any():
        raise ValueError("a window sees nothing")
    return {"sum": lambda: np.nansum(seen, axis=0), "avg": lambda: np.nanmean(seen, axis=0),
            "rms": lambda: np.sqrt(np.nanmean(seen * seen, axis=0)), "max": lambda: np.nanmax(seen, axis=0),
            "argmax": lambda: np.nanargmax(seen, axis=0)}[kind]()


def debox(x: np.ndarray, size: Lists, border: str = "constant", padding: n.Padding = (), stride: Lists = (), dilation: Lists = (),
          output_shape: Lists = (), normalize: bool = False, clamped: bool = True) -> np.ndarray:
    """4.3.2."""
    stride, dilation, padding, extents = up(list(x.shape), size, stride, dilation, padding, list(output_shape), clamped)
    y = sum(read(x, along(reverse, extents, j, stride, dilation, padding), border) for j in taps(size))
    return y / np.prod(size) if normalize else y


def sample(x: np.ndarray, index: np.ndarray, size: Lists, border: str = "constant", padding: n.Padding = (), stride: Lists = (),
           dilation: Lists = (), clamped: bool = True) -> np.ndarray:
    """4.3.3: of what the window sees, the item that the index names."""
    return np.take_along_axis(seen_by_windows(x, size, border, padding, stride, dilation, clamped), index[None], axis=0)[0]


def desample(x: np.ndarray, index: np.ndarray, size: Lists, padding: n.Padding = (), stride: Lists = (), dilation: Lists = (),
             output_shape: Lists = (), clamped: bool = True) -> np.ndarray:
    """4.3.3: sums where the indices point to."""
    stride, dilation, padding, extents = up(list(x.shape), size, stride, dilation, padding, list(output_shape), clamped)
    y = np.zeros(extents)
    for at in np.ndindex(*x.shape):
        item = np.unravel_index(index[at], size) if size else ()
        place = tuple(i * s + int(j) * d - p for i, s, j, d, (p, _) in zip(at, stride, item, dilation, padding))
        if all(0 <= a < X for a, X in zip(place, extents)):
            y[place] += x[at]
    return y
