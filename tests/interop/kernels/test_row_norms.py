"""Rows divided by their norms, directly or after a Transpose, with rows of zeros, of NaN and of numbers whose squares
are out of range of f32: against NumPy in f64."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino import opset1 as ops

RANDOM = np.random.default_rng(6)


def numbers(shape: list[int], kind: str) -> np.ndarray:
    x = RANDOM.standard_normal(shape).astype(np.float32)
    if kind == "special":
        rows = x.reshape(-1, shape[-1])
        for place, factor in enumerate([0, 1e-25, 1e-38, 1e25, 3e38, np.nan, np.inf]):
            with np.errstate(all="ignore"):
                rows[place * 3 % len(rows)] *= np.float32(factor)
    return x


@pytest.mark.parametrize("kind", ["normal", "special"])
@pytest.mark.parametrize("mode", ["add", "max"])
@pytest.mark.parametrize("shape, order", [([37, 16], None), ([3, 50, 33], None), ([2, 49, 3, 32], [0, 2, 1, 3]),
                                          ([3, 17, 70, 20], [1, 0, 2, 3]), ([130, 40, 64], [1, 0, 2]), ([5, 64, 7], [0, 2, 1]),
                                          ([1, 1000], None), ([6, 5000], None)])
def test_row_norms(nnefc: Path, tmp_path: Path, shape: list[int], order: list[int] | None, mode: str, kind: str) -> None:
    data, eps = numbers(shape, kind), np.float32(1e-3)
    x = ops.parameter(shape, np.float32, name="x")
    x.output(0).set_names({"x"})
    y = x if order is None else ops.transpose(x, np.array(order))
    result = ops.result(ops.normalize_l2(y, np.array([len(shape) - 1]), float(eps), "add"))
    result.input_value(0).set_names({"y"})
    network = tmp_path / "net.xml"
    ov.save_model(ov.Model([result], [x], "norms"), network)
    # OpenVINO's API writes `add` for every mode.
    network.write_text(network.read_text().replace('eps_mode="add"', f'eps_mode="{mode}"'))
    np.savez(tmp_path / "in.npz", x=data)
    rows = (data if order is None else data.transpose(order)).astype(np.float64)
    with np.errstate(all="ignore"):
        squares = np.sum(rows * rows, axis=-1, keepdims=True)
        expected = rows / np.sqrt(squares + eps if mode == "add" else np.where(squares > eps, squares, eps))
        expected = expected.astype(np.float32)
    for options in (["--threads", "1"], ["--threads", "2"], ["--backend", "reference"]):
        subprocess.run([nnefc, "run", network, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz",
                        *options], check=True, capture_output=True)
        np.testing.assert_allclose(np.load(tmp_path / "out.npz")["y"], expected, rtol=2e-6, atol=1e-37)
