"""FakeQuantize with a range for each channel, symmetric and asymmetric, alone and between convolutions: by the formula
in NumPy, by OpenVINO, and by both backends."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models import Nnefc

ov = pytest.importorskip("openvino")
from openvino import opset13 as op  # noqa: E402

from openvino_oracle import openvino_outputs  # noqa: E402

F32 = np.float32
Node = ov.Node
Limits = tuple[np.ndarray, np.ndarray]


def ranges(random: np.random.Generator, shape: list[int], levels: int, zero: int | np.ndarray | None) -> Limits:
    """Returns limits by channel in which `zero`, or another one for each channel, is the quantized value of 0."""
    scales = random.uniform(0.01, 0.03, shape)
    zeros = random.integers(0, levels, shape) if zero is None else np.full(shape, zero)
    return (-zeros * scales).astype(F32), ((levels - 1 - zeros) * scales).astype(F32)


def fake_quantize(x: Node, limits: Limits, levels: int) -> Node:
    low, high = (op.constant(limit) for limit in limits)
    return op.fake_quantize(x, low, high, low, high, levels)


def formula(x: np.ndarray, limits: Limits, levels: int) -> np.ndarray:
    """Returns OpenVINO's formula, each operation rounded to f32, halves rounded to even."""
    low, high = limits
    steps = F32(levels - 1)
    inside = np.rint((x - low) / (high - low) * steps) / steps * (high - low) + low
    return np.where(x <= low, low, np.where(x > high, high, inside)).astype(F32)


def outputs(model: Path, x: np.ndarray, tool: Nnefc, *options: str) -> np.ndarray:
    np.savez(tool.scratch / "inputs.npz", x=x)
    found = tool.run(model, "--inputs", tool.scratch / "inputs.npz", *options)
    return next(iter(found.values()))


def save(result: Node, x: Node, folder: Path) -> Path:
    ov.save_model(ov.Model([op.result(result, name="y")], [x]), folder / "net.xml", compress_to_fp16=False)
    return folder / "net.xml"


SHAPES = [([2, 1, 3, 5], 1), ([1, 15, 4, 4], 1), ([2, 16, 1, 3], 1), ([2, 17, 7, 9], 1), ([1, 33, 5], 1), ([3, 7, 40], 2), ([5, 18], 1),
          ([4, 3, 2, 2, 3], 1), ([6, 5], 0)]


@pytest.mark.parametrize("levels", [2, 255, 256])
@pytest.mark.parametrize("zero", [0, 128, "last", None])
@pytest.mark.parametrize(("shape", "axis"), SHAPES)
def test_alone(shape: list[int], axis: int, zero: int | str | None, levels: int, nnefc: Path, tmp_path: Path) -> None:
    random = np.random.default_rng(len(shape) * 100 + shape[axis])
    of_limits = [extent if at == axis else 1 for at, extent in enumerate(shape)]
    wanted = levels - 1 if zero == "last" else zero if zero is None else min(int(zero), levels - 1)
    limits = ranges(random, of_limits, levels, wanted)
    data = random.uniform(-6, 6, shape).astype(F32)
    # Both limits, and numbers beyond them.
    low, high = (np.broadcast_to(limit, shape).ravel() for limit in limits)
    data.ravel()[:4] = [low[0], high[1], -np.inf, np.inf]
    x = op.parameter(shape, F32, name="x")
    model = save(fake_quantize(x, limits, levels), x, tmp_path)
    expected = formula(data, limits, levels)
    for backend in ("reference", "fast"):
        found = outputs(model, data, Nnefc(nnefc, tmp_path), "--backend", backend)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def quantized_filter(random: np.random.Generator, shape: list[int]) -> Node:
    """Returns whole multiples of a scale for each output channel."""
    scales = random.uniform(0.005, 0.02, [shape[0]] + [1] * (len(shape) - 1))
    quantized = random.integers(-127, 128, shape)
    return op.constant((quantized * scales).astype(F32))


ACTIVATIONS = {
    "none": lambda y: y,
    "relu": op.relu,
    "relu6": lambda y: op.clamp(y, 0.0, 6.0),
    "clamp": lambda y: op.clamp(y, -0.5, 1.5),
    "hswish": op.hswish,
    "prelu": lambda y: op.prelu(y, op.constant(np.asarray([0.2], F32))),
}


def convolved(random: np.random.Generator, x: Node, channels: int) -> Node:
    """Returns a convolution of one tap whose data is quantized."""
    one = (np.asarray(-1, F32), np.asarray(1.55, F32))
    first = op.convolution(fake_quantize(x, one, 256), quantized_filter(random, [channels, 6, 1, 1]), [1, 1], [0, 0], [0, 0], [1, 1])
    return op.add(first, op.constant(random.uniform(-1, 1, [1, channels, 1, 1]).astype(F32)))


def compare_with_openvino(random: np.random.Generator, model: Path, taps: int, nnefc: Path, folder: Path) -> None:
    """Compares depthwise convolutions of values that are quantized in steps of at most 0.03."""
    data = random.uniform(-1.2, 1.7, [1, 6, 13, 12]).astype(F32)
    expected = openvino_outputs(model, {"x": data})[0]
    # A number halfway between two levels may become either: then the sums of a window are off by at most a level, of 0.03,
    # times the largest weight, 127 times 0.02.
    for options in (["--backend", "reference"], [], ["--precision", "exact"]):
        found = outputs(model, data, Nnefc(nnefc, folder), *options)
        away = np.abs(found - expected)
        assert np.count_nonzero(away > 1e-4 * np.abs(expected).max()) <= 0.02 * away.size + taps, (options, away.max())
        assert away.max() <= 0.03 * 127 * 0.02 * 1.01


def check_before_depthwise(random: np.random.Generator, channels: int, stride: int, dilation: int, pads: tuple[int, int],
                           limits: Limits, activation: str, nnefc: Path, folder: Path) -> None:
    """Compares a depthwise convolution of quantized values with OpenVINO. `pads` are those before and after each axis."""
    x = op.parameter([1, 6, 13, 12], F32, name="x")
    between = fake_quantize(ACTIVATIONS[activation](convolved(random, x, channels)), limits, 256)
    y = op.group_convolution(between, quantized_filter(random, [channels, 1, 1, 3, 3]), [stride, stride], [pads[0]] * 2, [pads[1]] * 2,
                             [dilation] * 2)
    y = op.add(y, op.constant(random.uniform(-1, 1, [1, channels, 1, 1]).astype(F32)))
    compare_with_openvino(random, save(op.relu(y), x, folder), 9, nnefc, folder)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("zero", [0, 128, 255, None])
@pytest.mark.parametrize(("channels", "stride", "dilation"), [(1, 1, 1), (15, 2, 1), (16, 1, 1), (17, 1, 2), (40, 2, 1)])
def test_before_depthwise(channels: int, stride: int, dilation: int, zero: int | None, activation: str, nnefc: Path,
                          tmp_path: Path) -> None:
    random = np.random.default_rng(channels)
    limits = ranges(random, [1, channels, 1, 1], 256, zero)
    check_before_depthwise(random, channels, stride, dilation, (dilation, dilation), limits, activation, nnefc, tmp_path)


@pytest.mark.parametrize("pads", [(0, 1), (1, 0), (2, 1)])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("channels", [2, 17, 32])
def test_zero_points_at_both_ends(channels: int, stride: int, pads: tuple[int, int], nnefc: Path, tmp_path: Path) -> None:
    """The zero points of neighbouring channels are the first and the last level, with unequal padding."""
    random = np.random.default_rng(channels)
    zeros = (255 * (np.arange(channels) % 2)).reshape(1, channels, 1, 1)
    limits = ranges(random, [1, channels, 1, 1], 256, zeros)
    check_before_depthwise(random, channels, stride, 1, pads, limits, "none", nnefc, tmp_path)


@pytest.mark.parametrize("zero", [0, 128, 255, None])
@pytest.mark.parametrize("parts", [[1, 2], [16, 17], [32, 16, 15]])
def test_parts_of_channels(parts: list[int], zero: int | None, nnefc: Path, tmp_path: Path) -> None:
    """A split between the quantization and depthwise convolutions of windows of different sizes."""
    random = np.random.default_rng(sum(parts))
    channels = sum(parts)
    limits = ranges(random, [1, channels, 1, 1], 256, zero)
    x = op.parameter([1, 6, 13, 12], F32, name="x")
    between = fake_quantize(convolved(random, x, channels), limits, 256)
    split = op.variadic_split(between, op.constant(1), op.constant(parts))
    results = []
    for at, part in enumerate(parts):
        size = 3 + 2 * at
        results.append(op.group_convolution(split.output(at), quantized_filter(random, [part, 1, 1, size, size]), [2, 2],
                                            [size // 2] * 2, [size // 2] * 2, [1, 1]))
    compare_with_openvino(random, save(op.concat(results, 1), x, tmp_path), 49, nnefc, tmp_path)
