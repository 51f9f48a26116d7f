"""PReLU fused to the previous step, if its slopes are per channel, and separately: against OpenVINO."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino import opset1 as ops

from processor import has_lanes

RANDOM = np.random.default_rng(3)
FILTERS = {"winograd": [32, 16, 3, 3], "direct": [24, 16, 5, 5], "pixels": [40, 16, 1, 1], "few": [3, 16, 3, 3], "odd": [19, 16, 3, 3],
           "depthwise": [16, 1, 1, 3, 3], "groups": [4, 8, 4, 3, 3]}


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def check(nnefc: Path, folder: Path, x: ov.Node, y: ov.Node, step: str | None) -> None:
    x.output(0).set_names({"x"})
    result = ops.result(y)
    result.input_value(0).set_names({"y"})
    model = ov.Model([result], [x], "slopes")
    ov.save_model(model, folder / "net.xml", compress_to_fp16=False)
    data = normal(*x.shape)
    data.reshape(-1)[::7] = 0
    np.savez(folder / "in.npz", x=data)
    compiled = ov.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    expected = compiled(data)[0]
    for options in (["--backend", "reference"], ["--threads", "1"], ["--threads", "2"]):
        done = subprocess.run([nnefc, "run", folder / "net.xml", "--inputs", folder / "in.npz", "--outputs", folder / "out.npz",
                               "--profile", *options], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        np.testing.assert_allclose(np.load(folder / "out.npz")["y"], expected, atol=2e-5 * float(np.abs(expected).max()))
        if step is not None and "reference" not in options and has_lanes():
            assert step in done.stdout + done.stderr


def slopes_of(kind: str, channels: int) -> np.ndarray:
    slopes = normal(channels)
    return {"one axis": slopes, "all axes": slopes.reshape(1, -1, 1, 1), "three axes": slopes.reshape(-1, 1, 1),
            "one number": slopes[:1]}[kind]


@pytest.mark.parametrize("kind", ["one axis", "all axes", "three axes", "one number"])
@pytest.mark.parametrize("name", FILTERS)
def test_convolutions(nnefc: Path, tmp_path: Path, name: str, kind: str) -> None:
    filter = normal(*FILTERS[name])
    x = ops.parameter([2, 16, 11, 19], np.float32, name="x")
    window = [1, 1], [1, 1], [1, 1], [1, 1]
    y = ops.group_convolution(x, filter, *window) if filter.ndim == 5 else ops.convolution(x, filter, *window)
    channels = y.shape[1]
    y = ops.prelu(ops.add(y, normal(1, channels, 1, 1)), slopes_of(kind, channels))
    # oneDNN's grouped convolutions and those with a small number of outputs cannot fuse it.
    check(nnefc, tmp_path, x, y, "Add+PReLU" if kind != "one number" and name not in ("few", "groups") else None)


def test_more_follows(nnefc: Path, tmp_path: Path) -> None:
    """A residual before, and another convolution after."""
    x = ops.parameter([1, 32, 14, 14], np.float32, name="x")
    y = ops.convolution(x, normal(32, 32, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1])
    y = ops.prelu(ops.add(y, x), normal(32))
    y = ops.convolution(ops.multiply(y, normal(1, 32, 1, 1)), normal(8, 32, 1, 1), [1, 1], [0, 0], [0, 0], [1, 1])
    check(nnefc, tmp_path, x, y, "PReLU")


@pytest.mark.parametrize("shape, slopes", [([7, 33], [20]), ([1, 50, 33], [20]), ([1, 20, 33], [20]), ([3, 5, 33], [1, 1, 20]),
                                           ([2, 20, 33], [20, 1])])
def test_products(nnefc: Path, tmp_path: Path, shape: list[int], slopes: list[int]) -> None:
    """Slopes of one axis belong to axis 1 if the extents match: the columns of a matrix, the rows of three axes."""
    x = ops.parameter(shape, np.float32, name="x")
    check(nnefc, tmp_path, x, ops.prelu(ops.matmul(x, normal(33, 20), False, False), normal(*slopes)), None)


@pytest.mark.parametrize("channels", [16, 19])
def test_alone(nnefc: Path, tmp_path: Path, channels: int) -> None:
    """After pooling and before an operation that is not a convolution, in either layout."""
    x = ops.parameter([2, channels, 12, 10], np.float32, name="x")
    y = ops.convolution(x, normal(channels, channels, 3, 3), [1, 1], [1, 1], [1, 1], [1, 1])
    y = ov.opset8.max_pool(y, [2, 2], [1, 1], [0, 0], [0, 0], [2, 2]).output(0)
    y = ov.opset8.max_pool(ops.prelu(y, normal(channels)), [2, 2], [1, 1], [0, 0], [0, 0], [2, 2]).output(0)
    check(nnefc, tmp_path, x, y, None)
