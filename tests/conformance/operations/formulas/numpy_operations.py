"""More operations of NNEF by the formulas of the specification, in NumPy: what numpy_oracle.py does not have."""

from __future__ import annotations

import itertools
import math

import numpy as np

import numpy_oracle as n

Lists = list[int]


def windows(x: np.ndarray, size: Lists, stride: Lists = (), dilation: Lists = (), padding: n.Padding = ()):
    """The completed lists of a window, and the extents that it is scaled down to."""
    stride, dilation, padding = n.complete(list(x.shape), size, stride, dilation, padding)
    shape = [n.down_scaled(X, f, p, q, s, d) for X, f, (p, q), s, d in zip(x.shape, size, padding, stride, dilation)]
    return stride, dilation, padding, shape


def argmax_pool(x: np.ndarray, size: Lists, border: str = "constant", **window) -> np.ndarray:
    """4.3.3: the row-major place of the first maximum in its window."""
    stride, dilation, padding, shape = windows(x, size, **window)
    y = np.zeros(shape, np.int64)
    for index in np.ndindex(*shape):
        seen = list(n.window(x, index, size, stride, dilation, padding, border))
        y[index] = max(range(len(seen)), key=lambda place: (-math.inf if seen[place] is None else seen[place], -place))
    return y


def places(index: np.ndarray, size: Lists, stride: Lists, dilation: Lists, padding: n.Padding):
    """For each window: its index, and the position that its place stands for."""
    for i in np.ndindex(*index.shape):
        j = np.unravel_index(index[i], size)
        yield i, [a * s + int(b) * d - p for a, b, s, d, (p, _) in zip(i, j, stride, dilation, padding)]


def sample(x: np.ndarray, index: np.ndarray, size: Lists, border: str = "constant", **window) -> np.ndarray:
    """4.3.3: the value at each place."""
    stride, dilation, padding, _ = windows(x, size, **window)
    y = np.zeros(index.shape)
    for i, at in places(index, size, stride, dilation, padding):
        source = [n.source(a, z, border) for a, z in zip(at, x.shape)]
        y[i] = 0.0 if None in source else x[tuple(source)]
    return y


def desample(x: np.ndarray, index: np.ndarray, size: Lists, shape: Lists, stride: Lists, padding: n.Padding) -> np.ndarray:
    """4.3.3: the sum of the values whose places point here."""
    y = np.zeros(shape)
    for i, at in places(index, size, stride, [1] * len(size), padding):
        if all(0 <= a < z for a, z in zip(at, shape)):
            y[tuple(at)] += x[i]
    return y


def debox(x: np.ndarray, size: Lists, shape: Lists, stride: Lists, padding: n.Padding, normalize: bool = False) -> np.ndarray:
    """4.3.2: each value is spread over its window."""
    y = np.zeros(shape)
    for i in np.ndindex(*x.shape):
        for j in itertools.product(*map(range, size)):
            at = [a * s + b - p for a, b, s, (p, _) in zip(i, j, stride, padding)]
            if all(0 <= a < z for a, z in zip(at, shape)):
                y[tuple(at)] += x[i]
    return y / math.prod(size) if normalize else y


def linear_axis(x: np.ndarray, axis: int, factor: int, method: str, border: str) -> np.ndarray:
    """4.4.2 along one axis: between the two nearest values."""
    X = x.shape[axis]
    lines = np.moveaxis(x, axis, 0)
    y = np.zeros([X * factor, *lines.shape[1:]])
    for j in range(X * factor):
        u = {"symmetric": (j + 0.5) / factor - 0.5, "asymmetric": j / factor,
             "aligned": j * (X - 1) / max(X * factor - 1, 1)}[method]
        low = math.floor(u)
        for at, weight in [(low, 1 - (u - low)), (low + 1, u - low)]:
            source = n.source(at, X, border)
            if weight and source is not None:
                y[j] += weight * lines[source]
    return np.moveaxis(y, 0, axis)


def multilinear_upsample(x: np.ndarray, factor: Lists, method: str = "symmetric", border: str = "replicate") -> np.ndarray:
    for i, f in enumerate(factor):
        x = linear_axis(x, i + 2, f, method, border)
    return x


def roi_pool(x: np.ndarray, rois: np.ndarray, batch: Lists, size: Lists, kind: str) -> np.ndarray:
    """4.6.1; cells start at multiples of their stride from where the region starts."""
    y = np.zeros([len(rois), x.shape[1], *size])
    for r, roi in enumerate(np.floor(np.asarray(rois) + 0.5).astype(int)):
        m = len(size)
        for cell in np.ndindex(*size):
            spans = []
            for axis in range(m):
                length = roi[m + axis] - roi[axis]
                first = roi[axis] + cell[axis] * (length // size[axis])
                spans.append(slice(first, first + -(-length // size[axis])))
            values = x[batch[r]][(slice(None), *spans)].reshape(x.shape[1], -1)
            y[(r, slice(None), *cell)] = values.max(axis=1) if kind == "max" else values.mean(axis=1)
    return y


def roi_resample(x: np.ndarray, rois: np.ndarray, batch: Lists, size: Lists, method: str = "symmetric") -> np.ndarray:
    """4.6.2 for regions with integer corners: the crop, resized."""
    y = []
    for (y0, x0, y1, x1), b in zip(np.asarray(rois, int), batch):
        crop = x[b][:, y0:y1, x0:x1]
        for axis, out in enumerate(size, start=1):
            X = crop.shape[axis]
            j = np.arange(out)
            u = {"symmetric": (j + 0.5) * X / out - 0.5, "asymmetric": j * X / out, "aligned": j * (X - 1) / max(out - 1, 1)}[method]
            u = np.clip(u, 0, X - 1)
            low = np.floor(u).astype(int)
            t = (u - low).reshape([-1 if k == axis else 1 for k in range(crop.ndim)])
            crop = np.take(crop, low, axis) * (1 - t) + np.take(crop, np.minimum(low + 1, X - 1), axis) * t
        y.append(crop)
    return np.stack(y)


def blocks(x: np.ndarray, rate: Lists, combine) -> np.ndarray:
    """Pools disjoint blocks of the spatial dimensions."""
    N, C, H, W = x.shape
    return combine(x.reshape(N, C, H // rate[0], rate[0], W // rate[1], rate[1]), axis=(3, 5))


def local_mean(x: np.ndarray, size: Lists) -> np.ndarray:
    return n.pool(x, "sum", size) / math.prod(size)


def round_up(x: np.ndarray) -> np.ndarray:
    return np.floor(x + 0.5)


def linear_quantize(x: np.ndarray, low: float, high: float, steps: int) -> np.ndarray:
    z = np.clip(x, low, high)
    return round_up((z - low) / (high - low) * steps) / steps * (high - low) + low
