"""`round`, `log2` and quantization, whose formulas must not show the rounding of their intermediate results: on both
backends, and in OpenVINO by the IR that `compile` writes. The expected numbers are those of the formulas in f64."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import openvino as ov
import pytest

ENDS = [np.nan, np.inf, -np.inf, -0.0, 0.0, 0.5, -0.5, 0.49999997, -0.49999997, 0.50000006, -0.50000006, 1.5, -1.5, 2.5, -2.5,
        1.4999999, 1.5000001, -1.4999999, -1.5000001, 2.0**22 + 0.5, -(2.0**22) - 0.5, 2.0**23 - 1, 2.0**23 - 0.5, 2.0**23,
        2.0**23 + 1, -(2.0**23) - 1, -(2.0**23) + 0.5, 2.0**24, 2.0**24 + 2, 3e38, -3e38, 1e-40, -1e-40, 1e-30, -1e-30]
HALVES = np.arange(-40, 40, dtype=np.float32) + np.float32(0.5)
NUMBERS = np.concatenate([np.array(ENDS, np.float32), HALVES, np.nextafter(HALVES, np.float32(np.inf)),
                          np.nextafter(HALVES, np.float32(-np.inf)),
                          (np.random.default_rng(1).standard_normal(2000) * 1000).astype(np.float32)])


def half_up(x: np.ndarray) -> np.ndarray:
    """Computes floor(x + 0.5) in f64, which represents each sum."""
    return np.floor(x.astype(np.float64) + 0.5)


def outputs(nnefc: Path, folder: Path, body: str, x: np.ndarray) -> dict[str, np.ndarray]:
    """Returns `y` on each backend, and in OpenVINO by the IR."""
    (folder / "net.nnef").write_text(f"version 1.0;\ngraph net( x ) -> ( y )\n{{\n    x = external(shape = [{len(x)}]);\n"
                                     f"    {body}\n}}\n", encoding="utf-8")
    np.save(folder / "x.npy", x)
    found = {}
    for backend in ("reference", "fast"):
        subprocess.run([nnefc, "run", "net.nnef", "--input", "x.npy", "-o", "y.npz", "--backend", backend], cwd=folder, check=True)
        found[backend] = np.load(folder / "y.npz")["y"]
    subprocess.run([nnefc, "compile", "net.nnef", "-o", "net.xml"], cwd=folder, check=True)
    core = ov.Core()
    found["openvino"] = core.compile_model(folder / "net.xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"})([x])[0]
    return found


def test_round(nnefc: Path, tmp_path: Path) -> None:
    for where, y in outputs(nnefc, tmp_path, "y = round(x);", NUMBERS).items():
        np.testing.assert_array_equal(y, half_up(NUMBERS), where)
        assert not np.signbit(y[y == 0]).any(), where  # floor(-0.0 + 0.5) is 0.0


def test_binary_logarithms_of_powers(nnefc: Path, tmp_path: Path) -> None:
    exponents = np.arange(-149, 128)
    x = np.ldexp(1.0, exponents).astype(np.float32)
    others = np.array([0, np.inf, np.nan, -1, 1 + 2.0**-23, 1 - 2.0**-24, 3, 8193, 8191], np.float32)
    for where, y in outputs(nnefc, tmp_path, "y = log2(x);", np.concatenate([x, others])).items():
        normal = slice(None) if where != "openvino" else slice(23, None)  # its Log flushes denormal numbers
        np.testing.assert_array_equal(y[: len(x)][normal], exponents[normal], where)
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(y[len(x):], np.log2(others.astype(np.float64)), rtol=4e-7)


@pytest.mark.parametrize("power", range(1, 30))
def test_logarithmic_quantization_of_a_power(power: int, nnefc: Path, tmp_path: Path) -> None:
    """`max` is a power of two: it is the largest quantized value."""
    x = np.array([2.0**power, 2.0 ** (power + 3), 1.0, 1.5, -3.0, 2.0 ** (power - 1)], np.float32)
    exponent = np.clip(np.log2(np.abs(x.astype(np.float64))), power - 15, power)
    for where, y in outputs(nnefc, tmp_path, f"y = logarithmic_quantize(x, max = {float(2**power)}, bits = 4);", x).items():
        np.testing.assert_array_equal(y, np.sign(x) * 2.0 ** half_up(exponent), where)


# Products and quotients have their own rounding, as in the formulas; the quantized values are exact.
def test_quantization_between_halves(nnefc: Path, tmp_path: Path) -> None:
    steps = np.float32(255)
    codes = np.arange(0, 255, dtype=np.float32) + np.float32(0.5)
    x = np.concatenate([codes, np.nextafter(codes, np.float32(0)), np.nextafter(codes, np.float32(300))])
    for low, high in ((0.0, 255.0), (0.0, 1.0), (-1.0, 1.5)):
        at = np.float32(low) + x * (np.float32(high - low) / steps)
        clamped = np.clip(at, np.float32(low), np.float32(high))
        product = (clamped - np.float32(low)) / np.float32(high - low) * steps
        expected = half_up(product).astype(np.float32) / steps * np.float32(high - low) + np.float32(low)
        for where, y in outputs(nnefc, tmp_path, f"y = linear_quantize(x, {low}, {high}, bits = 8);", at).items():
            if where == "openvino" and low != 0:
                continue  # its multiply-adds round once
            np.testing.assert_allclose(y, expected, atol=1e-6 * (high - low), err_msg=where)


def test_zero_point_quantization_between_halves(nnefc: Path, tmp_path: Path) -> None:
    x = NUMBERS[np.isfinite(NUMBERS)]
    for bits, lowest, highest in ((8, -128, 127), (31, -(2**30), 2**30 - 1)):
        body = f"y = zero_point_linear_quantize(x, zero_point = 0, scale = 1.0, bits = {bits}, signed = true, symmetric = false);"
        expected = np.clip(half_up(x), lowest, np.float32(highest))
        for where, y in outputs(nnefc, tmp_path, body, x).items():
            np.testing.assert_array_equal(y, expected, where)


@pytest.mark.parametrize("kind", ["f16", "bf16", "f32", "f64"])
def test_round_of_other_floats(kind: str, nnefc: Path, tmp_path: Path) -> None:
    """A graph in text form may have other types; each of their numbers is rounded exactly."""
    (tmp_path / "net.ir").write_text(f"""graph "net" {{
  %0 = opset1.Parameter "x" {{element_type = f32, shape = shape[{len(NUMBERS)}]}} : f32[{len(NUMBERS)}]
  %1 = opset1.Convert "n" (%0) {{destination_type = {kind}}} : {kind}[{len(NUMBERS)}]
  %2 = nnef.round "r" (%1) : {kind}[{len(NUMBERS)}]
  %3 = opset1.Convert "m" (%1) {{destination_type = f32}} : f32[{len(NUMBERS)}]
  %4 = opset1.Convert "y" (%2) {{destination_type = f32}} : f32[{len(NUMBERS)}]
  opset1.Result "m" (%3)
  opset1.Result "y" (%4)
}}
""", encoding="utf-8")
    np.save(tmp_path / "x.npy", NUMBERS)
    for backend in ("reference", "fast"):
        subprocess.run([nnefc, "run", "net.ir", "--input", "x.npy", "-o", "y.npz", "--backend", backend], cwd=tmp_path, check=True)
        found = np.load(tmp_path / "y.npz")
        np.testing.assert_array_equal(found["y"], half_up(found["m"]).astype(np.float32))



@pytest.mark.parametrize("backend", ["reference", "fast"])
@pytest.mark.parametrize("size", [(64, 64), (1, 4097), (1500, 1500)])
def test_averages_of_many_items(size: tuple[int, int], backend: str, nnefc: Path, tmp_path: Path) -> None:
    """Sums of millions of 32-bit floats would be wrong by several percent; up to 4,096 items are added in 32 bits."""
    shape = [1, 1, *size]
    (tmp_path / "net.nnef").write_text(
        f"version 1.0;\n\ngraph net( x ) -> ( y )\n{{\n    x = external(shape = {shape});\n"
        f"    y = avg_pool(x, size = {shape}, padding = [(0,0), (0,0), (0,0), (0,0)]);\n}}\n")
    np.save(tmp_path / "x.npy", np.full(shape, 0.1, np.float32))
    subprocess.run([nnefc, "run", "net.nnef", "--input", "x.npy", "-o", "y.npz", "--backend", backend], cwd=tmp_path, check=True)
    # Each of 4,096 additions in 32 bits rounds by at most 2^-24 of the sum.
    bound = 4096 * 2.0**-24 if size == (64, 64) else 1e-6
    np.testing.assert_allclose(np.load(tmp_path / "y.npz")["y"], np.float32(0.1), rtol=bound)
