"""Quantizations whose zero point is not whole, and Concat and Split of quantized images, before convolutions and matrix
multiplications: sums of NumPy in f64 and both backends, with and without VNNI."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from models import Nnefc
from window_sums import transposed

ov = pytest.importorskip("openvino")
from openvino import opset13 as op  # noqa: E402

F32 = np.float32
Node = ov.Node
INSTRUCTIONS = ["", "AVX2_VNNI", "AVX2"]


def constant(numbers: np.ndarray | float) -> Node:
    return op.constant(np.asarray(numbers, F32))


def fake_quantize(x: Node, low: float, high: float) -> Node:
    return op.fake_quantize(x, constant(low), constant(high), constant(low), constant(high), 256)


def round_to_levels(x: np.ndarray, low: float, high: float) -> np.ndarray:
    """Returns OpenVINO's formula of FakeQuantize in f64, of the limits in f32; halves are rounded to even."""
    first, last = float(F32(low)), float(F32(high))
    return np.rint((np.clip(x.astype(float), first, last) - first) / (last - first) * 255) / 255 * (last - first) + first


def quantized_filter(random: np.random.Generator, shape: list[int]) -> np.ndarray:
    """Returns whole multiples of a scale for each output channel."""
    scales = random.uniform(0.005, 0.02, [shape[0]] + [1] * (len(shape) - 1))
    return (random.integers(-127, 128, shape) * scales).astype(F32)


def convolve(x: np.ndarray, w: np.ndarray, stride: int, pad: int, groups: int = 1) -> np.ndarray:
    """Returns the sums of a convolution in f64, for a filter [outputs, inputs of a group, rows, columns]."""
    x = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)])
    rows, columns = ((x.shape[2 + i] - w.shape[2 + i]) // stride + 1 for i in range(2))
    y = np.zeros([x.shape[0], w.shape[0], rows, columns])
    inputs, outputs = w.shape[1], w.shape[0] // groups
    for group in range(groups):
        of_outputs = slice(group * outputs, (group + 1) * outputs)
        for i in range(w.shape[2]):
            for j in range(w.shape[3]):
                seen = x[:, group * inputs:(group + 1) * inputs, i:i + rows * stride:stride, j:j + columns * stride:stride]
                y[:, of_outputs] += np.einsum("nihw,oi->nohw", seen[:, :, :rows, :columns], w[of_outputs, :, i, j].astype(float))
    return y


def check(result: Node, x: Node, data: np.ndarray, expected: np.ndarray, tool: Nnefc, instructions: str,
          largest: float, level: float = 0) -> None:
    """Compares both backends with expected sums of numbers up to `largest`. `level`: of a quantized result, of which a
    number halfway between two levels may become either."""
    if instructions:
        tool.environment["ONEDNN_MAX_CPU_ISA"] = instructions
    ov.save_model(ov.Model([op.result(result, name="y")], [x]), tool.scratch / "net.xml", compress_to_fp16=False)
    np.savez(tool.scratch / "inputs.npz", x=data)
    # The others do not depend on the instructions of 8-bit kernels.
    for options in ([], ["--backend", "reference"], ["--precision", "exact"])[:1 if instructions else None]:
        found = next(iter(tool.run(tool.scratch / "net.xml", "--inputs", tool.scratch / "inputs.npz", *options).values()))
        away = np.abs(found - expected)
        tolerance = 2e-5 * np.abs(expected).max() + 3e-7 * largest
        assert np.count_nonzero(away > tolerance) <= (0.01 * away.size if level else 0), (options, away.max())
        assert away.max() <= level + tolerance, options


def largest_sum(low: float, high: float, filters: np.ndarray) -> float:
    """Returns the largest sum of magnitudes of products with numbers within limits."""
    return float(max(abs(low), abs(high)) * np.abs(filters).reshape(len(filters), -1).sum(1).max())


def multiples(random: np.random.Generator, shape: list[int], low: float, high: float) -> np.ndarray:
    """Returns numbers that are not halfway between levels, some of them beyond the limits."""
    step = (high - low) / 255
    return (low + step * (random.integers(-9, 265, shape) + random.uniform(-0.4, 0.4, shape))).astype(F32)


# Zero points 0.42, 0.005, 127.5, 254.7, below the first level and above the last one.
RANGES = [(-0.375, 228.519), (-0.0004, 20.0), (-1.0, 1.0), (-20.0, 0.0234), (0.5, 3.0), (-7.0, -1.25)]


@pytest.mark.parametrize("instructions", INSTRUCTIONS)
@pytest.mark.parametrize("pad", [0, 1])
@pytest.mark.parametrize(("channels", "outputs", "size", "stride", "groups"),
                         [(3, 5, 1, 1, 1), (16, 24, 1, 1, 1), (17, 33, 3, 2, 1), (32, 16, 3, 1, 1), (32, 32, 3, 1, 4), (24, 24, 3, 1, 24)])
@pytest.mark.parametrize(("low", "high"), RANGES)
def test_convolutions(low: float, high: float, channels: int, outputs: int, size: int, stride: int, groups: int, pad: int,
                      instructions: str, nnefc: Path, tmp_path: Path) -> None:
    random = np.random.default_rng(channels + outputs)
    x = op.parameter([2, channels, 9, 7], F32, name="x")
    data = multiples(random, [2, channels, 9, 7], low, high)
    filters = quantized_filter(random, [outputs, channels // groups, size, size])
    bias = random.uniform(-1, 1, [1, outputs, 1, 1]).astype(F32)
    quantized = fake_quantize(x, low, high)
    steps = [stride, stride], [pad, pad], [pad, pad], [1, 1]
    if groups == 1:
        y = op.convolution(quantized, constant(filters), *steps)
    else:
        y = op.group_convolution(quantized, constant(filters.reshape(groups, outputs // groups, *filters.shape[1:])), *steps)
    y = op.relu(op.add(y, constant(bias)))
    expected = np.maximum(convolve(round_to_levels(data, low, high), filters, stride, pad, groups) + bias, 0)
    check(y, x, data, expected, Nnefc(nnefc, tmp_path), instructions, largest_sum(low, high, filters))


@pytest.mark.parametrize("instructions", INSTRUCTIONS)
@pytest.mark.parametrize("function", ["none", "relu", "hswish"])
@pytest.mark.parametrize(("low", "high"), RANGES)
def test_chains(low: float, high: float, function: str, instructions: str, nnefc: Path, tmp_path: Path) -> None:
    """Two 1x1 convolutions, of which the results of the first one are quantized in its epilogue."""
    random = np.random.default_rng(5)
    x = op.parameter([1, 16, 5, 5], F32, name="x")
    data = multiples(random, [1, 16, 5, 5], -2, 2.08)
    first, second = quantized_filter(random, [32, 16, 1, 1]), quantized_filter(random, [24, 32, 1, 1])
    functions = {"none": (lambda y: y, lambda y: y), "relu": (op.relu, lambda y: np.maximum(y, 0)),
                 "hswish": (op.hswish, lambda y: y * np.clip(y + 3, 0, 6) / 6)}
    in_graph, in_numpy = functions[function]
    no_pads = [1, 1], [0, 0], [0, 0], [1, 1]
    y = in_graph(op.convolution(fake_quantize(x, -2, 2.08), constant(first), *no_pads))
    y = op.convolution(fake_quantize(y, low, high), constant(second), *no_pads)
    between = in_numpy(convolve(round_to_levels(data, -2, 2.08), first, 1, 0))
    expected = convolve(round_to_levels(between, low, high), second, 1, 0)
    check(y, x, data, expected, Nnefc(nnefc, tmp_path), instructions, largest_sum(low, high, second), level=(high - low) / 255 * 127 * 0.02)


@pytest.mark.parametrize("instructions", INSTRUCTIONS)
@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("shape", [[7, 24], [2, 5, 64], [3, 1, 5]])
@pytest.mark.parametrize(("low", "high"), RANGES)
def test_matmuls(low: float, high: float, shape: list[int], transpose: bool, instructions: str, nnefc: Path, tmp_path: Path) -> None:
    random = np.random.default_rng(shape[-1])
    x = op.parameter(shape, F32, name="x")
    data = multiples(random, shape, low, high)
    columns = quantized_filter(random, [20, shape[-1]])
    y = op.matmul(fake_quantize(x, low, high), constant(columns if transpose else columns.T.copy()), False, transpose)
    expected = round_to_levels(data, low, high) @ columns.T.astype(float)
    check(y, x, data, expected, Nnefc(nnefc, tmp_path), instructions, largest_sum(low, high, columns))


@pytest.mark.parametrize("instructions", INSTRUCTIONS)
@pytest.mark.parametrize("by_channel", [False, True])
@pytest.mark.parametrize("zero", [0, 77, 128, 255])
@pytest.mark.parametrize(("channels", "outputs", "size", "stride", "pads", "more"),
                         [(16, 24, 4, 2, (1, 1), 0), (24, 24, 2, 2, (0, 0), 0), (24, 1, 2, 2, (0, 0), 0), (17, 33, 3, 2, (1, 1), 1),
                          (16, 16, 3, 1, (1, 0), 0), (12, 20, 3, 3, (0, 2), 0), (16, 18, 2, 3, (0, 0), 0), (16, 16, 3, 2, (0, 0), 1)])
def test_transposed(channels: int, outputs: int, size: int, stride: int, pads: tuple[int, int], more: int, zero: int,
                    by_channel: bool, instructions: str, nnefc: Path, tmp_path: Path) -> None:
    """Two transposed convolutions with quantized filters as NNCF writes them, by a FakeQuantize of 255 levels."""
    random = np.random.default_rng(channels + outputs)
    low, high, between = -zero * 0.03, (255 - zero) * 0.03, 0.02 * 255
    x = op.parameter([2, channels, 5, 7], F32, name="x")
    data = multiples(random, [2, channels, 5, 7], low, high)

    def quantized(shape: list[int]) -> tuple[Node, np.ndarray]:
        limits = random.uniform(0.3, 0.9, [1, shape[1], 1, 1] if by_channel else []).astype(F32)
        numbers = random.uniform(-1, 1, shape).astype(F32)
        scales = limits.astype(float) / 127
        return (op.fake_quantize(constant(numbers), constant(-limits), constant(limits), constant(-limits), constant(limits), 255),
                np.rint(np.clip(numbers, -limits, limits) / scales) * scales)

    (first, in_f64), (second, second_in_f64) = quantized([channels, outputs, size, size]), quantized([outputs, 18, 2, 2])
    bias = random.uniform(-1, 1, [1, outputs, 1, 1]).astype(F32)
    y = op.convolution_backprop_data(fake_quantize(x, low, high), first, [stride] * 2, None, [pads[0]] * 2, [pads[1]] * 2, [1, 1],
                                     "explicit", [more] * 2)
    y = fake_quantize(op.relu(op.add(y, constant(bias))), 0, between)
    y = op.convolution_backprop_data(y, second, [2, 2])
    sums = transposed(round_to_levels(data, low, high), in_f64, [stride] * 2, [1, 1], [pads[0]] * 2, [pads[1] - more] * 2)
    levels = round_to_levels(np.maximum(sums + bias, 0), 0, between)
    expected = transposed(levels, second_in_f64, [2, 2], [1, 1], [0, 0], [0, 0])
    check(y, x, data, expected, Nnefc(nnefc, tmp_path), instructions, between * np.abs(second_in_f64).sum((0, 2, 3)).max(),
          level=between / 255 * 0.9 * 2)


@pytest.mark.parametrize("instructions", INSTRUCTIONS)
@pytest.mark.parametrize("zero", [0, 128])
@pytest.mark.parametrize(("kind", "others"), [("transposed", ()), ("transposed", (0,)), ("transposed", (1,)), ("transposed", (0, 1)),
                                              ("matmul", (0,)), ("matmul", (1,)), ("matmul", (0, 1))])
@pytest.mark.parametrize("channels", [(16, 16), (3, 21), (1, 7, 24)])
def test_concatenations(channels: tuple[int, ...], kind: str, others: tuple[int, ...], zero: int, instructions: str, nnefc: Path,
                        tmp_path: Path) -> None:
    """Parts from convolutions and transposed ones, in channels-last order, and from matrix products, in row-major order."""
    random = np.random.default_rng(sum(channels))
    low, high = -zero * 0.03, (255 - zero) * 0.03
    x = op.parameter([1, 8, 6, 5], F32, name="x")
    data = multiples(random, [1, 8, 6, 5], -2, 2.08)
    quantized, seen = fake_quantize(x, -2, 2.08), round_to_levels(data, -2, 2.08)
    parts, expected = [], []
    for i, outputs in enumerate(channels):
        filters = quantized_filter(random, [outputs, 8, 1, 1])
        if i in others and kind == "transposed":
            part = op.convolution_backprop_data(quantized, constant(filters.transpose(1, 0, 2, 3).copy()), [1, 1])
        elif i in others:
            rows = op.matmul(constant(filters[:, :, 0, 0]), op.reshape(quantized, op.constant([8, 30]), False), False, False)
            part = op.reshape(rows, op.constant([1, outputs, 6, 5]), False)
        else:
            part = op.convolution(quantized, constant(filters), [1, 1], [0, 0], [0, 0], [1, 1])
        parts.append(fake_quantize(part, low, high))
        expected.append(round_to_levels(convolve(seen, filters, 1, 0), low, high))
    last = quantized_filter(random, [9, sum(channels), 3, 3])
    y = op.convolution(op.concat(parts, 1), constant(last), [1, 1], [1, 1], [1, 1], [1, 1])
    sums = convolve(np.concatenate(expected, 1), last, 1, 1)
    # A level of one number reaches nine results.
    check(y, x, data, sums, Nnefc(nnefc, tmp_path), instructions, largest_sum(low, high, last), level=0.03 * 127 * 0.02 * 1.01)


@pytest.mark.parametrize("instructions", INSTRUCTIONS)
@pytest.mark.parametrize("axis", [1, -3])
@pytest.mark.parametrize("zero", [0, 128, 3])
@pytest.mark.parametrize("lengths", [(16, 16), (3, 29), (8, 1, 23)])
def test_splits(lengths: tuple[int, ...], zero: int, axis: int, instructions: str, nnefc: Path, tmp_path: Path) -> None:
    """A quantized image is split; MaxPool, a convolution and a sum read its parts, and a Concat joins them."""
    random = np.random.default_rng(sum(lengths))
    channels, last = sum(lengths), lengths[-1]
    low, high = -zero * 0.03, (255 - zero) * 0.03
    x = op.parameter([1, 8, 6, 5], F32, name="x")
    data = multiples(random, [1, 8, 6, 5], -2, 2.08)
    no_pads, pads = ([1, 1], [0, 0], [0, 0], [1, 1]), ([1, 1], [1, 1], [1, 1], [1, 1])
    first, second = quantized_filter(random, [channels, 8, 1, 1]), quantized_filter(random, [last, last, 3, 3])
    third = quantized_filter(random, [9, channels + 2 * last, 1, 1])
    whole = fake_quantize(op.relu(op.convolution(fake_quantize(x, -2, 2.08), constant(first), *no_pads)), low, high)
    if len(set(lengths)) == 1:
        parts = op.split(whole, op.constant(np.int64(axis)), len(lengths)).outputs()
    else:
        parts = op.variadic_split(whole, op.constant(np.int64(axis)), op.constant(np.asarray(lengths))).outputs()
    pooled = op.max_pool(parts[-1], [1, 1], [1, 1], [1, 1], [1, 1], [3, 3]).output(0)
    changed = fake_quantize(op.convolution(parts[-1], constant(second), *pads), low, high)
    added = fake_quantize(op.add(parts[-1], changed), low, high)
    y = op.convolution(op.concat([*parts, pooled, added], 1), constant(third), *no_pads)

    levels = round_to_levels(np.maximum(convolve(round_to_levels(data, -2, 2.08), first, 1, 0), 0), low, high)
    end = levels[:, channels - last:]
    padded = np.pad(end, [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=-np.inf)
    maxima = np.max([padded[:, :, i:i + 6, j:j + 5] for i in range(3) for j in range(3)], axis=0)
    sums = round_to_levels(end + round_to_levels(convolve(end, second, 1, 1), low, high), low, high)
    expected = convolve(np.concatenate([levels, maxima, sums], 1), third, 1, 0)
    # A number that becomes the other level reaches each consumer, and moves the sums of the second convolution.
    check(y, x, data, expected, Nnefc(nnefc, tmp_path), instructions, largest_sum(low, high, third),
          level=8 * 0.03 * 127 * 0.02)
