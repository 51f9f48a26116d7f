"""8-bit convolutions and matrix multiplications without VNNI, with saturating 16-bit pair sums (maddubs): against sums
of integers, for quantized values near their zero point, anywhere or at both ends."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino import opset1 as ops

from processor import has_lanes
from window_sums import convolved

SEEDS = range(6)
KINDS = ["near", "few far", "many far", "few pairs", "anywhere", "ends"]
ZEROS = [0, 50, 128, 255]
SCALE, FILTER_SCALE = np.float32(2.0 ** -5), np.float32(2.0 ** -9)


def codes_of(random: np.random.Generator, kind: str, zero: int, shape: list[int]) -> np.ndarray:
    """Returns quantized values of channels along axis 1."""
    if kind == "anywhere":
        return random.integers(0, 256, shape)
    if kind == "ends":
        return random.choice([0, 255], shape)
    deviation = {"near": 12, "few far": 40, "many far": 70, "few pairs": 12}[kind]
    codes = np.clip(np.rint(zero + deviation * random.standard_normal(shape)), 0, 255).astype(np.int64)
    if kind == "few pairs":  # channels at the same end
        pairs = random.choice([-1, 0, 255], [shape[0], shape[1] // 2, *shape[2:]], p=[0.97, 0.015, 0.015]).repeat(2, axis=1)
        codes = np.where(pairs >= 0, pairs, codes)
    return codes


def quantized(x: ov.Node, zero: int) -> ov.Node:
    low, high = np.float32(-SCALE * zero), np.float32(SCALE * (255 - zero))
    return ops.fake_quantize(x, low, high, low, high, 256)


def run(nnefc: Path, folder: Path, shape: list[int], zero: int, network, codes: np.ndarray) -> tuple[np.ndarray, str]:
    x = ops.parameter(shape, np.float32, name="x")
    x.output(0).set_names({"x"})
    y = ops.result(network(quantized(x, zero)))
    y.input_value(0).set_names({"y"})
    ov.save_model(ov.Model([y], [x], "codes"), folder / "net.xml", compress_to_fp16=False)
    np.savez(folder / "inputs.npz", x=((codes - zero) * SCALE).astype(np.float32))
    done = subprocess.run([nnefc, "run", folder / "net.xml", "--inputs", folder / "inputs.npz", "--outputs", folder / "outputs.npz",
                           "--profile", "--threads", "2"], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2"})
    assert done.returncode == 0, done.stderr
    with np.load(folder / "outputs.npz") as outputs:
        return outputs["y"], done.stdout + done.stderr


def assert_exact(found: np.ndarray, profile: str, sums: np.ndarray, kernel: str = "nnefc:int8_saturating") -> None:
    if has_lanes():
        assert kernel in profile, profile
    np.testing.assert_array_equal(found, sums.astype(np.float32) * (SCALE * FILTER_SCALE))


def filter_of(random: np.random.Generator, shape: list[int]) -> np.ndarray:
    codes = random.integers(-127, 128, shape)
    # Pairs of the largest values, of both signs.
    codes[random.random(shape) < 0.1] = 127
    codes[random.random(shape) < 0.1] = -127
    return codes


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_convolutions(nnefc: Path, tmp_path: Path, seed: int, kind: str) -> None:
    random = np.random.default_rng(seed)
    zero = ZEROS[(seed + KINDS.index(kind)) % len(ZEROS)]
    size, stride, dilation = [(1, 1, 1), (1, 2, 1), (3, 2, 1), (3, 1, 2), (2, 1, 1), (5, 3, 1)][seed]
    channels = int(random.choice([64, 68, 100])) if size == 1 else int(random.choice([16, 20, 64]))
    outputs = int(random.choice([16, 23, 100]))
    shape = [int(random.integers(1, 3)), channels, *random.integers(9, 16, 2).tolist()]
    before, after = random.integers(0, size, 2).tolist(), random.integers(0, size, 2).tolist()
    codes, weights = codes_of(random, kind, zero, shape), filter_of(random, [outputs, channels, size, size])
    strides, dilations = [stride] * 2, [dilation] * 2

    def network(x: ov.Node) -> ov.Node:
        return ops.convolution(x, weights.astype(np.float32) * FILTER_SCALE, strides, before, after, dilations)

    found, profile = run(nnefc, tmp_path, shape, zero, network, codes)
    assert_exact(found, profile, convolved(codes - zero, weights[None], strides, dilations, before, after))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width, outputs, groups", [(8, 8, 5), (16, 16, 3), (8, 8, 8), (4, 8, 7), (32, 32, 2), (12, 48, 3), (24, 16, 2)])
def test_groups(nnefc: Path, tmp_path: Path, width: int, outputs: int, groups: int, kind: str) -> None:
    """Groups of `width` inputs each, of which a tile reads one or two, with an odd one at the end."""
    random = np.random.default_rng(width + groups)
    zero = ZEROS[(width + KINDS.index(kind)) % len(ZEROS)]
    stride = int(random.integers(1, 3))
    shape = [int(random.integers(1, 3)), groups * width, *random.integers(9, 16, 2).tolist()]
    codes, weights = codes_of(random, kind, zero, shape), filter_of(random, [groups, outputs, width, 3, 3])

    def network(x: ov.Node) -> ov.Node:
        return ops.group_convolution(x, weights.astype(np.float32) * FILTER_SCALE, [stride] * 2, [1, 1], [1, 1], [1, 1])

    found, profile = run(nnefc, tmp_path, shape, zero, network, codes)
    assert_exact(found, profile, convolved(codes - zero, weights, [stride] * 2, [1, 1], [1, 1], [1, 1]), "nnefc:int8_grouped")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_products(nnefc: Path, tmp_path: Path, seed: int, kind: str) -> None:
    random = np.random.default_rng(seed)
    zero = ZEROS[(seed + KINDS.index(kind)) % len(ZEROS)]
    shape = [int(random.choice([12, 57, 130])), int(random.choice([64, 132, 520]))]
    codes, weights = codes_of(random, kind, zero, shape), filter_of(random, [int(random.choice([17, 64, 200])), shape[1]])

    def network(x: ov.Node) -> ov.Node:
        return ops.matmul(x, weights.astype(np.float32) * FILTER_SCALE, False, True)

    found, profile = run(nnefc, tmp_path, shape, zero, network, codes)
    assert_exact(found, profile, (codes - zero) @ weights.T)
