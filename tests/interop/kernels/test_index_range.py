"""Indices that are data of a run: the lowest and highest ones are accepted; those beyond are rejected by a message that
names the node, on both backends, without access out of bounds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from models import Nnefc

EXTENT = 4  # of the indexed axis
FAR = (np.iinfo(np.int64).min, np.iinfo(np.int64).max, -(1 << 31) - 1, 1 << 32, -EXTENT - 1, EXTENT)
DATA = np.arange(EXTENT * 3, dtype=np.float32).reshape(EXTENT, 3)

# By operation: extents of the indices, attributes, further inputs, and the result if all indices are equal. Negative
# ones count from the end, also in earlier versions whose text does not mention them.
TAKERS = {
    "opset1.Gather": ([2], "", ["axis"], lambda index: DATA[[index, index]]),
    "opset7.Gather": ([2], "batch_dims = 0", ["axis"], lambda index: DATA[[index, index]]),
    "opset8.Gather": ([2], "batch_dims = 0", ["axis"], lambda index: DATA[[index, index]]),
    "opset5.GatherND": ([2, 1], "batch_dims = 0", [], lambda index: DATA[[index, index]]),
    "opset8.GatherND": ([2, 1], "batch_dims = 0", [], lambda index: DATA[[index, index]]),
    "opset6.GatherElements": ([1, 3], "axis = 0", [], lambda index: DATA[[index]]),
    "opset3.ScatterUpdate": ([1], "", ["updates", "axis"], None),
    "opset3.ScatterElementsUpdate": ([1, 3], "", ["updates", "axis"], None),
    "opset12.ScatterElementsUpdate": ([1, 3], "reduction = \"none\", use_init_val = true", ["updates", "axis"], None),
    "opset4.ScatterNDUpdate": ([1, 1], "", ["updates"], None),
    "opset15.ScatterNDUpdate": ([1, 1], "reduction = \"none\"", ["updates"], None),
}


def write(folder: Path, operation: str, indices: list[int], attributes: str, more: list[str], shape: tuple[int, ...]) -> None:
    extents = ",".join(map(str, indices))
    lines = [f'%0 = opset1.Parameter "data" {{element_type = f32, shape = [{EXTENT},3]}} : f32[{EXTENT},3]',
             f'%1 = opset1.Parameter "indices" {{element_type = i64, shape = [{extents}]}} : i64[{extents}]']
    inputs = ["%0", "%1"]
    for name in more:
        inputs.append(f"%{len(lines)}")
        lines.append(f'%{len(lines)} = opset1.Const "axis" : i64[] = dense<i64[]: 0>' if name == "axis" else
                     f'%{len(lines)} = opset1.Const "updates" : f32[1,3] = dense<f32[1,3]: 50.0, 60.0, 70.0>')
    result = ",".join(map(str, shape))
    lines.append(f'%{len(lines)} = {operation} "node" ({", ".join(inputs)}) {{{attributes}}} : f32[{result}]')
    lines.append(f'opset1.Result "y" (%{len(lines) - 1})')
    (folder / "net.ir").write_text('graph "net" {\n  ' + "\n  ".join(lines) + "\n}\n", encoding="utf-8")


@pytest.mark.parametrize("backend", ["reference", "fast"])
@pytest.mark.parametrize("operation", TAKERS)
def test_indices(nnefc: Path, tmp_path: Path, operation: str, backend: str) -> None:
    indices, attributes, more, formula = TAKERS[operation]

    def expected(index: int) -> np.ndarray:
        if formula is not None:
            return formula(index)
        updated = DATA.copy()
        updated[index] = [50, 60, 70]
        return updated

    write(tmp_path, operation, indices, attributes, more, expected(0).shape)
    tool = Nnefc(nnefc, tmp_path)
    options = ("--inputs", tmp_path / "in.npz", "--backend", backend)
    for index in (0, EXTENT - 1, -1, -EXTENT):
        np.savez(tmp_path / "in.npz", data=DATA, indices=np.full(indices, index, np.int64))
        np.testing.assert_array_equal(tool.run(tmp_path / "net.ir", *options)["y"], expected(index))
    for index in FAR:
        np.savez(tmp_path / "in.npz", data=DATA, indices=np.full(indices, index, np.int64))
        done = tool.call("run", tmp_path / "net.ir", *options)
        assert done.returncode == 1, (index, done.stdout, done.stderr)
        assert "`node`" in done.stderr and str(index) in done.stderr, (index, done.stderr)
