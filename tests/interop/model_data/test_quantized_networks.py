"""Networks with FakeQuantize, whose convolutions and matrix multiplications run in 8-bit integers: against our
reference kernels, which compute the formulas in f32, and against OpenVINO."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino import opset1 as ops

from processor import bf16_environment, has_lanes
from profile_text import measured_steps

SEEDS = range(12)
# For ties between two quantized values, f32 sums in another order select the other one. This changes the outputs of a
# matrix multiplication or a convolution: each element at most by this share of the largest number, and less in the
# mean.
DISTANCE_OFF = 0.05
MEAN_OFF = 1e-3
BF16_DISTANCE = 0.1  # by root mean squares


def model_of(x: ov.Node, *outputs: ov.Node) -> ov.Model:
    """Returns a model with one input and results y0, y1 ..."""
    results = [ops.result(output) for output in outputs]
    for number, result in enumerate(results):
        result.input_value(0).set_names({f"y{number}"})
    return ov.Model(results, [x], "quantized")


class Network:
    """A random network of convolutions with quantization between them."""

    # One of these shows that int8 kernels ran.
    kernels = ("nnefc:int8_sum", "FakeQuantize+Add")

    def __init__(self, seed: int, exact: bool = False) -> None:
        self.random = np.random.default_rng(seed)
        self.exact = exact  # scales are powers of two, so that no sum is rounded
        shape = self.input_shape()
        self.input = ops.parameter(shape, np.float32, name="x")
        self.input.output(0).set_names({"x"})
        if exact:
            self.data = (self.random.integers(-100, 100, shape) / 32).astype(np.float32)
        else:
            self.data = self.random.standard_normal(shape).astype(np.float32)

    def input_shape(self) -> list[int]:
        return [int(self.random.integers(1, 3)), int(self.random.choice([3, 8, 16, 19])), *self.random.integers(5, 14, 2).tolist()]

    def scale(self) -> float:
        return 2.0 ** -5 if self.exact else float(self.random.uniform(0.01, 0.05))

    def quantized(self, x: ov.Node, positive: bool) -> ov.Node:
        scale, zero = self.scale(), 0 if positive else int(self.random.integers(100, 156))
        low, high = np.float32(-scale * zero), np.float32(scale * (255 - zero))
        return ops.fake_quantize(x, *(np.full([1] * 4, limit, np.float32) for limit in (low, high, low, high)), 256)

    def filter_of(self, shape: list[int], channels: int) -> np.ndarray:
        codes = self.random.integers(-127, 128, shape)
        scales = np.full(channels, 2.0 ** -9) if self.exact else self.random.uniform(0.001, 0.01, channels)
        return (codes * scales.reshape([channels] + [1] * (len(shape) - 1)).astype(np.float32)).astype(np.float32)

    def convolved(self, x: ov.Node, outputs: int) -> ov.Node:
        inputs = x.get_output_shape(0)[1]
        size = int(self.random.choice([1, 3]))
        pads = [size // 2] * 2
        groups = inputs if outputs == inputs and self.random.random() < 0.3 else 1
        strides, dilations = [1, 1], [1, 1]
        if groups > 1:
            weights = self.filter_of([groups, outputs // groups, 1, size, size], outputs)
            y = ops.group_convolution(x, weights, strides, pads, pads, dilations)
        else:
            y = ops.convolution(x, self.filter_of([outputs, inputs, size, size], outputs), strides, pads, pads, dilations)
        if self.random.random() < 0.7:
            bias = self.random.integers(-20, 20, [1, outputs, 1, 1]) / 64
            y = ops.add(y, bias.astype(np.float32))
        return y

    def activated(self, x: ov.Node) -> ov.Node:
        positive = bool(self.random.random() < 0.5)
        return self.quantized(ops.relu(x) if positive else x, positive)

    def made(self) -> ov.Model:
        x = self.quantized(self.input, positive=False)
        width = int(self.random.choice([8, 16, 21, 32]))
        x = self.activated(self.convolved(x, width))
        if self.random.random() < 0.5:
            x = ops.max_pool(x, [1, 1], [1, 1], [1, 1], [3, 3])
        for _ in range(int(self.random.integers(1, 4))):
            left = self.quantized(self.convolved(self.activated(self.convolved(x, width)), width), positive=False)
            x = self.activated(ops.add(left, x))
        y = self.convolved(x, 7)
        return model_of(self.input, y, ops.reduce_mean(x, np.array([2, 3]), True))


class Joined(Network):
    """Channels of several results that were quantized separately, quantized again together."""

    kernels = ("nnefc:int8_concat",)

    def made(self) -> ov.Model:
        # If outputs and inputs are equal in number, filters may have one weight each, with scales other than powers of
        # two.
        x = self.activated(self.convolved(self.quantized(self.input, positive=False), 24))
        for _ in range(int(self.random.integers(1, 4))):
            parts = [self.activated(self.convolved(x, int(self.random.choice([5, 9, 16, 41]))))
                     for _ in range(int(self.random.integers(2, 5)))]
            if self.random.random() < 0.3:
                parts.append(x)  # also read by others
            x = self.quantized(ops.concat(parts, 1 if self.random.random() < 0.5 else -3), positive=False)
            if self.random.random() < 0.3:
                x = ops.max_pool(x, [1, 1], [1, 1], [1, 1], [3, 3])
        return model_of(self.input, self.convolved(x, 7), ops.reduce_mean(x, np.array([2, 3]), True))


class Images(Network):
    """Only 3x3 filters, with channels that fill blocks."""

    def input_shape(self) -> list[int]:
        return [int(self.random.integers(1, 3)), 32, *self.random.integers(7, 31, 2).tolist()]

    def made(self) -> ov.Model:
        x = self.quantized(self.input, positive=False)
        for _ in range(3):
            outputs, inputs = int(self.random.choice([32, 40, 48, 64])), x.get_output_shape(0)[1]
            pads = self.random.integers(0, 2, 4).tolist()
            y = ops.convolution(x, self.filter_of([outputs, inputs, 3, 3], outputs), [1, 1], pads[:2], pads[2:], [1, 1])
            x = self.activated(y)
        y = ops.convolution(x, self.filter_of([7, x.get_output_shape(0)[1], 3, 3], 7), [1, 1], [1, 1], [1, 1], [1, 1])
        return model_of(self.input, y, ops.reduce_mean(x, np.array([2, 3]), True))


class Windows(Network):
    """Windows of any extents, strides, dilations and borders, of different channel counts, over images and rows."""

    def input_shape(self) -> list[int]:
        spatial = int(self.random.integers(1, 3))
        return [int(self.random.integers(1, 3)), int(self.random.choice([1, 2, 3, 5, 17, 32, 48])),
                *self.random.integers(4, 9, spatial).tolist()]

    def quantized(self, x: ov.Node, positive: bool) -> ov.Node:
        scale, zero = self.scale(), int(self.random.choice([1, 100, 128, 254]))
        low, high = np.float32(-scale * zero), np.float32(scale * (255 - zero))
        return ops.fake_quantize(x, *(np.full([], limit, np.float32) for limit in (low, high, low, high)), 256)

    def seen(self, x: ov.Node, quantity: int) -> ov.Node:
        shape = list(x.get_output_shape(0))
        spatial = len(shape) - 2

        def draw(least: int, most: int) -> list[int]:
            return self.random.integers(least, most, spatial).tolist()

        size, strides, dilations, begin, end = draw(1, 4), draw(1, 3), draw(1, 3), draw(0, 3), draw(0, 5)
        for axis in range(spatial):
            end[axis] = max(end[axis], dilations[axis] * (size[axis] - 1) + 1 - shape[2 + axis] - begin[axis])
        channels = shape[1]
        if self.random.random() < 0.4:
            filters = self.filter_of([channels, 1, 1, *size], channels)
            return ops.group_convolution(x, filters, strides, begin, end, dilations)
        return ops.convolution(x, self.filter_of([quantity, channels, *size], quantity), strides, begin, end, dilations)

    def made(self) -> ov.Model:
        x = self.quantized(self.input, positive=False)
        for _ in range(3):
            x = self.quantized(self.seen(x, int(self.random.choice([3, 16, 17, 40]))), positive=False)
        axes = np.arange(2, len(x.get_output_shape(0)))
        return model_of(self.input, self.seen(x, 7), ops.reduce_mean(x, axes, bool(self.random.random() < 0.5)))


class Products(Network):
    """The same for matrix multiplications with constant matrices, as in transformers."""

    kernels = ("nnefc:quantize",)

    def input_shape(self) -> list[int]:
        rows = [int(self.random.choice([1, 3, 8, 17]))]
        if self.random.random() < 0.7:
            rows.insert(0, int(self.random.integers(1, 4)))
        return [*rows, int(self.random.choice([4, 16, 33, 64]))]

    def quantized(self, x: ov.Node, positive: bool) -> ov.Node:
        scale, zero = self.scale(), 0 if positive else int(self.random.integers(100, 156))
        low, high = np.float32(-scale * zero), np.float32(scale * (255 - zero))
        shape = [1] * int(self.random.integers(0, 3))
        return ops.fake_quantize(x, *(np.full(shape, limit, np.float32) for limit in (low, high, low, high)), 256)

    def product(self, x: ov.Node, outputs: int) -> ov.Node:
        matrix = self.filter_of([outputs, x.get_output_shape(0)[-1]], outputs)
        transposed = bool(self.random.random() < 0.5)
        y = ops.matmul(x, matrix if transposed else np.ascontiguousarray(matrix.T), False, transposed)
        if self.random.random() < 0.7:
            bias = self.random.integers(-20, 20, [1] * int(self.random.integers(0, 2)) + [outputs]) / 64
            y = ops.add(y, bias.astype(np.float32))
        return y

    def made(self) -> ov.Model:
        x = self.quantized(self.input, positive=False)
        width = int(self.random.choice([8, 16, 21, 48]))
        x = self.activated(self.product(x, width))
        for _ in range(int(self.random.integers(1, 4))):
            inner = self.activated(self.product(x, 2 * width))
            if not self.exact and self.random.random() < 0.5:
                inner = self.quantized(ops.tanh(self.product(x, 2 * width)), positive=False)
            x = self.quantized(ops.add(self.product(inner, width), x), positive=False)
        return model_of(self.input, self.product(x, 7), ops.reduce_mean(x, np.array([0]), True))


class Functions(Products):
    """Functions of quantized values, over several nodes with quantization between them, on rows or images, and
    reshaped."""

    kernels = ("nnefc:int8_table",)

    def input_shape(self) -> list[int]:
        return [int(self.random.integers(2, 5)), 16, 32]

    def function(self, x: ov.Node) -> ov.Node:
        kind = int(self.random.integers(0, 5))
        number = np.float32(self.random.uniform(0.5, 1.5))
        if kind == 0:  # only the sigmoid is quantized
            return ops.multiply(x, self.repeated(ops.sigmoid(x), True))
        if kind == 1:
            y = self.quantized(ops.add(ops.erf(ops.multiply(x, number)), np.ones([1, 1], np.float32)), True)
            return ops.multiply(self.quantized(ops.multiply(x, y), False), np.float32(0.5))
        if kind == 2:
            return ops.tanh(ops.relu(self.quantized(x, False)))
        if kind == 3:
            return ops.elu(ops.subtract(number, x), 1.0)
        # No Clamp: OpenVINO rounds its limits to values of the previous quantization.
        return ops.divide(ops.exp(ops.minimum(x, np.float32(1))), number)

    def repeated(self, x: ov.Node, positive: bool) -> ov.Node:
        """Quantizes twice with the same limits, in sequence or with data movement between."""
        x = self.quantized(x, positive)
        limits = [x.input_value(i) for i in range(1, 5)]
        shape = list(x.get_output_shape(0))
        if self.random.random() < 0.5:
            y = ops.reshape(x, np.array([shape[0] * shape[1], *shape[2:]]), False)
            y = ops.fake_quantize(y, *limits, 256)
            x = ops.reshape(y, np.array(shape), False)
        return ops.fake_quantize(x, *limits, 256)

    def made(self) -> ov.Model:
        x = self.quantized(self.input, positive=False)
        is_image = bool(self.random.random() < 0.5)
        for _ in range(int(self.random.integers(2, 4))):
            if is_image:
                image = ops.reshape(x, np.array([1, *x.get_output_shape(0)]), False)
                image = ops.transpose(image, np.array([0, 3, 1, 2]))
                y = ops.convolution(image, self.filter_of([32, 32, 3, 3], 32), [1, 1], [1, 1], [1, 1], [1, 1])
                y = ops.squeeze(ops.transpose(self.quantized(y, False), np.array([0, 2, 3, 1])), np.array([0]))
            else:
                y = self.product(x, 32)
            y = self.repeated(y, positive=False)
            x = self.repeated(self.function(y), positive=False)
            if self.random.random() < 0.3:
                x = ops.add(x, y)
        return model_of(self.input, self.product(x, 7), ops.reduce_mean(x, np.array([0]), True))


KINDS = pytest.mark.parametrize("kind", [Network, Products, Functions, Joined])
KINDS_OF_SUMS = pytest.mark.parametrize("kind", [Network, Products, Joined])


def ours(nnefc: Path, folder: Path, *options: str, by_cost: bool = False, **environment: str) -> tuple[list[np.ndarray], str]:
    """Runs a network in 8 bits wherever it can, or only where that takes less time than f32."""
    outputs = folder / "outputs.npz"
    if not by_cost:
        options = (*options, "--disable-transformations", "target.UnmarkSlowRegions")
    done = subprocess.run([nnefc, "run", folder / "net.xml", "--inputs", folder / "inputs.npz", "--outputs", outputs,
                           "--profile", *options], capture_output=True, text=True, timeout=120, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    with np.load(outputs) as found:
        return [found["y0"], found["y1"]], measured_steps(done.stdout + done.stderr)


def write(network: Network, folder: Path) -> None:
    ov.save_model(network.made(), folder / "net.xml", compress_to_fp16=False)
    np.savez(folder / "inputs.npz", x=network.data)


def assert_near(found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    for one, other in zip(found, expected, strict=True):
        away = np.abs(one - other) / np.abs(other).max()
        assert away.max() <= DISTANCE_OFF
        assert away.mean() <= MEAN_OFF


@KINDS
@pytest.mark.parametrize("seed", SEEDS)
def test_against_formulas(nnefc: Path, tmp_path: Path, seed: int, kind: type[Network]) -> None:
    network = kind(seed)
    write(network, tmp_path)
    expected, _ = ours(nnefc, tmp_path, "--backend", "reference")
    for options in (["--threads", "1"], ["--threads", "2"], ["--precision", "bf16"]):
        found, profile = ours(nnefc, tmp_path, *options, **(bf16_environment() if "bf16" in options else {}))
        if "bf16" not in options:
            assert_near(found, expected)
        for one, other in zip(found, expected, strict=True):
            assert np.linalg.norm(one - other) <= BF16_DISTANCE * np.linalg.norm(other)
        if has_lanes():
            assert any(kernel in profile for kernel in kind.kernels), profile
        assert all(np.isfinite(array).all() for array in found)
    found, _ = ours(nnefc, tmp_path, "--threads", "1", by_cost=True)
    assert_near(found, expected)
    exact, profile = ours(nnefc, tmp_path, "--precision", "exact")
    assert "int8" not in profile and "nnefc:quantize" not in profile, profile
    assert_near(exact, expected)


@KINDS
@pytest.mark.parametrize("instructions", ["AVX512_CORE", "AVX2", "SSE41"])
def test_older_processors(nnefc: Path, tmp_path: Path, instructions: str, kind: type[Network], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without VNNI int8 sums use our own microkernels, and without AVX2 f32, whatever the precision."""
    network = kind(1)
    write(network, tmp_path)
    expected, _ = ours(nnefc, tmp_path, "--backend", "reference")
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", instructions)
    for precision in ("f32", "bf16"):
        found, profile = ours(nnefc, tmp_path, "--precision", precision)
        assert ("nnefc:int8_conv" in profile) == (has_lanes() and instructions != "SSE41"), profile
        assert "bf16" not in profile, profile
        assert_near(found, expected)


@KINDS
@pytest.mark.parametrize("seed", SEEDS)
def test_against_openvino(nnefc: Path, tmp_path: Path, seed: int, kind: type[Network]) -> None:
    network = kind(seed)
    write(network, tmp_path)
    compiled = ov.Core().compile_model(tmp_path / "net.xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    results = compiled([network.data])
    found, _ = ours(nnefc, tmp_path)
    assert_near(found, [results[output] for output in compiled.outputs])


@KINDS_OF_SUMS
@pytest.mark.parametrize("seed", SEEDS)
def test_exact_sums(nnefc: Path, tmp_path: Path, seed: int, kind: type[Network]) -> None:
    """If no sum is rounded the quantized values are those of the formulas, and so is each number."""
    network = kind(seed, exact=True)
    write(network, tmp_path)
    expected, _ = ours(nnefc, tmp_path, "--backend", "reference")
    found, _ = ours(nnefc, tmp_path)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-6)


@pytest.mark.parametrize("seed", range(60))
def test_windows(nnefc: Path, tmp_path: Path, seed: int) -> None:
    network = Windows(seed, exact=True)
    write(network, tmp_path)
    expected, _ = ours(nnefc, tmp_path, "--backend", "reference")
    for threads in ("1", "2"):
        found, _ = ours(nnefc, tmp_path, "--threads", threads)
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-6)  # a filter's scale may be a third of a power of two
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_fewer_products(nnefc: Path, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without VNNI, 3x3 int8 filters use the Winograd algorithm, which computes each sum exactly."""
    network = Images(seed, exact=True)
    write(network, tmp_path)
    expected, _ = ours(nnefc, tmp_path, "--backend", "reference")
    for instructions in ("AVX512_CORE", "AVX2"):
        monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", instructions)
        for threads in ("1", "2"):
            found, profile = ours(nnefc, tmp_path, "--threads", threads)
            assert ("nnefc:int8_winograd" in profile) == has_lanes(), profile
            np.testing.assert_array_equal(found[0], expected[0])
            np.testing.assert_allclose(found[1], expected[1], rtol=1e-6)


def test_largest_sums(nnefc: Path, tmp_path: Path) -> None:
    """Sums out of range of the int8 Winograd algorithm use direct convolution."""
    for inputs in (64, 224, 384):
        x = ops.parameter([1, inputs, 12, 12], np.float32, name="x")
        x.output(0).set_names({"x"})
        codes = ops.fake_quantize(x, *[np.float32(0), np.float32(255)] * 2, 256)
        weights = np.full([16, inputs, 3, 3], 127, np.float32)
        weights[0, 0, 0, 0] = -126
        y = ops.convolution(codes, weights, [1, 1], [1, 1], [1, 1], [1, 1])
        ov.save_model(model_of(x, y, ops.relu(y)), tmp_path / "net.xml", compress_to_fp16=False)
        np.savez(tmp_path / "inputs.npz", x=np.full(x.shape, 255, np.float32))
        found, _ = ours(nnefc, tmp_path)
        expected = 255.0 * weights.sum(axis=(1, 2, 3), dtype=np.float64)
        np.testing.assert_allclose(found[0][0, :, 6, 6], expected, rtol=1e-6)


@pytest.mark.parametrize("indices", ["i8", "u8", "i32", "i64"])
def test_lookups_of_the_graph(nnefc: Path, tmp_path: Path, indices: str) -> None:
    """A Gather by quantized numbers of the graph itself: negative i8 indices count from the end."""
    x = ops.parameter([4, 16, 32], np.float32, name="x")
    x.output(0).set_names({"x"})
    codes = ops.fake_quantize(x, *(np.float32(limit) for limit in (-4, 4, 0, 255)), 256)
    table = np.random.default_rng(1).standard_normal(256).astype(np.float32)
    y = ov.opset8.gather(ops.constant(table), ops.convert(codes, indices), np.int64(0))
    ov.save_model(model_of(x, y, ops.relu(y)), tmp_path / "net.xml", compress_to_fp16=False)
    np.savez(tmp_path / "inputs.npz", x=np.random.default_rng(2).uniform(-5, 5, x.shape).astype(np.float32))
    found, profile = ours(nnefc, tmp_path)
    expected, _ = ours(nnefc, tmp_path, "--backend", "reference")
    np.testing.assert_array_equal(found[0], expected[0])
    assert ("nnefc:int8_table" in profile) == (indices in ("i32", "i64") and has_lanes()), profile


@pytest.mark.parametrize("operation", ["MatMul", "Convolution"])
def test_long_sums(nnefc: Path, tmp_path: Path, operation: str) -> None:
    """Dot products that may overflow 32 bits are computed in f32."""
    length = 70000
    is_product = operation == "MatMul"
    x = ops.parameter([1, length] if is_product else [1, length, 1, 1], np.float32, name="x")
    x.output(0).set_names({"x"})
    limits = [np.float32(0), np.float32(255)] * 2
    codes = ops.fake_quantize(x, *limits, 256)
    weights = np.full([length, 2] if is_product else [2, length, 1, 1], 127, np.float32)
    weights.reshape(-1)[:2] = 1
    y = ops.matmul(codes, weights, False, False) if is_product else ops.convolution(codes, weights, [1, 1], [0, 0], [0, 0], [1, 1])
    ov.save_model(model_of(x, y, ops.relu(y)), tmp_path / "net.xml", compress_to_fp16=False)
    np.savez(tmp_path / "inputs.npz", x=np.full(x.shape, 255, np.float32))
    found, _ = ours(nnefc, tmp_path)
    expected = 255.0 * weights.sum(axis=0 if is_product else (1, 2, 3), dtype=np.float64)
    np.testing.assert_allclose(found[0].reshape(-1), expected, rtol=1e-4)


@pytest.mark.skipif(not has_lanes(), reason="for AVX2")
@pytest.mark.parametrize("axis", [0, 1])
def test_joined_rows(nnefc: Path, tmp_path: Path, axis: int) -> None:
    """Rows that are concatenated and quantized again are int8 inputs of the next matrix multiplication."""
    network = Products(2, exact=True)
    x = ops.parameter([24, 64], np.float32, name="x")
    x.output(0).set_names({"x"})
    network.data = (network.random.integers(-100, 100, [24, 64]) / 32).astype(np.float32)
    seen = network.quantized(x, positive=False)
    parts = [network.quantized(network.product(seen, 32), positive=False) for _ in range(2)]
    joined = network.quantized(ops.concat(parts, axis), positive=False)
    ov.save_model(model_of(x, network.product(joined, 16), network.product(seen, 8)), tmp_path / "net.xml", compress_to_fp16=False)
    np.savez(tmp_path / "inputs.npz", x=network.data)
    expected, _ = ours(nnefc, tmp_path, "--backend", "reference")
    found, profile = ours(nnefc, tmp_path)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)
    products = [line for line in profile.splitlines() if " MatMul" in line]
    assert len(products) == 4 and all("int8" in line or "vnni" in line for line in products), profile
