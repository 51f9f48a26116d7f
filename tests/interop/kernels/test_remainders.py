"""Mod and FloorMod of floats are exact: bit for bit NumPy's results, for quotients of any size, infinities and NaN."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino import opset1 as ops

FUNCTIONS = {"mod": (ops.mod, np.fmod), "floor_mod": (ops.floor_mod, np.mod)}
COUNT = 1003  # not a multiple of the part size


def numbers(kind: str) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(2)
    a, b = random.standard_normal((2, COUNT)).astype(np.float32)
    if kind == "whole":
        return np.round(a * 8), np.where(np.round(b * 3) == 0, 2, np.round(b * 3))
    if kind == "near":  # quotients next to integers
        a = b * np.round(a * 100)
        return np.nextafter(a, np.where(random.random(COUNT) < 0.5, np.float32(-np.inf), np.float32(np.inf))), b
    if kind in ("far", "ends"):
        a, b = (x * np.exp(random.uniform(-40, 40, COUNT)).astype(np.float32) for x in (a, b))
    if kind == "ends":
        special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 3.4e38, -3.4e38], np.float32)
        a[:64], b[:64] = np.repeat(special, 8), np.tile(special, 8)
    return a, b


@pytest.mark.parametrize("kind", ["normal", "whole", "near", "far", "ends"])
@pytest.mark.parametrize("spread", [False, True])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_remainders(nnefc: Path, tmp_path: Path, function: str, spread: bool, kind: str) -> None:
    a, b = (x.astype(np.float32) for x in numbers(kind))
    if spread:
        a, b = a[:900].reshape(30, 30), b[:30]
    node, oracle = FUNCTIONS[function]
    x, y = ops.parameter(list(a.shape), np.float32, name="x"), ops.parameter(list(b.shape), np.float32, name="y")
    for parameter in (x, y):
        parameter.output(0).set_names({parameter.friendly_name})
    result = ops.result(node(x, y))
    result.input_value(0).set_names({"z"})
    ov.save_model(ov.Model([result], [x, y], "remainders"), tmp_path / "net.xml")
    np.savez(tmp_path / "in.npz", x=a, y=b)
    subprocess.run([nnefc, "run", tmp_path / "net.xml", "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz"],
                   check=True, capture_output=True)
    with np.errstate(all="ignore"):
        expected = oracle(a, b)
    found = np.load(tmp_path / "out.npz")["z"]
    zero = expected == 0  # NumPy uses the divisor's sign for these
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found)[~zero & ~np.isnan(expected)], np.signbit(expected)[~zero & ~np.isnan(expected)])
