"""Einsum against numpy.einsum, on both backends: equations that become matrix multiplications, in every order of their
axes, and others."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from models import Nnefc

EXTENTS = dict(zip("abcdefghijkmn", (2, 3, 4, 5, 2, 3, 4, 6, 3, 5, 2, 7, 3)))
FREE = (3, 2)  # the axes at `...`


def extents(labels: str) -> tuple[int, ...]:
    axes = [FREE if label == "." else (EXTENTS[label],) for label in labels.replace("...", ".")]
    return tuple(itertools.chain.from_iterable(axes))


def check(equation: str, nnefc: Path, folder: Path) -> None:
    random = np.random.default_rng(1)
    operands = [random.standard_normal(extents(labels)).astype(np.float32)
                for labels in equation.split("->")[0].split(",")]
    expected = np.einsum(equation, *(operand.astype(np.float64) for operand in operands))
    shapes = [f"f32[{','.join(map(str, operand.shape))}]" for operand in operands]
    lines = [f'  %{i} = opset1.Parameter "x{i}" {{element_type = f32, shape = {shape[3:]}}} : {shape}'
             for i, shape in enumerate(shapes)]
    inputs = ", ".join(f"%{i}" for i in range(len(shapes)))
    (folder / "net.ir").write_text("\n".join([
        'graph "net" {', *lines, f'  %9 = opset7.Einsum "e" ({inputs}) {{equation = "{equation}"}} : f32[...]',
        '  opset1.Result "y" (%9)', "}", ""]), encoding="utf-8")
    np.savez(folder / "in.npz", **{f"x{i}": operand for i, operand in enumerate(operands)})
    tool = Nnefc(nnefc, folder)
    for backend in ("reference", "fast"):
        found = tool.run(folder / "net.ir", "--inputs", folder / "in.npz", "--backend", backend)["y"]
        assert found.shape == expected.shape, equation
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5, err_msg=equation)


@pytest.mark.parametrize("equation", [
    "abij,abjk->abik", "bihd,bjhd->bhij", "bhij,bjhd->bihd", "ij,kj->ki", "ij,j->i", "i,i->", "ijk,jk->i", "abc,cd->abd",
    "abcd,cdef->abef", "...ij,...jk->...ik", "...ij,jk->...ik", "b...i,b...i->b...", "ij,...jk->i...k", "bi,bi->b", "ij,ij->ij",
    "ij,ik->ijk", "ii,ij->j", "ijm,jk->ik", "ijk,jmn->imnk", "ij,jk,km->im", "ij->ji"])
def test_equations(equation: str, nnefc: Path, tmp_path: Path) -> None:
    check(equation, nnefc, tmp_path)


# A batch, rows, columns and two summed axes, with each operand and the result in random order.
@pytest.mark.parametrize("seed", range(40))
def test_orders(seed: int, nnefc: Path, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)

    def drawn(labels: str) -> str:
        return "".join(random.permutation(list(labels)))

    batch, rows, columns, summed = (labels[:random.integers(low, 3)]
                                    for labels, low in (("ab", 0), ("cd", 0), ("ef", 0), ("gh", 1)))
    check(f"{drawn(batch + rows + summed)},{drawn(batch + columns + summed)}->{drawn(batch + rows + columns)}", nnefc, tmp_path)
