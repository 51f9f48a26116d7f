"""NNEF operations by the formulas of the 1.0.5 specification, in NumPy, to be read and not to be fast.

Everything is computed in double precision. The names of indices and extents are those of the text.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

Padding = list[tuple[int, int]]


def auto_padding(X: int, f: int, s: int, d: int) -> tuple[int, int]:
    """4.3, automatic padding: as many outputs as ceil(X / s)."""
    x = math.ceil(X / s)
    t = max((x - 1) * s + (f - 1) * d + 1 - X, 0)
    return math.floor(t / 2), math.ceil(t / 2)


def down_scaled(X: int, f: int, p: int, q: int, s: int, d: int) -> int:
    """4.3, output shape: the number of positions of a window."""
    return math.floor((p + X + q - ((f - 1) * d + 1)) / s) + 1


def source(i: int, z: int, border: str) -> int | None:
    """4.3, border modes: the index whose value is at `i`; None outside for ignore and constant."""
    if 0 <= i < z:
        return i
    if border == "replicate":
        return 0 if i < 0 else z - 1
    if border == "reflect":
        return -i if i < 0 else z - 1 - (i - z + 1)
    if border == "reflect-even":
        return -i - 1 if i < 0 else z - 1 - (i - z)
    return None


def complete(extents: list[int], size: list[int], stride: list[int], dilation: list[int],
             padding: Padding) -> tuple[list[int], list[int], Padding]:
    """Fills in empty lists."""
    stride = stride or [1] * len(size)
    dilation = dilation or [1] * len(size)
    padding = padding or [auto_padding(*args) for args in zip(extents, size, stride, dilation)]
    return stride, dilation, padding


def window(x: np.ndarray, index: tuple[int, ...], size: list[int], stride: list[int],
           dilation: list[int], padding: Padding, border: str) -> Iterator[float | None]:
    """The values that the window at an output index sees, in row-major order; None for ignored ones."""
    for j in itertools.product(*map(range, size)):
        at = [source(i * s + k * d - p, z, border) for i, k, s, d, (p, _), z
              in zip(index, j, stride, dilation, padding, x.shape)]
        if None not in at:
            yield float(x[tuple(at)])
        else:
            yield None if border == "ignore" else 0.0


def pool(x: np.ndarray, kind: str, size: list[int], border: str = "constant",
         padding: Padding = (), stride: list[int] = (), dilation: list[int] = ()) -> np.ndarray:
    """4.3.2 and 4.9.3: box (`sum`), avg_pool (`avg`) and max_pool (`max`)."""
    stride, dilation, padding = complete(list(x.shape), size, stride, dilation, padding)
    shape = [down_scaled(X, f, p, q, s, d) for X, f, (p, q), s, d
             in zip(x.shape, size, padding, stride, dilation)]
    y = np.zeros(shape)
    for index in np.ndindex(*shape):
        seen = [value for value in window(x, index, size, stride, dilation, padding, border)
                if value is not None]
        # Of no elements at all: the greatest is -inf, the sum and the average 0.
        total = max(seen, default=-np.inf) if kind == "max" else sum(seen)
        y[index] = total / max(len(seen), 1) if kind == "avg" else total
    return y


def conv(x: np.ndarray, filter: np.ndarray, bias: np.ndarray | float = 0.0, border: str = "constant",
         padding: Padding = (), stride: list[int] = (), dilation: list[int] = (),
         groups: int = 1) -> np.ndarray:
    """4.3.1, conv."""
    size, groups = list(filter.shape[2:]), groups or x.shape[1]
    stride, dilation, padding = complete(list(x.shape[2:]), size, stride, dilation, padding)
    spatial = [down_scaled(X, f, p, q, s, d) for X, f, (p, q), s, d
               in zip(x.shape[2:], size, padding, stride, dilation)]
    outputs, inputs = filter.shape[:2]
    y = np.zeros([x.shape[0], outputs, *spatial])
    for b, k2, *index in np.ndindex(*y.shape):
        group = k2 // (outputs // groups)
        for k1 in range(inputs):
            values = window(x[b, group * inputs + k1], tuple(index), size, stride, dilation,
                            padding, border)
            y[b, k2, *index] += sum(v * w for v, w in zip(values, filter[k2, k1].ravel()))
    return y + per_channel(bias, y.ndim)


def deconv(x: np.ndarray, filter: np.ndarray, bias: np.ndarray | float = 0.0, padding: Padding = (),
           stride: list[int] = (), dilation: list[int] = (), groups: int = 1,
           output_shape: list[int] = ()) -> np.ndarray:
    """4.3.1, deconv with border 'constant': every input is scattered through the filter."""
    size, groups = list(filter.shape[2:]), groups or filter.shape[0]
    small = list(x.shape[2:])
    stride, dilation = stride or [1] * len(size), dilation or [1] * len(size)
    large = list(output_shape[2:]) or [n * s for n, s in zip(small, stride)]
    if padding and not output_shape:
        large = [(n - 1) * s + (f - 1) * d + 1 - p - q for n, s, f, d, (p, q)
                 in zip(small, stride, size, dilation, padding)]
    padding = padding or [auto_padding(*args) for args in zip(large, size, stride, dilation)]
    inputs, outputs = x.shape[1], filter.shape[1]
    y = np.zeros([x.shape[0], outputs * groups, *large])
    for b, k2, *i in np.ndindex(*x.shape):
        group = k2 // (inputs // groups)
        for k1, *j in np.ndindex(*filter.shape[1:]):
            at = [n * s + k * d - p for n, k, s, d, (p, _) in zip(i, j, stride, dilation, padding)]
            if all(0 <= a < X for a, X in zip(at, large)):
                y[b, group * outputs + k1, *at] += x[b, k2, *i] * filter[k2, k1, *j]
    return y + per_channel(bias, y.ndim)


def per_channel(value: np.ndarray | float, rank: int) -> np.ndarray:
    """Appends singleton dimensions: NNEF aligns shapes on the left."""
    array = np.asarray(value, float)
    return array.reshape(array.shape + (1,) * (rank - array.ndim)) if array.ndim else array


def local_response_normalization(x: np.ndarray, size: list[int], alpha: float, beta: float,
                                 bias: float) -> np.ndarray:
    """4.9.4; the window's border is 'constant', so it is divided by its whole volume."""
    sigma = bias + alpha * pool(x * x, "sum", size) / math.prod(size)
    return x / sigma**beta


def batch_normalization(x: np.ndarray, mean: np.ndarray, variance: np.ndarray, offset: np.ndarray,
                        scale: np.ndarray, epsilon: float) -> np.ndarray:
    """4.9.4."""
    mean, variance, offset, scale = (per_channel(v, x.ndim) for v in (mean, variance, offset, scale))
    return offset + scale * (x - mean) / np.sqrt(variance + epsilon)


def softmax(x: np.ndarray, axes: tuple[int, ...] = (1,)) -> np.ndarray:
    """4.9.1."""
    e = np.exp(x - x.max(axis=axes, keepdims=True))
    return e / e.sum(axis=axes, keepdims=True)
