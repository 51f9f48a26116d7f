"""Arithmetic of extents, which is evaluated during expansion: against NumPy, and against the same operations on inputs,
which kernels compute."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from models import Nnefc

# The extents of three inputs; `d` is computed from them, and partly negative.
SHAPES = {"a": [5, 2, 3], "b": [2, 7, 3], "c": [4, 4, 1]}
VALUES = {name: np.array(shape, np.int64) for name, shape in SHAPES.items()}
VALUES["d"] = VALUES["a"] - VALUES["b"]


def compared(name: str) -> tuple[str, Callable[..., np.ndarray]]:
    function = getattr(operator, name)
    return f"select({name}(a, b), add(a, 100), c)", lambda a, b, c, d: np.where(function(a, b), a + 100, c)


CASES: dict[str, tuple[str, Callable[..., np.ndarray]]] = {
    "neg": ("neg(d)", lambda a, b, c, d: -d),
    "abs": ("abs(d)", lambda a, b, c, d: np.abs(d)),
    "floor": ("floor(mul(tract_core_cast(d, to = 'f32'), 0.3))", lambda a, b, c, d: np.floor(d * np.float32(0.3))),
    "ceil": ("ceil(mul(tract_core_cast(d, to = 'f32'), 0.3))", lambda a, b, c, d: np.ceil(d * np.float32(0.3))),
    "to_integer": ("tract_core_cast(mul(tract_core_cast(d, to = 'f32'), 0.7), to = 'i64')", lambda a, b, c, d: np.trunc(d * np.float32(0.7))),
    "add": ("add(a, d)", lambda a, b, c, d: a + d),
    "add_one": ("add(d, 3)", lambda a, b, c, d: d + 3),
    "sub": ("sub(b, d)", lambda a, b, c, d: b - d),
    "sub_from_one": ("sub(1, d)", lambda a, b, c, d: 1 - d),
    "mul": ("mul(d, b)", lambda a, b, c, d: d * b),
    "div": ("div(a, b)", lambda a, b, c, d: a // b),
    "div_negative": ("div(mul(d, 3), 2)", lambda a, b, c, d: np.trunc(d * 3 / 2)),
    "div_tensors": ("div(d, sub(c, 2))", lambda a, b, c, d: np.trunc(d / (c - 2))),
    "min": ("min(d, b)", lambda a, b, c, d: np.minimum(d, b)),
    "max": ("max(c, a)", lambda a, b, c, d: np.maximum(c, a)),
    **{name: compared(name) for name in ("lt", "gt", "le", "ge", "eq", "ne")},
    "select_literal": ("select(lt(a, b), 7, sub(c, 1))", lambda a, b, c, d: np.where(a < b, 7, c - 1)),
    "select_by_one": ("select(gt(slice(a, axes = [0], begin = [1], end = [2]), 4), a, d)", lambda a, b, c, d: a if a[1] > 4 else d),
    "select_of_two": ("select(gt(slice(a, axes = [0], begin = [0], end = [2]), 4), slice(b, axes = [0], begin = [1], end = [3]), 9)",
                      lambda a, b, c, d: np.where(a[:2] > 4, b[1:], 9)),
    # Leading axes are aligned and missing ones have the extent 1, also where an operand has a single element.
    "mul_one_of_rank_2": ("mul([[2]], d)", lambda a, b, c, d: 2 * d[:, None]),
    "sub_one_of_rank_3": ("sub(d, [[[2]]])", lambda a, b, c, d: d[:, None, None] - 2),
    "div_one_by_matrix": ("div(9, stack([a, b], axis = 1))", lambda a, b, c, d: 9 // np.stack([a, b], 1)),
    "two_ones": ("mul([[2]], slice(a, axes = [0], begin = [0], end = [1]))", lambda a, b, c, d: 2 * a[:1, None]),
    "two_ones_exchanged": ("sub(slice(a, axes = [0], begin = [0], end = [1]), [[2]])", lambda a, b, c, d: a[:1, None] - 2),
    "column_by_row": ("sub(unsqueeze(a, axes = [1]), unsqueeze(b, axes = [0]))", lambda a, b, c, d: a[:, None] - b),
    "row_by_column": ("lt(unsqueeze(a, axes = [0]), unsqueeze(b, axes = [1]))", lambda a, b, c, d: a < b[:, None]),
    "matrix_by_vector": ("sub(stack([a, d], axis = 1), b)", lambda a, b, c, d: np.stack([a, d], 1) - b[:, None]),
    "vector_by_matrix": ("max(b, stack([a, d], axis = 1))", lambda a, b, c, d: np.maximum(np.stack([a, d], 1), b[:, None])),
    "select_of_higher_rank": ("select(gt(a, 4), [[[1]]], d)", lambda a, b, c, d: np.where(a > 4, 1, d)[:, None, None]),
    "select_otherwise_of_higher_rank": ("select(gt(a, 4), d, [[1]])", lambda a, b, c, d: np.where(a > 4, d, 1)[:, None]),
    "select_by_higher_rank": ("select(gt([[5]], 4), d, a)", lambda a, b, c, d: d[:, None]),
    "select_of_column_and_row": ("select(gt(a, 4), unsqueeze(b, axes = [0]), unsqueeze(d, axes = [1]))",
                                 lambda a, b, c, d: np.where(a[:, None] > 4, b, d[:, None])),
    "slice_in_steps": ("slice(d, axes = [0], begin = [0], end = [3], stride = [2])", lambda a, b, c, d: d[::2]),
    "slice_in_steps_to_one_less": ("slice(d, axes = [0], begin = [0], end = [2], stride = [2])", lambda a, b, c, d: d[:2:2]),
    "slice_in_huge_steps": ("slice(d, axes = [0], begin = [1], end = [3], stride = [9223372036854775807])", lambda a, b, c, d: d[1:2]),
    "slice_backwards": ("slice(d, axes = [0], begin = [-1], end = [-4], stride = [-1])", lambda a, b, c, d: d[::-1]),
    "slice_beyond_the_end": ("slice(d, axes = [0], begin = [1], end = [9])", lambda a, b, c, d: d[1:]),
    "slice_before_the_end": ("slice(d, axes = [0], begin = [-3], end = [-1])", lambda a, b, c, d: d[:-1]),
    "slice_two_axes": ("slice(stack([a, d], axis = 0), axes = [1, 0], begin = [1, 0], end = [3, 1])", lambda a, b, c, d: np.stack([a, d])[:1, 1:]),
    "squeeze_two_axes": ("squeeze(unsqueeze(d, axes = [0, 2]), axes = [2, 0])", lambda a, b, c, d: d),
    "unsqueeze_two_axes": ("unsqueeze(d, axes = [2, 0])", lambda a, b, c, d: d[None, :, None]),
    "reshape_to_the_rest": ("reshape(stack([a, d], axis = 0), shape = [-1, 2])", lambda a, b, c, d: np.stack([a, d]).reshape(3, 2)),
    "slice": ("slice(d, axes = [0], begin = [1], end = [3])", lambda a, b, c, d: d[1:3]),
    "slice_last": ("slice(a, axes = [0], begin = [-1], end = [0])", lambda a, b, c, d: a[-1:]),
    "squeeze": ("squeeze(slice(d, axes = [0], begin = [2], end = [3]), axes = [0])", lambda a, b, c, d: d[2]),
    "unsqueeze": ("unsqueeze(d, axes = [0])", lambda a, b, c, d: d[None]),
    "concat": ("concat([a, d, b], axis = 0)", lambda a, b, c, d: np.concatenate([a, d, b])),
    "stack": ("stack([a, d], axis = 1)", lambda a, b, c, d: np.stack([a, d], 1)),
    "stack_rows": ("stack([a, d], axis = 0)", lambda a, b, c, d: np.stack([a, d])),
    "stack_columns": ("stack([a, d, b], axis = -1)", lambda a, b, c, d: np.stack([a, d, b], -1)),
    "concat_columns": ("concat([stack([a, d], axis = 0), unsqueeze(b, axes = [0])], axis = 0)",
                       lambda a, b, c, d: np.stack([a, d, b])),
    "concat_rows": ("concat([stack([a, d], axis = 1), unsqueeze(b, axes = [1])], axis = 1)",
                    lambda a, b, c, d: np.stack([a, d, b], 1)),
    "reshape": ("reshape(stack([a, d], axis = 0), shape = [3, 2])", lambda a, b, c, d: np.stack([a, d]).reshape(3, 2)),
    "columns": ("slice(stack([a, d], axis = 0), axes = [1], begin = [1], end = [3])", lambda a, b, c, d: np.stack([a, d])[:, 1:]),
    "gather": ("tract_core_gather(d, [2, 0, 2], axis = 0)", lambda a, b, c, d: d[[2, 0, 2]]),
    "gather_from_end": ("tract_core_gather(d, [-1, 0, -3], axis = 0)", lambda a, b, c, d: d[[-1, 0, -3]]),
    "gather_columns": ("tract_core_gather(stack([a, d], axis = 0), [2, 0], axis = 1)", lambda a, b, c, d: np.stack([a, d])[:, [2, 0]]),
    "gather_first_from_end": ("tract_core_gather(d, [-3], axis = 0)", lambda a, b, c, d: d[:1]),
    "gather_one_index": ("tract_core_gather(d, 2, axis = 0)", lambda a, b, c, d: d[2]),
    "gather_one_index_from_end": ("tract_core_gather(d, -1, axis = 0)", lambda a, b, c, d: d[-1]),
    "gather_rows": ("tract_core_gather(stack([a, d], axis = 0), [1, 0, -1, -2], axis = 0)", lambda a, b, c, d: np.stack([a, d])[[1, 0, 1, 0]]),
    "gather_rows_from_end": ("tract_core_gather(stack([a, d], axis = 0), [1, 0, -1, -2], axis = -2)", lambda a, b, c, d: np.stack([a, d])[[1, 0, 1, 0]]),
    "gather_columns_from_end": ("tract_core_gather(stack([a, d], axis = 0), [2, -1, 0, -3], axis = -1)", lambda a, b, c, d: np.stack([a, d])[:, [2, 2, 0, 0]]),
    "gather_middle_axis": ("tract_core_gather(stack([stack([a, d], axis = 1), stack([b, c], axis = 1)], axis = 0), [-1, -3, 1], axis = 1)",
                           lambda a, b, c, d: np.stack([np.stack([a, d], 1), np.stack([b, c], 1)])[:, [2, 0, 1]]),
    "gather_a_column": ("tract_core_gather(stack([a, d], axis = 0), -3, axis = 1)", lambda a, b, c, d: np.stack([a, d])[:, 0]),
    "concat_last_axis": ("concat([stack([a, d], axis = 1), unsqueeze(b, axes = [1])], axis = -1)", lambda a, b, c, d: np.stack([a, d, b], 1)),
    "concat_first_axis_from_end": ("concat([stack([a, d], axis = 0), unsqueeze(b, axes = [0])], axis = -2)", lambda a, b, c, d: np.stack([a, d, b])),
    "concat_from_end_of_rank_1": ("concat([d, a], axis = -1)", lambda a, b, c, d: np.concatenate([d, a])),
    "stack_first_axis_from_end": ("stack([a, d], axis = -2)", lambda a, b, c, d: np.stack([a, d])),
    "stack_middle_axis": ("stack([stack([a, d], axis = 0), stack([b, c], axis = 0)], axis = 1)",
                          lambda a, b, c, d: np.stack([np.stack([a, d]), np.stack([b, c])], 1)),
    "stack_middle_axis_from_end": ("stack([stack([a, d], axis = 0), stack([b, c], axis = 0)], axis = -2)",
                                   lambda a, b, c, d: np.stack([np.stack([a, d]), np.stack([b, c])], 1)),
    "squeeze_from_end": ("squeeze(unsqueeze(d, axes = [1]), axes = [-1])", lambda a, b, c, d: d),
    "squeeze_first_from_end": ("squeeze(unsqueeze(d, axes = [0]), axes = [-2])", lambda a, b, c, d: d),
    "squeeze_no_axes": ("squeeze(unsqueeze(d, axes = [0]), axes = [])", lambda a, b, c, d: d[None]),
    "unsqueeze_from_end": ("unsqueeze(d, axes = [-1])", lambda a, b, c, d: d[:, None]),
    "unsqueeze_first_from_end": ("unsqueeze(d, axes = [-2])", lambda a, b, c, d: d[None]),
    "unsqueeze_both_from_end": ("unsqueeze(d, axes = [-1, -3])", lambda a, b, c, d: d[None, :, None]),
    "slice_to_the_first": ("slice(d, axes = [0], begin = [-3], end = [1])", lambda a, b, c, d: d[:1]),
    "slice_first_axis_from_end": ("slice(stack([a, d], axis = 0), axes = [-2], begin = [-1], end = [0])", lambda a, b, c, d: np.stack([a, d])[1:]),
    "slice_backwards_to_the_first": ("slice(d, axes = [0], begin = [2], end = [0], stride = [-1])", lambda a, b, c, d: d[2:0:-1]),
    "slice_backwards_in_steps": ("slice(d, axes = [0], begin = [2], end = [-9], stride = [-2])", lambda a, b, c, d: d[::-2]),
    "slice_backwards_one": ("slice(d, axes = [0], begin = [-2], end = [-3], stride = [-1])", lambda a, b, c, d: d[1:0:-1]),
    "reshape_to_the_rest_in_the_middle": ("reshape(stack([a, d], axis = 0), shape = [1, -1, 2])", lambda a, b, c, d: np.stack([a, d]).reshape(1, 3, 2)),
    "reshape_to_the_rest_of_one": ("reshape(stack([a, d], axis = 0), shape = [2, -1, 3])", lambda a, b, c, d: np.stack([a, d])[:, None]),
    "reshape_rest": ("reshape(stack([a, d, b], axis = 1), shape = [-1])", lambda a, b, c, d: np.stack([a, d, b], 1).ravel()),
    "reshape_rest_of_rows": ("reshape(stack([a, d], axis = 0), shape = [3, -1])", lambda a, b, c, d: np.stack([a, d]).reshape(3, 2)),
    "slice_from_end": ("slice(d, axes = [-1], begin = [-2], end = [-1])", lambda a, b, c, d: d[-2:-1]),
    "copy": ("copy(d)", lambda a, b, c, d: d),
    "chain": ("max(abs(sub(mul(a, 2), b)), add(c, neg(d)))", lambda a, b, c, d: np.maximum(np.abs(a * 2 - b), c - d)),
}


def write(folder: Path, expression: str, folded: bool) -> None:
    if folded:
        lines = [f"x{name} = tract_core_external(shape = {shape}, datum_type = 'f32');\n    {name} = tract_core_shape_of(x{name});"
                 for name, shape in SHAPES.items()]
    else:
        lines = [f"{name} = tract_core_external(shape = [3], datum_type = 'i64');" for name in SHAPES]
    inputs = ", ".join(f"x{name}" if folded else name for name in SHAPES)
    body = "\n    ".join([*lines, "d = sub(a, b);", f"y = {expression};"])
    (folder / "graph.nnef").write_text(f"version 1.0;\nextension tract_registry tract_core;\n\ngraph net( {inputs} ) -> ( y )\n"
                                       f"{{\n    {body}\n}}\n", encoding="utf-8")


@pytest.mark.parametrize("case", CASES)
def test_values(nnefc: Path, tmp_path: Path, case: str) -> None:
    expression, formula = CASES[case]
    expected = formula(**VALUES)
    tool = Nnefc(nnefc, tmp_path)
    write(tmp_path, expression, folded=True)
    np.savez(tmp_path / "inputs.npz", **{f"x{name}": np.zeros(shape, np.float32) for name, shape in SHAPES.items()})
    expanded = tool.expand(tmp_path)
    assert set(re.findall(r"= (\w+)", expanded.partition("{")[2])) - {"external"} == {"constant"}, expanded
    np.testing.assert_array_equal(tool.run(tmp_path, "--inputs", tmp_path / "inputs.npz")["y"], expected)
    write(tmp_path, expression, folded=False)
    np.savez(tmp_path / "inputs.npz", **{name: VALUES[name] for name in SHAPES})
    np.testing.assert_array_equal(tool.run(tmp_path, "--inputs", tmp_path / "inputs.npz")["y"], expected)


# Arguments that break a rule are not folded: the node reports them.
BROKEN = {
    "squeeze([[1, 2]], axes = [0, 0])": "[axis.repeated]",
    "unsqueeze([1, 2], axes = [0, 0])": "[axis.repeated]",
    "squeeze([1, 2], axes = [0])": "[squeeze.singular]",
    "squeeze([[1, 2]], axes = [-1])": "[squeeze.singular]",
    "squeeze([[1, 2]], axes = [0, -2])": "[axis.repeated]",
    **{f"{name}({argument}, {axes} = {text})": f"[{rule}]" for name, argument, axes, low, high, rule in [
        ("squeeze", "[[1, 2]]", "axes", -3, 2, "axis.range"),
        ("unsqueeze", "[1, 2]", "axes", -3, 2, "axis.range"),
        ("concat", "[[1, 2], [3, 4]]", "axis", -2, 1, "axis.range"),
        ("stack", "[[1, 2], [3, 4]]", "axis", -3, 2, "axis.range"),
    ] for axis in (low, high) for text in [f"[{axis}]" if axes == "axes" else f"{axis}"]},
    "gather([1, 2, 3], [-4], axis = 0)": "[gather.index]",
    "gather([1, 2, 3], [3], axis = 0)": "[gather.index]",
    "gather([1, 2, 3], [0], axis = -2)": "[axis.range]",
    "gather([1, 2, 3], [0], axis = 1)": "[axis.range]",
    "slice([1, 2, 3], axes = [-2], begin = [0], end = [3])": "[axis.range]",
    "slice([1, 2, 3], axes = [1], begin = [0], end = [3])": "[axis.range]",
    "reshape([1, 2, 3], shape = [-2, 3])": "[reshape.items]",
    "reshape([1, 2, 3], shape = [0, 3])": "[reshape.volume]",
    "slice([1, 2, 3], axes = [0], begin = [-4], end = [3])": "[slice.range]",
    "slice([1, 2, 3], axes = [0], begin = [3], end = [2])": "[slice.range]",
    "slice([1, 2, 3], axes = [0], begin = [3], end = [-4], stride = [-1])": "[slice.range]",
    "slice([1, 2, 3], axes = [0, 0], begin = [0, 0], end = [3, 2])": "[axis.repeated]",
    "slice([1, 2, 3], axes = [0], begin = [0], end = [3], stride = [1, 1])": "[slice.lengths]",
    "slice([1, 2, 3], axes = [0], begin = [0], end = [3], stride = [0])": "[slice.stride]",
    "reshape([1, 2, 3], shape = [-1, -1])": "[reshape.items]",
    "reshape([1, 2, 3], shape = [2, -1])": "[reshape.volume]",
    "reshape([1, 2, 3], shape = [4])": "[reshape.volume]",
    "reshape([1, 2, 3], shape = [1048576, 17592186044416, -1])": "[shape.overflow]",
    "add([1, 2, 3], [1, 2])": "[binary.broadcast]",
    "select([true, false], [1, 2, 3], 4)": "[binary.broadcast]",
    "concat([[1, 2], [[3]]], axis = 0)": "[concat.rank]",
    "stack([[1, 2], [3]], axis = 0)": "[stack.shapes]",
}


@pytest.mark.parametrize("expression", BROKEN)
def test_broken_rules_are_reported(expression: str, nnefc: Path, tmp_path: Path) -> None:
    document = tmp_path / "net.nnef"
    document.write_text(f"version 1.0;\ngraph net( x ) -> ( y, z )\n{{\n    x = external(shape = [1]);\n    y = copy(x);\n    z = {expression};\n}}\n",
                        encoding="utf-8")
    done = Nnefc(nnefc, tmp_path).call("check", document, "--lenient")
    assert (done.returncode, BROKEN[expression] in done.stderr) == (1, True), done.stderr
