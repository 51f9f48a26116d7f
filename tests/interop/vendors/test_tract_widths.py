"""Integers of 8 to 64 bits and their casts: they wrap or saturate as in tract, which computes the expected values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tract

from models import Nnefc

TYPES = {"i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16, "i32": np.int32, "u32": np.uint32, "i64": np.int64,
         "f16": np.float16, "f32": np.float32, "bool": np.bool_}
# Next to the bounds of the types.
INTEGERS = [0, 1, -1, 2, -3, 11, 12, 15, 16, 100, 127, 128, -128, -129, 255, 256, -300, 32767, 32768, -32768, -32769, 65535, 65536, 46340, 46341,
            -46341, 2**31 - 1, 2**31, -2**31, -2**31 - 1, 2**32 - 1, 2**32, 2**32 + 5, 2**40 + 7, -2**40 - 7]
FLOATS = [0, 0.5, -0.5, 1.5, -1.5, 2.5, 127.5, 127.9, 128, -128.9, -129, 200.7, 255.5, 255.9, 256, 300, -300, 32767.5, 32768, -32769, 65504, np.nan, np.inf, -np.inf]
LARGE_FLOATS = [65535.9, 65536, 2147483520, 2147483648, -2147483648, -2147483904, 4294967040, 4294967296, 1e10, -1e10]


def values(kind: str) -> np.ndarray:
    if kind == "bool":
        return np.array([True, False, True])
    if kind in ("f16", "f32"):
        return np.array(FLOATS + (LARGE_FLOATS if kind == "f32" else []), TYPES[kind])
    bounds = np.iinfo(TYPES[kind])
    return np.array([value for value in INTEGERS if bounds.min <= value <= bounds.max], TYPES[kind])


def check(nnefc: Path, folder: Path, body: str, inputs: dict[str, np.ndarray]) -> None:
    (folder / "model").mkdir()
    lines = "".join(f"    {name} = tract_core_external(shape = {list(array.shape)}, datum_type = '{next(kind for kind, dtype in TYPES.items() if array.dtype == dtype)}');\n"
                    for name, array in inputs.items())
    (folder / "model" / "graph.nnef").write_text(
        f"version 1.0;\nextension tract_registry tract_core;\n\ngraph net( {', '.join(inputs)} ) -> ( y )\n{{\n{lines}    {body}\n}}\n")
    expected = tract.nnef().load(str(folder / "model")).into_runnable().run(list(inputs.values()))[0].to_numpy()
    np.savez(folder / "in.npz", **inputs)
    for backend in ("reference", "fast"):
        found = Nnefc(nnefc, folder).run(folder / "model", "--inputs", folder / "in.npz", "--backend", backend)["y"]
        np.testing.assert_array_equal(found.astype(np.float64), expected.astype(np.float64))


@pytest.mark.parametrize("to", [kind for kind in TYPES if kind != "f16"])  # f16 is computed as f32
@pytest.mark.parametrize("kind", TYPES)
def test_cast(kind: str, to: str, nnefc: Path, tmp_path: Path) -> None:
    check(nnefc, tmp_path, f"y = tract_core_cast(x, to = '{to}');", {"x": values(kind)})


NARROW = [kind for kind in TYPES if kind[0] in "iu" and kind != "i64"]


@pytest.mark.parametrize("kind", NARROW)
@pytest.mark.parametrize("body", ["y = x * z;", "y = x + z;", "y = x - z;", "y = x + x;", "y = mul(add(x, z), z);"])
def test_arithmetic_wraps(body: str, kind: str, nnefc: Path, tmp_path: Path) -> None:
    x = values(kind)
    inputs = {"x": x, "z": np.roll(x, 1)}
    check(nnefc, tmp_path, body, inputs if "z" in body else {"x": x})


@pytest.mark.parametrize("kind", ["i8", "u8", "i32"])
@pytest.mark.parametrize("body", ["y = square(x);", "y = sqr(x);", "y = x * x;", "y = mul(x, x);", "y = pow(x, 2.0);", "y = x ^ 2.0;", "y = square(x) + x;"])
def test_squares_saturate(body: str, kind: str, nnefc: Path, tmp_path: Path) -> None:
    """tract has squares of these integers alone, computed in f32."""
    check(nnefc, tmp_path, body, {"x": values(kind)})


@pytest.mark.parametrize("kind", ["i8", "u8", "i32"])
def test_cubes_wrap(kind: str, nnefc: Path, tmp_path: Path) -> None:
    """A product of a square and the number is that of the saturated square."""
    check(nnefc, tmp_path, "s = square(x);\n    y = s * z;", {"x": values(kind), "z": np.roll(values(kind), 1)})
