"""Convert between the types of quantized values, masks and indices: like NumPy, with saturated integers, and NaN to 0."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import openvino as ov
import pytest
from openvino import opset1 as ops

TYPES = {"f32": np.float32, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "i8": np.int8, "boolean": np.bool_}
COUNT = 5003  # not a multiple of the vector width


def numbers(kind: str) -> np.ndarray:
    random = np.random.default_rng(1)
    if kind == "boolean":
        return random.integers(0, 2, COUNT).astype(np.bool_)
    if kind != "f32":
        limits = np.iinfo(TYPES[kind])
        return np.concatenate([random.integers(limits.min, limits.max, COUNT - 3, TYPES[kind], endpoint=True),
                               np.array([0, limits.min, limits.max], TYPES[kind])])
    ends = [0.0, -0.0, 0.99, -0.99, np.nan, np.inf, -np.inf, 127.5, 128, -128.9, -129, 255, 255.9, 256, 2.0 ** 31, 2.0 ** 31 - 128,
            -2.0 ** 31, -2.0 ** 32, 2.0 ** 63, -2.0 ** 63, 2.0 ** 64]
    normal = random.standard_normal(COUNT - len(ends)) * np.exp(random.uniform(-2, 50, COUNT - len(ends)))
    return np.concatenate([ends, normal]).astype(np.float32)


def converted(x: np.ndarray, kind: str) -> np.ndarray:
    if x.dtype != np.float32 or kind in ("boolean", "f32"):
        return x != 0 if kind == "boolean" else x.astype(TYPES[kind])
    limits = np.iinfo(TYPES[kind])
    whole = np.trunc(np.nan_to_num(x.astype(np.float64), nan=0.0, posinf=1e30, neginf=-1e30))
    inside = (whole > float(limits.min)) & (whole < float(limits.max))
    ends = np.where(whole >= float(limits.max), np.int64(limits.max), np.int64(limits.min)).astype(TYPES[kind])
    return np.where(inside, np.where(inside, whole, 0).astype(TYPES[kind]), ends)


@pytest.mark.parametrize("source, target", [(a, b) for a in TYPES for b in TYPES if a != b])
def test_conversions(nnefc: Path, tmp_path: Path, source: str, target: str) -> None:
    data = numbers(source)
    x = ops.parameter([COUNT], TYPES[source], name="x")
    x.output(0).set_names({"x"})
    result = ops.result(ops.convert(x, target))
    result.input_value(0).set_names({"y"})
    ov.save_model(ov.Model([result], [x], "conversion"), tmp_path / "net.xml")
    np.savez(tmp_path / "in.npz", x=data)
    subprocess.run([nnefc, "run", tmp_path / "net.xml", "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz"],
                   check=True, capture_output=True)
    np.testing.assert_array_equal(np.load(tmp_path / "out.npz")["y"], converted(data, target))
