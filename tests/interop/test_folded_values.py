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
