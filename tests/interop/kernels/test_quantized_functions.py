"""Functions between a convolution or transposed convolution of quantized values and the quantization of its result: by NumPy in f64, for all
instruction sets."""

from __future__ import annotations

import math
import os
import subprocess
from pathlib import Path
from typing import Callable

import numpy as np
import openvino as ov
import pytest
from openvino import opset13 as op

from processor import has_lanes
from window_sums import convolved, transposed

F32 = np.float32
RANDOM = np.random.default_rng(11)
Function = Callable[[np.ndarray], np.ndarray]

# Filters [outputs, inputs, rows, columns] with the stride, the dilation and the padding before and after. Transposed
# convolutions have output padding instead of a negative one after.
FILTERS = {
    "pixels": ([24, 16, 1, 1], 1, 1, (0, 0)),
    "few inputs": ([33, 4, 1, 1], 1, 1, (0, 0)),
    "odd inputs": ([16, 5, 1, 1], 1, 1, (0, 0)),
    "one": ([1, 8, 1, 1], 1, 1, (0, 0)),
    "window": ([17, 8, 3, 3], 1, 1, (1, 1)),
    "uneven border": ([16, 8, 3, 3], 2, 1, (0, 1)),
    "dilated": ([20, 12, 3, 3], 1, 2, (2, 2)),
    "depthwise": ([24, 1, 3, 3], 1, 1, (1, 1)),
    "depthwise, stride 2": ([32, 1, 3, 3], 2, 1, (0, 1)),
    "depthwise, dilated": ([17, 1, 3, 3], 1, 2, (2, 2)),
    "depthwise, 5x5": ([16, 1, 5, 5], 1, 1, (2, 2)),
    "depthwise, one": ([1, 1, 3, 3], 1, 1, (1, 1)),
    "transposed": ([24, 16, 4, 4], 2, 1, (1, 1)),
    "transposed, adjacent": ([20, 24, 2, 2], 2, 1, (0, 0)),
    "transposed, uneven": ([17, 8, 3, 3], 2, 1, (1, 0)),
    "transposed, apart": ([16, 16, 2, 2], 3, 1, (0, 0)),
    "transposed, output padding": ([33, 12, 3, 3], 2, 1, (1, -1)),
    "transposed, one": ([1, 16, 2, 2], 2, 1, (0, 0)),
}


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def erf(x: np.ndarray) -> np.ndarray:
    return np.vectorize(math.erf)(x)


def per_channel(low: float, high: float, channels: int) -> np.ndarray:
    return RANDOM.uniform(low, high, [1, channels, 1, 1]).astype(F32)


def activation(name: str, y: ov.Node) -> tuple[ov.Node, Function]:
    """Returns a function of `y`, and its formula in f64."""
    slopes, factors, terms = (per_channel(*limits, y.shape[1]) for limits in ((-0.5, 0.8), (0.4, 1.5), (-0.3, 0.3)))
    if name == "prelu":
        return op.prelu(y, slopes), lambda x: np.where(x < 0, x * slopes, x)
    if name == "leaky":
        return op.prelu(y, np.asarray([0.1], F32)), lambda x: np.where(x < 0, x * F32(0.1), x)
    if name == "hswish":
        return op.hswish(y), lambda x: x * np.clip(x + 3, 0, 6) / 6
    if name == "swish":
        return op.swish(y), lambda x: x * sigmoid(x)
    if name == "sigmoid":
        return op.sigmoid(y), sigmoid
    if name == "tanh":
        return op.tanh(y), np.tanh
    if name == "gelu":
        return op.gelu(y, "erf"), lambda x: 0.5 * x * (1 + erf(x / math.sqrt(2)))
    if name == "elu":
        return op.elu(y, 0.7), lambda x: np.where(x < 0, 0.7 * (np.exp(x) - 1), x)
    if name == "mish":
        return op.mish(y), lambda x: x * np.tanh(np.log1p(np.exp(x)))
    if name == "clamp, scaled, shifted":
        limited = op.clamp(y, -0.8, 1.1)
        return op.add(op.multiply(limited, factors), terms), lambda x: np.clip(x, -0.8, 1.1) * factors + terms
    if name == "hswish, scaled, shifted":
        scaled = op.add(op.multiply(op.hswish(y), factors), terms)
        return scaled, lambda x: x * np.clip(x + 3, 0, 6) / 6 * factors + terms
    assert name == "swish, then tanh"
    return op.tanh(op.swish(y)), lambda x: np.tanh(x * sigmoid(x))


ACTIVATIONS = ["prelu", "leaky", "hswish", "swish", "sigmoid", "tanh", "gelu", "elu", "mish", "clamp, scaled, shifted",
               "hswish, scaled, shifted", "swish, then tanh"]


def quantize(x: np.ndarray, scale: float, zero: int) -> np.ndarray:
    return np.clip(np.rint(x / scale) + zero, 0, 255)


def fake_quantize(x: ov.Node, scale: float, zero: int) -> ov.Node:
    low, high = np.asarray(-zero * scale, F32), np.asarray((255 - zero) * scale, F32)
    return op.fake_quantize(x, low, high, low, high, 256)


@pytest.mark.parametrize("instructions", ["", "AVX512_CORE", "AVX2_VNNI", "AVX2"])
@pytest.mark.parametrize("zero", [0, 77, 255])
@pytest.mark.parametrize("shape", FILTERS)
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_functions(name: str, shape: str, zero: int, instructions: str, nnefc: Path, tmp_path: Path) -> None:
    if zero != 77 and name not in ("prelu", "hswish, scaled, shifted"):
        pytest.skip("zero points are independent of the other functions")
    extents, stride, dilation, border = FILTERS[shape]
    outputs, inputs = extents[:2]
    is_depthwise, is_transposed = shape.startswith("depthwise"), shape.startswith("transposed")
    channels = outputs if is_depthwise else inputs
    codes = RANDOM.integers(-127, 128, extents)
    codes[:, 0, 0, 0] = 127  # the scales of filters are found by their largest element
    scales = RANDOM.uniform(0.5, 1.5, [outputs, 1, 1, 1]) * 0.6 / (90 * math.sqrt(np.prod(extents[1:])))
    filter = (codes * scales).astype(F32)
    source_scale, result_scale, result_zero = 1.3 / 255 * 3, 3.1 / 255, 64
    x = op.parameter([2, channels, 9, 12], F32, name="x")
    x.output(0).set_names({"x"})
    window = [stride] * 2, [border[0]] * 2, [max(0, border[1])] * 2, [dilation] * 2
    quantized = fake_quantize(x, source_scale, zero)
    if is_transposed:
        y = op.convolution_backprop_data(quantized, op.constant(filter.swapaxes(0, 1)), window[0], None, window[1], window[2],
                                         window[3], "explicit", [max(0, -border[1])] * 2)
    elif is_depthwise:
        y = op.group_convolution(quantized, op.constant(filter.reshape(outputs, 1, 1, *extents[2:])), *window)
    else:
        y = op.convolution(quantized, op.constant(filter), *window)
    bias = per_channel(-0.5, 0.5, outputs)
    y, formula = activation(name, op.add(y, bias))
    y = fake_quantize(y, result_scale, result_zero)
    # A reader of quantized values that returns them: an identity matrix.
    identity = (np.eye(outputs) * 127 * 2.0 ** -6).astype(F32).reshape(outputs, outputs, 1, 1)
    result = op.result(op.convolution(y, op.constant(identity), [1, 1], [0, 0], [0, 0], [1, 1]))
    result.input_value(0).set_names({"y"})
    ov.save_model(ov.Model([result], [x]), tmp_path / "net.xml", compress_to_fp16=False)
    data = RANDOM.uniform(-1, 1, x.shape) * source_scale * 260
    data = data.astype(F32)
    np.savez(tmp_path / "in.npz", x=data)
    environment = {**os.environ, **({"ONEDNN_MAX_CPU_ISA": instructions} if instructions else {})}
    done = subprocess.run([nnefc, "run", tmp_path / "net.xml", "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz",
                           "--profile"], capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    found = np.load(tmp_path / "out.npz")["y"] / (127 * 2.0 ** -6) / result_scale + result_zero
    grouped = (codes * scales).reshape(outputs, 1, 1, *extents[2:]) if is_depthwise else (codes * scales)[None]
    numbers = (quantize(data, source_scale, zero) - zero) * source_scale
    geometry = [stride] * 2, [dilation] * 2, [border[0]] * 2, [border[1]] * 2
    numbers = transposed(numbers, (codes * scales).swapaxes(0, 1), *geometry) if is_transposed else convolved(numbers, grouped,
                                                                                                             *geometry)
    expected = quantize(formula(numbers + bias), result_scale, result_zero)
    away = np.abs(found - expected)
    # Numbers nearly halfway between two quantized values may become the other one.
    assert away.max() < 1.01 and np.count_nonzero(away > 0.01) <= 0.004 * away.size + 1
    assert 20 < np.unique(expected).size
    if has_lanes() and outputs > 1 and not is_transposed and instructions in ("AVX512_CORE", "AVX2"):  # our kernels, whatever the processor
        assert "FakeQuantize" in next(line for line in (done.stdout + done.stderr).splitlines() if "onvolution+Add" in line)
