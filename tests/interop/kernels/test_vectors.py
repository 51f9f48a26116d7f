"""Matrix-vector multiplications, with constants on either side: against NumPy in f64."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino import opset8 as ops

RANDOM = np.random.default_rng(5)
# Shapes as multiplied, before transposition.
FACTORS = [([40], [40, 24]), ([24, 40], [40]), ([40], [40]), ([5, 24, 40], [40]), ([40], [5, 40, 24]), ([300], [300, 1003]),
           ([1003, 300], [300])]


@pytest.mark.parametrize("constant", ["none", "left", "right"])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("left, right", FACTORS)
def test_vectors(nnefc: Path, tmp_path: Path, left: list[int], right: list[int], transposed: bool, constant: str) -> None:
    factors = [RANDOM.standard_normal(shape).astype(np.float32) for shape in (left, right)]
    expected = np.matmul(*(factor.astype(np.float64) for factor in factors))
    # The flag of a vector has no effect.
    given = [np.ascontiguousarray(np.swapaxes(x, -1, -2)) if transposed and x.ndim > 1 else x for x in factors]
    parameters, nodes = [], []
    for name, factor in zip("ab", given):
        node = ops.constant(factor)
        if constant != {"a": "left", "b": "right"}[name]:
            node = ops.parameter(list(factor.shape), np.float32, name=name)
            node.output(0).set_names({name})
            parameters.append(node)
        nodes.append(node)
    result = ops.result(ops.relu(ops.matmul(*nodes, transposed, transposed)))
    result.input_value(0).set_names({"y"})
    ov.save_model(ov.Model([result], parameters, "product"), tmp_path / "net.xml", compress_to_fp16=False)
    np.savez(tmp_path / "in.npz", **{node.friendly_name: x for node, x in zip(nodes, given) if node in parameters})
    for options in (["--threads", "1"], ["--threads", "2"], ["--precision", "exact"], ["--backend", "reference"]):
        subprocess.run([nnefc, "run", tmp_path / "net.xml", "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz",
                        *options], check=True, capture_output=True)
        found = np.load(tmp_path / "out.npz")["y"]
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, np.maximum(expected, 0), rtol=1e-6, atol=3e-6 * float(np.abs(expected).max()))
