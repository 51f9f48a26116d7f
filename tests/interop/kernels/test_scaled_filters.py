"""Scales and biases of channels after filters of all kinds, in their storage types: OpenVINO's results, with and
without transformations, and the remaining nodes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from models import Nnefc

ov = pytest.importorskip("openvino")
from openvino import opset13 as op  # noqa: E402

from openvino_oracle import openvino_outputs, random_inputs  # noqa: E402

F32 = np.float32
# Extents of filters that are too large to be folded into another type.
WINDOW = (20, 20)
RANDOM = np.random.default_rng(31)
NONE = [0, 0]
Node = ov.Node


def numbers(*shape: int, dtype: type = F32) -> np.ndarray:
    return RANDOM.uniform(-1, 1, shape).astype(dtype)


def plain(value: np.ndarray) -> Node:
    return op.constant(value)


def half(value: np.ndarray) -> Node:
    return op.convert(op.constant(value.astype(np.float16)), "f32")


def quantized(value: np.ndarray) -> Node:
    low, high = op.constant(np.full([1] * value.ndim, -1, F32)), op.constant(np.full([1] * value.ndim, 1, F32))
    return op.fake_quantize(op.constant(value), low, high, low, high, 255)


def convolution(x: Node, kept: Callable[[np.ndarray], Node]) -> Node:
    return op.convolution(x, kept(numbers(6, 4, *WINDOW)), [1, 1], NONE, NONE, [1, 1])


def grouped(x: Node, kept: Callable[[np.ndarray], Node]) -> Node:
    return op.group_convolution(x, kept(numbers(2, 3, 2, *WINDOW)), [1, 1], NONE, NONE, [1, 1])


def transposed(x: Node, kept: Callable[[np.ndarray], Node]) -> Node:
    return op.convolution_backprop_data(x, kept(numbers(4, 6, *WINDOW)), [2, 2], pads_begin=NONE, pads_end=NONE, dilations=[1, 1])


def grouped_transposed(x: Node, kept: Callable[[np.ndarray], Node]) -> Node:
    return op.group_convolution_backprop_data(x, kept(numbers(2, 2, 3, *WINDOW)), [2, 2], pads_begin=NONE, pads_end=NONE, dilations=[1, 1])


def scale(y: Node) -> Node:
    return op.multiply(y, op.constant(numbers(1, 6, 1, 1)))


def affine(y: Node) -> Node:
    """Adds terms that do not cancel."""
    first, factor, last = (op.constant(RANDOM.uniform(0.5, 1.5, [1, 6, 1, 1]).astype(F32)) for _ in range(3))
    return op.add(op.multiply(op.add(y, first), factor), last)


def normalization(y: Node) -> Node:
    gamma, beta, mean, variance = numbers(6), numbers(6), numbers(6), RANDOM.uniform(0.5, 1.5, 6).astype(F32)
    return op.batch_norm_inference(y, op.constant(gamma), op.constant(beta), op.constant(mean), op.constant(variance), 1e-3)


FILTERS = {"convolution": convolution, "grouped": grouped, "transposed": transposed, "grouped_transposed": grouped_transposed}
KEPT = {"plain": plain, "half": half, "quantized": quantized}
BEHIND = {"scale": scale, "affine": affine, "normalization": normalization}


def assert_close(found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape and np.abs(one - other).max() <= 1e-5 * np.abs(other).max()


def operations_of(result: Node, x: Node, nnefc: Path, folder: Path) -> list[str]:
    """Returns nnefc's operations for a model, after checking its numbers: in nnefc, without transformations, and in
    OpenVINO."""
    model = ov.Model([op.result(result, name="y")], [x])
    ov.save_model(model, folder / "net.xml", compress_to_fp16=False)
    inputs = random_inputs(folder / "net.xml")
    expected = openvino_outputs(folder / "net.xml", inputs)
    tool = Nnefc(nnefc, folder)
    np.savez(folder / "inputs.npz", **inputs)
    for program in (tool, tool.without_transformations()):
        for backend in ("reference", "fast"):
            found = program.run(folder / "net.xml", "--inputs", folder / "inputs.npz", "--backend", backend)
            assert_close(list(found.values()), expected)
    tool.must("compile", folder / "net.xml", "-o", folder / "again.xml")
    assert_close(openvino_outputs(folder / "again.xml", inputs), expected)
    return [line.split()[2].partition(".")[2] for line in tool.must("compile", folder / "net.xml").splitlines() if " = opset" in line]


@pytest.mark.parametrize("behind", BEHIND)
@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("name", FILTERS)
def test_filters_take_scales_in(name: str, kept: str, behind: str, nnefc: Path, tmp_path: Path) -> None:
    x = op.parameter([2, 4, 22, 21], F32, name="x")
    made = operations_of(BEHIND[behind](FILTERS[name](x, KEPT[kept])), x, nnefc, tmp_path)
    behind_filter = made[[place for place, word in enumerate(made) if "Convolution" in word][0] + 1:]
    assert [word for word in behind_filter if word != "Const"] == ([] if behind == "scale" else ["Add"])
    assert ("FakeQuantize" in made) == (kept == "quantized") and ("Convert" in made) == (kept == "half")


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("name", FILTERS)
def test_filters_take_scales_of_their_input_in(name: str, kept: str, nnefc: Path, tmp_path: Path) -> None:
    x = op.parameter([2, 4, 22, 21], F32, name="x")
    made = operations_of(FILTERS[name](op.multiply(x, op.constant(numbers(1, 4, 1, 1))), KEPT[kept]), x, nnefc, tmp_path)
    assert made.count("Multiply") == (1 if kept == "half" else 0)
    assert made.count("Const") == {"plain": 1, "half": 2, "quantized": 5}[kept]
