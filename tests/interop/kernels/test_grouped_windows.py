"""Grouped and depthwise convolutions, and those with a small number of outputs, on one to three axes, with strides,
dilations and windows of any kind: against sums of NumPy in f64."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino import opset1 as ops

from window_sums import convolved

RANDOM = np.random.default_rng(9)
# Images, groups, inputs and outputs of a group, extents, windows, strides, dilations, padding before and after.
CASES = [
    (1, 32, 1, 1, [9, 10, 11], [3, 3, 3], [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1]),
    (2, 24, 1, 1, [8, 7, 9], [5, 3, 3], [2, 1, 2], [1, 1, 1], [2, 1, 1], [2, 1, 1]),
    (1, 40, 1, 1, [7, 12, 13], [3, 1, 5], [1, 3, 3], [2, 1, 1], [2, 0, 2], [0, 1, 3]),
    (1, 48, 1, 1, [20, 23], [5, 5], [3, 3], [1, 1], [2, 2], [2, 2]),
    (1, 16, 1, 1, [301], [31], [4], [1], [15], [15]),
    (4, 2, 16, 16, [100], [9], [1], [1], [4], [4]),
    (1, 4, 48, 48, [60], [20], [1], [1], [10], [9]),
    (1, 3, 32, 16, [14, 15], [5, 7], [1, 2], [2, 1], [4, 3], [4, 3]),
    (2, 5, 16, 80, [17, 9], [1, 1], [1, 1], [1, 1], [0, 0], [0, 0]),
    (1, 2, 16, 48, [6, 7, 8], [3, 2, 3], [2, 1, 1], [1, 1, 2], [1, 0, 2], [1, 1, 2]),
    (1, 1, 24, 8, [28, 28], [9, 9], [3, 3], [1, 1], [4, 4], [4, 4]),
    (2, 1, 64, 1, [20, 20], [5, 5], [2, 2], [2, 2], [4, 4], [4, 4]),
    (1, 1, 3, 1, [400], [31], [2], [1], [15], [15]),
    (1, 1, 1, 2, [15, 18], [4, 3], [3, 1], [1, 2], [1, 2], [0, 2]),
]


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("follows", ["nothing", "bias and residual"])
@pytest.mark.parametrize("case", CASES)
def test_grouped_windows(nnefc: Path, tmp_path: Path, case: tuple, follows: str) -> None:
    images, groups, inputs, outputs, extents, windows, strides, dilations, before, after = case
    data, filter = normal(images, groups * inputs, *extents), normal(groups, outputs, inputs, *windows)
    expected = convolved(data.astype(np.float64), filter, strides, dilations, before, after)
    bias, other = normal(1, groups * outputs, *[1] * len(extents)), normal(*expected.shape)
    x, r = ops.parameter(list(data.shape), np.float32, name="x"), ops.parameter(list(other.shape), np.float32, name="r")
    for node in (x, r):
        node.output(0).set_names({node.friendly_name})
    if groups > 1:
        y = ops.group_convolution(x, filter, strides, before, after, dilations)
    else:
        y = ops.convolution(x, filter[0], strides, before, after, dilations)
    if follows != "nothing":
        y, expected = ops.relu(ops.add(ops.add(y, bias), r)), np.maximum(expected + bias + other, 0)
    result = ops.result(y)
    result.input_value(0).set_names({"y"})
    ov.save_model(ov.Model([result], [x, r] if follows != "nothing" else [x], "windows"), tmp_path / "net.xml",
                  compress_to_fp16=False)
    np.savez(tmp_path / "in.npz", **({"x": data} if follows == "nothing" else {"x": data, "r": other}))
    for options in (["--threads", "1"], ["--threads", "2"], ["--precision", "exact"], ["--backend", "reference"]):
        subprocess.run([nnefc, "run", tmp_path / "net.xml", "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz",
                        *options], check=True, capture_output=True)
        np.testing.assert_allclose(np.load(tmp_path / "out.npz")["y"], expected, rtol=1e-6,
                                   atol=2e-6 * float(np.abs(expected).max()))
