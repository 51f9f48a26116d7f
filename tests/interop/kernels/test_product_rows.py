"""Matrix multiplications of different row counts with a constant matrix whose columns do not fill register blocks, with
epilogues: against NumPy in f64."""

from __future__ import annotations

import subprocess
from math import erf
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino import opset8 as ops

RANDOM = np.random.default_rng(4)
FOLLOWING = ["nothing", "bias", "bias and gelu", "residual", "limits"]


def normal(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32)


def after(y: ov.Node | np.ndarray, kind: str, bias: np.ndarray, residual: ov.Node | np.ndarray) -> ov.Node | np.ndarray:
    """Returns the epilogue, in the graph or in numbers."""
    is_graph = isinstance(y, ov.Node)
    if kind.startswith("bias"):
        y = ops.add(y, bias) if is_graph else y + bias
    if kind == "bias and gelu":
        y = ops.gelu(y, "erf") if is_graph else y * 0.5 * (1 + np.vectorize(erf)(y / np.sqrt(2)))
    if kind == "residual":
        y = ops.add(y, residual) if is_graph else y + residual
    if kind == "limits":
        y = ops.clamp(y, -1.0, 2.0) if is_graph else np.clip(y, -1, 2)
    return y


@pytest.mark.parametrize("following", FOLLOWING)
@pytest.mark.parametrize("by_columns", [False, True])
@pytest.mark.parametrize("shape, outputs", [([8, 24], 18), ([1, 13, 130], 33), ([20, 300], 1003), ([2, 3, 7, 64], 47), ([70, 256], 130),
                                            ([230, 32], 31), ([9, 17], 15), ([50, 64], 64), ([300, 1100], 160), ([200, 3000], 300)])
def test_products(nnefc: Path, tmp_path: Path, shape: list[int], outputs: int, by_columns: bool, following: str) -> None:
    weights, bias = normal(shape[-1], outputs), normal(outputs)
    data, residual = normal(*shape), normal(*shape[:-1], outputs)
    rows = np.ascontiguousarray(np.swapaxes(data, -1, -2)) if by_columns else data
    x, other = ops.parameter(list(rows.shape), np.float32, name="x"), ops.parameter(list(residual.shape), np.float32, name="r")
    for node in (x, other):
        node.output(0).set_names({node.friendly_name})
    result = ops.result(after(ops.matmul(x, weights, by_columns, False), following, bias, other))
    result.input_value(0).set_names({"y"})
    ov.save_model(ov.Model([result], [x, other], "product"), tmp_path / "net.xml", compress_to_fp16=False)
    np.savez(tmp_path / "in.npz", x=rows, r=residual)
    product = data.astype(np.float64) @ weights
    expected = after(product, following, bias, residual)
    for options in (["--threads", "1"], ["--threads", "2"], ["--threads", "6"], ["--threads", "64"], ["--precision", "exact"], ["--backend", "reference"]):
        subprocess.run([nnefc, "run", tmp_path / "net.xml", "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz",
                        *options], check=True, capture_output=True)
        np.testing.assert_allclose(np.load(tmp_path / "out.npz")["y"], expected, rtol=1e-6,
                                   atol=3e-6 * float(np.abs(product).max()))
