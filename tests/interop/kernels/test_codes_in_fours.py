"""8-bit convolutions and matrix multiplications with quantized results, in VNNI microkernels with a fused epilogue:
against the quantization of integer sums, on any number of threads."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino import opset1 as ops

from processor import has_wide_vnni
from window_sums import convolved

SCALE, SAME_SCALE = np.float32(2.0 ** -5), np.float32(2.0 ** -9)
OUT_SCALE, OUT_ZERO = np.float32(2.0 ** -2), 90
INSTRUCTIONS = ["", "AVX2_VNNI", "AVX2"]


def quantized(x: ov.Node, scale: np.float32, zero: int) -> ov.Node:
    low, high = np.float32(-scale * zero), np.float32(scale * (255 - zero))
    return ops.fake_quantize(x, low, high, low, high, 256)


def codes_of(numbers: np.ndarray, scale: np.float32, zero: int) -> np.ndarray:
    return np.clip(np.rint(numbers / scale) + zero, 0, 255)


def filter_scales(outputs: int) -> np.ndarray:
    return np.exp2(np.arange(outputs) % 5 - 11).astype(np.float32)


def draw(seed: int, shape: list[int], filter: list[int]) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    return random.integers(0, 256, shape), random.integers(-127, 128, filter)


def check(nnefc: Path, folder: Path, inputs: dict[str, np.ndarray], y: ov.Node, parameters: list[ov.Node], expected: np.ndarray) -> None:
    """Compares `y`, a multiple of the quantized values, with `expected`, the values minus the zero point. Ties may be
    rounded either way."""
    for node in parameters:
        node.output(0).set_names({node.friendly_name})
    result = ops.result(y)
    result.input_value(0).set_names({"y"})
    ov.save_model(ov.Model([result], parameters, "codes"), folder / "net.xml", compress_to_fp16=False)
    np.savez(folder / "in.npz", **inputs)
    for limit in INSTRUCTIONS:
        for threads in (1, 2, 6):
            done = subprocess.run([nnefc, "run", folder / "net.xml", "--inputs", folder / "in.npz", "--outputs", folder / "out.npz",
                                   "--profile", "--threads", str(threads)], capture_output=True, text=True, check=False,
                                  env={**os.environ, **({"ONEDNN_MAX_CPU_ISA": limit} if limit else {})})
            assert done.returncode == 0, done.stderr
            if not limit and has_wide_vnni():
                profile = done.stdout + done.stderr
                assert "nnefc:int8_conv_vnni" in profile and "\n    Add" not in profile and "nnefc:int8_sum" not in profile
            with np.load(folder / "out.npz") as outputs:
                steps = np.abs(outputs["y"] / (OUT_SCALE * SAME_SCALE) - expected)
            assert steps.max() <= 1 and (steps > 0).mean() < 1e-3


@pytest.mark.parametrize("follows", ["nothing", "bias and relu", "residual"])
@pytest.mark.parametrize("zero", [0, 131])
@pytest.mark.parametrize("shape, outputs, size, stride", [
    ([1, 128, 7, 7], 64, 3, 1), ([1, 132, 9, 15], 70, 3, 2), ([1, 64, 7, 8], 40, 1, 1), ([3, 516, 14, 13], 48, 1, 1), ([2, 200, 9, 13], 48, 1, 1),
    ([1, 196, 15, 15], 33, 1, 2), ([1, 516, 20, 31], 16, 1, 1), ([1, 60, 1, 1], 24, 1, 1)])
def test_convolutions(nnefc: Path, tmp_path: Path, shape: list[int], outputs: int, size: int, stride: int, zero: int,
                      follows: str) -> None:
    codes, weights = draw(outputs + zero, shape, [outputs, shape[1], size, size])
    around = [size // 2] * 2
    sums = convolved(codes - zero, weights[None], [stride] * 2, [1, 1], around, around)
    x = ops.parameter(shape, np.float32, name="x")
    scales = filter_scales(outputs).reshape(-1, 1, 1, 1)
    filter = weights.astype(np.float32) * scales
    y = ops.convolution(quantized(x, SCALE, zero), filter, [stride] * 2, around, around, [1, 1])
    numbers = sums.astype(np.float64) * SCALE * scales[:, 0]
    inputs, parameters = {"x": ((codes - zero) * SCALE).astype(np.float32)}, [x]
    if follows == "bias and relu":
        bias = (np.arange(outputs) - 20).astype(np.float32).reshape(1, -1, 1, 1)
        y, numbers = ops.relu(ops.add(y, bias)), np.maximum(numbers + bias, 0)
    y, expected = quantized(y, OUT_SCALE, OUT_ZERO), codes_of(numbers, OUT_SCALE, OUT_ZERO)
    if follows == "residual":
        other = np.random.default_rng(1).integers(0, 256, sums.shape)
        r = ops.parameter(list(sums.shape), np.float32, name="r")
        y = quantized(ops.add(y, quantized(r, OUT_SCALE, OUT_ZERO)), OUT_SCALE, OUT_ZERO)
        expected = codes_of(expected + other - 2 * OUT_ZERO, np.float32(1), OUT_ZERO)
        inputs["r"], parameters = ((other - OUT_ZERO) * OUT_SCALE).astype(np.float32), [x, r]
    same = np.eye(outputs, dtype=np.float32).reshape(outputs, outputs, 1, 1) * SAME_SCALE
    check(nnefc, tmp_path, inputs, ops.convolution(y, same, [1, 1], [0, 0], [0, 0], [1, 1]), parameters, expected - OUT_ZERO)


@pytest.mark.parametrize("zero", [0, 131])
@pytest.mark.parametrize("rows, channels, outputs", [(57, 132, 200), (130, 520, 64), (1, 64, 33), (300, 68, 31)])
def test_products(nnefc: Path, tmp_path: Path, rows: int, channels: int, outputs: int, zero: int) -> None:
    codes, weights = draw(rows + zero, [rows, channels], [channels, outputs])
    bias = (np.arange(outputs) - 20).astype(np.float32)
    x = ops.parameter([rows, channels], np.float32, name="x")
    y = ops.matmul(quantized(x, SCALE, zero), weights.astype(np.float32) * filter_scales(outputs), False, False)
    expected = codes_of(((codes - zero) @ weights).astype(np.float64) * SCALE * filter_scales(outputs) + bias, OUT_SCALE, OUT_ZERO)
    y = quantized(ops.add(y, bias), OUT_SCALE, OUT_ZERO)
    same = np.eye(outputs, dtype=np.float32) * SAME_SCALE
    check(nnefc, tmp_path, {"x": ((codes - zero) * SCALE).astype(np.float32)}, ops.matmul(y, same, False, False), [x],
          expected - OUT_ZERO)
