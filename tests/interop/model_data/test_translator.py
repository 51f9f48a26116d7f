"""The translation to ONNX against the formulas of the specification, on small random tensors."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import onnxruntime as ort
import pytest

import make_weights
import nnef_to_onnx
import numpy_oracle as oracle


def run(folder: Path, statements: str, **inputs: np.ndarray) -> np.ndarray:
    """Writes a document around statements that compute `y`, translates it and runs it."""
    externals = "".join(f"    {name} = external(shape = {list(value.shape)});\n"
                        for name, value in inputs.items())
    text = (f"version 1.0;\n\ngraph test( {', '.join(inputs)} ) -> ( y )\n"
            f"{{\n{externals}    {statements}\n}}\n")
    (folder / "flat.nnef").write_text(text)
    make_weights.make_model(folder / "flat.nnef", folder, with_input=False)
    session = ort.InferenceSession(str(nnef_to_onnx.save(folder)), providers=["CPUExecutionProvider"])
    return session.run(None, {name: value.astype(np.float32) for name, value in inputs.items()})[0]


def random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def assert_close(actual: np.ndarray, expected: np.ndarray) -> None:
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-5)


def attributes(**values: object) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in values.items())


WINDOWS = [
    dict(size=[1, 1, 3, 3], stride=[1, 1, 2, 2], padding=[]),
    dict(size=[1, 1, 2, 3], stride=[1, 1, 1, 2], padding=[]),
    dict(size=[1, 1, 3, 3], stride=[1, 1, 2, 2], padding=[(0, 0), (0, 0), (0, 1), (1, 0)]),
    dict(size=[1, 1, 3, 2], stride=[], padding=[(0, 0), (0, 0), (2, 1), (1, 1)], dilation=[1, 1, 2, 1]),
    dict(size=[1, 3, 1, 1], stride=[], padding=[]),
    dict(size=[1, 2, 2, 2], stride=[1, 2, 1, 1], padding=[(0, 0), (1, 1), (0, 1), (0, 1)]),
    dict(size=[1, 1, 1, 1], stride=[1, 1, 2, 2], padding=[(0, 0)] * 4),
    dict(size=[1, 1, 2, 2], stride=[1, 1, 2, 2], padding=[(0, 0), (0, 0), (2, 2), (0, 0)]),
]


@pytest.mark.parametrize("border", ["ignore", "constant", "replicate", "reflect", "reflect-even"])
@pytest.mark.parametrize("name, kind", [("max_pool", "max"), ("avg_pool", "avg"), ("box", "sum")])
@pytest.mark.parametrize("window", WINDOWS)
def test_pool(tmp_path: Path, name: str, kind: str, border: str, window: dict) -> None:
    empty = border == "ignore" and window["padding"][2:3] == [(2, 2)]
    if empty and kind != "sum":
        pytest.skip("an ignored window without items has no value")
    x = random(2, 4, 5, 6) - 1.0
    y = run(tmp_path, f"y = {name}(x, {attributes(border=border, **window)});", x=x)
    assert_close(y, oracle.pool(x, kind, border=border, **window))


CONVOLUTIONS = [
    dict(),
    dict(padding=[(0, 0), (0, 0)]),
    dict(stride=[2, 2]),
    dict(stride=[2, 3], padding=[(1, 2), (0, 1)]),
    dict(dilation=[2, 1]),
    dict(stride=[2, 1], dilation=[1, 2], padding=[]),
    dict(padding=[(-1, 2), (3, -2)]),
]


@pytest.mark.parametrize("groups", [1, 2, 0])
@pytest.mark.parametrize("options", CONVOLUTIONS)
def test_conv(tmp_path: Path, groups: int, options: dict) -> None:
    x = random(2, 4, 7, 6)
    f, b = random(8, {1: 4, 2: 2, 0: 1}[groups], 3, 2, seed=1), random(1, 8, seed=2)
    y = run(tmp_path, f"y = conv(x, f, b, {attributes(groups=groups, **options)});", x=x, f=f, b=b)
    assert_close(y, oracle.conv(x, f, b, groups=groups, **options))


@pytest.mark.parametrize("border", ["replicate", "reflect", "reflect-even"])
def test_conv_border(tmp_path: Path, border: str) -> None:
    x, f = random(1, 2, 5, 6), random(3, 2, 3, 4, seed=1)
    y = run(tmp_path, f"y = conv(x, f, 0.5, border = '{border}');", x=x, f=f)
    assert_close(y, oracle.conv(x, f, 0.5, border=border))


@pytest.mark.parametrize("groups", [1, 2, 0])
@pytest.mark.parametrize("options", [
    dict(), dict(stride=[2, 2]), dict(stride=[2, 2], padding=[(1, 1), (0, 1)]),
    dict(stride=[3, 1], dilation=[1, 2]),
    dict(stride=[2, 2], padding=[(1, 1), (1, 0)], output_shape=[2, -1, 8, 10]),
])
def test_deconv(tmp_path: Path, groups: int, options: dict) -> None:
    x = random(2, 4, 4, 5)
    f, b = random(4, {1: 3, 2: 3, 0: 1}[groups], 3, 2, seed=1), None
    channels = f.shape[1] * (groups or 4)
    b = random(1, channels, seed=2)
    if "output_shape" in options:
        options = options | {"output_shape": [2, channels, 8, 10]}
    y = run(tmp_path, f"y = deconv(x, f, b, {attributes(groups=groups, **options)});", x=x, f=f, b=b)
    assert_close(y, oracle.deconv(x, f, b, groups=groups, **options))


@pytest.mark.parametrize("size", [[1, 5, 1, 1], [1, 4, 1, 1], [1, 3, 3, 1], [1, 1, 3, 3]])
def test_local_response_normalization(tmp_path: Path, size: list[int]) -> None:
    x, options = random(2, 7, 4, 3), dict(alpha=0.3, beta=0.75, bias=1.5)
    statement = f"y = local_response_normalization(x, {attributes(size=size, **options)});"
    expected = oracle.local_response_normalization(x, size, **options)
    assert_close(run(tmp_path, statement, x=x), expected)


def test_batch_normalization(tmp_path: Path) -> None:
    x, m, v = random(2, 3, 4, 5), random(1, 3, seed=1), random(1, 3, seed=2) ** 2
    statement = "y = batch_normalization(x, m, v, 0.25, 1.5, epsilon = 0.01);"
    expected = oracle.batch_normalization(x, m, v, 0.25, 1.5, 0.01)
    assert_close(run(tmp_path, statement, x=x, m=m, v=v), expected)


def test_batch_normalization_of_variables(tmp_path: Path) -> None:
    """Variables of [1, C] become vectors without a copy of their data."""
    x = random(2, 3, 4, 5)
    names = {"m": "mean", "v": "variance", "o": "offset", "s": "scale"}
    lines = "".join(f"{name} = variable(shape = [1, 3], label = 'bn/{role}'); "
                    for name, role in names.items())
    y = run(tmp_path, lines + "y = batch_normalization(x, m, v, o, s, epsilon = 0.01);", x=x)
    values = [np.fromfile(tmp_path / f"bn/{role}.dat", "<f4", offset=128).reshape(1, 3)
              for role in names.values()]
    assert_close(y, oracle.batch_normalization(x, *values, 0.01))


def test_broadcast_aligns_on_the_left(tmp_path: Path) -> None:
    x, z = random(2, 3, 3), random(2, 3, seed=1)
    assert_close(run(tmp_path, "y = sub(z, x);", x=x, z=z), z[:, :, None] - x)


@pytest.mark.parametrize("axes", [(1,), (2, 3)])
def test_softmax(tmp_path: Path, axes: tuple[int, ...]) -> None:
    x = random(2, 3, 4, 5)
    assert_close(run(tmp_path, f"y = softmax(x, axes = {list(axes)});", x=x), oracle.softmax(x, axes))


def test_linear(tmp_path: Path) -> None:
    x, f, b = random(3, 5), random(4, 5, seed=1), random(1, 4, seed=2)
    assert_close(run(tmp_path, "y = linear(x, f, b);", x=x, f=f, b=b), x @ f.T + b)


def test_matmul_transposes(tmp_path: Path) -> None:
    x, z = random(2, 5, 3), random(2, 4, 5, seed=1)
    expected = np.matmul(x.transpose(0, 2, 1), z.transpose(0, 2, 1))
    statement = "y = matmul(x, z, transposeA = true, transposeB = true);"
    assert_close(run(tmp_path, statement, x=x, z=z), expected)


ELEMENTWISE = {
    "round(x)": lambda x: np.floor(x + 0.5),
    "rsqr(x)": lambda x: 1 / x**2,
    "clamp(x, -0.5, 0.5)": lambda x: np.clip(x, -0.5, 0.5),
    "leaky_relu(x, alpha = 0.1)": lambda x: np.where(x < 0, 0.1 * x, x),
    "elu(x)": lambda x: np.where(x < 0, np.expm1(x), x),
    "gelu(x)": lambda x: x / (1 + np.exp(-1.702 * x)),
    "silu(x)": lambda x: x / (1 + np.exp(-x)),
    "softplus(x)": lambda x: np.log1p(np.exp(x)),
    "max(x, 0.25)": lambda x: np.maximum(x, 0.25),
    "select(true, x, 0.0)": lambda x: x,
    "mean_reduce(x, axes = [2, 3])": lambda x: x.mean((2, 3), keepdims=True),
    "sum_reduce(x, axes = [1], normalize = false)": lambda x: x.sum(1, keepdims=True),
    "max_reduce(x, axes = [0, 1])": lambda x: x.max((0, 1), keepdims=True),
    "l2_normalization(x, axes = [1], bias = 0.5, epsilon = 0.01)":
        lambda x: x / np.maximum(np.sqrt((x**2).sum(1, keepdims=True)) + 0.5, 0.01),
    "reshape(x, shape = [2, -1])": lambda x: x.reshape(2, -1),
    "reshape(x, shape = [12], axis_start = 1, axis_count = 2)": lambda x: x.reshape(2, 12, 5),
    "unsqueeze(x, axes = [1])": lambda x: x[:, None],
    "transpose(x, axes = [1, 0])": lambda x: x.transpose(1, 0, 2, 3),
    "concat([x, x], axis = 1)": lambda x: np.concatenate([x, x], 1),
    "stack([x, x], axis = 2)": lambda x: np.stack([x, x], 2),
    "slice(x, axes = [2, 3], begin = [1, 2], end = [3, 0])": lambda x: x[:, :, 1:3, 2:],
    "tile(x, repeats = [1, 2, 1, 2])": lambda x: np.tile(x, (1, 2, 1, 2)),
    "pad(x, padding = [(0, 0), (1, 0), (-1, 2), (0, -2)], value = 0.5)":
        lambda x: np.pad(x[:, :, 1:, :-2], ((0, 0), (1, 0), (0, 2), (0, 0)), constant_values=0.5),
    "pad(x, padding = [(0, 0), (0, 0), (1, 2), (0, 1)], border = 'reflect')":
        lambda x: np.pad(x, ((0, 0), (0, 0), (1, 2), (0, 1)), "reflect"),
    "pad(x, padding = [(0, 0), (0, 0), (1, 2), (0, 1)], border = 'reflect-even')":
        lambda x: np.pad(x, ((0, 0), (0, 0), (1, 2), (0, 1)), "symmetric"),
    "nearest_upsample(x, factor = [2, 3])": lambda x: x.repeat(2, 2).repeat(3, 3),
    "nearest_downsample(x, factor = [2, 1])": lambda x: x[:, :, ::2],
    "area_downsample(x, factor = [2, 1])": lambda x: (x[:, :, ::2] + x[:, :, 1::2]) / 2,
}


@pytest.mark.parametrize("expression", ELEMENTWISE)
def test_expression(tmp_path: Path, expression: str) -> None:
    x = random(2, 3, 4, 5)
    expected = ELEMENTWISE[expression](x.astype(np.float64))
    assert_close(run(tmp_path, f"y = {expression};", x=x), expected)


def test_split(tmp_path: Path) -> None:
    x = random(2, 6, 3)
    y = run(tmp_path, "[a, b] = split(x, axis = 1, ratios = [1, 2]); y = mul(b, 2.0);", x=x)
    assert_close(y, 2 * x[:, 2:])


def test_ties_of_argmax(tmp_path: Path) -> None:
    x = np.array([[1.0, 3.0, 3.0]], np.float32)
    assert run(tmp_path, "y = argmax_reduce(x, axes = [1]);", x=x).tolist() == [[1]]


def test_zeros_of_the_border_take_part(tmp_path: Path) -> None:
    """A maximum with zeros around: the default border is included."""
    x = np.full((1, 1, 2, 2), -1.0, np.float32)
    y = run(tmp_path, "y = max_pool(x, size = [1, 1, 3, 3]);", x=x)
    assert y.max() == 0.0 and math.prod(y.shape) == 4
