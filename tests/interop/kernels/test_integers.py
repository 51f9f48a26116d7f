"""Integers at the limits of their types: powers, shifts, quotients and remainders, with constants and with inputs.
Expected values are NumPy's, which ONNX follows, and for divisions by zero those of OpenVINO's CPU plug-in."""

from __future__ import annotations

import io
import re
import subprocess
from pathlib import Path

import numpy as np
import onnx
import openvino as ov
import pytest
from onnx import numpy_helper
from openvino import opset15 as ops

TYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32,
         "u64": np.uint64}
SIGNED = [kind for kind in TYPES if kind[0] == "i"]


def computed(nnefc: Path, folder: Path, operation: str, kind: str, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Returns the common result of both backends from inputs, and from constants, which are folded before the run."""
    count = len(a)
    parameters = "\n".join(f'  %{i} = opset1.Parameter "{name}" {{element_type = {kind}, shape = shape[{count}]}} : {kind}[{count}]'
                           for i, name in enumerate("ab"))
    constants = "\n".join(f'  %{i} = opset1.Const "{name}" : {kind}[{count}] = dense<{kind}[{count}]: {", ".join(map(str, values))}>'
                          for i, (name, values) in enumerate((("a", a), ("b", b))))
    np.savez(folder / "in.npz", a=a, b=b)
    found = []
    for sources, options in ((parameters, ["--backend", "reference"]), (parameters, []), (constants, [])):
        (folder / "net.ir").write_text(f'graph "net" {{\n{sources}\n  %2 = {operation} : {kind}[{count}]\n'
                                       f'  opset1.Result "y" (%2)\n}}\n', encoding="utf-8")
        inputs = ["--inputs", "in.npz"] if sources == parameters else []
        done = subprocess.run([nnefc, "run", "net.ir", "-o", "y.npz", *inputs, *options], cwd=folder, capture_output=True, text=True,
                              check=False)
        assert done.returncode == 0, done.stderr
        found.append(np.load(folder / "y.npz")["y"])
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    return found[0]


def pairs(left: list[int], right: list[int], kind: str) -> tuple[np.ndarray, np.ndarray]:
    limits = np.iinfo(TYPES[kind])
    a, b = ([x for x in values if limits.min <= x <= limits.max] for values in (left, right))
    grid = np.array([(x, y) for x in a for y in b], TYPES[kind])
    return grid[:, 0], grid[:, 1]


@pytest.mark.parametrize("kind", TYPES)
def test_powers_wrap_around(kind: str, nnefc: Path, tmp_path: Path) -> None:
    limits = np.iinfo(TYPES[kind])
    a, b = pairs([0, 1, 2, 3, 7, 10, -1, -2, -3, limits.max, limits.min], [0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65], kind)
    found = computed(nnefc, tmp_path, 'opset1.Power "y" (%0, %1) {auto_broadcast = "numpy"}', kind, a, b)
    expected = [pow(int(x), int(y), 2**limits.bits) for x, y in zip(a, b)]
    expected = [x - 2**limits.bits if x > limits.max else x for x in expected]
    np.testing.assert_array_equal(found, np.array(expected, TYPES[kind]))


@pytest.mark.parametrize("kind", SIGNED)
def test_powers_with_negative_exponents(kind: str, nnefc: Path, tmp_path: Path) -> None:
    limits = np.iinfo(TYPES[kind])
    a, b = pairs([1, -1, 2, -2, limits.max, limits.min], [-1, -2, -3, limits.min], kind)
    found = computed(nnefc, tmp_path, 'opset1.Power "y" (%0, %1) {auto_broadcast = "numpy"}', kind, a, b)
    one = np.where(b % 2 == 0, 1, a)
    np.testing.assert_array_equal(found, np.where(np.abs(a.astype(np.float64)) == 1, one, 0))


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("way", ["Left", "Right"])
def test_shifts_by_the_width_and_more(way: str, kind: str, nnefc: Path, tmp_path: Path) -> None:
    """Like NumPy and ONNX: no bit of the number remains, or the sign of a negative one."""
    limits = np.iinfo(TYPES[kind])
    a, b = pairs([0, 1, 3, 100, limits.max, -1, -100, limits.min], [0, 1, limits.bits - 1, limits.bits, limits.bits + 1, 100], kind)
    found = computed(nnefc, tmp_path, f'opset15.Bitwise{way}Shift "y" (%0, %1) {{auto_broadcast = "numpy"}}', kind, a, b)
    np.testing.assert_array_equal(found, np.left_shift(a, b) if way == "Left" else np.right_shift(a, b))


def quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("rounds_down", ["true", "false"])
def test_quotients_are_rounded_toward_zero(rounds_down: str, kind: str, nnefc: Path, tmp_path: Path) -> None:
    limits = np.iinfo(TYPES[kind])
    a, b = pairs([0, 1, 3, 7, -3, -7, limits.max, limits.min], [1, 2, 3, -1, -2, -3, limits.max, limits.min], kind)
    a, b = a[b != 0], b[b != 0]
    found = computed(nnefc, tmp_path, f'opset1.Divide "y" (%0, %1) {{auto_broadcast = "numpy", m_pythondiv = {rounds_down}}}', kind, a, b)
    expected = [quotient(int(x), int(y)) for x, y in zip(a, b)]
    expected = [x - 2**limits.bits if x > limits.max else x for x in expected]  # the smallest by -1 wraps around
    np.testing.assert_array_equal(found, np.array(expected, TYPES[kind]))
    found = computed(nnefc, tmp_path, 'opset1.Mod "y" (%0, %1) {auto_broadcast = "numpy"}', kind, a, b)
    np.testing.assert_array_equal(found, [int(x) - quotient(int(x), int(y)) * int(y) for x, y in zip(a, b)])
    found = computed(nnefc, tmp_path, 'opset1.FloorMod "y" (%0, %1) {auto_broadcast = "numpy"}', kind, a, b)
    np.testing.assert_array_equal(found, [int(x) % int(y) for x, y in zip(a, b)])


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("operation", ["Divide", "Mod", "FloorMod"])
def test_division_by_zero_is_as_openvino_computes_it(operation: str, kind: str, nnefc: Path, tmp_path: Path) -> None:
    a, b = pairs([5, 0, -5], [0], kind)
    make = {"Divide": ops.divide, "Mod": ops.mod, "FloorMod": ops.floor_mod}[operation]
    x, y = ops.parameter([len(a)], TYPES[kind]), ops.parameter([len(a)], TYPES[kind])
    expected = ov.Core().compile_model(ov.Model([make(x, y)], [x, y]), "CPU")([a, b])[0]
    more = ", m_pythondiv = true" if operation == "Divide" else ""
    found = computed(nnefc, tmp_path, f'opset1.{operation} "y" (%0, %1) {{auto_broadcast = "numpy"{more}}}', kind, a, b)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", SIGNED)
def test_the_smallest_has_no_opposite(kind: str, nnefc: Path, tmp_path: Path) -> None:
    limits = np.iinfo(TYPES[kind])
    a = np.array([limits.min, limits.max, -1], TYPES[kind])
    for name in ("Abs", "Negative"):
        found = computed(nnefc, tmp_path, f'opset1.{name} "y" (%0)', kind, a, a)
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(found, np.abs(a) if name == "Abs" else -a)


@pytest.mark.parametrize("kind", TYPES)
def test_sums_and_products_wrap_around(kind: str, nnefc: Path, tmp_path: Path) -> None:
    limits = np.iinfo(TYPES[kind])
    data = np.array([[limits.max, 3], [limits.max, limits.max], [2, limits.max // 2]], TYPES[kind])
    (tmp_path / "net.ir").write_text(f"""graph "net" {{
  %0 = opset1.Parameter "x" {{element_type = {kind}, shape = shape[3,2]}} : {kind}[3,2]
  %1 = opset1.Const "axes" : i64[1] = dense<i64[1]: 0>
  %2 = opset1.Const "axis" : i64[] = dense<i64[]: 0>
  %3 = opset1.ReduceSum "s" (%0, %1) {{keep_dims = false}} : {kind}[2]
  %4 = opset1.ReduceProd "p" (%0, %1) {{keep_dims = false}} : {kind}[2]
  %5 = opset3.CumSum "c" (%0, %2) {{exclusive = false, reverse = false}} : {kind}[3,2]
  opset1.Result "s" (%3)
  opset1.Result "p" (%4)
  opset1.Result "c" (%5)
}}
""", encoding="utf-8")
    np.save(tmp_path / "x.npy", data)
    subprocess.run([nnefc, "run", "net.ir", "--input", "x.npy", "-o", "y.npz"], cwd=tmp_path, check=True)
    found = np.load(tmp_path / "y.npz")
    np.testing.assert_array_equal(found["s"], data.sum(axis=0, dtype=TYPES[kind]))
    np.testing.assert_array_equal(found["p"], data.prod(axis=0, dtype=TYPES[kind]))
    np.testing.assert_array_equal(found["c"], data.cumsum(axis=0, dtype=TYPES[kind]))


def test_cases_of_onnx(nnefc: Path, tmp_path: Path) -> None:
    from onnx.backend.test.case.node import collect_testcases

    tried, wrong = 0, []
    for case in collect_testcases(None):
        if not case.name.startswith(("test_bitshift", "test_div", "test_mod", "test_pow", "test_round")):
            continue
        try:
            model = ov.convert_model(io.BytesIO(case.model.SerializeToString()))
        except Exception:  # noqa: BLE001
            continue
        tried += 1
        ov.save_model(model, tmp_path / "net.xml", compress_to_fp16=False)
        given, expected = ([numpy_helper.to_array(x) if isinstance(x, onnx.TensorProto) else np.asarray(x) for x in values]
                           for values in case.data_sets[0])
        np.savez(tmp_path / "in.npz", **{value.name: array for value, array in zip(case.model.graph.input, given)})
        done = subprocess.run([nnefc, "run", "net.xml", "--inputs", "in.npz", "-o", "out.npz"], cwd=tmp_path, capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            wrong.append(f"{case.name}: {done.stderr}")
            continue
        with np.load(tmp_path / "out.npz") as file:
            found = file[file.files[0]]
        # OpenVINO's front end writes a right shift as a quotient by a power of 2. It is rounded toward zero, and the
        # power of the width wraps around to 0: neither form can express ONNX's shifts of negative integers or by the
        # width.
        quotient = re.match(r"test_bitshift_right_int\d+_(negative|shift_ge_width)", case.name)
        if not quotient and not np.allclose(found, expected[0], rtol=1e-3, atol=1e-7, equal_nan=True):
            wrong.append(f"{case.name}: {found}; expected {expected[0]}")
    assert not wrong, "\n".join(wrong)
    assert tried >= 40
