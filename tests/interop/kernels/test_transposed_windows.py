"""Transposed convolutions with adjacent windows and different output counts: against sums of NumPy in f64."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino import opset1 as ops

RANDOM = np.random.default_rng(6)


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def spread(x: np.ndarray, filter: np.ndarray) -> np.ndarray:
    """Computes the windows of the result, one per pixel."""
    window = filter.shape[2:]
    sums = np.tensordot(x.astype(np.float64), filter, ([1], [0]))  # [batch, pixels.., outputs, window..]
    axes = len(window)
    order = [0, 1 + axes, *(place for i in range(axes) for place in (1 + i, 2 + axes + i))]
    return sums.transpose(order).reshape(x.shape[0], filter.shape[1], *(n * w for n, w in zip(x.shape[2:], window)))


@pytest.mark.parametrize("following", [False, True])
@pytest.mark.parametrize("shape, outputs, window", [
    ([1, 24, 9, 13], 1, [2, 2]), ([2, 24, 50, 49], 1, [2, 2]), ([1, 16, 7, 8], 3, [3, 3]), ([2, 40, 5, 6], 8, [2, 2]),
    ([1, 33, 6, 5], 15, [1, 2]), ([1, 24, 6, 5], 9, [2, 2]), ([1, 24, 31], 2, [4]), ([1, 20, 3, 4, 5], 4, [2, 2, 2]),
    ([1, 24, 9, 13], 24, [2, 2]), ([2, 130, 11, 7], 70, [2, 2])])
def test_windows(nnefc: Path, tmp_path: Path, shape: list[int], outputs: int, window: list[int], following: bool) -> None:
    data, filter, bias = normal(*shape), normal(shape[1], outputs, *window), normal(1, outputs, *[1] * len(window))
    x = ops.parameter(shape, np.float32, name="x")
    x.output(0).set_names({"x"})
    # After a sum, so that images are in the blocked layout.
    y = ops.convolution(x, np.eye(shape[1], dtype=np.float32).reshape(shape[1], shape[1], *[1] * len(window)), *[[1] * len(window),
                        [0] * len(window), [0] * len(window), [1] * len(window)])
    y = ops.convolution_backprop_data(y, filter, window)
    expected = spread(data, filter)
    if following:
        y, expected = ops.sigmoid(ops.add(y, bias)), 1 / (1 + np.exp(-(expected + bias)))
    result = ops.result(y)
    result.input_value(0).set_names({"y"})
    ov.save_model(ov.Model([result], [x], "windows"), tmp_path / "net.xml", compress_to_fp16=False)
    np.savez(tmp_path / "in.npz", x=data)
    for options in (["--threads", "1"], ["--threads", "2"], ["--backend", "reference"]):
        subprocess.run([nnefc, "run", tmp_path / "net.xml", "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz",
                        *options], check=True, capture_output=True)
        np.testing.assert_allclose(np.load(tmp_path / "out.npz")["y"], expected, atol=5e-6 * float(np.abs(expected).max()))
