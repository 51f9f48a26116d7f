"""Tensors of integers in tract's dialect stay integers, exact where an f32 is not: against NumPy, on both backends."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tract
from models import Nnefc

X = np.array([-7, 16777217, 3, -16777217, 0, 8], np.int64)
Y = np.array([2, 16777216, 3, -16777216, -5, 3], np.int64)

CASES: dict[str, tuple[str, Callable[[np.ndarray, np.ndarray], np.ndarray]]] = {
    "gt": ("x > y", lambda x, y: x > y),
    "lt": ("x < y", lambda x, y: x < y),
    "ge": ("x >= y", lambda x, y: x >= y),
    "le": ("x <= y", lambda x, y: x <= y),
    "eq": ("x == y", lambda x, y: x == y),
    "ne": ("x != y", lambda x, y: x != y),
    "select": ("select(x > y, x, y)", np.maximum),
    "against_a_literal": ("x > 16777216", lambda x, y: x > 16777216),
    "neg": ("neg(x)", lambda x, y: -x),
    "abs": ("abs(x)", lambda x, y: np.abs(x)),
    "neg_of_sum": ("neg(x + y)", lambda x, y: -(x + y)),
    "half_of_negative": ("neg(tract_core_cast(x, to = 'i64')) / 2", lambda x, y: np.trunc(-x / 2).astype(np.int64)),
    # No f32 is equal to these integers.
    "mul": ("x * y", lambda x, y: x * y),
    "div_by_tensor": ("x / y", lambda x, y: np.trunc(x / y).astype(np.int64)),
    "div_of_column": ("unsqueeze(x, axes = [1]) / y", lambda x, y: np.trunc(x[:, None] / y[:, None]).astype(np.int64)),
    "div_by_one": ("(x + x + 1) / 1", lambda x, y: 2 * x + 1),
    "div_by_negative": ("(x + x + 1) / -1", lambda x, y: -2 * x - 1),
    "relu": ("relu(x + 2)", lambda x, y: np.maximum(x + 2, 0)),
    "floor": ("floor(x)", lambda x, y: x),
    "ceil": ("ceil(x)", lambda x, y: x),
    "round": ("round(x)", lambda x, y: x),
    "sqr": ("sqr(x)", lambda x, y: x * x),
    "clamp": ("clamp(x, -16777217, 16777217)", lambda x, y: np.clip(x, -16777217, 16777217)),
    "clamp_below_twice": ("clamp(x, 16777217, -5)", lambda x, y: np.maximum(np.minimum(x, -5), 16777217)),
    "sum_of_odd": ("sum_reduce(x + 2, axes = [0])", lambda x, y: (x + 2).sum(keepdims=True)),
    "largest_odd": ("max_reduce(x, axes = [0])", lambda x, y: x.max(keepdims=True)),
    "smallest_odd": ("min_reduce(x, axes = [0])", lambda x, y: x.min(keepdims=True)),
    "product": ("tract_core_product_reduce(slice(x, axes = [0], begin = [0], end = [3]), axes = [0])", lambda x, y: x[:3].prod(keepdims=True)),
    "mean_of_large": ("mean_reduce(x * 3, axes = [0])", lambda x, y: np.array([int((x * 3).sum() / 6)])),
    "mean_of_negative": ("mean_reduce(neg(abs(x)), axes = [0])", lambda x, y: np.array([-(np.abs(x).sum() // 6)])),
    "mean_of_rows": ("mean_reduce(stack([x, y], axis = 0), axes = [0])", lambda x, y: np.trunc((x + y)[None] / 2).astype(np.int64)),
    "mean_of_all": ("mean_reduce(stack([x, y], axis = 0), axes = [0, 1])", lambda x, y: np.array([[int((x + y).sum() / 12)]])),
    "sign": ("sign(x)", lambda x, y: np.sign(x)),
    "relu_of_small": ("relu(y / 4096)", lambda x, y: np.maximum(np.trunc(y / 4096), 0).astype(np.int64)),
    "sum": ("sum_reduce(y, axes = [0])", lambda x, y: y.sum(keepdims=True)),
    "largest": ("max_reduce(y, axes = [0])", lambda x, y: y.max(keepdims=True)),
    "smallest": ("min_reduce(y, axes = [0])", lambda x, y: y.min(keepdims=True)),
    "mean": ("mean_reduce(x - y, axes = [0])", lambda x, y: np.array([int((x - y).sum() / 6)])),
    "cumulative": ("tract_core_cumsum(x, axis = 0)", lambda x, y: np.cumsum(x)),
    "cumulative_from_the_end": ("tract_core_cumsum(x, axis = 0, exclusive = true, reverse = true)",
                                lambda x, y: np.cumsum(np.append(x[1:], 0)[::-1])[::-1]),
    "scattered": ("tract_core_scatter_elements(x, [1, 4], slice(y, axes = [0], begin = [1], end = [3]), axis = 0)",
                  lambda x, y: np.concatenate([x[:1], y[1:2], x[2:4], y[2:3], x[5:]])),
    "scattered_sums": ("tract_core_scatter_elements(x, [1, 1], [1, 2], axis = 0, reduction = 'add')", lambda x, y: x + [0, 3, 0, 0, 0, 0]),
    "scattered_slices": ("tract_core_scatter_nd(x, [[5], [0]], slice(y, axes = [0], begin = [1], end = [3]))",
                         lambda x, y: np.concatenate([y[2:3], x[1:5], y[1:2]])),
    "index_of_largest": ("argmax_reduce(y + [0, 0, 16777214, 0, 0, 0], axes = [0])", lambda x, y: np.array([2])),
    "index_of_smallest": ("argmin_reduce(y - [0, 0, 0, 0, 16777212, 0], axes = [0])", lambda x, y: np.array([4])),
    "range_down": ("tract_core_range(5, 0, -2)", lambda x, y: np.arange(5, 0, -2)),
    "range_down_to_the_end": ("tract_core_range(4, 0, -2)", lambda x, y: np.arange(4, 0, -2)),
    "range_below_zero": ("tract_core_range(0, -5, -2)", lambda x, y: np.arange(0, -5, -2)),
    "range_up": ("tract_core_range(-3, 5, 3)", lambda x, y: np.arange(-3, 5, 3)),
    "range_over_everything": ("tract_core_range(-9000000000000000000, 9000000000000000000, 6000000000000000000)",
                              lambda x, y: np.array([-9, -3, 3], np.int64) * 10**18),
    "range_up_to_the_end": ("tract_core_range(0, 6, 3)", lambda x, y: np.arange(0, 6, 3)),
}


def write(path: Path, expression: str) -> Path:
    path.write_text("version 1.0;\nextension tract_registry tract_core;\n\ngraph net( x, y ) -> ( z )\n{\n"
                    "    x = tract_core_external(shape = [6], datum_type = 'i64');\n"
                    f"    y = tract_core_external(shape = [6], datum_type = 'i64');\n    z = {expression};\n}}\n", encoding="utf-8")
    return path


def expect(nnefc: Path, folder: Path, expression: str, inputs: dict[str, np.ndarray], expected: np.ndarray) -> None:
    tool = Nnefc(nnefc, folder)
    document = write(folder / "net.nnef", expression)
    flat = folder / "flat.nnef"
    flat.write_text(tool.expand(document), encoding="utf-8")
    np.savez(folder / "in.npz", **inputs)
    for model in (document, flat):
        for backend in ("reference", "fast"):
            found = tool.run(model, "--inputs", folder / "in.npz", "--backend", backend)["z"]
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("case", CASES)
def test_integers(nnefc: Path, tmp_path: Path, case: str) -> None:
    expression, formula = CASES[case]
    expect(nnefc, tmp_path, expression, {"x": X, "y": Y}, formula(X, Y))


def constant(before: int, after: int, value: int) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    return lambda x, y: np.pad(x, (before, after), constant_values=value)


def power(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Returns powers modulo 2^64; a negative exponent yields the reciprocal, rounded toward zero."""
    powers = np.power(x, np.abs(y))
    return np.where(y < 0, np.where(np.abs(powers) == 1, powers, 0), powers)


# Values around the integers that f32 has.
EDGES = np.array([2**24 + 1, -(2**24 + 1), 2**31 - 1, 3, -2, 0], np.int64)
EXPONENTS = np.array([1, 1, 2, 39, 61, 0], np.int64)
# What tract computes is the same. It parses a border as f32 and rounds it toward zero.
PADS = {
    "default": ("pad(x, padding = [(1, 2)])", constant(1, 2, 0)),
    "zeros": ("pad(x, padding = [(1, 2)], border = 'constant')", constant(1, 2, 0)),
    "before": ("pad(x, padding = [(1, 0)], border = 'constant', value = -2)", constant(1, 0, -2)),
    "after": ("pad(x, padding = [(0, 1)], border = 'constant', value = 7.0)", constant(0, 1, 7)),
    "fraction": ("pad(x, padding = [(1, 2)], border = 'constant', value = 1.5)", constant(1, 2, 1)),
    "negative_fraction": ("pad(x, padding = [(1, 2)], border = 'constant', value = -1.5)", constant(1, 2, -1)),
    "almost_zero": ("pad(x, padding = [(1, 2)], border = 'constant', value = -0.5)", constant(1, 2, 0)),
    "rounded_integer": ("pad(x, padding = [(1, 2)], border = 'constant', value = 16777217)", constant(1, 2, 2**24)),
    "large": ("pad(x, padding = [(1, 2)], border = 'constant', value = 3000000000.0)", constant(1, 2, 3000000000)),
    "reflected": ("pad(x, padding = [(1, 2)], border = 'reflect')", lambda x, y: np.pad(x, (1, 2), "reflect")),
}
OF_TRACT = {**PADS, "power": ("pow(x, y)", power)}
EXACT = {
    **OF_TRACT,
    "replicated": ("pad(x, padding = [(2, 1)], border = 'replicate')", lambda x, y: np.pad(x, (2, 1), "edge")),
    "reflected_evenly": ("pad(x, padding = [(2, 1)], border = 'reflect-even')", lambda x, y: np.pad(x, (2, 1), "symmetric")),
    "cropped": ("pad(x, padding = [(-1, 1)], border = 'constant', value = 3)", lambda x, y: np.append(x[1:], 3)),
    # tract does not compute powers of integers and literals.
    "zeroth_power": ("pow(x, 0)", lambda x, y: np.ones_like(x)),
    "first_power": ("pow(x, 1)", lambda x, y: x),
    "square": ("x ^ 2", lambda x, y: x * x),
    "cube": ("pow(x, 3)", lambda x, y: x**3),
    "inverse": ("pow(x + 1, -1)", lambda x, y: power(x + 1, np.full_like(x, -1))),
    "powers_of_two": ("pow(2, y)", lambda x, y: 2**y),
    "powers_of_minus_three": ("pow(-3, y)", lambda x, y: (-3)**y),
    "signed_exponents": ("pow(sign(x) + sign(x) + 1, y - 2)", lambda x, y: power(2 * np.sign(x) + 1, y - 2)),
    "negative_exponents": ("pow(x + 1, neg(y) - 1)", lambda x, y: power(x + 1, -y - 1)),
}


@pytest.mark.parametrize("case", EXACT)
def test_exact_integers(nnefc: Path, tmp_path: Path, case: str) -> None:
    expression, formula = EXACT[case]
    expect(nnefc, tmp_path, expression, {"x": EDGES, "y": EXPONENTS}, formula(EDGES, EXPONENTS))


@pytest.mark.parametrize("case", OF_TRACT)
def test_tract_agrees(tmp_path: Path, case: str) -> None:
    expression, formula = OF_TRACT[case]
    write(tmp_path / "graph.nnef", expression)
    found = tract.nnef().with_tract_transformers().load(str(tmp_path)).into_runnable().run([EDGES, EXPONENTS])[0].to_numpy()
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, formula(EDGES, EXPONENTS))


# As f32, the two integers of largest and of smallest value are equal.
TIES = np.array([2**24, 2**24 + 1, 3, -2**24, -2**24 - 1, 0], np.int64)


@pytest.mark.parametrize(("call", "expected"), [
    ("tract_core_topk(x, k = 2, axis = 0)", ([2**24 + 1, 2**24], [1, 0])),
    ("tract_core_topk(x, k = 2, axis = 0, largest = false)", ([-2**24 - 1, -2**24], [4, 3])),
    ("tract_core_topk_by(x, count, axis = 0)", ([2**24 + 1], [1])),
])
def test_largest_integers(nnefc: Path, tmp_path: Path, call: str, expected: tuple[list[int], list[int]]) -> None:
    tool = Nnefc(nnefc, tmp_path)
    document = tmp_path / "net.nnef"
    document.write_text("version 1.0;\nextension tract_registry tract_core;\n\ngraph net( x, n ) -> ( values, places )\n{\n"
                        "    x = tract_core_external(shape = [6], datum_type = 'i64');\n"
                        "    n = tract_core_external(shape = [1], datum_type = 'i64');\n    count = squeeze(n, axes = [0]);\n"
                        f"    (values, places) = {call};\n}}\n", encoding="utf-8")
    flat = tmp_path / "flat.nnef"
    flat.write_text(tool.expand(document), encoding="utf-8")
    np.savez(tmp_path / "in.npz", x=TIES, n=np.array([1], np.int64))
    for model in (document, flat):
        for backend in ("reference", "fast"):
            found = tool.run(model, "--inputs", tmp_path / "in.npz", "--backend", backend)
            assert found["values"].dtype == found["places"].dtype == np.int64
            np.testing.assert_array_equal(found["values"], expected[0])
            np.testing.assert_array_equal(found["places"], expected[1])


def test_a_result_that_is_assigned_twice_keeps_its_name(nnefc: Path, tmp_path: Path) -> None:
    tool = Nnefc(nnefc, tmp_path)
    document = tmp_path / "net.nnef"
    document.write_text("version 1.0;\nextension tract_registry tract_core;\n\ngraph net( x ) -> ( y )\n{\n"
                        "    x = tract_core_external(shape = [3], datum_type = 'f32');\n    y = x + 1.0;\n    y = y * 2.0;\n}\n",
                        encoding="utf-8")
    flat = tmp_path / "flat.nnef"
    flat.write_text(tool.expand(document), encoding="utf-8")
    for model in (document, flat):
        assert list(tool.run(model, "--random-inputs", 1)) == ["y"]


def test_infinities_are_read_again(nnefc: Path, tmp_path: Path) -> None:
    tool = Nnefc(nnefc, tmp_path)
    document = tmp_path / "net.nnef"
    document.write_text("version 1.0;\nextension tract_registry tract_core;\n\ngraph net( x ) -> ( y )\n{\n"
                        "    x = tract_core_external(shape = [3], datum_type = 'f32');\n    y = max(x, -inf);\n}\n", encoding="utf-8")
    flat = tmp_path / "flat.nnef"
    flat.write_text(tool.expand(document), encoding="utf-8")
    assert tool.expand(flat) == flat.read_text(encoding="utf-8")
    np.savez(tmp_path / "in.npz", x=np.array([1, -np.inf, 2], np.float32))
    np.testing.assert_array_equal(tool.run(flat, "--inputs", tmp_path / "in.npz")["y"], [1, -np.inf, 2])


# A cast to integers rounds down (R 4.5.8).
STRICT: dict[str, tuple[str, Callable[[np.ndarray, np.ndarray], np.ndarray]]] = {
    "quotient": ("s / 2.0", lambda x, y: x // 2),
    "quotient_by_negative": ("s / -2.0", lambda x, y: x // -2),
    "floor_of_quotient": ("floor(s / 3.0)", lambda x, y: x // 3),
    "mean": ("mean_reduce(s, axes = [0])", lambda x, y: np.array([x.sum() // 6])),
    "normalized_sum": ("sum_reduce(s, axes = [0], normalize = true)", lambda x, y: np.array([x.sum() // 6])),
    "square": ("s ^ 2.0", lambda x, y: x * x),
    "first_power": ("s ^ 1.0", lambda x, y: x),
    # -1/7 is rounded down, unlike in tract's dialect; f32 has the reciprocals of the clamped values to within 1.
    "reciprocal": ("(clamp(s, -7.0, 9.0) + 0.0 - 8.0) ^ -1.0", lambda x, y: np.floor(1 / (np.clip(x, -7, 9) - 8.0)).astype(np.int64)),
    "padded": ("pad(s, padding = [(1, 2)], border = 'constant', value = -1.5)", lambda x, y: np.pad(x, (1, 2), constant_values=-2)),
    "fraction": ("s / 0.5", lambda x, y: x.astype(np.float32).astype(np.int64) * 2),
    "ceil_of_quotient": ("ceil(clamp(s, -100.0, 100.0) / 2.0)", lambda x, y: -(-np.clip(x, -100, 100) // 2)),
}


@pytest.mark.parametrize("case", STRICT)
def test_casts_of_scalars(nnefc: Path, tmp_path: Path, case: str) -> None:
    expression, formula = STRICT[case]
    x = np.array([-7, 16777217, 3, -16777219, 0, 33554435], np.int64)
    tool = Nnefc(nnefc, tmp_path)
    (tmp_path / "net.nnef").write_text("version 1.0;\nextension KHR_enable_operator_expressions;\n\ngraph net( x ) -> ( z )\n{\n"
                                       "    x = external<integer>(shape = [6]);\n    s = cast<scalar>(x);\n"
                                       f"    z = cast<integer>({expression});\n}}\n", encoding="utf-8")
    np.savez(tmp_path / "in.npz", x=x)
    for backend in ("reference", "onednn"):
        found = tool.run(tmp_path / "net.nnef", "--inputs", tmp_path / "in.npz", "--backend", backend)["z"]
        assert found.dtype == np.int64
        np.testing.assert_array_equal(found, formula(x, x))
