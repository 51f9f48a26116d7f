"""3x3 dilated convolutions by the Winograd algorithm on each subset of pixels: against sums of NumPy in f64."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino import opset1 as ops

from processor import has_lanes
from window_sums import convolved

RANDOM = np.random.default_rng(8)


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("residual", [False, True])
@pytest.mark.parametrize("shape, outputs, dilations, before, after", [
    ([1, 32, 40, 37], 48, [2, 1], [2, 1], [2, 1]), ([2, 32, 33, 41], 32, [2, 2], [2, 2], [2, 2]),
    ([1, 48, 50, 61], 64, [1, 3], [0, 5], [1, 1]), ([1, 32, 64, 64], 40, [3, 2], [7, 0], [2, 3]),
    ([1, 64, 65, 65], 64, [4, 4], [4, 4], [4, 4]), ([1, 32, 90, 90], 33, [12, 12], [12, 12], [12, 12]),
    ([1, 32, 5, 40, 41], 32, [1, 2, 2], [1, 2, 2], [1, 2, 2])])
def test_dilations(nnefc: Path, tmp_path: Path, shape: list[int], outputs: int, dilations: list[int], before: list[int],
                   after: list[int], residual: bool) -> None:
    data, filter, bias = normal(*shape), normal(outputs, shape[1], *[3] * len(dilations)), normal(outputs)
    expected = convolved(data.astype(np.float64), filter[np.newaxis], [1] * len(dilations), dilations, before, after)
    expected = expected + bias.reshape(1, -1, *[1] * len(dilations))
    other = normal(*expected.shape)
    x, r = ops.parameter(shape, np.float32, name="x"), ops.parameter(list(expected.shape), np.float32, name="r")
    for node in (x, r):
        node.output(0).set_names({node.friendly_name})
    y = ops.add(ops.convolution(x, filter, [1] * len(dilations), before, after, dilations), bias.reshape(1, -1, *[1] * len(dilations)))
    if residual:
        y, expected = ops.add(y, r), expected + other
    result = ops.result(ops.relu(y))
    result.input_value(0).set_names({"y"})
    ov.save_model(ov.Model([result], [x, r], "dilated"), tmp_path / "net.xml", compress_to_fp16=False)
    np.savez(tmp_path / "in.npz", x=data, r=other)
    for options in (["--threads", "1"], ["--threads", "2"], ["--precision", "exact"], ["--backend", "reference"]):
        done = subprocess.run([nnefc, "run", tmp_path / "net.xml", "--inputs", tmp_path / "in.npz", "--outputs",
                               tmp_path / "out.npz", "--profile", *options], check=True, capture_output=True, text=True)
        np.testing.assert_allclose(np.load(tmp_path / "out.npz")["y"], np.maximum(expected, 0),
                                   atol=2e-5 * float(np.abs(expected).max()))
        is_fast = "--threads" in options and has_lanes() and max(dilations) < 4
        assert not is_fast or "nnefc:winograd" in done.stdout + done.stderr
