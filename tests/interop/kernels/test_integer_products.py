"""Convolutions and matrix multiplications of integers, as exporters write them for quantized values whose zero point is
known only at run time: both backends against sums of NumPy's 32-bit integers, which wrap around."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino import opset1 as ops

import window_sums
from processor import has_lanes

# Numbers as quantized values minus an 8-bit zero point; numbers that fit 16 bits; numbers that do not, in data or
# weights.
RANGES = {"codes": (255, 127), "halves": (32767, 32767), "wide data": (2 ** 31 - 1, 100), "wide weights": (100, 2 ** 31 - 1)}
BACKENDS = [["--backend", "reference"], ["--threads", "1"], ["--threads", "2"], ["--threads", "6"]]
# Instruction sets up to this processor's: 256-bit and 512-bit vectors, with VNNI and without.
INSTRUCTIONS = ["AVX2_VNNI", "AVX2", "AVX512_CORE"]


def numbers(seed: int, shape: list[int], most: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-most - 1, most, shape, np.int32, endpoint=True)


def wrapped(sums: np.ndarray) -> np.ndarray:
    """Wraps 64-bit integers to 32 bits."""
    return sums.astype(np.uint64).astype(np.uint32).view(np.int32)


def convolved(x: np.ndarray, weights: np.ndarray, *windows: list[int]) -> np.ndarray:
    return wrapped(window_sums.convolved(x.astype(np.int64), weights[np.newaxis].astype(np.int64), *windows))


def check(nnefc: Path, folder: Path, x: ov.Node, data: np.ndarray, y: ov.Node, expected: np.ndarray, fast: bool,
          instructions: Sequence[str] = ()) -> None:
    x.output(0).set_names({"x"})
    result = ops.result(y)
    result.input_value(0).set_names({"y"})
    ov.save_model(ov.Model([result], [x], "integers"), folder / "net.xml")
    np.savez(folder / "in.npz", x=data)
    for options, limit in [*((options, "") for options in BACKENDS), *((["--threads", "1"], limit) for limit in instructions)]:
        environment = {**os.environ, **({"ONEDNN_MAX_CPU_ISA": limit} if limit else {})}
        done = subprocess.run([nnefc, "run", folder / "net.xml", "--inputs", folder / "in.npz", "--outputs", folder / "out.npz",
                               "--profile", *options], capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, done.stderr
        np.testing.assert_array_equal(np.load(folder / "out.npz")["y"], expected)
        assert ("nnefc:integers" in done.stdout + done.stderr) == (fast and "reference" not in options and has_lanes())


@pytest.mark.parametrize("kind", RANGES)
@pytest.mark.parametrize("shape, outputs, transposed", [([1, 5], 3, False), ([7, 33], 16, True), ([2, 50, 24], 40, False),
                                                        ([3, 1, 70], 17, True), ([130, 72], 70, False)])
def test_products(nnefc: Path, tmp_path: Path, kind: str, shape: list[int], outputs: int, transposed: bool) -> None:
    data, weights = numbers(1, shape, RANGES[kind][0]), numbers(2, [shape[-1], outputs], RANGES[kind][1])
    x = ops.parameter(shape, np.int32, name="x")
    y = ops.matmul(x, ops.constant(np.ascontiguousarray(weights.T) if transposed else weights), False, transposed)
    check(nnefc, tmp_path, x, data, y, wrapped(data.astype(np.int64) @ weights.astype(np.int64)), kind != "wide weights")


@pytest.mark.parametrize("shape, outputs", [([12, 64], 5), ([2, 70, 260], 90), ([40, 768], 33)])
@pytest.mark.parametrize("zero", [0, 14, 128, 255])
@pytest.mark.parametrize("far", [0.0, 0.01, 0.2, 1.0])
def test_products_of_codes(nnefc: Path, tmp_path: Path, shape: list[int], outputs: int, zero: int, far: float) -> None:
    """Numbers as quantized values minus a zero point at any position; pairs of the largest weights of both signs."""
    random = np.random.default_rng(7)
    codes = np.clip(np.rint(zero + 20 * random.standard_normal(shape)), 0, 255).astype(np.int32)
    anywhere = random.random(shape) < far
    codes[anywhere] = random.choice([0, 3, 130, 254, 255], int(anywhere.sum()))
    weights = random.choice([-128, -127, -1, 0, 2, 126, 127], [shape[-1], outputs]).astype(np.int32)
    data = codes - zero
    x = ops.parameter(shape, np.int32, name="x")
    y = ops.matmul(x, ops.constant(weights), False, False)
    check(nnefc, tmp_path, x, data, y, wrapped(data.astype(np.int64) @ weights.astype(np.int64)), True, INSTRUCTIONS)


def test_rows_beyond_codes(nnefc: Path, tmp_path: Path) -> None:
    """Rows that threads share, within the range of quantized values, beyond it, and beyond 16 bits."""
    data, weights = numbers(10, [210, 128], 100), numbers(11, [128, 170], 127)
    data[80, 3], data[150:160] = 20000, numbers(12, [10, 128], 2 ** 20)
    x = ops.parameter([210, 128], np.int32, name="x")
    y = ops.matmul(x, ops.constant(weights), False, False)
    check(nnefc, tmp_path, x, data, y, wrapped(data.astype(np.int64) @ weights.astype(np.int64)), True, INSTRUCTIONS)


@pytest.mark.parametrize("kind", RANGES)
@pytest.mark.parametrize("shape, filter, strides, dilations, before, after", [
    ([1, 3, 9, 8], [5, 3, 3, 2], [1, 1], [1, 1], [1, 0], [1, 1]),
    ([2, 17, 12, 11], [33, 17, 3, 3], [2, 1], [1, 2], [0, 2], [1, 2]),
    ([1, 24, 6, 10], [20, 24, 1, 1], [1, 1], [1, 1], [0, 0], [0, 0]),
    ([2, 6, 7, 7], [16, 6, 1, 1], [2, 3], [1, 1], [0, 1], [0, 0]),
    ([1, 4, 40], [18, 4, 5], [2], [3], [6], [7]),
    ([1, 2, 3, 4], [4, 2, 5, 5], [1, 1], [1, 1], [4, 4], [4, 4])])
def test_convolutions(nnefc: Path, tmp_path: Path, kind: str, shape: list[int], filter: list[int], strides: list[int],
                      dilations: list[int], before: list[int], after: list[int]) -> None:
    data, weights = numbers(3, shape, RANGES[kind][0]), numbers(4, filter, RANGES[kind][1])
    x = ops.parameter(shape, np.int32, name="x")
    y = ops.convolution(x, ops.constant(weights), strides, before, after, dilations)
    check(nnefc, tmp_path, x, data, y, convolved(data, weights, strides, dilations, before, after), kind != "wide weights")


def test_groups_and_transposed(nnefc: Path, tmp_path: Path) -> None:
    """Each group is a separate convolution; a transposed one adds the products of each input."""
    data, weights = numbers(5, [1, 6, 5, 6], 2 ** 31 - 1), numbers(6, [3, 4, 2, 3, 2], 2 ** 31 - 1)
    x = ops.parameter([1, 6, 5, 6], np.int32, name="x")
    y = ops.group_convolution(x, ops.constant(weights), [1, 2], [1, 0], [1, 1], [1, 1])
    expected = np.concatenate([convolved(data[:, 2 * g:2 * g + 2], weights[g], [1, 2], [1, 1], [1, 0], [1, 1])
                               for g in range(3)], axis=1)
    check(nnefc, tmp_path, x, data, y, expected, False)
    data, weights = numbers(7, [1, 3, 4], 1000), numbers(8, [3, 2, 3], 1000)
    x = ops.parameter([1, 3, 4], np.int32, name="x")
    y = ops.convolution_backprop_data(x, ops.constant(weights), [2])
    expected = np.zeros([1, 2, 9], np.int64)
    for place in range(4):
        expected[0, :, 2 * place:2 * place + 3] += np.einsum("c,cot->ot", data[0, :, place].astype(np.int64), weights)
    check(nnefc, tmp_path, x, data, y, wrapped(expected), False)


@pytest.mark.parametrize("kind", ["codes", "wide data", "wide weights"])
@pytest.mark.parametrize("shape, outputs", [([1, 20, 48], 64), ([7, 33], 16), ([2, 50, 24], 45), ([130, 70], 1)])
@pytest.mark.parametrize("follows", ["nothing", "scale", "scale, bias and residual", "residual and scale", "second reader"])
def test_numbers_of_sums(nnefc: Path, tmp_path: Path, follows: str, shape: list[int], outputs: int, kind: str) -> None:
    """Post-ops after sums that become floats, as in dynamic quantization: a scale that the run computes, a bias,
    another sum."""
    random = np.random.default_rng(9)
    data, weights = numbers(1, shape, RANGES[kind][0]), numbers(2, [shape[-1], outputs], RANGES[kind][1])
    scale, bias = np.float32(0.003), random.standard_normal(outputs).astype(np.float32)
    other = random.standard_normal([*shape[:-1], outputs]).astype(np.float32)
    x, s = ops.parameter(shape, np.int32, name="x"), ops.parameter([], np.float32, name="s")
    r = ops.parameter(list(other.shape), np.float32, name="r")
    sums = ops.convert(ops.matmul(x, ops.constant(weights), False, False), "f32")
    expected = wrapped(data.astype(np.int64) @ weights.astype(np.int64)).astype(np.float32)
    if follows == "residual and scale":
        y, expected = ops.multiply(s, ops.add(r, sums)), (expected + other) * scale
    elif follows == "nothing":
        y = ops.add(ops.multiply(sums, np.float32(1)), ops.multiply(ops.multiply(s, np.float32(0)), r))
    else:
        y, expected = ops.multiply(sums, s), expected * scale
    if follows == "scale, bias and residual":
        y, expected = ops.relu(ops.add(ops.add(y, bias), r)), np.maximum(expected + bias + other, 0)
    if follows == "second reader":
        y, expected = ops.subtract(y, sums), expected - expected / scale
    result = ops.result(y)
    result.input_value(0).set_names({"y"})
    for node in (x, s, r):
        node.output(0).set_names({node.friendly_name})
    ov.save_model(ov.Model([result], [x, s, r], "integers"), tmp_path / "net.xml", compress_to_fp16=False)
    np.savez(tmp_path / "in.npz", x=data, s=scale, r=other)
    for options in BACKENDS:
        subprocess.run([nnefc, "run", tmp_path / "net.xml", "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz",
                        *options], check=True, capture_output=True)
        np.testing.assert_allclose(np.load(tmp_path / "out.npz")["y"], expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
