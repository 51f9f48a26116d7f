"""Convolutions that threads share by rows, lines or columns: small counts of each, several images, more threads than
processors, against NumPy in f64."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino import opset1 as ops

from processor import has_lanes
from window_sums import convolved

RANDOM = np.random.default_rng(11)


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("shape, outputs, size, stride", [
    ([1, 70, 7, 7], 40, 1, 1), ([3, 64, 7, 7], 24, 1, 1), ([2, 48, 5, 9], 96, 1, 1), ([1, 130, 14, 14], 33, 1, 1),
    ([1, 64, 40, 40], 20, 1, 1), ([1, 300, 14, 14], 250, 1, 1), ([1, 640, 13, 240], 40, 3, 2), ([2, 20, 33, 31], 70, 3, 2),
    ([1, 3, 60, 50], 32, 3, 2), ([1, 40, 9, 200], 36, 3, 1), ([1, 40, 5, 300], 36, 3, 2), ([2, 16, 5, 6, 9], 3, 1, 1),
    ([1, 20, 7, 9], 3, 1, 1), ([1, 18, 5, 6, 9], 20, 3, 2)])
def test_convolutions(nnefc: Path, tmp_path: Path, shape: list[int], outputs: int, size: int, stride: int) -> None:
    axes = len(shape) - 2
    data, filter, bias = normal(*shape), normal(outputs, shape[1], *[size] * axes), normal(1, outputs, *[1] * axes)
    around, strides, dilations = [size // 2] * axes, [stride] * axes, [1] * axes
    expected = np.maximum(convolved(data.astype(np.float64), filter[np.newaxis], strides, dilations, around, around) + bias, 0)
    x = ops.parameter(shape, np.float32, name="x")
    x.output(0).set_names({"x"})
    y = ops.add(ops.convolution(x, filter, strides, around, around, dilations), bias)
    result = ops.result(ops.relu(y))
    result.input_value(0).set_names({"y"})
    ov.save_model(ov.Model([result], [x], "shared"), tmp_path / "net.xml", compress_to_fp16=False)
    np.savez(tmp_path / "in.npz", x=data)
    for threads in (1, 2, 3, 6, 16, 64):
        subprocess.run([nnefc, "run", tmp_path / "net.xml", "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz",
                        "--threads", str(threads)], check=True, capture_output=True)
        np.testing.assert_allclose(np.load(tmp_path / "out.npz")["y"], expected, atol=2e-5 * float(expected.max()))


@pytest.mark.parametrize("pixels", [[17, 19], [5, 7, 9]])
@pytest.mark.parametrize("channels, outputs", [(32, 3), (20, 1), (16, 7)])
def test_few_outputs_of_blocks(nnefc: Path, tmp_path: Path, channels: int, outputs: int, pixels: list[int]) -> None:
    axes = len(pixels)
    ones, none, data = [1] * axes, [0] * axes, normal(2, 8, *pixels)
    first, last = normal(channels, 8, *[3] * axes), normal(outputs, channels, *ones)
    hidden = np.maximum(convolved(data.astype(np.float64), first[np.newaxis], ones, ones, ones, ones), 0)
    expected = convolved(hidden, last[np.newaxis].astype(np.float64), ones, ones, none, none)
    x = ops.parameter(list(data.shape), np.float32, name="x")
    x.output(0).set_names({"x"})
    y = ops.relu(ops.convolution(x, first, ones, ones, ones, ones))
    result = ops.result(ops.convolution(y, last, ones, none, none, ones))
    result.input_value(0).set_names({"y"})
    ov.save_model(ov.Model([result], [x], "few"), tmp_path / "net.xml", compress_to_fp16=False)
    np.savez(tmp_path / "in.npz", x=data)
    for threads in (1, 2, 6):
        done = subprocess.run([nnefc, "run", tmp_path / "net.xml", "--inputs", tmp_path / "in.npz", "--outputs",
                               tmp_path / "out.npz", "--threads", str(threads), "--profile"], check=True, capture_output=True, text=True)
        np.testing.assert_allclose(np.load(tmp_path / "out.npz")["y"], expected, atol=2e-5 * float(np.abs(expected).max()))
        assert "nnefc:few_outputs" in done.stdout + done.stderr or not has_lanes()
