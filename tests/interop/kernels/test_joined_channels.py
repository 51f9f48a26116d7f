"""Concatenations of images along their channels, with partial last blocks: each channel at NumPy's index."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino import opset1 as ops

RANDOM = np.random.default_rng(9)


@pytest.mark.parametrize("pixels", [[9, 11], [30], [3, 4, 5], [19, 31]])
@pytest.mark.parametrize("channels", [[24, 24], [24, 40, 8], [17, 3, 33], [19], [16, 24, 16], [5, 6, 7, 8, 9]])
@pytest.mark.parametrize("batch", [1, 2])
def test_channels(nnefc: Path, tmp_path: Path, batch: int, channels: list[int], pixels: list[int]) -> None:
    x = ops.parameter([batch, 20, *pixels], np.float32, name="x")
    x.output(0).set_names({"x"})
    data = RANDOM.integers(-8, 8, [batch, 20, *pixels]).astype(np.float32)
    # Convolutions of integers, which are exact in any order of sums; channels of their results and of others are
    # concatenated.
    one = [1] * len(pixels)
    filters = [RANDOM.integers(-2, 3, [count, 20, *one]).astype(np.float32) for count in channels]
    parts = [ops.convolution(x, filter, one, [0] * len(pixels), [0] * len(pixels), one) for filter in filters]
    joined = ops.concat(parts, 1) if len(parts) > 1 else ops.concat([parts[0], x], 1)
    last = RANDOM.integers(-2, 3, [18, joined.shape[1], *one]).astype(np.float32)
    result = ops.result(ops.convolution(joined, last, one, [0] * len(pixels), [0] * len(pixels), one))
    result.input_value(0).set_names({"y"})
    ov.save_model(ov.Model([result], [x], "joined"), tmp_path / "net.xml", compress_to_fp16=False)
    np.savez(tmp_path / "in.npz", x=data)

    def product(of: np.ndarray, filter: np.ndarray) -> np.ndarray:
        return np.einsum("nc...,oc->no...", of, filter.reshape(filter.shape[:2]))

    made = [product(data, filter) for filter in filters] + ([data] if len(parts) == 1 else [])
    for options in (["--threads", "1"], ["--threads", "2"], ["--backend", "reference"]):
        subprocess.run([nnefc, "run", tmp_path / "net.xml", "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz",
                        *options], check=True, capture_output=True)
        np.testing.assert_array_equal(np.load(tmp_path / "out.npz")["y"], product(np.concatenate(made, 1), last))
